"""The view engine: what of a context the next request shows, and when that is rewritten.

Decides from the state, the marks and whether the cache is cold, nothing else; what it remembers is only
there for speed and is read again from any state. Must not change a state: it returns messages and records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tori_tui.context.batch import (
    LIVE_SHARE,
    MIN_GAIN_TOKENS,
    SUMMARY_SHARE,
    Scene,
    kept_in_batch,
    rewritten,
)
from tori_tui.context.due import Sizes, batch_reason, ended_now, may_rewrite
from tori_tui.context.heat import Heat
from tori_tui.context.relief import relieved, size_after, summarized, summary_input
from tori_tui.context.sight import Sight
from tori_tui.context.tokens import estimate_message, estimate_tokens
from tori_tui.context.words import LinesOf
from tori_tui.domain.events import MessagesFolded
from tori_tui.domain.goals import Goal, GoalTree
from tori_tui.domain.ids import CallId, ContextId, GoalId
from tori_tui.domain.messages import Message
from tori_tui.domain.state import SessionState
from tori_tui.domain.view import ViewEntry

CROWDED_SHARE: Final = 0.6
"""Of the low mark: what a rewrite leaves that no end of a goal has caused."""

CROWDED_LIVE_SHARE: Final = 0.6
"""Of that: what the newest rounds may keep."""

GIVEN_UP_PIN_SHARE: Final = 0.25
"""Of an abandoned goal's size: what was looked at in it may stay word for word up to this."""


class ViewEngine:
    """Decides for one session. Every answer is a function of the arguments alone."""

    def __init__(
        self,
        count_message: Callable[[Message], int] = estimate_message,
        count_text: Callable[[str], int] = estimate_tokens,
    ) -> None:
        self._count_message = count_message
        self._count_text = count_text
        self._lines_of = LinesOf()
        self._sights: dict[ContextId, Sight] = {}
        self._heat = Heat(self._lines_of)

    def at_the_door(self, state: SessionState, message: Message) -> Message:
        """Return a result as it is to be recorded: with `shown` where a part of it is in view already."""
        if message.role != "tool" or not isinstance(message.content, str):
            return message
        sight = self._sight(state, message.context)
        return sight.shortened(state.next_seq, message, state.log)

    def due(self, state: SessionState, context: ContextId, sizes: Sizes) -> MessagesFolded | None:
        """Return the rewrite that is due before the next request, or None."""
        total = sizes.total_tokens
        if total is not None and not may_rewrite(state, total, sizes):
            return None
        scene = self._scene(state, context, int(sizes.fixed_tokens / sizes.correction))
        if total is None:
            total = int(scene.total_tokens * sizes.correction)
        reason = batch_reason(state, total, sizes)
        record = self.batch(scene, sizes, reason) if reason else None
        after = size_after(scene, record.folds) * sizes.correction if record else total
        if after > sizes.limit_tokens:
            return relieved(scene, sizes.estimated, sizes.estimated_limit, reason) or record
        # A goal that ended folds before the next request or with the next batch.
        has_ended = state.goal_ended_at_turn == state.n_turns
        return record or (_ended(scene, sizes.profile) if has_ended else None)

    def follow(self, state: SessionState, context: ContextId) -> None:
        """Read what the session gained, so that the next decision has less to read; changes no answer."""
        self._heat.follow(state.log)
        self._sight(state, context)

    def relief(
        self, state: SessionState, context: ContextId, sizes: Sizes, reason: str
    ) -> MessagesFolded | None:
        """Return the rewrite after a request was refused as too large; None if nothing can be freed."""
        scene = self._scene(state, context, int(sizes.fixed_tokens / sizes.correction))
        return relieved(scene, sizes.estimated, sizes.estimated_limit, reason)

    def summary_input(self, state: SessionState, context: ContextId, sizes: Sizes) -> str:
        """Return the text that a model is to summarise as the last resort; empty if that helps nothing."""
        scene = self._scene(state, context, int(sizes.fixed_tokens / sizes.correction))
        return summary_input(scene, sizes.estimated)

    def summarized(
        self, state: SessionState, context: ContextId, sizes: Sizes, summary: str
    ) -> MessagesFolded | None:
        """Return the rewrite in which a model's summary stands for what came before the newest turn."""
        scene = self._scene(state, context, int(sizes.fixed_tokens / sizes.correction))
        return summarized(scene, sizes.estimated, summary, "summarised by the model")

    def batch(self, scene: Scene, sizes: Sizes, reason: str) -> MessagesFolded | None:
        """Return a rewrite to the low mark, if it frees anything worth it."""
        marks = sizes.estimated
        target, live = marks.low, max(marks.low, int(LIVE_SHARE * marks.hard))
        if scene.total_tokens > marks.hard:
            # The current work alone fills it: leave room for as much again, or the next rewrite is near.
            target = int(CROWDED_SHARE * marks.low)
            live = int(CROWDED_LIVE_SHARE * target)
        is_kept = kept_in_batch(scene, marks, live)
        for at, entry in enumerate(scene.entries):
            if is_kept[at] and not entry.message.is_users_word and _is_given_up(scene.state.tree, entry):
                is_kept[at] = False
        record = rewritten(
            scene,
            is_kept,
            target,
            summary_tokens=int(SUMMARY_SHARE * marks.low),
            reason=reason,
            rule="batch",
        )
        if record is None or scene.total_tokens - size_after(scene, record.folds) < MIN_GAIN_TOKENS:
            return None
        return record

    def _scene(self, state: SessionState, context: ContextId, fixed_tokens: int) -> Scene:
        self._heat.follow(state.log)
        sight = self._sight(state, context)
        return Scene(state, context, fixed_tokens, self._count_message, self._count_text, sight, self._heat)

    def _sight(self, state: SessionState, context: ContextId) -> Sight:
        sight = self._sights.setdefault(context, Sight(self._lines_of))
        sight.follow(state.view(context), state.log)
        return sight


# ── goals that fold by themselves ────────────────────────────────────────────────────────


def _ended(scene: Scene, profile: str) -> MessagesFolded | None:
    """Return the fold of goals that leave the view at their end: abandoned ones, in `now` all."""
    state = scene.state
    due = _outermost(state.tree, list(ended_now(state, profile)))
    owned = frozenset(goal_id for goal in due for goal_id in _foldable(goal))
    if not owned:
        return None
    is_kept = _kept_at_end(scene, owned)
    if all(is_kept):
        return None
    folded = [e for e, kept in zip(scene.entries, is_kept, strict=True) if not kept]
    touched = {entry.message.goal_id for entry in folded}
    reasons = [f"goal {goal.id} {goal.status}" for goal in due if touched & set(_foldable(goal))]
    size = sum(scene.tokens(entry) for entry in folded)
    given_up = all(goal.status == "abandoned" for goal in due)
    target = scene.total_tokens - size + (int(GIVEN_UP_PIN_SHARE * size) if given_up else 0)
    return rewritten(
        scene,
        is_kept,
        target,
        reason=", ".join(reasons),
        rule="abandoned" if given_up else "ended",
        under=[goal.id for goal in due],
        only_looks=True,
    )


def _outermost(tree: GoalTree, due: Sequence[GoalId]) -> list[Goal]:
    """Return the due goals that no other due goal holds, in the order of their end."""
    marked = frozenset(due)
    paths = [tree.path_to(goal_id) for goal_id in due]
    return [path[-1] for path in paths if not any(above.id in marked for above in path[:-1])]


def _foldable(goal: Goal) -> Iterator[GoalId]:
    """Yield the goal's id and those below it, pinned ones and what they hold left out."""
    if goal.pinned:
        return
    yield goal.id
    for child in goal.children:
        yield from _foldable(child)


def _kept_at_end(scene: Scene, owned: frozenset[GoalId]) -> list[bool]:
    """Tell what stays: a result goes with its call, whoever it belongs to; open calls stay."""
    gone: set[CallId] = set()
    is_kept = []
    for entry in scene.entries:
        message = entry.message
        if message.role == "tool":
            is_kept.append(message.tool_call_id not in gone)
            continue
        calls = {call.id for call in message.tool_calls}
        is_open = any(call_id in scene.state.open_calls for call_id in calls)
        goes = message.goal_id in owned and not message.is_users_word and not is_open
        gone |= calls if goes else set()
        is_kept.append(not goes)
    return is_kept


def _is_given_up(tree: GoalTree, entry: ViewEntry) -> bool:
    goal_id = entry.message.goal_id
    return goal_id is not None and any(g.status == "abandoned" for g in tree.path_to(goal_id))


__all__ = ["ViewEngine"]
