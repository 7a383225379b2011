"""What the request that comes next will hold, as the state stands: the inspector's view of one not sent yet.

Pure. Must not build the request itself; its fixed parts are those of the request before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from tori_tui.context.build import MESSAGE_SECTIONS
from tori_tui.context.inspector import inspect_coming
from tori_tui.context.plan import plan_block
from tori_tui.context.tokens import TokenMeter, estimate_message, estimate_tokens
from tori_tui.context.trace_history import TraceHistory
from tori_tui.domain.events import Record, Section, TurnFinished
from tori_tui.domain.ids import ContextId, Seq
from tori_tui.domain.inspection import SentRequest
from tori_tui.domain.state import SessionState
from tori_tui.domain.usage import Usage

UNCORRECTED: Final = 0.02
"""Nearer to 1 than this, a request was measured before any provider had told a count: sizes are rounded."""


def next_request(
    history: TraceHistory, text_of: Callable[[str], str], window_tokens: int, now: datetime
) -> SentRequest | None:
    """Return the next request of the context that is active at the end of the records.

    Args:
        history: Of a session so far.
        text_of: Gives the text of a section by its hash; empty where it is not there any more.
        window_tokens: Of the model.
        now: When it would be sent.

    Returns:
        None before the first request of that context: what its prompt will hold is not recorded yet.
    """
    state = history.end
    at = history.newest.get(state.active_context)
    if at is None:
        return None
    last = history.turn(at)
    plan = plan_block(state.tree)
    digest = hashlib.sha256(plan.encode("utf-8", "surrogatepass")).hexdigest()
    model = state.model_in_force or last.model
    scales = _scales(last, history.state_before(at), model)
    coming = TurnFinished(
        number=state.n_turns + 1,
        context=last.context,
        goal_id=state.tree.current_id,
        model=model,
        stop_reason="",
        usage=Usage(),
        sections=_sections(last, state, Section("plan", estimate_tokens(plan), digest), scales),
    )
    record = Record(Seq(state.next_seq), now, coming)
    return inspect_coming(history, record, lambda sha: plan if sha == digest else text_of(sha), window_tokens)


def _scales(last: TurnFinished, before: SessionState, model: str) -> tuple[float, float]:
    """Return by what an estimate is multiplied in the last request and in the next one."""
    recorded = sum(part.tokens for part in last.sections if part.name in MESSAGE_SECTIONS)
    estimate = _estimate(before, last.context)
    was = recorded / estimate if recorded and estimate else 1.0
    meter = TokenMeter()
    if abs(was - 1.0) > UNCORRECTED:
        meter.assume(last.model, was)
    whole = sum(part.tokens for part in last.sections)
    meter.learn(last.model, round(whole / was), last.usage.input_tokens)
    return was, meter.correction(model)


def _sections(
    last: TurnFinished, now: SessionState, plan: Section, scales: tuple[float, float]
) -> tuple[Section, ...]:
    """Return the sections with the sizes that the provider's counts make of them, a late plan anew."""
    was, will = scales
    messages = Section("messages", round(_estimate(now, last.context) * will))
    fixed = [
        replace(part, tokens=round(part.tokens * will / was))
        for part in last.sections
        if part.name not in MESSAGE_SECTIONS
    ]
    if fixed and last.sections[-1].name == "plan":
        return (*fixed[:-1], messages, replace(plan, tokens=round(plan.tokens * will)))
    # A plan that leads stays as it was sent until there is a reason to rewrite everything behind it.
    return (*fixed, messages)


def _estimate(state: SessionState, context: ContextId) -> int:
    return sum(estimate_message(entry.message) for entry in state.view(context).entries)


__all__ = ["next_request"]
