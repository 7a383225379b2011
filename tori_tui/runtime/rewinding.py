"""Goes back to an earlier moment of the session, and forth again: records, then files, then records.

Must not decide which files go back; `restore_plan` does, from who changed them. Only in an idle session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, cast

from tori_tui.domain.events import MessageAdded, Rewound
from tori_tui.domain.ids import GoalId, Seq, TraceId
from tori_tui.domain.messages import Message
from tori_tui.domain.moments import SavedPoint
from tori_tui.domain.rewind import RewindRefused, befores_since, find_point, next_undo, saved_since
from tori_tui.domain.rewind_words import NAMED_PATHS, paths_told
from tori_tui.domain.state import SessionState
from tori_tui.runtime.checkpointing import Checkpointing
from tori_tui.runtime.recorder import Recorder
from tori_tui.tools.changes import uninterrupted
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.file_modes import read_modes
from tori_tui.workspace.restore import Journal, begin, forget, left_by_kill
from tori_tui.workspace.restore_plan import RestorePlan, SavedState, plan_restore
from tori_tui.workspace.shadow_git import GitFailed, ShadowGit
from tori_tui.workspace.tree_changes import changes_between


@dataclass(frozen=True, slots=True)
class RewindPlan:
    """What a rewind would do."""

    event: Rewound
    files: RestorePlan


class Rewinding:
    """The going back of one session."""

    def __init__(
        self, recorder: Recorder, checkpointing: Checkpointing, trace_id: TraceId, outputs: Path
    ) -> None:
        self._recorder = recorder
        self.checkpointing = checkpointing
        self._trace_id = trace_id
        self._outputs = outputs

    @property
    def state(self) -> SessionState:
        """The session as it stands now."""
        return self._recorder.state

    async def plan(
        self,
        *,
        goal: GoalId | None = None,
        turn: int | None = None,
        files: bool = True,
        messages: bool = True,
    ) -> RewindPlan:
        """Return what going back to a goal's or a turn's beginning would do; the present is saved for it.

        Raises:
            RewindRefused: There is no such point, or nothing was saved of the files.
        """
        point = find_point(self._recorder.state, goal=goal, turn=turn)
        return await self._planned(Rewound(point.seq, messages, files, "rewind", point.title))

    async def plan_next(self, how: Literal["undo", "redo"]) -> RewindPlan:
        """Return what undoing the newest rewind, or redoing it, would do.

        Raises:
            RewindRefused: There is nothing to undo or redo.
        """
        return await self._planned(next_undo(self._recorder.state, how))

    async def carry_out(self, plan: RewindPlan, *, tells_model: bool = True) -> Rewound:
        """Go back; a kill on the way leaves the old state or, once the trace is opened, the new one."""
        event = plan.event
        checkpoints = self.checkpointing.checkpoints
        if event.files and checkpoints is not None:
            event = replace(
                event,
                restored=tuple(step.path for step in plan.files.steps),
                kept=plan.files.kept,
                left_alone=plan.files.left_alone,
            )
            await self._recorder.sync()
            note = asdict(event) | {"seq": self._recorder.state.next_seq}
            journal = Journal(self._trace_id, str(self._outputs), plan.files.steps, note)
            left_alone = await uninterrupted(lambda: begin(checkpoints.shadow, journal))
            event = _without(event, left_alone)
        await self._recorder.record(event)
        await self._recorder.sync()
        if event.files and checkpoints is not None:
            await asyncio.to_thread(forget, checkpoints.shadow, self._trace_id)
            await self.checkpointing.save_now("rewind", "agent")
        if tells_model:
            await self._tell(event)
        return event

    async def recover(self) -> None:
        """Record a rewind that a kill cut off after its files were written down; they are restored now."""
        checkpoints = self.checkpointing.checkpoints
        if checkpoints is None:
            return
        journal = await asyncio.to_thread(left_by_kill, checkpoints.shadow, self._trace_id)
        if journal is None:
            return
        if journal.note.get("seq") == self._recorder.state.next_seq:
            await self._recorder.record(_rewound(journal.note))
            await self._recorder.sync()
        await asyncio.to_thread(forget, checkpoints.shadow, self._trace_id)
        await self.checkpointing.save_now("rewind", "agent")

    async def _planned(self, event: Rewound) -> RewindPlan:
        if not event.files:
            return RewindPlan(event, RestorePlan())
        await self.checkpointing.save_now("before rewind", "user")
        checkpoints = self.checkpointing.checkpoints
        chain = saved_since(self._recorder.state, event.to_seq)
        if checkpoints is None or not chain:
            if not event.messages:
                raise RewindRefused("Nothing was saved of the files.", "Checkpoints need a git program.")
            return RewindPlan(replace(event, files=False), RestorePlan())
        befores = befores_since(self._recorder.state, event.to_seq)
        try:
            files, outside = await asyncio.to_thread(_plan_files, checkpoints, chain, befores)
        except (GitFailed, OSError) as error:
            raise RewindRefused(
                f"The files cannot be taken back: {error}", "Go back without files: --messages."
            ) from error
        event = replace(event, outside=outside[:NAMED_PATHS], n_outside=len(outside))
        return RewindPlan(event, files)

    async def _tell(self, event: Rewound) -> None:
        """Tell the model what its view does not show by itself."""
        text = ""
        if event.files and (not event.messages or event.kept or event.left_alone):
            text = f"The user took the files of the work tree back to {event.title}. {paths_told(event)}"
        elif event.messages and not event.files and self._recorder.state.past.writes:
            text = "The user took the conversation back, the files not: they may be newer than what you saw."
        if text:
            state = self._recorder.state
            message = Message(
                state.active_context, state.tree.current_id, "user", text.strip(), origin="runner"
            )
            await self._recorder.record(MessageAdded(message))


def _saved_states(shadow: ShadowGit, points: tuple[SavedPoint, ...]) -> list[SavedState]:
    """Return checkpoints as a chain of states."""
    events = [point.event for point in points]
    modes = read_modes(shadow, (event.modes for event in events))
    return [
        SavedState(e.tree, e.by, e.left_out, e.empty_folders, e.is_partial, modes[e.modes]) for e in events
    ]


def _plan_files(
    checkpoints: Checkpoints, points: tuple[SavedPoint, ...], befores: Mapping[str, str | None]
) -> tuple[RestorePlan, tuple[str, ...]]:
    """Return what goes back, and which paths are never saved."""
    with checkpoints.shadow.locked():
        chain = _saved_states(checkpoints.shadow, points)
        pairs = [(before.tree, after.tree) for before, after in pairwise(chain)]
        changes = changes_between(checkpoints.shadow, pairs)
        outside = {*chain[-1].left_out, *checkpoints.ignored()}
    return plan_restore(chain, changes, befores), tuple(sorted(outside))


def _without(event: Rewound, left_alone: tuple[str, ...]) -> Rewound:
    return replace(
        event,
        restored=tuple(path for path in event.restored if path not in left_alone),
        left_alone=tuple(sorted({*event.left_alone, *left_alone})),
    )


def _rewound(note: Mapping[str, object]) -> Rewound:
    def paths(name: str) -> tuple[str, ...]:
        return tuple(cast("list[str]", note.get(name, ())))

    return Rewound(
        to_seq=Seq(cast("int", note["to_seq"])),
        messages=bool(note["messages"]),
        files=bool(note["files"]),
        how=cast("Literal['rewind', 'undo', 'redo']", note["how"]),
        title=str(note["title"]),
        restored=paths("restored"),
        kept=paths("kept"),
        left_alone=paths("left_alone"),
        outside=paths("outside"),
        n_outside=cast("int", note.get("n_outside", 0)),
    )


__all__ = ["RewindPlan", "Rewinding"]
