"""What the user typed before, across sessions: one JSON string a line in the user's state.

Must not fail a session: without a place to write, the history lasts as long as the app.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

ENTRIES_LIMIT: Final = 500
ENTRY_LIMIT_CHARS: Final = 20_000
FILE_LIMIT_BYTES: Final = 4_000_000
"""From this size on the file is written anew with the newest entries."""


class History:
    """The newest texts, oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> tuple[str, ...]:
        """Return what there is; lines that are no text are left out."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ()
        return tuple(text for line in lines[-ENTRIES_LIMIT:] if (text := _text_of(line)))

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
                file.write(json.dumps(text) + "\n")
        except OSError:
            return

    def _shorten(self) -> None:
        lines = [json.dumps(text) + "\n" for text in self.load()]
        shorter = self._path.with_suffix(".new")
        shorter.write_text("".join(lines[len(lines) // 2 :]), encoding="utf-8")
        shorter.chmod(0o600)
        shorter.replace(self._path)


def _text_of(line: str) -> str:
    try:
        text = json.loads(line)
    except ValueError:
        return ""
    return text if isinstance(text, str) else ""


__all__ = ["History"]
