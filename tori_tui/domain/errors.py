"""The root of every error that tori raises on purpose, written for its reader.

Must not name a layer's own failures; those live where they are raised.
"""

from __future__ import annotations


class ToriError(Exception):
    """Something the user can act on.

    Args:
        message: What happened, with the value that caused it.
        hint: What to do about it; may be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(ToriError):
    """The command line, the configuration or the surroundings do not allow what was asked."""


__all__ = ["ToriError", "UsageError"]
