"""What the user was writing when a tori ended, kept for the next one of the same project.

Must not fail a session: without a place to write, a draft lasts as long as the app.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from tori_tui.workspace.process_table import read_facts

_WRITER: Final = re.compile(r"\.(\d{1,9})-(\d{1,18})\.json$")
"""In a file's name: the pid and the start of who writes it."""

NAME_CHARS: Final = 16
"""Of the digest by which a project's file is named."""


class KeptDraft:
    """The draft of one tori in a project: each that runs there has a file of its own.

    Args:
        folder: Of all projects' drafts.
        project: The root of its work tree.
    """

    def __init__(self, folder: Path, project: str) -> None:
        digest = hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()
        facts = read_facts(os.getpid())
        start_ticks = facts.start_ticks if facts else 0
        self._folder = folder
        self._stem = digest[:NAME_CHARS]
        self._path = folder / f"{self._stem}.{os.getpid()}-{start_ticks}.json"

    def take_over(self) -> str:
        """Return the newest that a tori left which lives no more; it is ours from then on.

        Older ones wait for the next start.
        """
        for path in self._newest_first():
            text = "" if self._is_anothers(path) else _left(path)
            if not text:
                continue
            with suppress(OSError):
                # Of two that start at once the second finds it gone.
                os.rename(path, self._path)
                return text
        return ""

    def keep(self, text: str) -> None:
        """Keep a draft; an empty one is forgotten."""
        with suppress(OSError):
            if text:
                self._write(text)
            else:
                self._path.unlink(missing_ok=True)

    def _is_anothers(self, path: Path) -> bool:
        """Say whether another tori that lives writes it; its name tells, right from a takeover on."""
        named = _WRITER.search(path.name)
        if named is None or path == self._path:
            return False
        facts = read_facts(int(named[1]))
        return facts is not None and facts.start_ticks == int(named[2])

    def _newest_first(self) -> list[Path]:
        found: list[tuple[float, Path]] = []
        with suppress(OSError):
            for path in self._folder.glob(f"{self._stem}*.json"):
                with suppress(OSError):
                    found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found, reverse=True)]

    def _write(self, text: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"text": text, "pid": os.getpid()}, file)
        new.replace(self._path)


def _left(path: Path) -> str:
    try:
        left = json.loads(path.read_bytes())
        # Both are in every whole file.
        text, _ = left["text"], left["pid"]
    except (OSError, ValueError, TypeError, KeyError):
        return ""
    return text if isinstance(text, str) else ""


__all__ = ["KeptDraft"]
