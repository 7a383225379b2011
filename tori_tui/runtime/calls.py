"""Runs the tool calls of a reply: goal calls first, then the others, results in call order.

Must not build requests or talk to a model. No tool's exception gets past this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tori_tui.domain.branches import is_resumable
from tori_tui.domain.events import ErrorOccurred, MessageAdded, ToolRunStarted
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import CallId, GoalId, Seq
from tori_tui.domain.messages import COLORS, ContentPart, JsonObject, Message, ToolCall
from tori_tui.domain.state import SessionState
from tori_tui.permission.redaction import Redactor
from tori_tui.runtime.gate import Gate
from tori_tui.runtime.goal_calls import GoalCalls, focus_after
from tori_tui.runtime.open_calls import Cause, OpenCallCloser
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.scope import Scopes
from tori_tui.tools.base import ArgumentsInvalid, Tool, ToolOutput
from tori_tui.trace.outputs import Outputs

RESULT_LIMIT_CHARS: Final = 100_000
"""No tool should come near it (read_file shows 50 KB); what does is kept whole in `outputs/`."""

GOAL_REFUSED: Final = "not run: goal refused"


@dataclass(frozen=True, slots=True)
class Finished:
    """A call that has its output."""

    output: ToolOutput
    duration_s: float


class CallRunner:
    """Runs the calls of one reply and records one result for each.

    Args:
        worked_s: A clock that stands while the user is waited for.
    """

    def __init__(
        self,
        *,
        recorder: Recorder,
        tools: Mapping[str, Tool],
        gate: Gate,
        scopes: Scopes,
        goal_calls: GoalCalls,
        closer: OpenCallCloser,
        redactor: Redactor,
        outputs: Outputs,
        worked_s: Callable[[], float],
        door: Callable[[SessionState, Message], Message],
    ) -> None:
        self._recorder = recorder
        self._tools = tools
        self._gate = gate
        self._scopes = scopes
        self._goal_calls = goal_calls
        self._closer = closer
        self._redactor = redactor
        self._outputs = outputs
        self._worked_s = worked_s
        self._checkpointing = scopes.checkpointing
        self._door = door
        self._finished: dict[CallId, Finished] = {}
        """Of the reply whose calls run, or ran last."""

    async def run(self, calls: Sequence[ToolCall], message_seq: Seq) -> str | None:
        """Run every call; results are recorded in call order, each as soon as those before it are.

        When cancelled, the cancellation goes on; `close_open_calls`, which says why, records what
        had finished with its own results.

        Returns:
            The reason of an `abort` call, or None.
        """
        finished = self._finished = {}
        is_changing = False
        try:
            refused = await self._run_goal_calls(calls, message_seq, finished)
            await self._record_finished(calls, finished)
            for batch in self._batches([call for call in calls if call.id not in finished]):
                if refused:
                    finished.update(
                        {c.id: Finished(ToolOutput(GOAL_REFUSED, is_error=True), 0.0) for c in batch}
                    )
                else:
                    if not is_changing and self._may_change_files(batch):
                        is_changing = True
                        await self._checkpointing.before("turn")
                    await self._run_batch(batch, finished)
                await self._record_finished(calls, finished)
        finally:
            if is_changing:
                self._checkpointing.after("turn")
        reasons = (f.output.abort_reason for f in finished.values() if f.output.abort_reason is not None)
        return next(reasons, None)

    def focus_after(self, tree: GoalTree, calls: Sequence[ToolCall]) -> GoalId | None:
        """Return the goal to which a reply's goal calls lead if every check is green."""
        return focus_after(tree, calls)

    def can_resume(self) -> bool:
        """Whether a killed session left a call of the present mission that can go on where it was."""
        state = self._recorder.state
        return any(is_resumable(state, call_id) for call_id in state.open_calls)

    async def resume(self) -> None:
        """Go on with such calls, and answer the others that were left open; results in call order."""
        finished = self._finished = {}
        calls = [open_call.call for open_call in self._recorder.state.open_calls.values()]
        for call in calls:
            if is_resumable(self._recorder.state, call.id):
                await self._run_one(call, finished)
        await self._record_finished(calls, finished, others_are="restarted")

    async def close_open_calls(self, cause: Cause) -> None:
        """Answer every call of the session that has no result, in call order."""
        calls = [open_call.call for open_call in self._recorder.state.open_calls.values()]
        await self._record_finished(calls, self._finished, others_are=cause)

    async def _run_goal_calls(
        self, calls: Sequence[ToolCall], message_seq: Seq, finished: dict[CallId, Finished]
    ) -> bool:
        refused = False
        for call in calls:
            if call.name != "goal":
                continue
            began_s = self._worked_s()
            output = ToolOutput(GOAL_REFUSED, is_error=True)
            if not refused:
                await self._checkpointing.before("goal")
                output = await self._goal_calls.run(call, message_seq)
            finished[call.id] = Finished(output, self._worked_s() - began_s)
            refused = refused or output.is_error
        return refused

    def _may_change_files(self, batch: Sequence[ToolCall]) -> bool:
        tools = (self._tools.get(call.name) for call in batch)
        return any(tool is not None and tool.effect in ("write", "execute") for tool in tools)

    def _batches(self, calls: Sequence[ToolCall]) -> Iterator[Sequence[ToolCall]]:
        """Group neighbouring calls that only read, which run at once; every other runs alone."""
        batch: list[ToolCall] = []
        for call in calls:
            tool = self._tools.get(call.name)
            if tool is not None and tool.effect == "read":
                batch.append(call)
                continue
            if batch:
                yield tuple(batch)
                batch.clear()
            yield (call,)
        if batch:
            yield tuple(batch)

    async def _run_batch(self, batch: Sequence[ToolCall], finished: dict[CallId, Finished]) -> None:
        async with asyncio.TaskGroup() as group:
            for call in batch:
                group.create_task(self._run_one(call, finished))

    async def _run_one(self, call: ToolCall, finished: dict[CallId, Finished]) -> None:
        began_s = self._worked_s()
        try:
            output = await self._output_of(call)
        except ArgumentsInvalid as error:
            output = ToolOutput(str(error), is_error=True)
        except Exception as error:
            # A fault of ours: the model is told and the run goes on, the user sees what it was.
            text = f"{call.name} failed inside tori: {type(error).__name__}: {error}"
            await self._recorder.record(ErrorOccurred("tool", text, "Please report it with the trace."))
            output = ToolOutput(f"{text}\nTry another way.", is_error=True)
        finished[call.id] = Finished(output, self._worked_s() - began_s)

    async def _output_of(self, call: ToolCall) -> ToolOutput:
        tool = self._tools.get(call.name)
        if tool is None or not self._gate.has_tool(call.name):
            known = ", ".join(name for name in self._tools if self._gate.has_tool(name))
            return ToolOutput(f"There is no tool {call.name!r}. The tools are: {known}.", is_error=True)
        if call.arguments_raw is not None:
            return ToolOutput(
                f"The arguments of {call.name} are not one JSON object, so it was not run: "
                f"{call.arguments_raw[:200]!r}. Send the call again with valid JSON.",
                is_error=True,
            )
        preview = await tool.preview(call.arguments)
        denied = await self._gate.refusal(call, tool, preview)
        if denied is not None:
            return denied
        self._recorder.announce(ToolRunStarted(call.id, call.name, self._redactor.redact(preview.title)))
        return await tool.run(call.arguments, self._scopes.open(call))

    async def _record_finished(
        self, calls: Sequence[ToolCall], finished: Mapping[CallId, Finished], others_are: Cause | None = None
    ) -> None:
        """Record results in call order up to the first call that has none; with a cause, all."""
        for call in calls:
            open_call = self._recorder.state.open_calls.get(call.id)
            if open_call is None:
                continue
            done = finished.get(call.id)
            if done is None and others_are is None:
                return
            if done is None and others_are is not None:
                answer = self._closer.answer(self._recorder.state, open_call, others_are)
                done = Finished(answer, 0.0)
            if done is not None:
                for changed in done.output.memory:
                    await self._recorder.record(replace(changed, text=self._redactor.redact(changed.text)))
                result = self._door(self._recorder.state, self._result(call, done))
                await self._recorder.record(MessageAdded(result))

    def _result(self, call: ToolCall, done: Finished) -> Message:
        open_call = self._recorder.state.open_calls[call.id]
        output = self._bounded(done.output)
        text = self._redactor.redact(output.text)
        details = self._redacted(output.details)
        if text != output.text:
            # Places in a text mean nothing where something was taken out of it.
            details = {key: value for key, value in details.items() if key != COLORS}
        return Message(
            context=open_call.context,
            goal_id=open_call.goal_id,
            role="tool",
            content=(ContentPart("text", text), *output.images) if output.images else text,
            origin="tool",
            tool_call_id=call.id,
            name=call.name,
            is_error=output.is_error,
            duration_s=round(done.duration_s, 3),
            full=output.full,
            details=details,
        )

    def _bounded(self, output: ToolOutput) -> ToolOutput:
        if len(output.text) <= RESULT_LIMIT_CHARS:
            return output
        name = output.full or self._outputs.keep_text(self._redactor.redact(output.text))
        half = RESULT_LIMIT_CHARS // 2
        left_out = len(output.text) - 2 * half
        text = f"{output.text[:half]}\n[… {left_out:,} characters left out; whole in outputs/{name}]\n"
        return replace(output, text=text + output.text[-half:], full=name)

    def _redacted(self, details: JsonObject) -> JsonObject:
        return {
            key: self._redactor.redact(value) if isinstance(value, str) else value
            for key, value in details.items()
        }


__all__ = ["GOAL_REFUSED", "CallRunner"]
