"""Messages that the app itself understands, before anything of a session is loaded.

Must not name a type of the domain.
"""

from __future__ import annotations

from textual.message import Message


class SessionFailed(Message):
    """The session could not be opened or served."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class ThemeTried(Message):
    """The user wants to see everything in another theme."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class ChoiceNeeded(Exception):
    """Several sessions may be meant: the user is to choose one first."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words
        """What they have in common."""


__all__ = ["ChoiceNeeded", "SessionFailed", "ThemeTried"]
