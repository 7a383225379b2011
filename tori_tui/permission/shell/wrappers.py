"""Commands that run another command: which one, as far as their words say it.

Must not call a wrapper harmless that it cannot open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tori_tui.permission.protected_paths import words
from tori_tui.permission.shell.words import UNKNOWN, Origin, Word
from tori_tui.permission.source_names import names_sources

FIND_ACTIONS: Final = words("-print -print0 -printf -ls -exec -execdir -ok -okdir -delete -prune -quit")

HARMLESS_VARIABLES: Final = words(
    "LC_ALL LC_COLLATE LC_CTYPE LC_NUMERIC LC_TIME LANG LANGUAGE TZ NO_COLOR COLUMNS LINES FORCE_COLOR "
    "CLICOLOR"
)
"""What a command may be given without being asked; others choose programs, libraries or configuration."""

INTERPRETERS: Final = words(
    "sh bash dash zsh ksh fish ash csh tcsh python python2 python3 perl ruby node deno bun php lua osascript "
    "pwsh powershell Rscript tclsh"
)

UNOPENED: Final = INTERPRETERS | words(
    "eval exec source . sudo doas su pkexec runuser ssh watch setsid script parallel entr chroot unshare "
    "nsenter systemd-run at batch crontab trap alias coproc busybox flock strace ltrace gdb npx bunx uvx "
    "pipx docker podman kubectl tmux screen expect rlwrap unbuffer bwrap firejail"
)
"""They run what they are given in a way that is not looked into: what is inside counts as not understood."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What was inside of a wrapper."""

    inner: tuple[Word, ...] = ()
    script: str | None = None
    """A text that a shell runs."""
    reason: str = ""
    """Why the whole must be asked, whatever is inside."""


def open_wrapper(command: Sequence[Word], names: Origin = "") -> Opened | None:
    """Return what a wrapper runs; None where the command is none, or cannot be opened.

    Args:
        command: Its words.
        names: What kind of file names it gets on its standard input.
    """
    if not command[0].is_known:
        return None
    opener = _OPENERS.get(command[0].text.rpartition("/")[2])
    if opener is None:
        return None
    if command[0].text == "xargs" and names:
        return _xargs(command[1:], names)
    return opener(command[1:])


def _plain(
    flags: str = "", values: str = "", *, n_operands: int = 0
) -> Callable[[Sequence[Word]], Opened | None]:
    """Make the opener of a wrapper that takes some options, some operands, and then the command."""

    def opener(rest: Sequence[Word]) -> Opened | None:
        index = _after_options(rest, flags.split(), values.split())
        if index is None or len(rest) <= index + n_operands:
            return None
        if not all(word.is_known for word in rest[: index + n_operands]):
            return None
        return Opened(tuple(rest[index + n_operands :]))

    return opener


def _after_options(rest: Sequence[Word], flags: Sequence[str], values: Sequence[str]) -> int | None:
    index = 0
    while index < len(rest):
        text = rest[index].text
        if text == "--":
            return index + 1
        if not text.startswith("-") or text == "-":
            return index
        name = text.partition("=")[0]
        if name in values and "=" not in text:
            index += 2
        elif name in values or text in flags or any(re.fullmatch(flag, text) for flag in flags):
            index += 1
        else:
            return None
    return None


def _env(rest: Sequence[Word]) -> Opened | None:
    index = _after_options(rest, ["-i", "-"], ["-u", "--unset"])
    if index is None:
        return None
    reason = "env changes what the command finds" if index else ""
    while index < len(rest) and "=" in rest[index].text:
        name = rest[index].text.partition("=")[0]
        reason = reason or ("" if name in HARMLESS_VARIABLES else f"it sets {name}")
        index += 1
    if index >= len(rest):
        return None
    return Opened(tuple(rest[index:]), reason=reason)


def _xargs(rest: Sequence[Word], names: Origin = "") -> Opened | None:
    flags = [
        "-0",
        "-r",
        "-t",
        "-x",
        "--null",
        "--no-run-if-empty",
        r"-[nPL]\d+",
        "-0r",
        "-r0",
        r"-I\S+",
        r"-d\S+",
    ]
    index = _after_options(
        rest, flags, ["-n", "-P", "-L", "-I", "-d", "--max-args", "--max-procs", "--delimiter"]
    )
    if index is None or index >= len(rest):
        return None
    given = Word(UNKNOWN, is_one=False, origin=names)
    placeholder = next(
        (rest[at + 1].text if rest[at].text == "-I" else rest[at].text[2:]
         for at in range(index) if rest[at].text.startswith("-I")), "",
    )  # fmt: skip
    inner = tuple(rest[index:])
    if not placeholder:
        return Opened((*inner, given))
    if (
        any(placeholder in word.text and word.text != placeholder for word in inner)
        or inner[0].text == placeholder
    ):
        return Opened(
            tuple(Word(UNKNOWN, is_one=False) if placeholder in word.text else word for word in inner)
        )
    return Opened(tuple(given if word.text == placeholder else word for word in inner))


def find_commands(rest: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Return each command that a find runs by `-exec` and its like."""
    found: list[tuple[Word, ...]] = []
    index = 0
    while index < len(rest):
        if rest[index].text in ("-exec", "-execdir", "-ok", "-okdir"):
            operand = Word(f"./{UNKNOWN}", origin=find_names([word.text for word in rest[: index + 1]]))
            end = next((at for at in range(index, len(rest)) if rest[at].text in (";", "+")), len(rest))
            inner = [_placed(word, operand) for word in rest[index + 1 : end]]
            found.append(tuple(inner) or (Word(UNKNOWN),))
            index = end
        index += 1
    return found


def _placed(word: Word, operand: Word) -> Word:
    if word.text == "{}":
        return operand
    return Word(UNKNOWN, is_one=False) if "{}" in word.text else word


def without_commands(rest: Sequence[Word]) -> list[Word]:
    """Return the words of a find without the commands that it runs."""
    kept: list[Word] = []
    inside = False
    for word in rest:
        if word.text in ("-exec",):
            inside = True
        elif not inside:
            kept.append(word)
        elif word.text in (";", "+"):
            inside = False
    return kept


def find_names(rest: Sequence[str]) -> Origin:
    """Say what kind of names a find gives."""
    if {"-o", "-or", "!", "-not", ","} & set(rest):
        return "tree"
    # What stands behind an action does not choose for it.
    first_action = next((at for at, word in enumerate(rest) if word in FIND_ACTIONS), len(rest))
    tests = rest[:first_action]
    patterns = [tests[at + 1] for at, word in enumerate(tests[:-1]) if word in ("-name", "-iname")]
    return "sources" if any(map(names_sources, patterns)) else "tree"


def _shell(rest: Sequence[Word]) -> Opened | None:
    """Open `sh -c SCRIPT`. A login or interactive shell, a script in a file or on stdin is not opened."""
    if len(rest) < 2 or re.fullmatch(r"-[eux]*c", rest[0].text) is None or not rest[1].is_one:
        return None
    return None if UNKNOWN in rest[1].text or rest[1].has_glob else Opened(script=rest[1].text)


_Opener = Callable[[Sequence[Word]], Opened | None]

_OPENERS: Final[Mapping[str, _Opener]] = MappingProxyType(
    {
        "env": _env,
        "xargs": _xargs,
        "timeout": _plain("--foreground --preserve-status -v", "-k -s --kill-after --signal", n_operands=1),
        "nice": _plain(r"-\d+ -n\d+", "-n --adjustment"),
        "nohup": _plain(),
        "stdbuf": _plain(r"-[ioe][L0-9KM]+", "-i -o -e --input --output --error"),
        "time": _plain("-p"),
        "ionice": _plain(r"-c\d -n\d", "-c -n"),
        "command": _plain("-p"),
        "builtin": _plain(),
        "sh": _shell,
        "bash": _shell,
        "dash": _shell,
    }
)

__all__ = [
    "HARMLESS_VARIABLES",
    "INTERPRETERS",
    "UNOPENED",
    "Opened",
    "find_commands",
    "find_names",
    "open_wrapper",
    "without_commands",
]
