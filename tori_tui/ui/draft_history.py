"""What the user wrote before, gone through by single steps, with the draft that waits meanwhile.

Pure. Must not know a widget or a file.
"""

from __future__ import annotations

from collections.abc import Sequence


class DraftHistory:
    """Texts, oldest first, and a place among them; behind the newest stands the draft."""

    def __init__(self, past: Sequence[str] = ()) -> None:
        self._past = list(past)
        self._at: int | None = None
        self._draft = ""

    @property
    def past(self) -> Sequence[str]:
        """All texts, oldest first."""
        return self._past

    @property
    def is_at_draft(self) -> bool:
        """Whether what is written now is nothing of the past."""
        return self._at is None

    def remember(self, text: str) -> None:
        """Add a text that was sent, and stand behind it."""
        if not self._past or self._past[-1] != text:
            self._past.append(text)
        self.stay()
        self._draft = ""

    def stay(self) -> None:
        """Take what is written now for the draft: the user has changed it."""
        self._at = None

    def back(self, written: str) -> str | None:
        """Return the text before the present one, or None at the oldest.

        Args:
            written: What is written now; kept if it is the draft.
        """
        if self._at is None:
            self._draft, self._at = written, len(self._past)
        if self._at == 0:
            return None
        self._at -= 1
        return self._past[self._at]

    def forward(self) -> str | None:
        """Return the text behind the present one, at last the draft; None if that is there already."""
        if self._at is None:
            return None
        self._at += 1
        if self._at < len(self._past):
            return self._past[self._at]
        self._at = None
        return self._draft


__all__ = ["DraftHistory"]
