"""Messages that the app itself understands, before anything of a session is loaded.

Must not name a type of the domain.
"""

from __future__ import annotations

from dataclasses import dataclass

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


class SetupNeeded(Exception):
    """There is no model to begin with: the user is told what gives one."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the user begins with, where nothing was configured."""

    model: str = ""
    base_url: str = ""
    """The server that has it."""
    is_demo: bool = False


__all__ = ["Beginning", "ChoiceNeeded", "SessionFailed", "SetupNeeded", "ThemeTried"]
