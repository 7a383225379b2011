from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.providers.histories import histories, tool_message
from tests.providers.requests import folded, profile, request, said, user
from tests.providers.test_streams import decoder_for
from tests.wire.answers import WireCall, WireReply, WireUsage
from tests.wire.rules_chat import chat_violations
from tests.wire.rules_messages import messages_violations
from tests.wire.rules_responses import responses_violations
from tests.wire.write_chat import chat_events
from tests.wire.write_messages import messages_events
from tests.wire.write_responses import responses_events
from tori_tui.domain.messages import Message
from tori_tui.domain.request import ModelRequest
from tori_tui.providers.anthropic.encode import encode_messages
from tori_tui.providers.base import StreamEvent
from tori_tui.providers.fold import Reply
from tori_tui.providers.openai.chat_encode import ChatDialect, encode_chat
from tori_tui.providers.openai.responses_encode import encode_responses
from tori_tui.providers.sse import SseDecoder

N_HISTORIES = 2_000

Body = dict[str, Any]

ENCODERS: Mapping[str, Callable[[ModelRequest], Body]] = {
    "openai-chat": lambda asked: encode_chat(asked, ChatDialect("host")),
    "openai": encode_responses,
    "anthropic": encode_messages,
}

RULES = {
    "openai-chat": chat_violations,
    "openai": responses_violations,
    "anthropic": messages_violations,
}

WRITERS = {"openai-chat": chat_events, "openai": responses_events, "anthropic": messages_events}


def encoded(
    protocol: str,
    *messages: Message,
    vision: bool = True,
    late_system: str | None = None,
    cache_marks: tuple[int, ...] = (),
) -> Body:
    of = profile(protocol, vision=vision)
    asked = request(of=of, late_system=late_system, cache_marks=cache_marks)
    return ENCODERS[protocol](replace(asked, messages=messages))


MARKS: st.SearchStrategy[tuple[int, ...]] = st.sampled_from([(), (0,), (0, 3, 7), (1, 2, 3, 4, 20)])

LATE_SYSTEMS = st.sampled_from([None, "plan", " "])


def check_history(
    history: tuple[Message, ...], vision: bool, marks: tuple[int, ...], late: str | None
) -> None:
    for protocol, rules in RULES.items():
        body = encoded(protocol, *history, vision=vision, late_system=late, cache_marks=marks)
        assert rules(body) == ()
        json.dumps(body, ensure_ascii=False).encode()


@settings(max_examples=80, deadline=None)
@given(histories(), st.booleans(), MARKS, LATE_SYSTEMS)
def test_any_history_encodes_to_a_request_that_every_provider_takes(
    history: tuple[Message, ...], vision: bool, marks: tuple[int, ...], late: str | None
) -> None:
    check_history(history, vision, marks, late)


@pytest.mark.slow
@settings(max_examples=N_HISTORIES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), st.booleans(), MARKS, LATE_SYSTEMS)
def test_two_thousand_histories_encode_to_requests_that_every_provider_takes(
    history: tuple[Message, ...], vision: bool, marks: tuple[int, ...], late: str | None
) -> None:
    check_history(history, vision, marks, late)


@pytest.mark.parametrize("protocol", RULES)
@settings(max_examples=25, deadline=None)
@given(histories())
def test_a_longer_history_begins_with_what_a_shorter_one_gave(
    protocol: str, history: tuple[Message, ...]
) -> None:
    key = "input" if protocol == "openai" else "messages"
    whole = encoded(protocol, *history, user("more"))[key]
    ends = [index for index, message in enumerate(history) if message.role == "assistant"]
    for end in ends:
        shorter = encoded(protocol, *history[:end])[key][:-1]
        assert whole[: len(shorter)] == shorter


@pytest.mark.parametrize("seed", range(40))
def test_a_session_goes_on_through_a_change_of_provider_at_every_turn(seed: int) -> None:
    chance = random.Random(seed)
    used: set[str] = set()
    messages: list[Message] = [user("Fix it")]
    for turn in range(12):
        protocol = chance.choice(list(RULES))
        body = encoded(protocol, *messages, late_system="## Current Plan")
        assert RULES[protocol](body) == ()
        calls = tuple(
            WireCall("read_file", json.dumps({"path": "a.py"}), chance.choice(["call_0", f"c{turn}", ""]))
            for _ in range(chance.randint(0, 3))
        )
        text = chance.choice(["", "I look."]) if calls else "I look."
        reply = WireReply(text, thinking=chance.choice(["", "Hm."]))
        events = decoded(protocol, WRITERS[protocol](reply, calls, WireUsage(10, 1), turn))
        whole = folded(events, frozenset(used))
        assert len(whole.tool_calls) == len(calls)
        assert used.isdisjoint(call.id for call in whole.tool_calls)
        used |= {call.id for call in whole.tool_calls}
        messages.append(said(whole))
        messages += [tool_message(call.id, "text") for call in whole.tool_calls]
        if not calls or chance.random() < 0.3:
            messages.append(user("Go on"))


def test_thinking_returns_before_the_call_that_it_led_to() -> None:
    reply = WireReply("I look.", thinking="Hm.")
    calls = (WireCall("read_file", "{}", "a"),)
    for protocol, kinds in {
        "anthropic": ["thinking", "text", "tool_use"],
        "openai": ["reasoning", None, "function_call"],
    }.items():
        whole = folded(decoded(protocol, WRITERS[protocol](reply, calls, WireUsage(10, 1), 1)))
        body = encoded(protocol, user("q"), said(whole), tool_message("a", "text"))
        blocks = body["messages"][1]["content"] if protocol == "anthropic" else body["input"][1:4]
        assert [block.get("type") for block in blocks] == kinds


def test_cache_breakpoints_stand_at_the_system_prompt_and_the_newest_three_marks() -> None:
    history = [user("one"), said(folded_text("two")), user("three"), said(folded_text("four")), user("five")]
    body = encoded("anthropic", *history, cache_marks=(0, 1, 2, 4), late_system="plan")
    marked = [
        index
        for index, message in enumerate(body["messages"])
        if isinstance(message["content"], list) and "cache_control" in message["content"][-1]
    ]
    assert marked == [1, 2, 4]
    assert "cache_control" in body["system"][-1]
    assert messages_violations(body) == ()


def test_the_cache_key_goes_to_openai_and_to_no_compatible_server() -> None:
    asked = request()
    assert encode_responses(asked)["prompt_cache_key"] == "session-1"
    assert "prompt_cache_key" not in encode_chat(asked, ChatDialect("host"))
    assert encode_chat(asked, ChatDialect("host", is_openai=True))["prompt_cache_key"] == "session-1"


def test_effort_is_sent_in_each_protocol_s_own_words() -> None:
    asked = replace(request(), effort="high")
    assert encode_responses(asked)["reasoning"] == {"summary": "auto", "effort": "high"}
    assert encode_chat(asked, ChatDialect("host"))["reasoning_effort"] == "high"
    assert encode_messages(asked)["output_config"] == {"effort": "high"}
    assert "effort" not in str(encode_chat(replace(asked, effort="max"), ChatDialect("host")))


def folded_text(text: str) -> Reply:
    return folded(decoded("anthropic", messages_events(WireReply(text), (), WireUsage(1, 1), 1)))


def decoded(protocol: str, chunks: list[bytes]) -> list[StreamEvent]:
    sse, decoder = SseDecoder(), decoder_for(protocol)
    events = [
        event for chunk in chunks for server_event in sse.feed(chunk) for event in decoder.feed(server_event)
    ]
    return events
