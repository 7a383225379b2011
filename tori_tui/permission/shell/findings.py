"""What a walk through a command collects.

Must not judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tori_tui.permission.command_class import SimpleCommand


@dataclass(slots=True)
class Findings:
    """Of a whole command, the scripts inside of it included."""

    steps_left: int
    """How many more simple commands are looked at."""
    objections: list[str] = field(default_factory=list)
    """Why the whole has to be asked, whatever its simple commands are."""
    commands: list[SimpleCommand] = field(default_factory=list)
    dangers: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    git_folders: list[str] = field(default_factory=list)
    opens_found: bool = False
    is_understood: bool = True
    is_plain: bool = True
    """So far nothing but one simple command with its words."""


__all__ = ["Findings"]
