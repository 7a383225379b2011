from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.providers.requests import call, model, profile, reply_from, request, user
from tests.providers.serving import PROTOCOLS, serving
from tests.wire.answers import WireReply, by_history
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.registry import make_provider
from tori_tui.providers.settings import ProviderSettings


async def test_a_server_of_its_own_prints_its_address_answers_and_logs(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    command = (sys.executable, "-m", "tests.wire.server", "--script", "hello", "--log", str(log))
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    try:
        url = (await server.stdout.readline()).decode().strip()
        provider = make_provider(profile(), ProviderSettings(base_url=f"{url}/v1"), environ={})
        assert (await reply_from(provider, request())).content == "Hello."
        await provider.close()
    finally:
        server.terminate()
        await server.wait()
    line = json.loads(log.read_text())
    assert (line["number"], line["protocol"], line["violations"]) == (1, "chat", [])


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_script_by_history_counts_replies_alike_in_every_protocol(protocol: str) -> None:
    script = by_history(*(WireReply(f"reply {number}") for number in range(3)))
    history = (user("a"), model("text", call("c1"), call("c2")), model("more"))
    async with serving(protocol, script) as (server, provider):
        assert (await reply_from(provider, request(*history, of=profile(protocol)))).content == "reply 2"
    assert server.violations == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_what_a_request_shares_with_the_one_before_is_cached(protocol: str) -> None:
    script = by_history(WireReply("one"), WireReply("two"))
    long = "word " * 2_000
    async with serving(protocol, script) as (_, provider):
        await reply_from(provider, request(user(long), of=profile(protocol)))
        second = await reply_from(
            provider, request(user(long), model("one"), user("b"), of=profile(protocol))
        )
    assert second.usage is not None
    assert 0.7 < second.usage.cached_tokens / second.usage.input_tokens <= 1


async def test_a_script_that_is_used_up_is_told_as_a_refusal() -> None:
    async with serving("openai-chat", by_history()) as (_, provider):
        with pytest.raises(ProviderError, match="only 0 answers"):
            await reply_from(provider, request())
