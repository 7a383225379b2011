"""When the work tree is saved, and for whom what changed since the last time counts.

Must not save anything itself, and must not stop a run: where checkpoints fail, the user is told once.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from tori_tui.domain.events import CheckpointSaved, NoticeShown
from tori_tui.domain.ids import Seq, TraceId
from tori_tui.domain.rewind import touched_paths
from tori_tui.domain.rewind_words import named
from tori_tui.domain.state import SessionState
from tori_tui.runtime.changers import last_change
from tori_tui.runtime.recorder import Recorder
from tori_tui.workspace.checkpoint_disk import make_room
from tori_tui.workspace.checkpoints import Checkpoints, SavedTree
from tori_tui.workspace.glance import Glance, glance
from tori_tui.workspace.shadow_git import GitFailed
from tori_tui.workspace.tree_changes import changes_between

Doer = Literal["agent", "user"]

FIRST_DELAY_S: Final = 0.3
"""The first one, which may take seconds, leaves the machine to the first request for so long."""

DELAY_S: Final = 0.02
"""Each further one leaves it to the next request; a model takes longer than both to answer."""

THREAD_S: Final = 0.002
"""A thread begins within a millisecond, a busy machine's within two; nothing here may block for longer."""

NEWS_WAIT_S: Final = 1.0
"""How long a resumed run waits to hear what changed while tori was away; then it is told a turn later."""


class Checkpointing:
    """Saves the work tree of one session, one checkpoint at a time.

    What was saved beside the run is recorded at the run's own safe points, so that the order of the
    records does not hang on the disk's speed.
    """

    def __init__(
        self,
        recorder: Recorder,
        trace_id: TraceId,
        checkpoints: Checkpoints | None,
    ) -> None:
        self._recorder = recorder
        self._trace_id = trace_id
        self.checkpoints = checkpoints
        """None where there is no git program, or after a failure."""
        self._pending: asyncio.Task[None] | None = None
        self._unrecorded: CheckpointSaved | None = None
        self._hurry = asyncio.Event()
        self._seen: Glance | None = None
        self._n_looks = 0
        self._look_s = float("inf")
        """What the newest quick look took."""
        self._has_begun = False
        self._news = ""
        self._make_room: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """A run begins: the session's first one saves the tree, beside the first request."""
        if self._has_begun or self.checkpoints is None:
            return
        self._has_begun = True
        state = self._recorder.state
        is_resumed = len(state.past.checkpoints) > 0
        by: Doer = "agent" if _has_changes_of_agent(state) else "user"
        self._pending = asyncio.create_task(self._first(by, is_resumed=is_resumed))
        if is_resumed:
            self._hurry.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(NEWS_WAIT_S):
                    await asyncio.shield(self._pending)

    async def before(self, reason: str) -> None:
        """Return when the tree is saved as it is; what changed since the last time is the user's."""
        await self.begin()
        n_looks = self._n_looks
        await self.settled()
        checkpoints = self.checkpoints
        if checkpoints is None or self._n_looks > n_looks:
            # What was due since the turn before has only now been saved: there is nothing newer.
            return
        if self._seen is not None and self._seen == await self._look(checkpoints.shadow.root):
            return
        await self.save_now(reason, "user")

    def after(self, reason: str) -> None:
        """Begin to save the tree, beside whatever follows; what changed since last is the agent's."""
        if self.checkpoints is not None:
            self._hurry.clear()
            self._start(reason, "agent")

    async def save_now(self, reason: str, by: Doer) -> None:
        """Return when the tree is saved."""
        await self.settled()
        if self.checkpoints is not None:
            self._start(reason, by)
            await self.settled()

    async def settled(self) -> None:
        """Return when no checkpoint is being saved and the newest is recorded."""
        self._hurry.set()
        while self._pending is not None and not self._pending.done():
            await asyncio.shield(self._pending)
        await self._record_newest()

    async def close(self) -> None:
        """Return when nothing of it runs any more."""
        await self.settled()
        if self._make_room is not None:
            await self._make_room

    def take_news(self) -> str:
        """Return, once, what changed in the tree while tori was away."""
        news, self._news = self._news, ""
        return news

    def _start(self, reason: str, by: Doer) -> None:
        state = self._recorder.state
        self._pending = asyncio.create_task(self._save(reason, by, state, self._pending))

    async def _look(self, root: Path) -> Glance | None:
        """Look at the tree: here, where that takes no longer than a thread takes to begin."""
        clock = asyncio.get_running_loop().time
        began_s = clock()
        seen = glance(root) if self._look_s < THREAD_S else await asyncio.to_thread(glance, root)
        self._look_s = clock() - began_s
        return seen

    async def _leave_room(self, delay_s: float) -> None:
        """Let what matters more go first, unless somebody waits."""
        with suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await self._hurry.wait()

    async def _first(self, by: Doer, *, is_resumed: bool) -> None:
        await self._leave_room(FIRST_DELAY_S)
        before = self._recorder.state.last_checkpoint
        await self._save("start", by, self._recorder.state, None)
        after = self._unrecorded
        self._make_room = asyncio.create_task(self._tell_of_room())
        if is_resumed and before is not None and after is not None and before.tree != after.tree:
            self._news = await asyncio.to_thread(self._difference, before.tree, after.tree)

    async def _tell_of_room(self) -> None:
        """Once a session: drop what is oldest where all checkpoints take too much, and say so."""
        if self.checkpoints is None:
            return
        shadow = self.checkpoints.shadow
        state_dir = shadow.directory.parent.parent
        dropped = await asyncio.to_thread(make_room, state_dir, shadow.git, shadow.environ, self._trace_id)
        if dropped:
            text = f"Checkpoints took too much room: those of {len(dropped)} old sessions were dropped."
            self._recorder.announce(NoticeShown(text))

    async def _save(
        self, reason: str, by: Doer, state: SessionState, earlier: asyncio.Task[None] | None
    ) -> None:
        if earlier is not None and not earlier.done():
            await asyncio.shield(earlier)
        await self._record_newest()
        await self._leave_room(DELAY_S)
        checkpoints = self.checkpoints
        if checkpoints is None:
            return
        touched = touched_paths(self._recorder.state)
        seen = self._seen
        self._n_looks += 1
        try:
            saved, self._seen = await asyncio.to_thread(_saved, checkpoints, self._trace_id, touched, seen)
        except (GitFailed, OSError) as error:
            self.checkpoints = None
            text = f"Checkpoints are off: {error} Files cannot be taken back from here on."
            self._recorder.announce(NoticeShown(text, "warning"))
            return
        self._unrecorded = CheckpointSaved(
            tree=saved.tree,
            reason=reason,
            goal_id=state.tree.current_id,
            turn=state.n_turns,
            by=by,
            at_seq=Seq(state.next_seq - 1),
            left_out=saved.left_out,
            empty_folders=saved.empty_folders,
            is_partial=saved.is_partial,
            modes=saved.modes,
        )

    async def _record_newest(self) -> None:
        saved, self._unrecorded = self._unrecorded, None
        last = self._recorder.state.last_checkpoint
        if saved is None or (last is not None and _is_same(last, saved)):
            return
        if new := sorted(set(saved.left_out) - set(last.left_out if last else ())):
            text = f"Never saved by checkpoints (larger than 5 MB or unreadable): {named(new)}."
            self._recorder.announce(NoticeShown(text))
        if saved.is_partial and (last is None or not last.is_partial):
            self._recorder.announce(NoticeShown(_PARTIAL, "warning"))
        await self._recorder.record(saved)

    def _difference(self, before: str, after: str) -> str:
        if self.checkpoints is None:
            return ""
        shadow = self.checkpoints.shadow
        try:
            with shadow.locked():
                (changed,) = changes_between(shadow, [(before, after)])
        except (GitFailed, OSError):
            return ""
        kinds: dict[str, list[str]] = {"Changed": [], "New": [], "Gone": []}
        for path, change in sorted(changed.items()):
            kinds["New" if change.before is None else "Gone" if change.after is None else "Changed"].append(
                path
            )
        lines = [f"{kind}: {named(paths)}" for kind, paths in kinds.items() if paths]
        return (
            "The work tree is not as you left it; it changed while tori was not running. "
            + ". ".join(lines)
            + ". Read again what you rely on."
        )


_PARTIAL: Final = (
    "This tree is too large for whole checkpoints (more than 50,000 files or 1 GB, or your home folder): "
    "only files that were changed or touched are saved."
)


def _saved(
    checkpoints: Checkpoints, trace_id: TraceId, touched: tuple[str, ...], before: Glance | None
) -> tuple[SavedTree, Glance | None]:
    # The quick look comes first: what changes between the two is looked at again the next time.
    now = glance(checkpoints.shadow.root)
    return checkpoints.save_since(before, now, trace_id, touched), now


def _is_same(last: CheckpointSaved, saved: CheckpointSaved) -> bool:
    return (last.tree, last.empty_folders, last.left_out, last.modes) == (
        saved.tree,
        saved.empty_folders,
        saved.left_out,
        saved.modes,
    )


def _has_changes_of_agent(state: SessionState) -> bool:
    """Whether a kill came between the agent's work and its checkpoint."""
    last = state.last_checkpoint
    return last is not None and last_change(state) > (last.at_seq or Seq(0))


__all__ = ["Checkpointing"]
