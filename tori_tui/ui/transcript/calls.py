"""Tool calls and the user's own commands: each one block, from the model's writing to its result.

Must not decide where a call stands; the reply that holds it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from tori_tui.domain.events import ApprovalChanged, ToolOutputStreamed, ToolRunStarted
from tori_tui.domain.ids import CallId, GoalId
from tori_tui.domain.messages import SHELL, Message, ToolCall
from tori_tui.ui.transcript.block_list import BlockList
from tori_tui.ui.transcript.blocks import CallBlock, CallState
from tori_tui.ui.transcript.shell_blocks import ended_shell_block, shell_block

OUTPUT_TAIL_CHARS: Final = 20_000
"""What is kept of a running command's output: some screens; the whole stands in its file."""

_STATE_OF_APPROVAL: Final[dict[str, CallState]] = {
    "asked": "asked",
    "denied": "denied",
    "allowed": "waiting",
}


class Calls:
    """Keys of the calls' blocks."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._keys: dict[CallId, int] = {}
        self._running: set[CallId] = set()
        self._open: set[CallId] = set()
        """Those of the model's that have no result."""

    @property
    def is_any_running(self) -> bool:
        """Whether one runs, so that time changes the picture."""
        return bool(self._running)

    def key_of(self, call_id: CallId | None) -> int | None:
        """Return the key of a call's block, or None."""
        return self._keys.get(call_id) if call_id is not None else None

    def stand_at(self, calls: Iterable[ToolCall], keys: Iterable[int]) -> None:
        """Remember where the calls of a reply stand."""
        placed = dict(zip((call.id for call in calls), keys, strict=True))
        self._keys.update(placed)
        self._open.update(placed)

    def started(self, call_id: CallId) -> None:
        """An effect was announced."""
        self._change(call_id, state="running")

    def runs(self, event: ToolRunStarted, goal_id: GoalId | None, now_s: float) -> None:
        """A call runs, or a command of the user's own does."""
        if event.name == SHELL:
            self._keys[event.call_id] = self._blocks.add(shell_block(event, goal_id, now_s))
            self._running.add(event.call_id)
        else:
            self._change(event.call_id, state="running", title=event.title, started_s=now_s)

    def printed(self, event: ToolOutputStreamed) -> None:
        """More output came."""
        key = self._keys.get(event.call_id)
        block = self._blocks.get(key)
        if isinstance(block, CallBlock) and key is not None:
            output = (block.output + event.text)[-OUTPUT_TAIL_CHARS:]
            self._blocks.put(key, replace(block, output=output))

    def asked(self, event: ApprovalChanged) -> None:
        """The user was asked, or answered."""
        self._change(event.call_id, state=_STATE_OF_APPROVAL[event.state], title=event.title)
        key = self._keys.get(event.call_id)
        block = self._blocks.get(key)
        if isinstance(block, CallBlock) and key is not None and event.detail:
            self._blocks.put(key, replace(block, detail=event.detail))

    def ended(self, message: Message) -> None:
        """A call has its result."""
        if message.tool_call_id is None:
            return
        self._running.discard(message.tool_call_id)
        self._open.discard(message.tool_call_id)
        key = self._keys.get(message.tool_call_id)
        block = self._blocks.get(key)
        if not isinstance(block, CallBlock) or key is None:
            block = call_block(ToolCall(message.tool_call_id, message.name or "tool"), message)
            key = self._keys[message.tool_call_id] = self._blocks.add(block)
        state: CallState = "failed" if message.is_error else "done"
        done = replace(
            block,
            state="denied" if block.state == "denied" else state,
            output=message.text,
            details=message.details,
            duration_s=message.duration_s,
            full=message.full,
            started_s=None,
        )
        self._blocks.put(key, done)

    def left_open(self) -> None:
        """The run has ended; a call that has no result then was cut off by a kill."""
        for call_id in self._open:
            self._change(call_id, state="interrupted")
        self._open.clear()

    def shell_ended(self, message: Message) -> None:
        """A command of the user's own has ended."""
        call_id = CallId(str(message.details[SHELL]))
        self._running.discard(call_id)
        self._keys[call_id] = self._blocks.put_or_add(
            self._keys.get(call_id), ended_shell_block(call_id, message)
        )

    def forget(self) -> None:
        """Begin anew."""
        self._keys.clear()
        self._running.clear()
        self._open.clear()

    def _change(
        self, call_id: CallId, *, state: CallState, title: str = "", started_s: float | None = None
    ) -> None:
        key = self._keys.get(call_id)
        block = self._blocks.get(key)
        if not isinstance(block, CallBlock) or key is None or block.state in ("done", "failed"):
            return
        if state == "running":
            self._running.add(call_id)
        else:
            self._running.discard(call_id)
        block = replace(
            block,
            state=state,
            title=title or block.title,
            started_s=started_s if started_s is not None else block.started_s,
        )
        self._blocks.put(key, block)


def call_block(call: ToolCall, message: Message) -> CallBlock:
    """Return a call as the model wrote it."""
    state: CallState = "interrupted" if message.interrupted else "waiting"
    return CallBlock(
        call.id, call.name, call.arguments, call.arguments_raw, state=state, goal_id=message.goal_id
    )


__all__ = ["OUTPUT_TAIL_CHARS", "Calls", "call_block"]
