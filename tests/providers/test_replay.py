from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.providers.requests import events_from, reply_from, request
from tori_tui.domain.errors import UsageError
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import TextDelta, ThinkingDelta
from tori_tui.providers.catalogue import profile_for
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.registry import make_provider
from tori_tui.providers.replay.provider import ReplayProvider

RECORDING = '''
[[reply]]
thinking = "First I look."
text = "I look at the tests first, then I fix them."
input_tokens = 900
output_tokens = 30

[[reply.call]]
name = "read_file"
arguments = { path = "shop/cart.py" }

[[reply.call]]
name = "bash"
arguments = """{"command": "pytest"""

[[reply]]
text = "Done."
'''


async def test_a_recording_in_toml_is_played_in_pieces_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "demo.toml"
    path.write_text(RECORDING)
    provider = make_provider(profile_for(f"replay/{path}"), environ={})
    events = await events_from(provider, request())
    assert sum(isinstance(event, TextDelta) for event in events) > 2
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "First I look."
    second = await reply_from(provider, request())
    assert (second.content, second.stop_reason) == ("Done.", "end")


async def test_calls_keep_their_arguments_also_broken_ones(tmp_path: Path) -> None:
    path = tmp_path / "demo.toml"
    path.write_text(RECORDING)
    reply = await reply_from(ReplayProvider(path), request())
    read, bash = reply.tool_calls
    assert (read.arguments, bash.arguments_raw) == ({"path": "shop/cart.py"}, '{"command": "pytest')
    assert reply.usage == Usage(900, 30)


async def test_more_requests_than_replies_are_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"text": "Only this."}\n')
    provider = ReplayProvider(path)
    await reply_from(provider, request())
    with pytest.raises(ProviderError, match="no more replies than these 1") as caught:
        await reply_from(provider, request())
    assert not caught.value.can_retry


async def test_a_trace_is_played_again_by_the_main_context_s_whole_replies(tmp_path: Path) -> None:
    records = [
        {"kind": "run", "status": "running"},
        {"kind": "message", "context": "main", "role": "user", "content": "Fix it"},
        {
            "kind": "message",
            "context": "main",
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "a", "name": "read_file", "arguments": {"path": "x"}}],
            "usage": {"input_tokens": 10, "output_tokens": 2},
        },
        {"kind": "message", "context": "main", "role": "assistant", "content": "cut", "interrupted": True},
        {"kind": "message", "context": "other", "role": "assistant", "content": "elsewhere"},
        {
            "kind": "message",
            "context": "main",
            "role": "assistant",
            "content": [{"type": "text", "text": "Done."}],
        },
    ]
    lines = [json.dumps(record) for record in records]
    (tmp_path / "messages.jsonl").write_text("\n".join([*lines[:3], "{torn", *lines[3:]]))
    provider = ReplayProvider(tmp_path)
    first, second = await reply_from(provider, request()), await reply_from(provider, request())
    assert (first.content, first.tool_calls[0].arguments) == ("I look.", {"path": "x"})
    assert first.usage == Usage(10, 2)
    assert second.content == "Done."


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("missing.toml", None, "cannot be read"),
        ("empty.toml", "", "holds no reply"),
        ("bad.toml", "[[reply", "no TOML"),
        ("bad.jsonl", "nothing\n[1]\n", "holds no reply"),
    ],
)
def test_what_is_no_recording_says_so(tmp_path: Path, name: str, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=words):
        ReplayProvider(tmp_path / name)
