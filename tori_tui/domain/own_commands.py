"""Slash commands of the user's own: texts that are said by a word.

Must not look for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PLACEHOLDER: Final = "$ARGUMENTS"
"""In a command's text: what was written behind its word."""


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """One of them."""

    name: str
    """Without the slash."""
    meaning: str
    """One line, for lists."""
    text: str
    fault: str = ""
    """Why it cannot be said."""

    def filled(self, words: str) -> str:
        """Return what is said, with what was written behind the command: at its places, else at the end."""
        if PLACEHOLDER in self.text:
            return self.text.replace(PLACEHOLDER, words)
        return f"{self.text}\n\n{words}" if words else self.text


__all__ = ["PLACEHOLDER", "OwnCommand"]
