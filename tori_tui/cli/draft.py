"""What the user was writing when a tori ended, kept for the next one of the same project.

Must not fail a session: without a place to write, a draft lasts as long as the app.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from tori_tui.workspace.process_table import read_facts

NAME_CHARS: Final = 16
"""Of the digest by which a project's file is named."""


class KeptDraft:
    """The draft of one project, with who writes it: a second tori there keeps its hands off.

    Args:
        folder: Of all projects' drafts.
        project: The root of its work tree.
    """

    def __init__(self, folder: Path, project: str) -> None:
        digest = hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()
        self._path = folder / f"{digest[:NAME_CHARS]}.json"
        self._is_ours = True

    def take_over(self) -> str:
        """Return what an earlier tori left; nothing while that one lives."""
        text, self._is_ours = self._left()
        return text if self._is_ours else ""

    def keep(self, text: str) -> None:
        """Keep a draft; an empty one is forgotten."""
        if not self._is_ours:
            _, self._is_ours = self._left()
        if not self._is_ours:
            return
        with suppress(OSError):
            if text:
                self._write(text)
            else:
                self._path.unlink(missing_ok=True)

    def _left(self) -> tuple[str, bool]:
        """Return what is kept, and whether no other tori that lives writes it."""
        try:
            left = json.loads(self._path.read_bytes())
            text, pid, start_ticks = left["text"], left["pid"], left["start_ticks"]
        except (OSError, ValueError, TypeError, KeyError):
            return "", True
        facts = read_facts(pid) if isinstance(pid, int) and pid != os.getpid() else None
        lives = facts is not None and facts.start_ticks == start_ticks
        return text if isinstance(text, str) else "", not lives

    def _write(self, text: str) -> None:
        facts = read_facts(os.getpid())
        left = {"text": text, "pid": os.getpid(), "start_ticks": facts.start_ticks if facts else 0}
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(left, file)
        new.replace(self._path)


__all__ = ["KeptDraft"]
