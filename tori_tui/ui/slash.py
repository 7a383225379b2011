"""What a line that begins with a slash asks for, where it is more than an action's name.

Pure. Must not do it; the screen does, over the bridge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, get_args

from tori_tui.domain.commands import (
    CloseContext,
    CompactContext,
    ForgetFact,
    InterruptRun,
    RedoRewind,
    Remember,
    RenameSession,
    RewindTo,
    RunShell,
    SearchMemory,
    StopBranch,
    SwitchAgent,
    UndoRewind,
)
from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.events import Mode
from tori_tui.domain.goal_call import GoalRefused, parse_goal_id
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import BranchId, FactId
from tori_tui.domain.plan_command import read_plan_command
from tori_tui.domain.plan_edits import PlanEdit
from tori_tui.domain.session_memory import KEY_LIMIT_CHARS
from tori_tui.domain.spelling import likest
from tori_tui.ui.actions import SLASH_ACTIONS
from tori_tui.ui.slash_help import SLASH_HELP

_WORD: Final = re.compile(r"[a-z][a-z0-9_-]*")

EXPORT_FORMS: Final = ("html", "md", "svg")


SessionCommand = (
    RewindTo
    | UndoRewind
    | RedoRewind
    | CompactContext
    | RenameSession
    | StopBranch
    | InterruptRun
    | SwitchAgent
    | CloseContext
    | Remember
    | SearchMemory
    | ForgetFact
)


@dataclass(frozen=True, slots=True)
class Aimed:
    """A comment that says itself where it falls."""

    text: str
    aim: str


@dataclass(frozen=True, slots=True)
class PlanEdited:
    """The user changes the plan."""

    edits: tuple[PlanEdit, ...]


@dataclass(frozen=True, slots=True)
class PlanPageWanted:
    """The user wants to edit the plan in his editor."""


@dataclass(frozen=True, slots=True)
class ModelChosen:
    """The user wants another model."""

    name: str


@dataclass(frozen=True, slots=True)
class EffortChosen:
    """The user wants the model to think more or less."""

    effort: EffortChoice


@dataclass(frozen=True, slots=True)
class ThemeChosen:
    """The user wants another theme."""

    name: str


@dataclass(frozen=True, slots=True)
class ModeChosen:
    """The user wants another permission mode."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class Commanded:
    """Something that is one command to the session."""

    command: SessionCommand


@dataclass(frozen=True, slots=True)
class MemoryWanted:
    """The user wants to see what the session remembers."""


@dataclass(frozen=True, slots=True)
class ExportWanted:
    """The user wants the session as a page."""

    form: str
    path: str
    """Empty is beside the trace."""


Asked = (
    Aimed
    | PlanEdited
    | PlanPageWanted
    | ModelChosen
    | EffortChosen
    | ModeChosen
    | ThemeChosen
    | Commanded
    | MemoryWanted
    | ExportWanted
)

_ALONE: Final[Mapping[str, Callable[[], SessionCommand]]] = MappingProxyType(
    {"undo": UndoRewind, "redo": RedoRewind, "compact": CompactContext}
)


def read_slash(line: str, tree: GoalTree) -> Asked | None:
    """Return what the line asks for, or None where it is no such command.

    Raises:
        GoalRefused: It is one, but not whole or not possible; says what to write.
    """
    word, _, rest = line.removeprefix("/").partition(" ")
    rest = rest.strip()
    match word:
        case "now" | "later":
            return Aimed(_needed(rest, word), word)
        case "replan":
            return Aimed(rest or "Plan anew what is left.", "replan")
        case "retry":
            return _retry(rest, tree)
        case "plan" if rest == "edit":
            return PlanPageWanted()
        case "plan" if rest:
            return PlanEdited(read_plan_command(tree, rest))
        case "rewind":
            return Commanded(_rewind(_needed(rest, word), tree))
        case "undo" | "redo" | "compact" if not rest:
            return Commanded(_ALONE[word]())
        case "rename" | "stop":
            return Commanded(RenameSession(_needed(rest, word)) if word == "rename" else _stop(rest))
        case "agent" | "memory":
            return Commanded(_agent(rest) if word == "agent" else _memory(rest))
        case "remember":
            return Commanded(_remember(rest)) if rest else MemoryWanted()
        case "export":
            return _export(rest)
        case "theme" if rest:
            return ThemeChosen(rest)
        case "model" | "effort" | "mode" if rest or word == "mode":
            # Alone, /model and /effort are the actions of that name, which let the user choose.
            return _switch(word, rest)
        case _:
            return None


def read_shell(text: str) -> RunShell | None:
    """Return the command behind `!`, or behind `!!` where the model is not to know; None of another text."""
    if not text.startswith("!"):
        return None
    is_private = text.startswith("!!")
    command = text.removeprefix("!!" if is_private else "!").strip()
    return RunShell(command, is_private) if command else None


def why_not_sent(text: str) -> str:
    """Return why a text that is no command is not for the model either; empty where it is.

    A word with a mistake must not begin a run. A path is no such word.
    """
    if text.rstrip() in ("!", "!!"):
        return "Write a command behind it, for example !make test."
    word = text[1:].split(maxsplit=1)[0] if text.startswith("/") and text[1:].strip() else ""
    if not _WORD.fullmatch(word):
        return ""
    if word in SLASH_HELP:
        return f"It is written {SLASH_HELP[word]}."
    near = likest(word, (*SLASH_HELP, *SLASH_ACTIONS))
    hint = f"Did you mean /{near}?" if near else "F1 lists them."
    return f"There is no command /{word}. {hint} With a blank before the slash it is said to the model."


def _stop(rest: str) -> StopBranch | InterruptRun:
    number = rest.lower().removeprefix("branch").strip(" #")
    return StopBranch(BranchId(number)) if number else InterruptRun()


def _retry(rest: str, tree: GoalTree) -> Aimed:
    word, _, text = _needed(rest, "retry").partition(" ")
    goal_id = parse_goal_id(word)
    goal = tree.find(goal_id)
    if goal is None:
        raise GoalRefused(f"There is no goal {goal_id}.", SLASH_HELP["retry"])
    return Aimed(text.strip() or f"Do goal {goal_id} again.", f"retry:{goal_id}")


def _rewind(rest: str, tree: GoalTree) -> RewindTo:
    place, _, what = rest.partition(" ")
    if what.strip() not in ("", "files", "messages"):
        raise GoalRefused(f"{what.strip()!r} is neither files nor messages.", SLASH_HELP["rewind"])
    files, messages = what.strip() != "messages", what.strip() != "files"
    if place.startswith("turn:"):
        number = place.removeprefix("turn:")
        if not number.isdecimal():
            raise GoalRefused(f"{number!r} is no turn.", SLASH_HELP["rewind"])
        return RewindTo(turn=int(number), files=files, messages=messages)
    goal_id = parse_goal_id(place)
    if tree.find(goal_id) is None:
        raise GoalRefused(f"There is no goal {goal_id}.", SLASH_HELP["rewind"])
    return RewindTo(goal=goal_id, files=files, messages=messages)


def _agent(rest: str) -> SwitchAgent | CloseContext:
    word, _, name = rest.partition(" ")
    if word == "close":
        return CloseContext(_needed(name.strip(), "agent"))
    return SwitchAgent(rest.removeprefix("@"))


def _remember(rest: str) -> Remember:
    word, _, key = rest.partition(" ")
    if word == "forget":
        return Remember(_needed(key.strip(), "remember"), "")
    name, colon, text = rest.partition(":")
    if not colon or "\n" in name or len(name) > KEY_LIMIT_CHARS:
        return Remember("", rest)
    return Remember(name.strip(), _needed(text.strip(), "remember"))


def _memory(rest: str) -> SearchMemory | ForgetFact:
    word, _, words = rest.partition(" ")
    match word:
        case "forget":
            return ForgetFact(FactId(_needed(words.strip(), "memory")))
        case "search" | "list":
            # As on the command line.
            return SearchMemory(words.strip())
        case _:
            return SearchMemory(rest)


def _export(rest: str) -> ExportWanted:
    word, _, path = rest.partition(" ")
    if word in EXPORT_FORMS:
        return ExportWanted(word, path.strip())
    ending = rest.rpartition(".")[2].lower()
    if not rest or ending in EXPORT_FORMS:
        return ExportWanted(ending or EXPORT_FORMS[0], rest)
    raise GoalRefused(f"{rest!r} does not say in which form.", SLASH_HELP["export"])


def _switch(word: str, rest: str) -> ModelChosen | EffortChosen | ModeChosen:
    match word:
        case "model":
            return ModelChosen(rest)
        case "effort":
            return _effort(rest)
        case _:
            return _mode(rest)


def _effort(rest: str) -> EffortChosen:
    for effort in get_args(EffortChoice):
        if effort and effort == rest:
            return EffortChosen(effort)
    known = ", ".join(filter(None, get_args(EffortChoice)))
    raise GoalRefused(f"{rest!r} is no effort.", f"There are: {known}.")


def _mode(rest: str) -> ModeChosen:
    for mode in get_args(Mode):
        if mode == rest:
            return ModeChosen(mode)
    raise GoalRefused(f"{rest!r} is no mode.", SLASH_HELP["mode"])


def _needed(rest: str, word: str) -> str:
    if not rest:
        raise GoalRefused(f"Something is missing behind /{word}.", SLASH_HELP[word])
    return rest


__all__ = [
    "EXPORT_FORMS",
    "SLASH_HELP",
    "Aimed",
    "Asked",
    "Commanded",
    "EffortChosen",
    "ExportWanted",
    "MemoryWanted",
    "ModeChosen",
    "ModelChosen",
    "PlanEdited",
    "PlanPageWanted",
    "SessionCommand",
    "ThemeChosen",
    "read_shell",
    "read_slash",
    "why_not_sent",
]
