from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence

import pytest
from _pytest.mark import ParameterSet

from tests.providers.requests import events_from, folded, profile, reply_from, request
from tests.providers.serving import PROTOCOLS, serving
from tests.providers.stream_cases import StreamCase
from tests.providers.stream_cases_chat import CHAT_CASES, chat, delta
from tests.providers.stream_cases_typed import MESSAGES_CASES, RESPONSES_CASES
from tests.wire.answers import RawAnswer, in_order
from tori_tui.providers.anthropic.decode import MessagesDecoder
from tori_tui.providers.base import StreamEvent, ThinkingDelta
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.fold import Reply
from tori_tui.providers.openai.chat_decode import ChatDecoder
from tori_tui.providers.openai.responses_decode import ResponsesDecoder
from tori_tui.providers.sse_stream import EventDecoder, decode_stream

CASES = CHAT_CASES + RESPONSES_CASES + MESSAGES_CASES

SHORT_BYTES = 200

QUICK_BYTES = 130


def case_id(case: StreamCase) -> str:
    return f"{case.protocol}: {case.name}"


def decoder_for(protocol: str) -> EventDecoder:
    family = profile().family
    match protocol:
        case "openai-chat":
            return ChatDecoder("host", family)
        case "openai":
            return ResponsesDecoder(family)
        case _:
            return MessagesDecoder(family)


async def arriving(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def decoded(protocol: str, *chunks: bytes) -> list[StreamEvent]:
    return [event async for event in decode_stream(arriving(chunks), decoder_for(protocol), 5.0)]


def check(case: StreamCase, events: list[StreamEvent]) -> None:
    reply = folded(events)
    assert reply.content == case.text
    assert shown_calls(reply) == case.calls
    assert reply.stop_reason == case.stop
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == case.thinking
    assert len({call.id for call in reply.tool_calls}) == len(reply.tool_calls)
    if case.usage is not None:
        assert reply.usage is not None
        assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == case.usage
    for name, value in case.returned.items():
        assert reply.provider_parts[0].data[name] == value


def shown_calls(reply: Reply) -> tuple[tuple[str, str], ...]:
    return tuple(
        (
            call.name,
            json.dumps(call.arguments, ensure_ascii=False)
            if call.arguments_raw is None
            else call.arguments_raw,
        )
        for call in reply.tool_calls
    )


@pytest.mark.parametrize("case", CASES, ids=case_id)
async def test_a_stream_split_at_any_byte_comes_to_the_same(case: StreamCase) -> None:
    step = 1 if len(case.stream) < 500 else 3
    for position in range(0, len(case.stream) + 1, step):
        chunks = [chunk for chunk in (case.stream[:position], case.stream[position:]) if chunk]
        if case.fault is None:
            check(case, await decoded(case.protocol, *chunks))
        else:
            with pytest.raises(ProviderError) as caught:
                await decoded(case.protocol, *chunks)
            assert caught.value.fault == case.fault


@pytest.mark.parametrize("case", CASES, ids=case_id)
async def test_a_stream_in_single_bytes_on_a_socket_comes_to_the_same(case: StreamCase) -> None:
    pieces = tuple(case.stream[at : at + 1] for at in range(len(case.stream)))
    async with serving(case.protocol, in_order(RawAnswer(pieces))) as (_, provider):
        if case.fault is None:
            check(case, await events_from(provider, request(of=profile(case.protocol))))
        else:
            with pytest.raises(ProviderError) as caught:
                await events_from(provider, request(of=profile(case.protocol)))
            assert caught.value.fault == case.fault


def by_length(case: StreamCase) -> ParameterSet:
    marks = (pytest.mark.slow,) if len(case.stream) > QUICK_BYTES else ()
    return pytest.param(case, id=case_id(case), marks=marks)


SHORT = [by_length(case) for case in CASES if 0 < len(case.stream) <= SHORT_BYTES]


@pytest.mark.parametrize("case", SHORT)
async def test_a_short_stream_split_at_any_byte_on_a_socket_comes_to_the_same(case: StreamCase) -> None:
    answers = [RawAnswer((case.stream[:at], case.stream[at:])) for at in range(1, len(case.stream))]
    async with serving(case.protocol, in_order(*answers)) as (_, provider):
        for _ in answers:
            if case.fault is None:
                check(case, await events_from(provider, request(of=profile(case.protocol))))
            else:
                with pytest.raises(ProviderError) as caught:
                    await events_from(provider, request(of=profile(case.protocol)))
                assert caught.value.fault == case.fault


async def test_the_end_marker_ends_the_turn_though_the_socket_stays_open() -> None:
    answer = RawAnswer((chat(delta("Hi"), delta(finish="stop")),), ending="hold")
    async with serving("openai-chat", in_order(answer), idle_timeout_s=30) as (_, provider):
        began_s = time.monotonic()
        reply = await reply_from(provider, request())
        assert time.monotonic() - began_s < 0.5
    assert reply.content == "Hi"


async def test_a_finished_reply_on_an_open_socket_ends_after_a_short_grace() -> None:
    answer = RawAnswer((chat(delta("Hi"), delta(finish="stop"), done=False),), ending="hold")
    async with serving("openai-chat", in_order(answer), idle_timeout_s=0.2) as (_, provider):
        assert (await reply_from(provider, request())).content == "Hi"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("pieces", [(), (b": keepalive\n\n",)])
async def test_headers_and_then_silence_end_at_the_idle_time_out(
    protocol: str, pieces: tuple[bytes, ...]
) -> None:
    answer = RawAnswer(pieces, ending="hold")
    async with serving(protocol, in_order(answer), idle_timeout_s=0.1) as (_, provider):
        with pytest.raises(ProviderError) as caught:
            await reply_from(provider, request(of=profile(protocol)))
    assert caught.value.fault == "stalled"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_comments_alone_keep_a_stream_alive_for_a_while_but_not_for_ever(protocol: str) -> None:
    answer = RawAnswer((b": keepalive\n\n",), piece_delay_s=0.02, repeat=True)
    async with serving(protocol, in_order(answer), idle_timeout_s=0.1) as (_, provider):
        began_s = time.monotonic()
        with pytest.raises(ProviderError) as caught:
            await reply_from(provider, request(of=profile(protocol)))
        assert 0.4 < time.monotonic() - began_s < 3
    assert caught.value.fault == "stalled"


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_comments_alone_are_cancelled_at_once(protocol: str) -> None:
    answer = RawAnswer((b": keepalive\n\n",), piece_delay_s=0.01, repeat=True)
    async with serving(protocol, in_order(answer)) as (_, provider):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await reply_from(provider, request(of=profile(protocol)))
