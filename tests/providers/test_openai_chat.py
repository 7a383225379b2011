from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.providers.requests import call, model, reply_from, request, result, said, user
from tests.wire.answers import Script, WireCall, WireRefusal, WireReply, WireUsage, by_history, in_order
from tests.wire.server import WireServer
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import Provider
from tori_tui.providers.catalogue import profile_for
from tori_tui.providers.errors import ProviderError, ProviderFault
from tori_tui.providers.registry import make_provider
from tori_tui.providers.settings import ProviderSettings

MODEL = "openai-chat/wire-model"


@asynccontextmanager
async def served(script: Script) -> AsyncIterator[tuple[WireServer, Provider]]:
    async with WireServer(script) as server:
        settings = ProviderSettings(base_url=server.openai_url, idle_timeout_s=5)
        provider = make_provider(profile_for(MODEL), settings, environ={})
        try:
            yield server, provider
        finally:
            await provider.close()


async def test_a_reply_with_text_and_parallel_calls_arrives_whole() -> None:
    calls = (WireCall("read_file", {"path": "a.py"}), WireCall("read_file", {"path": "b.py"}))
    script = by_history(WireReply("I look.", calls, usage=WireUsage(1_000, 20, cached=900, reasoning=5)))
    async with served(script) as (server, provider):
        reply = await reply_from(provider, request())
    assert server.violations == []
    assert reply.content == "I look."
    assert [(each.name, dict(each.arguments)) for each in reply.tool_calls] == [
        ("read_file", {"path": "a.py"}),
        ("read_file", {"path": "b.py"}),
    ]
    assert reply.usage == Usage(1_000, 20, cached_tokens=900, reasoning_tokens=5)
    assert reply.stop_reason == "calls"


async def test_the_history_goes_back_with_results_after_calls_and_the_plan_last() -> None:
    asked = request(
        user("Fix it"),
        model("I look.", call("a", path="x"), call("b", path="y")),
        result("a", "one"),
        result("b", "two"),
        user("use bcrypt"),
        late_system="## Current Plan",
    )
    async with served(by_history(WireReply("no"), WireReply("Done."))) as (server, provider):
        reply = await reply_from(provider, asked)
    assert (reply.content, server.violations) == ("Done.", [])
    assert server.requests[0].results == ["one", "two"]
    assert server.requests[0].user_texts == ["Fix it", "use bcrypt"]
    assert server.requests[0].system_texts == ["Be brief.\n\nTabs.", "## Current Plan"]
    assert server.requests[0].body["messages"][-1]["role"] == "system"


@pytest.mark.parametrize(
    ("refusal", "fault"),
    [
        (WireRefusal(400, ""), "bad_request"),
        (WireRefusal(400, "<html>no</html>"), "bad_request"),
        (WireRefusal(401, {"error": {"message": "bad key sk-abcdefghijkl"}}), "auth"),
        (WireRefusal(404, {"error": {"message": "The model `x` does not exist"}}), "not_found"),
        (WireRefusal(429, {"error": {"message": "slow down"}}, {"retry-after": "7"}), "rate_limited"),
        (WireRefusal(429, {"error": {"code": "insufficient_quota", "message": "no quota"}}), "billing"),
        (WireRefusal(500, "boom"), "server"),
        (WireRefusal(529, ""), "overloaded"),
        (
            WireRefusal(400, {"error": {"code": "context_length_exceeded"}}),
            "context_overflow",
        ),
        (WireRefusal(500, "System message must be at the beginning"), "late_system_refused"),
    ],
)
async def test_a_refusal_becomes_a_clear_error_without_a_key(
    refusal: WireRefusal, fault: ProviderFault
) -> None:
    async with served(in_order(refusal)) as (_, provider):
        with pytest.raises(ProviderError) as caught:
            await reply_from(provider, request(late_system="plan"))
    error = caught.value
    assert (error.fault, error.status) == (fault, refusal.status)
    assert str(refusal.status) in error.message
    assert "abcdefghijkl" not in str(error)
    assert error.retry_after_s == (7.0 if refusal.headers else None)


async def test_a_refused_connection_names_the_address() -> None:
    settings = ProviderSettings(base_url="http://127.0.0.1:9/v1")
    provider = make_provider(profile_for(MODEL), settings, environ={})
    with pytest.raises(ProviderError) as caught:
        await reply_from(provider, request())
    await provider.close()
    assert caught.value.fault == "connection"
    assert "http://127.0.0.1:9/v1" in caught.value.message


async def test_thinking_returns_only_to_the_server_that_sent_it() -> None:
    async with served(by_history(WireReply("yes", thinking="hm"), WireReply("again"))) as (server, provider):
        reply = await reply_from(provider, request(user("q")))
        await reply_from(provider, request(user("q"), said(reply), user("more")))
        assert server.requests[1].body["messages"][2]["reasoning_content"] == "hm"
    async with served(by_history(WireReply(), WireReply("again"))) as (other_server, provider):
        await reply_from(provider, request(user("q"), said(reply), user("more")))
        assert "reasoning_content" not in other_server.requests[0].body["messages"][2]
