"""What every adapter does alike, over a socket."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from tests.providers.requests import (
    call,
    events_from,
    folded,
    model,
    profile,
    reply_from,
    request,
    result,
    said,
    user,
)
from tests.providers.serving import PROTOCOLS, provider_at, serving
from tests.wire.answers import WireCall, WireRefusal, WireReply, WireUsage, by_history, in_order
from tests.wire.server import WireServer
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import TextDelta, ThinkingDelta
from tori_tui.providers.errors import ProviderError, ProviderFault

pytestmark = pytest.mark.parametrize("protocol", PROTOCOLS)

TWO_READS = (WireCall("read_file", {"path": "a.py"}), WireCall("read_file", {"path": "ü 😀.py"}))

PNG = ContentPart("image", media_type="image/png", data="iVBORw0KGgo=")


async def test_text_thinking_parallel_calls_and_usage_arrive_whole(protocol: str) -> None:
    usage = WireUsage(1_000, 20, cached=900, reasoning=5)
    script = by_history(WireReply("I look. 😀", TWO_READS, thinking="Hm, two files.", usage=usage))
    async with serving(protocol, script) as (server, provider):
        events = await events_from(provider, request(of=profile(protocol)))
    reply = folded(events)
    assert server.violations == []
    assert reply.content == "I look. 😀"
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == reply.content
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Hm, two files."
    assert [each.arguments for each in reply.tool_calls] == [{"path": "a.py"}, {"path": "ü 😀.py"}]
    assert reply.usage == Usage(1_000, 20, cached_tokens=900, reasoning_tokens=5)
    assert reply.stop_reason == "calls"


async def test_a_conversation_goes_on_with_thinking_results_comment_and_late_plan(protocol: str) -> None:
    script = by_history(WireReply("I look.", TWO_READS, thinking="Hm."), WireReply("Done.", thinking="Ah."))
    async with serving(protocol, script) as (server, provider):
        first = await reply_from(provider, request(user("Fix it"), of=profile(protocol)))
        ids = [each.id for each in first.tool_calls]
        asked = request(
            user("Fix it"),
            said(first),
            result(ids[0], "one"),
            result(ids[1], "two", is_error=True),
            user("use bcrypt"),
            of=profile(protocol),
            late_system="## Current Plan",
            cache_marks=(0, 3),
        )
        second = await reply_from(provider, asked)
    assert server.violations == []
    assert second.content == "Done."
    assert server.requests[1].results == ["one", "two"]
    assert server.requests[1].user_texts[-1] == "use bcrypt"
    assert server.requests[1].system_texts[-1] == "## Current Plan"
    assert server.requests[1].items[-1]["role"] in ("system", "developer")
    thought = {"openai-chat": "'Hm.'", "openai": "'enc-", "anthropic": "'sig-"}[protocol]
    assert thought in str(server.requests[1].body)


async def test_thinking_of_another_provider_or_family_stays_away(protocol: str) -> None:
    async with serving(protocol, by_history(WireReply("Yes.", thinking="Secret."))) as (_, provider):
        reply = await reply_from(provider, request(of=profile(protocol)))
    assert reply.provider_parts
    for other in PROTOCOLS:
        script = by_history(WireReply("no"), WireReply("Sure."))
        async with serving(other, script) as (server, provider):
            of = profile(other, "another-family")
            await reply_from(provider, request(user("q"), said(reply), user("and?"), of=of))
        assert server.violations == []
        assert "Secret" not in str(server.requests[0].body)


async def test_images_go_to_models_that_see_and_become_a_note_for_others(protocol: str) -> None:
    history = (user((ContentPart("text", "Look"), PNG)), model("", call("a")), result("a", (PNG,)))
    script = by_history(WireReply("no"), WireReply("A cat."))
    async with serving(protocol, script) as (server, provider):
        await reply_from(provider, request(*history, of=profile(protocol, vision=True)))
        await reply_from(provider, request(*history, of=profile(protocol)))
    assert server.violations == []
    assert str(server.requests[0].body).count("iVBORw0KGgo=") == 2
    assert "iVBORw0KGgo=" not in str(server.requests[1].body)
    assert str(server.requests[1].body).count("left out") == 2


async def test_length_is_a_stop_reason_and_a_cut_call_is_not_runnable(protocol: str) -> None:
    cut = WireCall("write_file", '{"path": "a.py", "content": "x')
    script = in_order(WireReply("I wri", stop="length"), WireReply("", (cut,), stop="length"))
    async with serving(protocol, script) as (_, provider):
        text = await reply_from(provider, request(of=profile(protocol)))
        with_call = await reply_from(provider, request(of=profile(protocol)))
    assert (text.content, text.stop_reason) == ("I wri", "length")
    assert with_call.stop_reason == "length"
    assert with_call.tool_calls[0].arguments_raw == '{"path": "a.py", "content": "x'


async def test_broken_arguments_go_back_as_a_valid_object(protocol: str) -> None:
    script = by_history(WireReply("", (WireCall("bash", '{"command": "ls'),)), WireReply("Again."))
    async with serving(protocol, script) as (server, provider):
        reply = await reply_from(provider, request(user("go"), of=profile(protocol)))
        back = (said(reply), result(reply.tool_calls[0].id, "arguments are no JSON", is_error=True))
        await reply_from(provider, request(user("go"), *back, of=profile(protocol)))
    assert reply.tool_calls[0].arguments_raw is not None
    assert server.violations == []


async def test_a_call_without_arguments_means_an_empty_object(protocol: str) -> None:
    async with serving(protocol, by_history(WireReply("", (WireCall("bash_output", ""),)))) as (_, provider):
        reply = await reply_from(provider, request(of=profile(protocol)))
    assert reply.tool_calls[0].arguments_raw is None
    assert reply.tool_calls[0].arguments == {}


@pytest.mark.parametrize("ending", ["close", "reset"])
@pytest.mark.parametrize("cut_after", [1, 4, 8])
async def test_a_stream_that_ends_without_its_marker_is_an_error(
    protocol: str, cut_after: int, ending: str
) -> None:
    answer = WireReply("A text of some length.", TWO_READS, cut_after=cut_after, ending="close")
    if ending == "reset":
        answer = WireReply("A text of some length.", TWO_READS, cut_after=cut_after, ending="reset")
    async with serving(protocol, in_order(answer)) as (_, provider):
        with pytest.raises(ProviderError) as caught:
            await reply_from(provider, request(of=profile(protocol)))
    assert caught.value.fault == "cut"
    assert caught.value.can_retry


async def test_silence_ends_at_the_idle_time_out(protocol: str) -> None:
    answer = WireReply("A text.", cut_after=2, ending="hold")
    async with serving(protocol, in_order(answer), idle_timeout_s=0.2) as (_, provider):
        with pytest.raises(ProviderError) as caught:
            await reply_from(provider, request(of=profile(protocol)))
    assert caught.value.fault == "stalled"


async def test_silence_before_the_headers_ends_at_the_idle_time_out(protocol: str) -> None:
    answer = WireReply("A text.", first_delay_s=30)
    async with serving(protocol, in_order(answer), idle_timeout_s=0.2) as (_, provider):
        with pytest.raises(ProviderError) as caught:
            await reply_from(provider, request(of=profile(protocol)))
    assert caught.value.fault == "stalled"


@pytest.mark.parametrize(
    ("refusal", "fault"),
    [
        (WireRefusal(400, ""), "bad_request"),
        (WireRefusal(400, "<html>no</html>"), "bad_request"),
        (WireRefusal(401, {"error": {"message": "bad key sk-abcdefghijkl"}}), "auth"),
        (WireRefusal(402, {"error": {"message": "pay"}}), "billing"),
        (WireRefusal(404, {"error": {"message": "The model `x` does not exist"}}), "not_found"),
        (WireRefusal(413, {"error": {"type": "request_too_large", "message": "big"}}), "context_overflow"),
        (WireRefusal(429, {"error": {"message": "slow down"}}, {"retry-after": "7"}), "rate_limited"),
        (WireRefusal(429, {"error": {"code": "insufficient_quota", "message": "no"}}), "rate_limited"),
        (WireRefusal(500, "boom"), "server"),
        (WireRefusal(503, "busy"), "overloaded"),
        (WireRefusal(529, {"error": {"type": "overloaded_error", "message": "busy"}}), "overloaded"),
        (WireRefusal(400, {"error": {"code": "context_length_exceeded"}}), "context_overflow"),
        (WireRefusal(400, {"error": {"message": "prompt is too long: 9 tokens > 8"}}), "context_overflow"),
        (WireRefusal(500, "System message must be at the beginning"), "late_system_refused"),
        (WireRefusal(400, {"error": {"message": "roles must alternate"}}), "late_system_refused"),
    ],
)
async def test_a_refusal_becomes_an_error_that_says_the_status_and_no_key(
    protocol: str, refusal: WireRefusal, fault: ProviderFault
) -> None:
    async with serving(protocol, in_order(refusal)) as (_, provider):
        with pytest.raises(ProviderError) as caught:
            await reply_from(provider, request(of=profile(protocol), late_system="plan"))
    error = caught.value
    expected = "billing" if "insufficient_quota" in str(refusal.body) else fault
    assert (error.fault, error.status) == (expected, refusal.status)
    assert str(refusal.status) in error.message
    assert "abcdefghijkl" not in str(error)
    assert error.retry_after_s == (7.0 if refusal.headers else None)


async def test_a_refused_connection_names_the_address(protocol: str) -> None:
    async with WireServer(by_history()) as server:
        url = server.url
    provider = provider_at(protocol, server)
    with pytest.raises(ProviderError) as caught:
        await reply_from(provider, request(of=profile(protocol)))
    await provider.close()
    assert caught.value.fault == "connection"
    assert url in caught.value.message
    assert "Connect" in caught.value.message or "refused" in caught.value.message


async def test_one_connection_serves_all_turns(protocol: str) -> None:
    async with serving(protocol, in_order(*(WireReply("Hello."),) * 3)) as (server, provider):
        for _ in range(3):
            await reply_from(provider, request(of=profile(protocol)))
    assert server.n_connections == 1


async def test_cancelling_closes_the_connection_at_once(protocol: str) -> None:
    answer = WireReply("word " * 200, piece_delay_s=0.02)
    async with serving(protocol, in_order(answer, WireReply("Hello."))) as (server, provider):
        started = asyncio.Event()

        async def read() -> None:
            async with aclosing(provider.stream(request(of=profile(protocol)))) as events:
                async for _ in events:
                    started.set()

        reading = asyncio.create_task(read())
        await started.wait()
        began_s = asyncio.get_running_loop().time()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert asyncio.get_running_loop().time() - began_s < 0.2
        reply = await reply_from(provider, request(of=profile(protocol)))
        assert reply.content == "Hello."
        async with asyncio.timeout(2):
            await server.client_went_away.wait()
