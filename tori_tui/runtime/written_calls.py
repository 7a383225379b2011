"""Calls that a model writes as text: requests in strict JSON, and replies read for what they mean.

Loaded at the first request or reply that needs it; native calls never do. Must not record anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from typing import Final

from tori_tui.context.build import BuiltRequest
from tori_tui.context.plan import plan_block
from tori_tui.context.read_reply import PlanStep, Step, WrittenCall, calls_in_text, read_reply
from tori_tui.context.strict_json import Rounds, strict_json
from tori_tui.context.tokens import estimate_message, estimate_tokens
from tori_tui.domain.events import Section
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import CallId
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.request import ModelRequest, ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.domain.view import numbered
from tori_tui.providers.fold import Reply
from tori_tui.runtime.understood import Understood

NO_PLAN: Final = (
    "`action` is 'next_plan', but there is no plan; write `done`, or add goals with the tool goal"
)

WRITE_AGAIN: Final = "Answer again with one JSON object only."

CALL_AGAIN: Final = "Make the call again, with the tools that you are given."


class WrittenCalls:
    """Writes and reads them for one session.

    Args:
        tools: What the model may call.
        turns_limit: Of a run, for models that are told; None is no limit.
        new_id: Gives an id for a call that has none.
    """

    def __init__(self, tools: Sequence[ToolSpec], turns_limit: int | None, new_id: Callable[[], str]) -> None:
        self._tools = tuple(tools)
        self._turns_limit = turns_limit
        self._new_id = new_id

    def encode(self, built: BuiltRequest, state: SessionState) -> BuiltRequest:
        """Return the request in strict JSON."""
        rounds = Rounds(_round(state), self._turns_limit)
        native = replace(built.request, messages=_whole(built.request, state))
        request = strict_json(native, plan=plan_block(state.tree), tree=state.tree, rounds=rounds)
        sections, texts = _sections(request, built)
        # What is valid changes with every call, so no request extends the one before it.
        rewrite = "strict JSON" if state.last_turns.get(request.context) else None
        return replace(built, request=request, sections=sections, texts=texts, rewrite=rewrite)

    def in_text(self, reply: Reply, tree: GoalTree, used: Container[str]) -> Understood:
        """Return what a reply means whose calls may stand in its text, though it was not asked for that."""
        is_cut = reply.stop_reason == "length"
        reading = calls_in_text(reply.content, self._tools, is_cut=is_cut)
        if not reading.steps:
            problem = "" if is_cut else reading.problem
            return Understood(reply, problem=problem, remedy=CALL_AGAIN)
        return Understood(self._with_steps(reply, reading.prose, reading.steps, used, tree))

    def in_json(self, reply: Reply, tree: GoalTree, used: Container[str]) -> Understood:
        """Return what a reply means that was asked for in strict JSON."""
        is_cut = reply.stop_reason == "length"
        reading = read_reply(reply.content, self._tools, is_cut=is_cut)
        if reading.problem:
            return Understood(reply, problem="" if is_cut else reading.problem, remedy=WRITE_AGAIN)
        plan_steps = [step for step in reading.steps if isinstance(step, PlanStep)]
        if any(not step.is_end for step in plan_steps) and not tree.open_goals:
            return Understood(reply, problem=NO_PLAN, remedy=WRITE_AGAIN)
        answer = next((step.goal_check for step in plan_steps if step.is_end), None)
        meant = self._with_steps(reply, reading.prose, reading.steps, used, tree)
        return Understood(meant, answer)

    def _with_steps(
        self, reply: Reply, prose: str, steps: Sequence[Step], used: Container[str], tree: GoalTree
    ) -> Reply:
        calls: list[ToolCall] = []
        for call in (call for step in steps for call in _calls_of(step, tree)):
            taken = {str(earlier.id) for earlier in calls}
            call_id = self._new_id()
            while call_id in used or call_id in taken:
                call_id = self._new_id()
            calls.append(ToolCall(CallId(call_id), call.name, call.arguments))
        return replace(reply, content=prose, tool_calls=tuple(calls))


def _calls_of(step: Step, tree: GoalTree) -> Iterator[WrittenCall]:
    """Yield a step's calls: a plan step ends the current goal, and those of which it was the last part."""
    if isinstance(step, WrittenCall):
        yield step
        return
    upcoming = tree.next_pending()
    focus = {} if step.is_end or upcoming is None else {"focus": str(upcoming.id)}
    ended = _ended_with(tree)
    for place in range(len(ended), 0, -1):
        yield WrittenCall("goal", {"done": step.goal_check, **(focus if place == 1 else {})})
    if focus and not ended:
        yield WrittenCall("goal", focus)


def _ended_with(tree: GoalTree) -> list[str]:
    """Return the focused goal and the goals above it of which nothing else is open, lowest first."""
    path = tree.path_to(tree.current_id) if tree.current_id else ()
    ended: list[str] = []
    for goal in reversed(path):
        if not goal.is_open or (ended and any(c.is_open and c.id != ended[-1] for c in goal.children)):
            break
        ended.append(goal.id)
    return ended


def _round(state: SessionState) -> int:
    """Return the number of the next request since the user's last word."""
    n_replies = 0
    for entry in reversed(state.log):
        if entry.message.origin == "user":
            break
        n_replies += entry.message.role == "assistant"
    return n_replies + 1


def _whole(request: ModelRequest, state: SessionState) -> tuple[Message, ...]:
    """Return the messages with what pointers leave out: the messages they point to are not shown here."""
    wholes = {
        entry.said.tool_call_id: replace(entry.said, content=numbered(entry.said.text, entry.seqs[0]))
        for entry in state.view(request.context).entries
        if entry.is_pointer
    }
    return tuple(wholes.get(m.tool_call_id, m) if m.role == "tool" else m for m in request.messages)


def _sections(request: ModelRequest, native: BuiltRequest) -> tuple[tuple[Section, ...], dict[str, str]]:
    texts = {_digest(block.text): block.text for block in request.system}
    parts = [Section(b.name, estimate_tokens(b.text), _digest(b.text)) for b in request.system]
    tokens = sum(estimate_message(message) for message in request.messages)
    seqs = next((part.seqs for part in native.sections if part.name == "messages"), ())
    return (*parts, Section("messages", tokens, seqs=seqs)), texts


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


__all__ = ["WrittenCalls"]
