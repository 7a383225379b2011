"""What a model means that writes its calls as text: certain calls and steps, or what is wrong with them.

Pure. Must not run or record anything, nor take a guess for a call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tori_tui.context.call_fit import misfit
from tori_tui.context.loose_json import FoundObject, find_objects, read_object
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.request import ToolSpec

ACTIONS: Final = ("continue", "confirm", "ask_user", "abort", "next_plan", "done")

CALL_ACTIONS: Final = ("continue", "confirm")

NAME_KEYS: Final = ("name", "tool", "tool_name", "function")
ARGUMENT_KEYS: Final = ("arguments", "args", "parameters", "params", "input", "action_input")

_BETWEEN: Final = r"(?:\s|[,;\[\]]|```[\w-]*|</?tool_calls?>|\[TOOL_CALLS\])*"
"""What may stand around calls: fences, tags and the brackets of a list."""
_TAG: Final = re.compile(r"<tool_call>")
_ONLY_BETWEEN: Final = re.compile(_BETWEEN)
_FENCE_AT_END: Final = re.compile(r"(?:\s|\[|```[\w-]*|<tool_calls?>|\[TOOL_CALLS\])*\Z")


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call of a tool."""

    name: str
    arguments: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlanStep:
    """The current goal is reached; with `is_end` the mission is too."""

    goal_check: str
    is_end: bool = False


Step = WrittenCall | PlanStep


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply as it is meant."""

    prose: str
    """What stands before the steps, or the whole text where there are none."""
    steps: tuple[Step, ...] = ()
    problem: str = ""
    """What is wrong, naming the field; then there are no steps."""


def calls_in_text(text: str, tools: Sequence[ToolSpec], *, is_cut: bool = False) -> ReadReply:
    """Return the calls with which a text ends that was to hold none; no steps where any doubt is left.

    A problem is told only of what is meant as a call for certain: one of a known tool, or one in a tag.

    Args:
        text: A reply without native calls.
        tools: What the model was offered.
        is_cut: The reply ended at its limit.
    """
    nothing = ReadReply(text)
    objects = find_objects(text, is_cut=is_cut)
    if objects.broken_at is not None and _TAG.search(text):
        return ReadReply(text, problem=f"the JSON cannot be read: {objects.problem}")
    if objects.broken_at is not None or not objects.found:
        return nothing
    group = _last_group(text, objects.found)
    if not _is_between(text, group[-1].end, len(text)):
        return nothing
    # An earlier call makes the later ones follow a result that the model made up.
    if any(_plain_call(found.value) for found in objects.found[: -len(group)]):
        return nothing
    known = {tool.name: tool for tool in tools}
    calls: list[Step] = []
    for found in group:
        call = _plain_call(found.value)
        if call is None:
            return nothing
        if call.name not in known and not _TAG.search(text):
            return nothing
        try:
            calls.append(_checked(call, known))
        except _Wrong as wrong:
            return ReadReply(text, problem=str(wrong))
    return ReadReply(_preamble(text, group[0].start), tuple(calls))


def read_reply(text: str, tools: Sequence[ToolSpec], *, is_cut: bool = False) -> ReadReply:
    """Return what a reply in strict JSON asks for, or its one problem.

    Args:
        text: The whole reply.
        tools: What the model may call.
        is_cut: The reply ended at its limit.
    """
    objects = find_objects(text, is_cut=is_cut)
    known = {tool.name: tool for tool in tools}
    first = next((at for at, found in enumerate(objects.found) if _asks(found.value, known)), None)
    if first is None:
        return ReadReply(text, problem=_no_step(objects.problem, objects.found))
    steps: list[Step] = []
    end = objects.found[first].start
    for found in objects.found[first:]:
        # What comes behind other words was written on results that the model made up.
        if not _is_between(text, end, found.start):
            break
        end = found.end
        try:
            steps += _steps(found.value, known)
        except _Wrong as wrong:
            return ReadReply(text, problem=str(wrong))
    if objects.broken_at is not None and _is_between(text, end, objects.broken_at):
        return ReadReply(text, problem=f"the JSON cannot be read: {objects.problem}")
    return ReadReply(_preamble(text, objects.found[first].start), tuple(steps))


def written(step: Step, *, is_write: bool = False) -> str:
    """Return a step as a model is to write it; `read_reply` gives it back."""
    match step:
        case WrittenCall(name="ask_user" | "abort" as action, arguments=arguments):
            reply: dict[str, object] = {"action": action, **arguments}
        case WrittenCall(name=name, arguments=arguments):
            call = {"name": name, "arguments": dict(arguments)}
            reply = {"action": "confirm" if is_write else "continue", "tool_call": call}
        case PlanStep(goal_check=goal_check, is_end=is_end):
            reply = {"action": "done" if is_end else "next_plan", "goal_check": goal_check}
    return json.dumps(reply, ensure_ascii=False, default=str)


class _Wrong(ValueError):
    """A step that is not as it must be; says which field."""


def _steps(value: Mapping[str, object], known: Mapping[str, ToolSpec]) -> list[Step]:
    action = value.get("action")
    if action in ("next_plan", "done"):
        return [PlanStep(_text(value, "goal_check", str(action)), is_end=action == "done")]
    if action in ("ask_user", "abort") and not _is_call(value):
        return [_session_call(str(action), value, known)]
    if action in CALL_ACTIONS or action is None or action in known:
        return list(_calls(value, known))
    raise _Wrong(f"`action` is {str(action)[:40]!r}; it must be one of: {', '.join(ACTIONS)}")


def _calls(value: Mapping[str, object], known: Mapping[str, ToolSpec]) -> list[WrittenCall]:
    inner = value.get("tool_call", value.get("tool_calls"))
    if inner is None and not _is_call(value) and value.get("action") in CALL_ACTIONS:
        raise _Wrong("`tool_call` is missing")
    wanted = inner if isinstance(inner, list) else [value if inner is None else inner]
    if not wanted:
        raise _Wrong("`tool_call` is empty")
    return [_known_call(_object(item), known) for item in wanted]


def _known_call(value: Mapping[str, object], known: Mapping[str, ToolSpec]) -> WrittenCall:
    call = _call(value)
    if call is None:
        raise _Wrong('`tool_call` must be an object with "name" and "arguments"')
    return _checked(call, known)


def _checked(call: WrittenCall, known: Mapping[str, ToolSpec]) -> WrittenCall:
    if call.name not in known:
        raise _Wrong(f"`name` is {call.name[:40]!r}; the tools are: {', '.join(known)}")
    if problem := misfit(known[call.name], call.arguments):
        raise _Wrong(f"in the arguments of {call.name}, {problem}")
    return call


def _session_call(action: str, value: Mapping[str, object], known: Mapping[str, ToolSpec]) -> WrittenCall:
    key = "question" if action == "ask_user" else "reason"
    arguments: dict[str, object] = {key: _text(value, key, action)}
    if action not in known:
        raise _Wrong(f"`action` is {action!r}, which is not possible here")
    if action == "ask_user" and isinstance(options := value.get("options"), list):
        arguments["options"] = [str(option) for option in options]
    return WrittenCall(action, arguments)


def _text(value: Mapping[str, object], key: str, action: str) -> str:
    text = value.get(key)
    if not isinstance(text, str) or not text.strip():
        raise _Wrong(f"`{key}` is missing; {action} needs it as a text")
    return text


def _object(value: object) -> Mapping[str, object]:
    if isinstance(value, str):
        value = read_object(value)
    if not isinstance(value, dict):
        raise _Wrong('`tool_call` must be an object with "name" and "arguments"')
    return value


def _plain_call(value: Mapping[str, object]) -> WrittenCall | None:
    """Return a call that names tool and arguments and holds nothing that would mean something else."""
    inner = value.get("tool_call")
    if isinstance(inner, dict) and value.keys() <= {"action", "tool_call"}:
        value = inner
    has_arguments = any(key in value for key in ARGUMENT_KEYS) or isinstance(value.get("function"), dict)
    return _call(value) if has_arguments else None


def _is_call(value: Mapping[str, object]) -> bool:
    return _call(value) is not None


def _call(value: Mapping[str, object]) -> WrittenCall | None:
    name_key = next((key for key in NAME_KEYS if key in value), "")
    name = value.get(name_key)
    if isinstance(name, dict):
        return _call(name) if name_key == "function" else None
    if name is None and "action" in value and value["action"] not in ACTIONS:
        name_key, name = "action", value["action"]
    if not isinstance(name, str) or not name:
        return None
    rest = {key: part for key, part in value.items() if key not in (name_key, "action", "id", "type")}
    argument_key = next((key for key in ARGUMENT_KEYS if key in rest), "")
    arguments: object = rest.pop(argument_key) if argument_key else None
    if arguments is None and not argument_key:
        return WrittenCall(name, rest)
    if isinstance(arguments, str):
        arguments = read_object(arguments) if arguments.strip() else {}
    if arguments is None and value.get(argument_key) is None:
        arguments = {}
    return WrittenCall(name, arguments) if isinstance(arguments, dict) and not rest else None


def _asks(value: Mapping[str, object], known: Mapping[str, ToolSpec]) -> bool:
    """Whether an object is meant as a step, rightly written or not."""
    if "action" in value or "tool_call" in value or "tool_calls" in value:
        return True
    call = _call(value)
    has_arguments = any(key in value for key in ARGUMENT_KEYS)
    return call is not None and (call.name in known or has_arguments)


def _no_step(problem: str, found: Sequence[FoundObject]) -> str:
    if problem:
        return f"the JSON cannot be read: {problem}"
    return "`action` is missing" if found else "there is no JSON object with an `action`"


def _last_group(text: str, found: Sequence[FoundObject]) -> Sequence[FoundObject]:
    """Return the last objects between which no other words stand."""
    first = len(found) - 1
    while first > 0 and _is_between(text, found[first - 1].end, found[first].start):
        first -= 1
    return found[first:]


def _is_between(text: str, start: int, end: int) -> bool:
    between = _ONLY_BETWEEN.match(text, start, end)
    return between is not None and between.end() >= end


def _preamble(text: str, end: int) -> str:
    before = text[:end]
    opening = _FENCE_AT_END.search(before[-200:])
    cut = len(opening.group()) if opening else 0
    return before[: len(before) - cut].strip()


__all__ = [
    "ACTIONS",
    "PlanStep",
    "ReadReply",
    "Step",
    "WrittenCall",
    "calls_in_text",
    "read_reply",
    "written",
]
