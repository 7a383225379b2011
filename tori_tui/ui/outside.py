"""What the session's screen asks of the world around the session, as functions.

Must not know where the answers come from; tests give others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tori_tui.domain.errors import UsageError
from tori_tui.domain.file_names import FileNames
from tori_tui.domain.ids import GoalId
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.domain.shown_image import ShownImage
from tori_tui.domain.state import SessionState
from tori_tui.ui.notifying import NoticeKind

FindFiles = Callable[[Callable[[], bool]], FileNames]
"""Finds the files of the work tree. Runs in a thread, and is given what says that nobody waits any more."""


def no_files(should_stop: Callable[[], bool]) -> FileNames:
    """Find nothing."""
    return FileNames()


def _no_clipboard() -> ShownImage:
    raise UsageError("There is no clipboard here.")


@dataclass(frozen=True, slots=True)
class Outside:
    """Each has an answer that knows nothing, so that a screen can stand alone."""

    window_of: Callable[[str], int] = lambda _: 0
    """A model's context window in tokens; 0 where unknown."""
    branch: Callable[[], str] = lambda: ""
    """The work tree's git branch."""
    history: Sequence[str] = ()
    """What the user wrote before, oldest first."""
    remember: Callable[[str], None] = lambda _: None
    """Adds to the history."""
    draft: str = ""
    """What an earlier tori left unsent here."""
    keep_draft: Callable[[str], None] = lambda _: None
    """Keeps what is being written; an empty text is forgotten. Called in a thread."""
    agents: Callable[[], Sequence[str]] = lambda: ()
    """The names of the agents that there are."""
    own_commands: Callable[[], Sequence[OwnCommand]] = lambda: ()
    """The user's own slash commands, as they are now."""
    files: FindFiles = no_files
    image: Callable[[str], ShownImage | None] = lambda _: None
    """The image at a path; None where there is no such file. Called in a thread. Raises `ToriError`."""
    clipboard_image: Callable[[], ShownImage] = _no_clipboard
    """The image that the clipboard holds. Called in a thread. Raises `ToriError`."""
    sees_images: Callable[[str], bool] = lambda _: True
    """Whether a model takes images."""
    has_vim_keys: bool = False
    """The draft is written with vim's keys."""
    notice: NoticeKind = "bell"
    """How the user is called back to a terminal that he does not look at."""
    goal_diff: Callable[[SessionState, GoalId], str] = lambda _, __: ""
    """What the agent changed for a goal, as a unified diff; may take long, so it is called in a thread.

    Raises `ToriError`.
    """

    export: Callable[[str, str], str] = lambda _, __: ""
    """Writes the session in a form (`html`, `md`, `svg`) to a path, or beside its trace where that is empty,
    and says where it is. Called in a thread. Raises `ToriError`.
    """


__all__ = ["FindFiles", "Outside", "no_files"]
