"""What can be told of a shell command by its text: whether it reads, what it opens, how dangerous it is.

Must not load the grammar before the first command; `shell` does the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

REMEMBERED: Final = 64
"""A command is looked at three times: for its preview, by the policy, and for an answer's rule."""


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One of the commands of which a command is made."""

    forms: tuple[tuple[str, ...], ...]
    """Its words, and those of each command inside of a wrapper, from the outermost on."""
    reason: str = ""
    """Why it has to be asked; empty where it only reads."""


@dataclass(frozen=True, slots=True)
class CommandClass:
    """What was found."""

    reason: str
    """Why it has to be asked; empty for one that only reads."""
    danger: str = ""
    """Why it has to be asked in mode `auto` too."""
    words: tuple[str, ...] = ()
    """The words of a plain command, quotes taken off; empty where it is more than one."""
    paths: tuple[str, ...] = ()
    """What it may open, of one that reads. Relative ones count from where it runs."""
    folders: tuple[str, ...] = ()
    """Of those, folders of which it shows every file's content."""
    opens_found: bool = False
    """It opens what a search finds, by names of sources: here below, or below a folder among its paths."""
    git_folders: tuple[str, ...] = ()
    """Where git reads; a bare repository that lies there brings its own settings, which run programs."""
    commands: tuple[SimpleCommand, ...] = ()
    """Every simple command in it."""
    is_whole: bool = False
    """Nothing else in it has an effect: no writing redirection, no variable that changes what runs."""
    is_understood: bool = False
    """Every word that could name a program is known, and every wrapper was opened."""

    @property
    def is_reading(self) -> bool:
        """Whether it may run without a question."""
        return not self.reason


@lru_cache(maxsize=REMEMBERED)
def classify_command(command: str) -> CommandClass:
    """Say what a command does. One that the analysis fails on has to be asked."""
    try:
        analysis: Any = import_module("tori_tui.permission.shell.analysis")
        found = analysis.analyse(command)
    except Exception as error:
        return CommandClass(f"it cannot be looked through ({type(error).__name__})")
    return found if isinstance(found, CommandClass) else CommandClass("it cannot be looked through")


__all__ = ["CommandClass", "SimpleCommand", "classify_command"]
