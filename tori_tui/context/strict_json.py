"""The strict-JSON protocol: a request for models that take no tools, made from the native one.

Pure. Shows the same view in another form; must not decide what the view holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final

from tori_tui.context.earlier_calls import Exchange, earlier_text
from tori_tui.context.read_reply import PlanStep, Step, WrittenCall, written
from tori_tui.context.system_prompt import rules_text
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import ContextId
from tori_tui.domain.messages import CORRECTION, JsonObject, Message, Role, ToolCall
from tori_tui.domain.plan_text import goal_title, one_line
from tori_tui.domain.request import ModelRequest, SystemBlock, ToolSpec

WRITING_TOOLS: Final = frozenset({"write_file", "edit_file", "bash", "adopt"})
"""Calls that are written with `confirm`."""

ACTION_TOOLS: Final = frozenset({"ask_user", "abort"})
"""Actions of their own, not in the list of tools."""

HIDDEN_PARAMETERS: Final[Mapping[str, frozenset[str]]] = {"goal": frozenset({"done"})}
"""`next_plan` and `done` stand for them."""

PLAN_KEYS: Final = frozenset({"done", "focus"})
"""A goal call with no more than these is what `next_plan` stands for."""

PINNED_SHARE: Final = 0.25
"""Of the window: what earlier results may take word for word."""
PINNED_LIMIT_TOKENS: Final = 16_000

STEP_LIMIT_CHARS: Final = 200
CHECK_LIMIT_CHARS: Final = 200

TRIGGER: Final = "Go on. Answer with one JSON object with an `action`, strict JSON only."

EXAMPLES: Final[Mapping[str, object]] = {
    "string": "...",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": ["..."],
    "object": {},
}


@dataclass(frozen=True, slots=True)
class Rounds:
    """Where a run stands."""

    number: int
    """Of the request; the first of a run is 1."""
    limit: int | None = None


def strict_json(request: ModelRequest, *, plan: str, tree: GoalTree, rounds: Rounds) -> ModelRequest:
    """Return the request without tools, in the form in which every answer is one JSON object.

    Args:
        request: The same request for a model that takes tools.
        plan: The plan as it is now.
        tree: Tells the current step.
        rounds: Where the run stands.
    """
    kept = [block for block in request.system if block.name not in ("rules", "plan")]
    system = (
        SystemBlock("rules", _rules(request.system)),
        SystemBlock("tools", tools_text(request.tools)),
        *kept,
        SystemBlock("run", run_text(tree, rounds)),
        SystemBlock("plan", plan),
    )
    messages = tuple(_messages(request))
    return replace(request, system=system, messages=messages, tools=(), late_system=None, cache_marks=())


@cache
def strict_rules() -> str:
    """Return the rules of the protocol."""
    return (Path(__file__).with_name("prompts") / "strict_json.md").read_text("utf-8").strip()


def _rules(system: Sequence[SystemBlock]) -> str:
    """Return the protocol's rules, and behind them those of an agent that has its own."""
    own = [block.text for block in system if block.name == "rules" and block.text != rules_text()]
    return "\n\n".join([strict_rules(), *own])


# ── tools ────────────────────────────────────────────────────────────────────────────────


def tools_text(tools: Sequence[ToolSpec]) -> str:
    """Return the tools with purpose, parameters and the smallest call of each."""
    return "\n\n".join(["# Tools", *(_tool(tool) for tool in tools if tool.name not in ACTION_TOOLS)])


def _tool(tool: ToolSpec) -> str:
    hidden = HIDDEN_PARAMETERS.get(tool.name, frozenset())
    properties = tool.parameters.get("properties")
    known = {name: _mapping(schema) for name, schema in _mapping(properties).items() if name not in hidden}
    required = tool.parameters.get("required")
    needed = [name for name in known if isinstance(required, Sequence) and name in required]
    lines = [f"## {tool.name}", tool.description]
    lines += [f"- {_parameter(name, schema, name in needed)}" for name, schema in known.items()]
    wanted = needed or list(known)[:1]
    call = WrittenCall(tool.name, {name: _example(known[name]) for name in wanted})
    lines.append(written(call, is_write=tool.name in WRITING_TOOLS))
    return "\n".join(lines)


def _parameter(name: str, schema: JsonObject, is_needed: bool) -> str:
    choices = schema.get("enum")
    kind = " | ".join(map(str, choices)) if isinstance(choices, Sequence) else _kind(schema)
    told = f": {schema['description']}" if schema.get("description") else ""
    return f"{name} ({kind}{', required' if is_needed else ''}){told}"


def _kind(schema: JsonObject) -> str:
    choices = schema.get("anyOf")
    if isinstance(choices, Sequence):
        return " or ".join(_kind(_mapping(choice)) for choice in choices)
    return str(schema.get("type", "any"))


def _example(schema: JsonObject) -> object:
    choices = schema.get("enum", schema.get("anyOf"))
    if isinstance(choices, Sequence) and choices:
        return _example(choices[0]) if isinstance(choices[0], Mapping) else choices[0]
    return EXAMPLES.get(str(schema.get("type")), "...")


def _mapping(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


# ── run state ────────────────────────────────────────────────────────────────────────────


def run_text(tree: GoalTree, rounds: Rounds) -> str:
    """Return where the run stands: round, current step, how that is known to be reached."""
    goal, mission = tree.current, tree.current_mission
    limit = f"/{rounds.limit}" if rounds.limit is not None else ""
    check = goal.check if goal else mission.check if mission else None
    if check:
        told = f"`{one_line(check, CHECK_LIMIT_CHARS)}` must exit with 0"
    else:
        told = "none; say in goal_check how you know"
    return "\n".join(
        [
            "# Run",
            f"Round: {rounds.number}{limit}",
            f"Current step: {goal_title(goal, STEP_LIMIT_CHARS) if goal else 'the mission as a whole'}",
            f"Completion check: {told}",
        ]
    )


# ── history ──────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Told:
    """The messages of a request, sorted by what they are."""

    words: list[Message] = field(default_factory=list)
    folds: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    newest: list[Message] = field(default_factory=list)
    """What stands behind the last result."""


def _messages(request: ModelRequest) -> Iterator[Message]:
    told = _sorted(request.messages)
    yield from told.words
    last = told.exchanges[-1] if told.exchanges else None
    limit = min(PINNED_LIMIT_TOKENS, int(PINNED_SHARE * request.profile.window_tokens))
    known = earlier_text(told.folds, told.said, told.answers, told.exchanges[:-1], limit)
    if known:
        yield _said(request.context, "assistant", known)
    if last is not None:
        yield from _pair(request, last)
    yield from told.newest
    yield _said(request.context, "user", TRIGGER)


def _sorted(messages: Sequence[Message]) -> _Told:
    told = _Told()
    calls: dict[str, ToolCall] = {}
    for at, message in enumerate(messages):
        if message.role == "tool":
            call = calls.get(message.tool_call_id or "")
            if call is not None:
                told.exchanges.append(Exchange(call, message))
                told.words += [word for word in told.newest if word.is_users_word]
                told.newest.clear()
        elif message.role == "assistant":
            calls |= {call.id: call for call in message.tool_calls}
            if message.tool_calls:
                told.said.append(message.text)
            elif _is_corrected(messages, at):
                told.newest.append(message)
            else:
                told.answers.append(message.text)
        elif message.origin == "fold":
            told.folds.append(message.text)
        else:
            told.newest.append(message)
    if not told.exchanges:
        # Nothing was called yet: the user's words stand where they always stand.
        told.words = [word for word in told.newest if word.is_users_word]
        told.newest = [message for message in told.newest if not message.is_users_word]
    return told


def _is_corrected(messages: Sequence[Message], at: int) -> bool:
    return at + 1 < len(messages) and CORRECTION in messages[at + 1].details


def _pair(request: ModelRequest, last: Exchange) -> Iterator[Message]:
    """Yield the last call and its result as the model's and the next word."""
    if request.profile.tool_role:
        yield Message(request.context, last.result.goal_id, "assistant", "", tool_calls=(last.call,))
        yield last.result
        return
    step, name = _step(last.call)
    yield _said(request.context, "assistant", written(step, is_write=name in WRITING_TOOLS))
    failed = " (failed)" if last.result.is_error else ""
    yield _said(request.context, "user", f"Result of {name}{failed}:\n{last.result.text}")


def _step(call: ToolCall) -> tuple[Step, str]:
    """Return a call as the protocol writes it, and what it is called there."""
    done = call.arguments.get("done")
    if call.name == "goal" and isinstance(done, str) and done.strip() and call.arguments.keys() <= PLAN_KEYS:
        return PlanStep(done), "next_plan"
    return WrittenCall(call.name, call.arguments), call.name


def _said(context: ContextId, role: Role, text: str) -> Message:
    return Message(context, None, role, text, origin="model" if role == "assistant" else "runner")


__all__ = ["TRIGGER", "Rounds", "run_text", "strict_json", "strict_rules", "tools_text"]
