"""From the state to the next model request: a pure function of what the trace holds.

Must not read a clock, a file or a setting; what it needs comes in, what the next request needs goes out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from tori_tui.context.messages import Shown, ShownMessages
from tori_tui.context.plan import plan_block
from tori_tui.context.system_prompt import SystemParts
from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.events import Section
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import ContextId, GoalId, MissionId
from tori_tui.domain.request import ModelProfile, ModelRequest, SystemBlock, ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.domain.view import View

Placement = Literal["late", "leading", "live"]

PlacementSetting = Literal["late", "leading", "live", "auto"]

REFRESH_LIMIT_TOKENS: Final = 8_000
"""Below this a leading plan is re-rendered at each change: the rewrite costs less than a stale plan."""


MESSAGE_SECTIONS: Final = ("folds", "messages")
"""Names of the sections that are no texts of their own."""

KEPT_TEXTS: Final = 64
"""More than the sections of a request in a few contexts."""


class Rendered(NamedTuple):
    """What was made into text; the next request most often has the same tree and the same tools."""

    tree: GoalTree
    plan: str
    tools: Sequence[ToolSpec]
    tools_text: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """What the request before held, as far as the next one depends on it."""

    context: ContextId
    model: str
    placement: Placement
    mission: MissionId | None
    n_rewrites: int
    n_user_edits: int
    plan: str
    session_context: str = ""
    rendered: Rendered | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BuiltRequest:
    """A request with what the trace and the next request need to know of it."""

    request: ModelRequest
    sections: tuple[Section, ...]
    prefix: Prefix
    rewrite: str | None = None
    """Why the request does not extend the one before it; None where it does, and for the first."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of the sections that have a hash, by their hash."""


def build_request(
    state: SessionState,
    *,
    context: ContextId,
    profile: ModelProfile,
    system: SystemParts,
    tools: Sequence[ToolSpec] = (),
    placement: PlacementSetting = "auto",
    before: Prefix | None = None,
    is_cold: bool = False,
    shown: ShownMessages | None = None,
    held_plan: str | None = None,
) -> BuiltRequest:
    """Return the next request of a context.

    Args:
        state: The session; only the view of the context is shown.
        context: Whose request it is.
        profile: The model's.
        system: The fixed parts of the system prompt; the plan is put behind them.
        tools: What the model may call, in a stable order.
        placement: Where the plan stands.
        before: `prefix` of the request before, or None after a restart.
        is_cold: Whether the provider's cache is cold, so that a rewrite costs nothing.
        held_plan: What stands at the end of the system prompt whatever the plan is, for a branch whose
            requests extend its parent's; not where the plan stands late.
        shown: What reads the view, kept from request to request for speed; it counts the messages too.
    """
    view = state.view(context)
    mission = state.tree.current_mission
    reader = shown or ShownMessages(context, profile.window_tokens)
    said = reader.of(view, mission.text if mission else "")
    sections = _Sections()
    for block in system.blocks:
        sections.add_text(block.name, block.text)
    rendered = _rendered(state.tree, tools, before.rendered if before else None)
    if tools:
        sections.add_text("tools", rendered.tools_text)
    sections.add_messages(view, said)
    now = _prefix(state, context, profile.name, chosen_placement(placement, profile), system, rendered)
    if held_plan is not None and now.placement != "late":
        now = replace(now, plan=held_plan)
    is_held = _holds_plan(before, now) and not is_cold and sections.tokens >= REFRESH_LIMIT_TOKENS
    if before is not None and is_held:
        now = replace(now, plan=before.plan)
    sections.add_text("plan", now.plan)
    is_late = now.placement == "late"
    request = ModelRequest(
        context=context,
        profile=profile,
        system=system.blocks if is_late else (*system.blocks, SystemBlock("plan", now.plan)),
        messages=said.messages,
        tools=tuple(tools),
        late_system=now.plan if is_late else None,
        cache_marks=_cache_marks(said, state.tree.current_id),
    )
    return BuiltRequest(request, sections.sent(is_late), now, _rewrite(before, now, view), sections.texts)


def _prefix(
    state: SessionState,
    context: ContextId,
    model: str,
    placement: Placement,
    system: SystemParts,
    rendered: Rendered,
) -> Prefix:
    return Prefix(
        context,
        model,
        placement,
        state.tree.mission,
        state.view(context).n_rewrites,
        state.n_user_edits,
        rendered.plan,
        system.session_context,
        rendered,
    )


def _rendered(tree: GoalTree, tools: Sequence[ToolSpec], before: Rendered | None) -> Rendered:
    plan = before.plan if before and before.tree is tree else plan_block(tree)
    tools_text = before.tools_text if before and before.tools == tools else _tools_text(tools)
    return Rendered(tree, plan, tools, tools_text)


def chosen_placement(setting: PlacementSetting, profile: ModelProfile) -> Placement:
    """Return where the plan of this model's requests stands."""
    if setting == "auto":
        return "late" if profile.late_system else "leading"
    return setting


def _holds_plan(before: Prefix | None, now: Prefix) -> bool:
    """Whether a leading plan must stay as it was sent, because all before it is in the cache."""
    return before is not None and now.placement == "leading" and replace(before, plan=now.plan) == now


def _rewrite(before: Prefix | None, now: Prefix, view: View) -> str | None:
    if before is None or before.context != now.context:
        return None if before is None else f"context {now.context}"
    if before.model != now.model:
        return f"model {now.model}"
    if before.n_rewrites != now.n_rewrites:
        return view.last_rewrite or "fold"
    if before.session_context != now.session_context:
        return "session context"
    if before.placement != now.placement:
        return f"plan {now.placement}"
    return "plan" if now.placement != "late" and before.plan != now.plan else None


def _cache_marks(said: Shown, goal_id: GoalId | None) -> tuple[int, ...]:
    """Return where breakpoints pay: the last user message, the start of the current goal, the tail."""
    marks = {len(said.messages) - 1}
    if said.last_words >= 0:
        marks.add(said.last_words)
    start = said.first_of.get(goal_id, 0)
    if start > 0:
        marks.add(start - 1)
    return tuple(sorted(marks))


def _tools_text(tools: Sequence[ToolSpec]) -> str:
    return json.dumps(
        [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools],
        ensure_ascii=False,
        separators=(",", ":"),
    )


@lru_cache(maxsize=KEPT_TEXTS)
def _measured(text: str) -> tuple[str, int]:
    """Return a text's hash and its size; most of a request's texts are those of the one before."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), estimate_tokens(text)


class _Sections:
    """Collects the parts of a request in the order in which they are sent."""

    def __init__(self) -> None:
        self.all: list[Section] = []
        self.texts: dict[str, str] = {}
        self.tokens = 0

    def add_text(self, name: str, text: str) -> None:
        digest, tokens = _measured(text)
        self.texts[digest] = text
        self._add(Section(name, tokens, digest))

    def add_messages(self, view: View, said: Shown) -> None:
        """Add folds and messages as one section each; the view tells which they were."""
        if said.n_folded_tokens:
            self._add(Section("folds", said.n_folded_tokens))
        entries = view.entries
        ends = (entries[0].seqs[0], entries[-1].seqs[-1]) if entries else ()
        self._add(Section("messages", said.n_other_tokens, seqs=ends))

    def sent(self, is_late: bool) -> tuple[Section, ...]:
        """Return them in the order of sending: only a late plan stands behind the messages."""
        ordered = self.all if is_late else sorted(self.all, key=lambda part: part.name in MESSAGE_SECTIONS)
        return tuple(ordered)

    def _add(self, section: Section) -> None:
        self.all.append(section)
        self.tokens += section.tokens


__all__ = [
    "MESSAGE_SECTIONS",
    "BuiltRequest",
    "Placement",
    "PlacementSetting",
    "Prefix",
    "build_request",
    "chosen_placement",
]
