"""Builds each request of a session, says which rewrite of the view is due before it, and learns sizes.

Must not hold state that a resumed session would miss: a lost `Prefix` only costs a cache miss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from tori_tui.context.build import (
    BuiltRequest,
    PlacementSetting,
    Prefix,
    build_request,
)
from tori_tui.context.due import Sizes, may_rewrite
from tori_tui.context.marks import ProfileName, input_limit, marks_for
from tori_tui.context.messages import ShownMessages
from tori_tui.context.system_prompt import SystemParts
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.events import MessagesFolded, TurnFinished
from tori_tui.domain.ids import ContextId, TraceId
from tori_tui.domain.messages import Message
from tori_tui.domain.request import ModelProfile, ModelRequest, SystemBlock
from tori_tui.domain.state import SessionState
from tori_tui.memory.model_facts import LateRefusals, LearnedSizes, ModelFacts
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.identities import Identity
from tori_tui.runtime.image_refusals import ImageRefusals
from tori_tui.trace.outputs import Outputs

if TYPE_CHECKING:
    from tori_tui.context.engine import ViewEngine

CACHE_LIFE_S: Final = 300
"""After this long without a request the provider's prompt cache is taken to be cold (DESIGN §7)."""

REFUSED_SHARE: Final = 0.95
"""Of a request that was refused: so large the model's window is taken to be from then on."""

COMPACTED_SHARE: Final = 0.5
"""What a rewrite that the user asks for leaves at most."""

SUMMARY_RULES: Final = (
    "You condense the record of a coding session for the model that goes on with it. Write at most 600 "
    "words: what was asked, what is done, files changed and how, decisions with their reasons, what "
    "failed last, what is left. Copy names, paths, numbers and error texts exactly. No introduction."
)


class InheritedPrefix(NamedTuple):
    """What the requests of a branch have in common with those of its parent, besides what its trace holds."""

    plan: str | None
    """At the end of the parent's system prompt; None where it stands late."""
    cache_key: str
    n_rewrites: int
    """Of the branch's view when it began; with the next one the plan becomes its own."""


class ViewRules(NamedTuple):
    """What the user wants of the view."""

    placement: PlacementSetting
    profile: ProfileName
    inherited: InheritedPrefix | None = None
    """Set for a branch without a background of its own."""


class RequestBuilder:
    """The builder of one session.

    Args:
        identity: Returns whose rules and tools the active context has.
        engine: Loads, at its first use, what rewrites the view; a first request has nothing to rewrite.
    """

    def __init__(
        self,
        *,
        trace_id: TraceId,
        rules: ViewRules,
        outputs: Outputs,
        facts: ModelFacts,
        meter: TokenMeter,
        engine: Callable[[], ViewEngine],
        identity: Callable[[], Identity],
        clock: Clock,
        encode: Callable[[BuiltRequest, SessionState], BuiltRequest] = lambda built, _: built,
    ) -> None:
        self._trace_id = trace_id
        self._placement = rules.placement
        self._profile_name = rules.profile
        self._outputs = outputs
        self._late_refusals = LateRefusals(facts)
        self._learned = LearnedSizes(facts)
        self._meter = meter
        self._clock = clock
        self._encode = encode
        self._inherited = rules.inherited
        self._before: Prefix | None = None
        self._kept: set[str] = set()
        self._engine = engine
        self._identity = identity
        self._readers: dict[ContextId, ShownMessages] = {}
        self._windows: dict[str, int] = {}
        self._images = ImageRefusals()

    def due(self, state: SessionState, built: BuiltRequest) -> MessagesFolded | None:
        """Return the rewrite that is due before this request, or None if it can be sent."""
        sizes = self._sizes(state, built)
        if sizes.total_tokens is not None and not may_rewrite(state, sizes.total_tokens, sizes):
            return None
        return self._engine().due(state, built.request.context, sizes)

    def compacted(self, state: SessionState, profile: ModelProfile) -> MessagesFolded | None:
        """Return the rewrite that the user asks for: to half of the size, without a model.

        Returns:
            None if nothing can be freed.
        """
        built = self.build(state, profile)
        sizes = self._sizes(state, built)
        total = sizes.total_tokens or 0
        marks = sizes.marks.scaled(min(1.0, COMPACTED_SHARE * total / sizes.marks.low))
        return self._engine().relief(
            state, built.request.context, replace(sizes, marks=marks), "asked by the user"
        )

    def refused(self, state: SessionState, profile: ModelProfile) -> MessagesFolded | None:
        """Take in that the request was too large for the model; return the rewrite that makes room.

        Returns:
            None if nothing can be freed.
        """
        built = self.build(state, profile)
        total = sum(section.tokens for section in built.sections)
        window_tokens = min(self._window_tokens(profile), int(REFUSED_SHARE * total))
        self._windows[profile.name] = window_tokens
        if not profile.is_known:
            self._learned.learn_window(profile.name, window_tokens)
        reason = f"refused at {total} tokens"
        return self._engine().relief(state, built.request.context, self._sizes(state, built), reason)

    def summary_request(self, state: SessionState, profile: ModelProfile) -> ModelRequest | None:
        """Return the request for a summary of all but the newest turn; None if that frees nothing."""
        built = self.build(state, profile)
        text = self._engine().summary_input(state, built.request.context, self._sizes(state, built))
        if not text:
            return None
        said = Message(built.request.context, None, "user", text, origin="runner")
        return ModelRequest(
            built.request.context, profile, (SystemBlock("summary", SUMMARY_RULES),), (said,), effort="low"
        )

    def summarized(self, state: SessionState, profile: ModelProfile, summary: str) -> MessagesFolded | None:
        """Return the rewrite in which a summary stands for what came before the newest turn."""
        built = self.build(state, profile)
        return self._engine().summarized(state, built.request.context, self._sizes(state, built), summary)

    def explained(self, state: SessionState, profile: ModelProfile) -> str:
        """Return what a request that does not fit consists of, in one sentence."""
        sizes = self._sizes(state, self.build(state, profile))
        return (
            f"The request takes about {sizes.total_tokens} tokens and the model refuses it: the fixed prompt "
            f"and the plan take {sizes.fixed_tokens}, the rest is your own words and the newest turn."
        )

    def _window_tokens(self, profile: ModelProfile) -> int:
        """Return the model's window, or what it turned out to be where it was only guessed."""
        learned = None if profile.is_known else self._learned.window_tokens(profile.name)
        known = self._windows.get(profile.name) or learned or profile.window_tokens
        return min(profile.window_tokens, known)

    def follow(self, state: SessionState) -> None:
        """Read on while the model answers: what is read now need not be read before the next request."""
        self._engine().follow(state, state.active_context)

    def _sizes(self, state: SessionState, built: BuiltRequest) -> Sizes:
        profile = built.request.profile
        window_tokens = self._window_tokens(profile)
        parts = {section.name: section.tokens for section in built.sections}
        return Sizes(
            profile=self._profile_name,
            marks=marks_for(self._profile_name, profile, window_tokens),
            limit_tokens=input_limit(profile, window_tokens),
            fixed_tokens=sum(n for name, n in parts.items() if name not in ("messages", "folds")),
            is_cold=self._is_cold(state),
            total_tokens=sum(parts.values()),
            correction=self._meter.correction(profile.name),
        )

    def _is_cold(self, state: SessionState) -> bool:
        """Whether the model's last answer is so old that nothing of the prompt is cached any more."""
        answered = (e for e in reversed(state.log) if e.message.role == "assistant")
        last = next((e.at for e in answered if e.message.context == state.active_context), None)
        return last is not None and (self._clock.now() - last).total_seconds() > CACHE_LIFE_S

    def build(self, state: SessionState, profile: ModelProfile) -> BuiltRequest:
        """Return the next request of the active context as the state stands."""
        self._learn(state.last_turns.get(state.active_context), profile)
        placement = self._placement
        if placement == "auto" and self._late_refusals.has(profile.name):
            placement = "leading"
        system, tools = self._identity()
        built = build_request(
            state,
            context=state.active_context,
            profile=profile,
            system=system,
            tools=tools,
            placement=placement,
            before=self._before,
            is_cold=self._is_cold(state),
            shown=self._shown(state.active_context, profile.window_tokens),
            held_plan=self._held_plan(state),
        )
        built = self._encode(built, state)
        key = self._cache_key(state)
        sections = self._meter.corrected_sections(built.sections, profile.name, state.n_turns + 1)
        request = self._images.without(replace(built.request, cache_key=key, effort=state.effort))
        return replace(built, request=request, sections=sections)

    def inheritable(self, state: SessionState) -> tuple[SystemParts, str | None, str]:
        """Return fixed parts, plan in the system prompt and cache key of the request that was sent last."""
        before = self._before
        plan = before.plan if before is not None and before.placement != "late" else None
        return self._identity().system, plan, self._cache_key(state)

    def _held_plan(self, state: SessionState) -> str | None:
        inherited = self._inherited
        is_held = inherited and state.view(state.active_context).n_rewrites == inherited.n_rewrites
        return inherited.plan if inherited and is_held else None

    def _cache_key(self, state: SessionState) -> str:
        return self._inherited.cache_key if self._inherited else f"{self._trace_id}/{state.active_context}"

    def _learn(self, last: TurnFinished | None, profile: ModelProfile) -> None:
        """Correct sizes by what the provider reported, and keep that for later sessions."""
        if (known := self._learned.correction(profile.name)) is not None:
            self._meter.assume(profile.name, known)
        self._meter.observe(last)
        correction = self._meter.correction(profile.name)
        if correction != 1.0:
            self._learned.learn_correction(profile.name, correction)

    def sending(self, built: BuiltRequest) -> None:
        """Take in that a request goes out: the next one extends it. Its texts are kept in `outputs/`."""
        self._before = built.prefix
        for digest, text in built.texts.items():
            if digest not in self._kept:
                self._outputs.keep_text(text)
                self._kept.add(digest)

    def _shown(self, context: ContextId, window_tokens: int) -> ShownMessages:
        known = self._readers.get(context)
        if known is None or known.window_tokens != window_tokens:
            known = self._readers[context] = ShownMessages(context, window_tokens, self._meter.count_message)
        return known

    def answered(self, built: BuiltRequest) -> None:
        """Take in that the model answered: what was sent is in order."""
        self._images.take(built.request)

    def refuse_images(self, state: SessionState, profile: ModelProfile) -> bool:
        """Take in that the request was refused as wrong; False if there is no image to leave out."""
        return self._images.refuse(self.build(state, profile).request)

    def refuse_late(self, profile: ModelProfile) -> bool:
        """Take in that the model wants no late system message; False if that was known already."""
        if self._placement != "auto" or self._late_refusals.has(profile.name):
            return False
        self._late_refusals.add(profile.name)
        return True


__all__ = ["CACHE_LIFE_S", "InheritedPrefix", "RequestBuilder", "ViewRules"]
