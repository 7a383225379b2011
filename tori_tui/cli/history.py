"""What the user typed before, across the sessions of a project: one JSON object a line in the user's state.

Lines that are a text alone, of an earlier tori, belong to every project. Must not fail a session: without
a place to write, the history lasts as long as the app.
"""

from __future__ import annotations

import json
import os
from itertools import islice
from pathlib import Path
from typing import Final

ENTRIES_LIMIT: Final = 500
ENTRY_LIMIT_CHARS: Final = 20_000
FILE_LIMIT_BYTES: Final = 4_000_000
"""From this size on the file is written anew with the newest entries."""


class History:
    """The newest texts of one project, oldest first.

    Args:
        path: The file of all projects.
        project: The root of its work tree.
    """

    def __init__(self, path: Path, project: str) -> None:
        self._path = path
        self._project = project

    def load(self) -> tuple[str, ...]:
        """Return what there is; lines that are no text are left out."""
        texts = (text for line in reversed(self._lines()) if (text := self._text_of(line)))
        return tuple(islice(texts, ENTRIES_LIMIT))[::-1]

    def _lines(self) -> list[str]:
        try:
            return self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    def add(self, text: str) -> None:
        """Append a text."""
        if len(text) > ENTRY_LIMIT_CHARS:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size > FILE_LIMIT_BYTES:
                self._shorten()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps({"project": self._project, "text": text}) + "\n")
        except OSError:
            return

    def _shorten(self) -> None:
        lines = self._lines()
        shorter = self._path.with_suffix(".new")
        shorter.write_text("".join(f"{line}\n" for line in lines[len(lines) // 2 :]), encoding="utf-8")
        shorter.chmod(0o600)
        shorter.replace(self._path)

    def _text_of(self, line: str) -> str:
        try:
            entry = json.loads(line)
        except ValueError:
            return ""
        if isinstance(entry, dict):
            entry = entry.get("text") if entry.get("project") == self._project else ""
        return entry if isinstance(entry, str) else ""


__all__ = ["History"]
