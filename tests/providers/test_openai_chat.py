from __future__ import annotations

from dataclasses import replace

import pytest

from tests.providers.requests import model, reply_from, request, said, user
from tests.providers.serving import serving
from tests.wire.answers import Answer, WireRefusal, WireReply, WireRequest, by_history
from tori_tui.providers.errors import ProviderError

PICKY = ("stream_options", "max_tokens")


def picky(request: WireRequest) -> Answer:
    """Refuses one parameter at a time, as strict servers do."""
    for name in PICKY:
        if name in request.body:
            return WireRefusal(422, {"error": {"message": f"Extra inputs are not permitted: {name}"}})
    return WireReply("Hello.")


async def test_parameters_that_a_server_refuses_are_left_out_from_then_on() -> None:
    asked = replace(request(), max_output_tokens=100)
    async with serving("openai-chat", picky) as (server, provider):
        assert (await reply_from(provider, asked)).content == "Hello."
        assert (await reply_from(provider, asked)).content == "Hello."
    assert len(server.requests) == 4
    assert server.requests[-1].body["max_completion_tokens"] == 100


async def test_a_refusal_of_what_is_needed_is_told() -> None:
    script = by_history(WireRefusal(400, {"error": {"message": "messages: too many"}}))
    async with serving("openai-chat", script) as (server, provider):
        with pytest.raises(ProviderError, match="messages: too many"):
            await reply_from(provider, request())
    assert len(server.requests) == 1


async def test_thinking_returns_only_to_the_server_that_sent_it() -> None:
    async with serving("openai-chat", by_history(WireReply("yes", thinking="hm"), WireReply("again"))) as (
        server,
        provider,
    ):
        reply = await reply_from(provider, request(user("q")))
        await reply_from(provider, request(user("q"), said(reply), user("more")))
        assert server.requests[1].body["messages"][2]["reasoning_content"] == "hm"
    async with serving("openai-chat", by_history(WireReply(), WireReply("again"))) as (other, provider):
        await reply_from(provider, request(user("q"), said(reply), user("more")))
        assert "reasoning_content" not in other.requests[0].body["messages"][2]


async def test_adjacent_user_messages_become_one_for_templates_that_want_alternation() -> None:
    async with serving("openai-chat", by_history(WireReply("no"), WireReply("ok"))) as (server, provider):
        await reply_from(provider, request(user("one"), model("two"), user("three"), user("four")))
    roles = [message["role"] for message in server.requests[0].body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert server.requests[0].user_texts[-1] == "three\n\nfour"
