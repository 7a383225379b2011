"""The real view engine as a policy of the context economy meter: `create()` and one factory a profile.

Must hold no rule of its own: events become records, records become a state, and what `build_request`
returns for it is handed over message by message, the plan included where it is sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final, Literal, Protocol

from tori_tui.context.build import BuiltRequest, Prefix, build_request
from tori_tui.context.due import Sizes
from tori_tui.context.engine import ViewEngine
from tori_tui.context.marks import input_limit, marks_for
from tori_tui.context.messages import ShownMessages
from tori_tui.context.plan import plan_block
from tori_tui.context.system_prompt import SystemParts
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.events import DurableEvent, MessageAdded, PlanChanged, Record, TurnFinished
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, MissionId
from tori_tui.domain.messages import JsonObject, Message, ToolCall
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalCompleted, GoalFocused, MissionOpened
from tori_tui.domain.request import ModelProfile
from tori_tui.domain.state import SessionState, reduce

READERS: Final = frozenset({"read", "read_file", "view", "open", "notebookread"})
EDITORS: Final = frozenset(
    {"edit", "multiedit", "write", "notebookedit", "apply_patch", "edit_file", "write_file", "create"}
)
SEARCHERS: Final = frozenset(
    {"grep", "grep_files", "glob", "glob_files", "ls", "find", "search", "toolsearch"}
)
PLANNERS: Final = frozenset({"todowrite", "todoread", "update_plan", "taskupdate", "taskcreate", "tasklist"})
PATH_KEYS: Final = ("path", "file_path", "filename", "notebook_path", "file")
NO_SYSTEM: Final = SystemParts("", "")

MeterMessage: Final[Callable[..., Any]] = import_module("meter").Message
"""Given by the meter, which is loaded with its own folder on the path."""


class RunMeta(Protocol):
    """What the meter tells before a run."""

    window: int
    output_limit: int
    cache_ttl: float
    fixed_tokens: int
    count: Callable[[str], int]


class MeterCall(Protocol):
    """A recorded call; `args` is its raw text."""

    id: str
    name: str
    args: str


class ToriPolicy:
    """One session under measurement."""

    def __init__(self, profile_name: str, *, sends_plan: bool = True) -> None:
        self._profile_name = profile_name
        self._sends_plan = sends_plan
        self.name = f"tori {profile_name}" + ("" if sends_plan else ", no plan")

    def start(self, meta: RunMeta) -> None:
        self._meta = meta
        self._state = SessionState()
        tokens = TokenMeter(meta.count)
        self._tokens = tokens
        self._engine = ViewEngine(tokens.count_message, meta.count)
        self._model = ModelProfile(
            "openai/m", "openai", "m", "m", meta.window, meta.output_limit, late_system=True
        )
        self._shown = ShownMessages(MAIN_CONTEXT, meta.window, tokens.count_message)
        self._before: Prefix | None = None
        self._answered_at: float | None = None
        self._words = ""
        # The message is held beside its translation, so that its id is not given to another one.
        self._told: dict[int, tuple[Message, object]] = {}

    def user(self, text: str, t: float) -> None:
        self._words = text
        said = Message(MAIN_CONTEXT, self._state.tree.current_id, "user", text, origin="user")
        self._say(said, MeterMessage("user", text), t)

    def assistant(self, text: str, tool_calls: Sequence[MeterCall], t: float) -> None:
        self._answered_at = t
        number = self._state.n_turns + 1
        turn = TurnFinished(number, MAIN_CONTEXT, self._state.tree.current_id, "openai/m", "end")
        self._record(turn, t)
        calls = tuple(_call(call) for call in tool_calls)
        said = Message(MAIN_CONTEXT, self._state.tree.current_id, "assistant", text, tool_calls=calls)
        self._say(said, MeterMessage("assistant", text, tuple(tool_calls)), t)

    def tool_result(self, call_id: str, name: str, args: str, text: str, is_error: bool, t: float) -> None:
        known = _call(_Call(call_id, name, args))
        path = known.arguments.get("path")
        details: JsonObject = {"path": path} if isinstance(path, str) else {}
        if known.name == "edit_file" and isinstance(path, str) and not is_error:
            details = {"path": path, "changed_paths": [path]}
        open_call = self._state.open_calls.get(CallId(call_id))
        said = Message(
            MAIN_CONTEXT,
            open_call.goal_id if open_call else self._state.tree.current_id,
            "tool",
            text,
            origin="tool",
            tool_call_id=CallId(call_id),
            name=known.name,
            is_error=is_error,
            details=details,
        )
        self._record(MessageAdded(self._engine.at_the_door(self._state, said)), t)

    def goal_started(self, goal_id: str, parent_id: str | None, description: str) -> None:
        if parent_id is None:
            mission = MissionOpened(MissionId(f"m{len(self._state.tree.missions) + 1}"), self._words)
            self._record(PlanChanged((mission,), "user"))
        parent = GoalId(parent_id) if parent_id else None
        added = GoalAdded(GoalId(goal_id), parent, description)
        self._record(PlanChanged((added, GoalFocused(GoalId(goal_id))), "model"))

    def goal_ended(
        self, goal_id: str, kind: Literal["root", "sub"], outcome: Literal["done", "abandoned"], summary: str
    ) -> None:
        ended = GoalId(goal_id)
        parent = self._state.tree.parent_of(ended)
        edit = GoalCompleted(ended, summary) if outcome == "done" else GoalAbandoned(ended, summary)
        self._record(PlanChanged((edit, GoalFocused(parent.id if parent else None)), "model"))

    def request(self, now: float) -> list[object]:
        meta = self._meta
        plan = plan_block(self._state.tree) if self._sends_plan else ""
        idle_s = now - self._answered_at if self._answered_at is not None else 0.0
        sizes = Sizes(
            self._profile_name,
            marks_for(self._profile_name, self._model, meta.window),
            input_limit(self._model, meta.window),
            meta.fixed_tokens + meta.count(plan),
            bool(meta.cache_ttl and idle_s > meta.cache_ttl),
        )
        if (rewrite := self._engine.due(self._state, MAIN_CONTEXT, sizes)) is not None:
            self._record(rewrite, now)
        built = build_request(
            self._state,
            context=MAIN_CONTEXT,
            profile=self._model,
            system=NO_SYSTEM,
            placement="late",
            before=self._before,
            shown=self._shown,
        )
        self._before = built.prefix
        return self._messages(built)

    def _messages(self, built: BuiltRequest) -> list[object]:
        request = built.request
        messages = [self._message(message) for message in request.messages]
        if self._sends_plan and request.late_system:
            messages.append(MeterMessage("system", request.late_system, summary=True))
        return messages

    def _message(self, message: Message) -> object:
        known = self._told.get(id(message))
        if known is None:
            call_id = str(message.tool_call_id) if message.tool_call_id else None
            told = MeterMessage(
                message.role, message.text, tool_call_id=call_id, summary=message.origin == "fold"
            )
            known = self._told[id(message)] = (message, told)
        return known[1]

    def _say(self, message: Message, told: object, t: float) -> None:
        self._told[id(message)] = (message, told)
        self._record(MessageAdded(message), t)

    def _record(self, event: DurableEvent, t: float = 0.0) -> None:
        self._state = reduce(self._state, Record(self._state.next_seq, datetime.fromtimestamp(t, UTC), event))


@dataclass
class _Call:
    id: str
    name: str
    args: str


def _call(call: MeterCall) -> ToolCall:
    """Return a recorded call under the name that tori has for such a tool."""
    try:
        arguments = json.loads(call.args)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(CallId(call.id), _tool_name(call.name, {}), {}, call.args)
    path = next((arguments[key] for key in PATH_KEYS if isinstance(arguments.get(key), str)), None)
    named = {"path": path, **arguments} if path else arguments
    return ToolCall(CallId(call.id), _tool_name(call.name, arguments), named)


def _tool_name(name: str, arguments: JsonObject) -> str:
    lower = name.lower()
    if lower in EDITORS:
        return "edit_file"
    if lower in READERS:
        return "read_file"
    if lower in SEARCHERS:
        return "grep_files"
    if lower in PLANNERS:
        return "goal"
    return "bash" if {"command", "cmd", "script"} & set(arguments) or not arguments else lower


def create() -> ToriPolicy:
    """The default profile with its plan behind the history."""
    return ToriPolicy("balanced")


def balanced_without_plan() -> ToriPolicy:
    return ToriPolicy("balanced", sends_plan=False)


def rich() -> ToriPolicy:
    return ToriPolicy("rich")


def rich_without_plan() -> ToriPolicy:
    return ToriPolicy("rich", sends_plan=False)


def economy() -> ToriPolicy:
    return ToriPolicy("economy")


def economy_without_plan() -> ToriPolicy:
    return ToriPolicy("economy", sends_plan=False)


__all__ = [
    "ToriPolicy",
    "balanced_without_plan",
    "create",
    "economy",
    "economy_without_plan",
    "rich",
    "rich_without_plan",
]
