from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from tests.fakes.provider import CutReply, Script, ScriptedProvider, ScriptedReply
from tests.providers.requests import folded, new_ids, profile, request
from tests.providers.serving import PROTOCOLS, serving
from tests.wire.answers import WireCall, WireRefusal, WireReply, in_order
from tori_tui.domain.request import ModelRequest
from tori_tui.providers.base import Provider, StreamEvent, TextDelta
from tori_tui.providers.errors import ProviderError, ProviderFault
from tori_tui.providers.fold import Reply, ReplyFold
from tori_tui.providers.retry import Fallback, Retry, RetryPolicy, stream_with_retry

BUSY = ProviderError("busy", fault="overloaded", status=529)
CUT = ProviderError("cut", fault="cut")


class Caller:
    """Calls with retries, and keeps what a runner would: pauses, notices, the text on the screen."""

    def __init__(self) -> None:
        self.pauses_s: list[float] = []
        self.notices: list[Retry] = []
        self.shown = ""

    async def call(
        self,
        provider: Provider,
        asked: ModelRequest | None = None,
        *,
        fallbacks: Sequence[Fallback] = (),
        policy: RetryPolicy | None = None,
    ) -> Reply:
        events: list[StreamEvent] = []

        def on_retry(retry: Retry) -> None:
            self.notices.append(retry)
            if retry.had_output:
                self.shown = ""
            events.clear()

        async def sleep(seconds: float) -> None:
            self.pauses_s.append(seconds)

        stream = stream_with_retry(
            provider,
            asked or request(),
            policy=policy or RetryPolicy(),
            sleep=sleep,
            random=lambda: 1.0,
            on_retry=on_retry,
            fallbacks=fallbacks,
        )
        async with aclosing(stream) as open_stream:
            async for event in open_stream:
                events.append(event)
                if isinstance(event, TextDelta):
                    self.shown += event.text
        return folded(events)


def failing(fault: ProviderFault, status: int | None = None, retry_after_s: float | None = None) -> Script:
    return ProviderError("failed", fault=fault, status=status, retry_after_s=retry_after_s)


async def test_pauses_double_and_the_sixth_failure_is_told_with_the_number_of_tries() -> None:
    caller = Caller()
    with pytest.raises(ProviderError, match="after 6 tries"):
        await caller.call(ScriptedProvider([BUSY] * 6))
    assert caller.pauses_s == [1, 2, 4, 8, 16]
    assert [(notice.attempt, notice.of_attempts) for notice in caller.notices] == [
        (number, 6) for number in range(1, 6)
    ]


async def test_the_server_s_wish_is_honoured_up_to_two_minutes() -> None:
    caller = Caller()
    turns = [failing("rate_limited", 429, 3.0), failing("rate_limited", 429, 120.0), ScriptedReply("ok")]
    reply = await caller.call(ScriptedProvider(turns))
    assert (reply.content, caller.pauses_s) == ("ok", [3.0, 120.0])


async def test_a_wish_of_an_hour_is_told_and_not_slept() -> None:
    caller = Caller()
    with pytest.raises(ProviderError, match="60 minutes") as caught:
        await caller.call(ScriptedProvider([failing("rate_limited", 429, 3_600.0)]))
    assert caught.value.retry_after_s == 3_600
    assert caller.pauses_s == []


@pytest.mark.parametrize(
    "fault", ["auth", "bad_request", "context_overflow", "garbled", "not_found", "billing"]
)
async def test_what_cannot_get_better_is_told_at_once(fault: ProviderFault) -> None:
    provider = ScriptedProvider([failing(fault), ScriptedReply("never")])
    with pytest.raises(ProviderError):
        await Caller().call(provider)
    assert len(provider.requests) == 1


async def test_no_connection_is_tried_thrice() -> None:
    caller = Caller()
    with pytest.raises(ProviderError, match="after 3 tries"):
        await caller.call(ScriptedProvider([failing("connection")] * 3))


async def test_text_of_a_cut_try_is_shown_once() -> None:
    whole = ScriptedReply("The whole answer.")
    caller = Caller()
    reply = await caller.call(ScriptedProvider([CutReply(whole, 1, CUT), CutReply(whole, 0, CUT), whole]))
    assert [notice.had_output for notice in caller.notices] == [True, False]
    assert caller.shown == reply.content == "The whole answer."


async def test_a_busy_model_gives_way_to_the_next_after_three_tries() -> None:
    first = ScriptedProvider([BUSY] * 3)
    second = ScriptedProvider([BUSY, ScriptedReply("from the second")])
    fallback = Fallback(second, profile("anthropic", "other"))
    caller = Caller()
    reply = await caller.call(first, request(late_system="the plan"), fallbacks=[fallback])
    assert reply.content == "from the second"
    assert [notice.model for notice in caller.notices] == [
        "openai-chat/wire-model",
        "openai-chat/wire-model",
        "anthropic/other",
        "anthropic/other",
    ]
    assert caller.pauses_s == [1, 2, 0, 1]


async def test_a_wish_of_an_hour_goes_to_the_fallback_at_once() -> None:
    first = ScriptedProvider([failing("rate_limited", 429, 3_600.0)])
    fallback = Fallback(ScriptedProvider([ScriptedReply("here")]), profile("anthropic", "other"))
    assert (await Caller().call(first, fallbacks=[fallback])).content == "here"


async def test_a_pause_is_cancelled_at_once() -> None:
    async def read() -> None:
        stream = stream_with_retry(
            ScriptedProvider([BUSY]),
            request(),
            sleep=asyncio.sleep,
            random=lambda: 1.0,
            on_retry=lambda _: paused.set(),
            policy=RetryPolicy(first_delay_s=60),
        )
        async with aclosing(stream) as events:
            async for _ in events:
                pass

    paused = asyncio.Event()
    reading = asyncio.create_task(read())
    await paused.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(1):
            await reading


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_one_session_survives_429_529_a_cut_call_a_reset_and_a_slow_drip(protocol: str) -> None:
    reads = (WireCall("read_file", {"path": "a.py"}),)
    inside_the_call = {"openai-chat": 6, "openai": 11, "anthropic": 10}[protocol]
    script = in_order(
        WireRefusal(429, {"error": {"message": "slow down"}}, {"retry-after": "1"}),
        WireRefusal(529, {"error": {"type": "overloaded_error", "message": "busy"}}),
        WireReply("I look.", reads, cut_after=inside_the_call, piece_chars=4),
        WireReply("I look.", reads, cut_after=3, ending="reset"),
        WireReply("I look.", reads, piece_delay_s=0.1),
    )
    caller = Caller()
    async with serving(protocol, script) as (server, provider):
        reply = await caller.call(provider, request(of=profile(protocol)))
    assert server.violations == []
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("read_file", {"path": "a.py"})]
    assert caller.shown == "I look."
    assert caller.pauses_s == [1.0, 2.0, 4.0, 8.0]


async def test_an_unfinished_fold_is_no_reply() -> None:
    fold = ReplyFold(frozenset(), lambda: next(new_ids()))
    fold.add(TextDelta("half"))
    assert fold.text == "half"
    with pytest.raises(ProviderError, match="cut"):
        fold.reply()
