"""Opens the wrappers of one simple command, judges what is inside, and notes what it opens.

Must not look at the tree: what stands around the command is handed in.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field

from tori_tui.permission.command_class import SimpleCommand
from tori_tui.permission.shell.danger import danger
from tori_tui.permission.shell.findings import Findings
from tori_tui.permission.shell.judge import judge
from tori_tui.permission.shell.readers import SHOWS_NO_CONTENT
from tori_tui.permission.shell.words import Origin, Variables, Word
from tori_tui.permission.shell.wrappers import UNOPENED, find_commands, open_wrapper, without_commands


@dataclass(frozen=True, slots=True)
class Around:
    """What holds where a command stands."""

    variables: Variables = field(default_factory=dict)
    names: Origin = ""
    """What kind of file names comes on standard input."""
    before: tuple[str, ...] = ()
    """The programs before it in its pipe."""
    may_change_folder: bool = True
    function: str = ""
    """The function in whose body it stands."""


class SimpleCommands:
    """Collects the simple commands of one script.

    Attributes:
        scripts: Texts that a shell inside would run, and where.
        cwds: Where the next command may run, relative to where the script does.
    """

    def __init__(self, findings: Findings, functions: frozenset[str], cwds: tuple[str, ...]) -> None:
        self.scripts: list[tuple[str, tuple[str, ...]]] = []
        self.cwds = cwds
        self._findings = findings
        self._functions = functions

    def add(self, argv: Sequence[Word], around: Around) -> None:
        """Look at one command."""
        self._findings.steps_left -= 1
        if self._findings.steps_left < 0:
            self._findings.objections.append("it is too long to be looked through")
            return
        forms, reason = self._opened(argv, around)
        self._findings.commands.append(SimpleCommand(tuple(forms), reason))

    def _opened(self, argv: Sequence[Word], around: Around) -> tuple[list[tuple[str, ...]], str]:
        """Open the wrappers around a command; return its forms and why it has to be asked."""
        forms: list[tuple[str, ...]] = []
        reasons: list[str] = []
        command = tuple(argv)
        while True:
            texts = tuple(word.text for word in command)
            forms.append(texts)
            self._findings.dangers.append(danger(texts, around.before))
            opened = open_wrapper(command, around.names)
            if opened is None:
                break
            reasons.append(opened.reason)
            if opened.script is not None:
                self.scripts.append((opened.script, self.cwds))
                self._may_run_text(texts, around)
                return forms, next(filter(None, reasons), "")
            command = opened.inner
        reasons.append(self._judged(command, around))
        return forms, next(filter(None, reasons), "")

    def _may_run_text(self, texts: tuple[str, ...], around: Around) -> None:
        if around.function:
            self._findings.objections.append("a function runs a text as a command")

    def _judged(self, command: tuple[Word, ...], around: Around) -> str:
        name = command[0].text
        if name in self._functions:
            return self._called(name, around)
        if not command[0].is_known or (command[0].is_quoted and not name):
            self._findings.is_understood = False
        if name.rpartition("/")[2] in UNOPENED or "=" in name:
            self._findings.is_understood = False
        if name in ("cd",):
            return self._changed_folder(command[1:], around)
        if name == "find":
            for inner in find_commands(command[1:]):
                self.add(inner, around)
            command = (command[0], *without_commands(command[1:]))
        found = judge(command)
        if any(word.origin == "sources" for word in command) and name not in SHOWS_NO_CONTENT:
            self._findings.opens_found = True
        if not found.reason and name == "git":
            self._findings.git_folders += self.from_here(".")
        if not found.reason:
            self._findings.paths += [path for part in found.paths for path in self.from_here(part)]
            self._findings.folders += [path for part in found.folders for path in self.from_here(part)]
        return found.reason

    def _called(self, name: str, around: Around) -> str:
        if around.function == name:
            self._findings.dangers.append("it starts itself without end" if around.before else "")
            return "a function calls itself"
        return "a function calls another" if around.function else ""

    def _changed_folder(self, rest: Sequence[Word], around: Around) -> str:
        target = rest[0].text if len(rest) == 1 else ""
        if not target or not rest[0].is_known or target.startswith(("-", "~")) or not rest[0].is_one:
            return "where it goes is not known"
        self._findings.paths += self.from_here(target)
        if self._functions:
            return "it changes the folder of what may run later"
        if not around.may_change_folder:
            return "it changes the folder in a loop, a pipe or a branch"
        self.cwds = tuple(posixpath.normpath(posixpath.join(cwd, target)) for cwd in self.cwds)
        return ""

    def from_here(self, path: str) -> list[str]:
        """Return where a path may lead, from each folder in which the command may be."""
        return [posixpath.join(cwd, path) if cwd else path for cwd in self.cwds]


__all__ = ["Around", "SimpleCommands"]
