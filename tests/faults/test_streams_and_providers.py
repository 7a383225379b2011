from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.branches.kit import until
from tests.e2e.commands import tori
from tests.fakes.processes import pids_of
from tests.faults.wire_kit import talking
from tests.providers.requests import profile, reply_from, request, said, user
from tests.providers.serving import PROTOCOLS, serving
from tests.providers.stream_cases_chat import chat, delta, fragment
from tests.providers.stream_cases_typed import (
    FUNCTION_DONE,
    TEXT_START,
    TOOL_START,
    block_delta,
    completed,
    message_start,
    output_text,
    typed,
)
from tests.wire.answers import (
    Answer,
    RawAnswer,
    WireCall,
    WireRefusal,
    WireReply,
    WireRequest,
    by_history,
    in_order,
)
from tests.wire.server import WireServer
from tori_tui.config import Settings
from tori_tui.domain.commands import InterruptRun, SubmitPrompt
from tori_tui.domain.events import RetryScheduled, TextStreamed, ToolRunStarted, TurnFinished
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.registry import make_provider
from tori_tui.providers.settings import ProviderSettings
from tori_tui.providers.sse import SseDecoder

FINE = WireReply("Fine.")

DEAD_PROXY = "http://127.0.0.1:9"


def raw(*chunks: object, done: bool = True) -> RawAnswer:
    return RawAnswer((chat(*chunks, done=done),))


def bash(command: str) -> WireCall:
    return WireCall("bash", {"command": command})


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_after_an_interrupt_in_a_tool_every_call_has_its_result_on_every_protocol(
    tmp_path: Path, protocol: str
) -> None:
    both = WireReply("", (bash("sleep 92.375"), WireCall("read_file", {"path": "a.txt"})))
    async with talking(tmp_path, by_history(both, FINE), protocol=protocol) as talk:
        talk.driver.session.send(SubmitPrompt("go"))
        await talk.driver.until(ToolRunStarted)
        await talk.driver.run(InterruptRun())
        assert (await talk.driver.run("hi")).status == "done"
        assert talk.server.violations == []
        last = talk.server.requests[-1]
        assert len(last.results) == 2
        assert last.results[0].startswith("Interrupted")
        assert last.results[1].startswith("Not run")
        if protocol != "anthropic":
            ids = [item.get("tool_call_id") or item.get("call_id") for item in last.items]
            answered = [
                item.get("tool_call_id") or item.get("call_id")
                for item in last.items
                if item.get("role") == "tool" or item.get("type") == "function_call_output"
            ]
            assert len(set(answered)) == 2
            assert set(answered) <= set(ids)
    assert pids_of("92.375") == []


async def test_a_session_killed_in_a_tool_is_resumed_with_a_valid_history(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    script = by_history(WireReply("", (bash("touch begun; sleep 91.375"),)), FINE)
    async with WireServer(script) as server:
        environ = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "k", "TORI_MODEL": "openai-chat/m"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.e2e.killable", "1000000", str(root), "sleep"),
            env={**os.environ, **environ},
            stdout=asyncio.subprocess.DEVNULL,
        )
        await until((root / "begun").exists, limit_s=30)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        (trace,) = (path.parent for path in (root / ".trace").glob("*/messages.jsonl"))
        arguments = ("run", "--mode", "auto", "--resume", trace.name, "hi")
        code, out, err = await tori(*arguments, cwd=root, **environ, url=server.openai_url)
        assert (code, out.strip()) == (0, "Fine."), err
        assert server.violations == []
        assert len(server.requests[-1].results) == 1
        assert server.requests[-1].user_texts[-1].startswith("hi\n\n")
    assert pids_of("91.375") == []


@pytest.mark.parametrize("body", ["", "<html><b>Bad</b></html>", "{", "[]", "null", '{"error": null}'])
async def test_a_refusal_without_words_is_told_with_its_status_and_the_next_prompt_works(
    tmp_path: Path, body: str
) -> None:
    async with talking(tmp_path, in_order(WireRefusal(400, body), FINE)) as talk:
        state = await talk.driver.run("go")
        assert (state.status, state.cause) == ("failed", "provider")
        assert state.last_error is not None
        assert (state.last_error.status, "400" in state.last_error.message) == (400, True)
        assert "400" in state.reason
        assert (await talk.driver.run("again")).status == "done"


@pytest.mark.parametrize(
    "thought",
    [
        {"reasoning_content": "Hm."},
        {"reasoning": "Hm."},
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "s"}]},
    ],
)
async def test_thoughts_before_a_call_return_in_their_own_field_and_only_to_who_sent_them(
    tmp_path: Path, thought: dict[str, object]
) -> None:
    call = fragment(0, '{"path": "a.txt"}', "c1", "read_file")
    thinking = {"choices": [{"index": 0, "delta": thought, "finish_reason": None}]}
    first = raw(thinking, call, delta(finish="tool_calls"))
    async with talking(tmp_path, in_order(first, FINE)) as talk:
        assert (await talk.driver.run("go")).status == "done"
        assert talk.server.violations == []
        sent = next(item for item in talk.server.requests[1].items if item["role"] == "assistant")
        assert {name: sent.get(name) for name in thought} == thought
    async with serving("openai-chat", in_order(first)) as (_, provider):
        reply = await reply_from(provider, request())
    async with serving("openai-chat", in_order(FINE)) as (other, provider):
        await reply_from(provider, request(user("q"), said(reply), user("more")))
        plain = {"role", "content", "tool_calls", "tool_call_id"}
        assert all(set(item) <= plain for item in other.requests[0].items)


async def test_broken_arguments_are_answered_and_go_back_as_a_valid_object(tmp_path: Path) -> None:
    broken = raw(
        fragment(0, '{"path": "a.py", "content": "x\ny', "c", "write_file"), delta(finish="tool_calls")
    )
    async with talking(tmp_path, in_order(broken, FINE)) as talk:
        assert (await talk.driver.run("go")).status == "done"
        assert talk.server.violations == []
        assert not (talk.root / "a.py").exists()
        sent = next(item for item in talk.server.requests[1].items if item["role"] == "assistant")
        assert isinstance(json.loads(sent["tool_calls"][0]["function"]["arguments"]), dict)
        (result,) = (message for message in talk.messages if message.role == "tool")
        assert result.is_error
        assert "JSON" in result.text


async def test_a_connection_that_is_lost_in_mid_answer_is_no_end_and_is_tried_again(tmp_path: Path) -> None:
    cut = raw(delta("I look "), delta("at"), done=False)
    async with talking(tmp_path, in_order(cut, WireReply("The whole answer."))) as talk:
        assert (await talk.driver.run("go")).status == "done"
        assert [retry.attempt for retry in talk.retries] == [1]
        assert "cut" in talk.retries[0].reason
        answers = [message.text for message in talk.messages if message.role == "assistant"]
        assert answers == ["The whole answer."]
    (tmp_path / "never").mkdir()
    async with talking(tmp_path / "never", lambda _: cut) as talk:
        state = await talk.driver.run("go")
        assert (state.status, state.cause) == ("failed", "provider")
        assert [message.interrupted for message in talk.messages] == [False, True]
        assert talk.messages[1].text == "I look at"


async def test_an_answer_cut_at_its_limit_is_told_and_a_call_without_an_end_runs_once(tmp_path: Path) -> None:
    limit = completed("incomplete", incomplete_details={"reason": "max_output_tokens"})
    answers: list[Answer] = [
        RawAnswer((typed(output_text("The first half"), limit),)),
        RawAnswer((typed(function_done("echo ran >> ran.txt")),)),
        RawAnswer((typed(function_done("echo ran >> ran.txt"), completed()),)),
        FINE,
    ]
    async with talking(tmp_path, in_order(*answers), protocol="openai") as talk:
        assert (await talk.driver.run("go")).status == "done"
        stops = [event.stop_reason for event in talk.driver.events if isinstance(event, TurnFinished)]
        assert stops == ["length", "calls", "end"]
        # The model is sent on with a word about it; the half answer never counts as the end.
        assert "cut" in talk.server.requests[1].user_texts[-1]
        assert [retry.attempt for retry in talk.retries] == [1]
        assert (talk.root / "ran.txt").read_text() == "ran\n"
        assert talk.server.violations == []


def function_done(command: str) -> dict[str, object]:
    item = FUNCTION_DONE["item"]
    assert isinstance(item, dict)
    return {**FUNCTION_DONE, "item": {**item, "arguments": json.dumps({"command": command})}}


async def test_a_limit_of_the_provider_is_waited_out_visibly_and_a_long_one_is_told(tmp_path: Path) -> None:
    wait = WireRefusal(429, {"error": {"message": "slow down"}}, {"Retry-After": "3"})
    busy = WireRefusal(529, {"error": {"type": "overloaded_error", "message": "busy"}})
    for name in ("wait", "busy", "hour", "escape"):
        (tmp_path / name).mkdir()
    async with talking(tmp_path / "wait", in_order(wait, wait, FINE)) as talk:
        assert (await talk.driver.run("go")).status == "done"
        assert [retry.delay_s for retry in talk.retries] == [3.0, 3.0]
        assert [pause for pause in talk.pauses_s if pause >= 1] == [3.0, 3.0]
    async with talking(tmp_path / "busy", in_order(*(busy,) * 5, FINE)) as talk:
        assert (await talk.driver.run("go")).status == "done"
        whole = (1.0, 2.0, 4.0, 8.0, 16.0)
        delays = [retry.delay_s for retry in talk.retries]
        assert all(full / 2 - 0.1 <= d <= full for d, full in zip(delays, whole, strict=True))
    hour = WireRefusal(429, {}, {"Retry-After": "3600"})
    async with talking(tmp_path / "hour", in_order(hour, FINE)) as talk:
        # Beyond two minutes nobody wants to find a program that looks hung: it ends, and can be resumed.
        state = await talk.driver.run("go")
        assert state.status == "failed"
        assert state.last_error is not None
        assert "60 minutes" in state.last_error.message
        assert talk.retries == []
    async with talking(tmp_path / "escape", in_order(wait, FINE), sleeps=True) as talk:
        talk.driver.session.send(SubmitPrompt("go"))
        await talk.driver.until(RetryScheduled)
        begun = time.monotonic()
        assert (await talk.driver.run(InterruptRun())).status == "interrupted"
        assert time.monotonic() - begun < 1


READ_BOTH = (('{"path": "a.txt"}', "call_a"), ('{"path": "b.txt"}', "call_b"))


@pytest.mark.parametrize("comes_whole", [True, False])
async def test_parallel_calls_that_all_have_index_0_are_run_each_with_its_own_arguments(
    tmp_path: Path, comes_whole: bool
) -> None:
    pieces = []
    for arguments, call_id in READ_BOTH:
        first, rest = (arguments, "") if comes_whole else ("", arguments)
        pieces += [fragment(0, first, call_id, "read_file"), fragment(0, rest)]
    async with talking(tmp_path, in_order(raw(*pieces, delta(finish="tool_calls")), FINE)) as talk:
        assert (await talk.driver.run("go")).status == "done"
        assert talk.results == ["1\tcontent of a", "1\tcontent of b"]
        assert [message.tool_call_id for message in talk.messages if message.role == "tool"] == [
            "call_a",
            "call_b",
        ]
        assert talk.server.violations == []


async def test_interleaved_pieces_of_arguments_go_to_their_own_calls(tmp_path: Path) -> None:
    pieces = [
        fragment(0, '{"pa', "call_a", "read_file"),
        fragment(1, '{"pa', "call_b", "read_file"),
        fragment(0, 'th": "a.txt"}'),
        fragment(1, 'th": "b.txt"}'),
    ]
    async with talking(tmp_path, in_order(raw(*pieces, delta(finish="tool_calls")), FINE)) as talk:
        assert (await talk.driver.run("go")).status == "done"
        assert talk.results == ["1\tcontent of a", "1\tcontent of b"]


async def test_chunks_without_choices_or_content_do_no_harm_and_usage_is_counted(tmp_path: Path) -> None:
    answer = raw(
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        {"id": "x"},
        {"choices": None},
        {"choices": [{"index": 0, "delta": None}]},
        delta(None),
        delta("Hi"),
        delta(finish="stop"),
        {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 7}},
    )
    async with talking(tmp_path, in_order(answer)) as talk:
        state = await talk.driver.run("go")
        assert state.status == "done"
        assert talk.messages[-1].text == "Hi"
        assert (state.usage.input_tokens, state.usage.output_tokens) == (70, 7)


async def test_ids_that_a_server_uses_again_are_made_unique_and_results_stay_with_their_calls(
    tmp_path: Path,
) -> None:
    script = in_order(
        WireReply("", (WireCall("read_file", {"path": "a.txt"}, "call_0"),)),
        WireReply("", (WireCall("read_file", {"path": "b.txt"}, "call_0"),)),
        WireReply("", tuple(WireCall("bash", {"command": f"echo {n}"}, "call_1") for n in (1, 2))),
        FINE,
    )
    async with talking(tmp_path, script) as talk:
        assert (await talk.driver.run("go")).status == "done"
        assert talk.server.violations == []
        items = talk.server.requests[-1].items
    calls = {
        call["id"]: call["function"]["arguments"] for item in items for call in item.get("tool_calls", ())
    }
    results = {item["tool_call_id"]: item["content"] for item in items if item["role"] == "tool"}
    assert len(calls) == 4
    assert list(calls) == list(results)
    for (arguments, result), word in zip(
        zip(calls.values(), results.values(), strict=True), ("a", "b", "1", "2"), strict=True
    ):
        assert word in arguments
        assert result.removeprefix("1\tcontent of ").startswith(word)


HELD = {
    "headers only": RawAnswer((), ending="hold"),
    "one piece": RawAnswer((chat(delta("Half"), done=False),), ending="hold"),
    "comments only": RawAnswer((b": keepalive\n\n",), piece_delay_s=0.02, repeat=True),
}


@pytest.mark.parametrize("way", HELD)
async def test_a_silent_server_is_left_after_the_idle_time_and_escape_works_at_once(
    tmp_path: Path, way: str
) -> None:
    over = RawAnswer((chat(delta("Over."), delta(finish="stop")),), ending="hold")
    # A comment is a sign of life, so it buys some more time than silence; but not for ever.
    async with talking(tmp_path, in_order(HELD[way], over, HELD[way]), idle_timeout_s=0.15) as talk:
        begun = time.monotonic()
        assert (await talk.driver.run("go")).status == "done"
        assert time.monotonic() - begun < 4
        assert [retry.attempt for retry in talk.retries] == [1]
        assert "nothing" in talk.retries[0].reason
        assert talk.messages[-1].text == "Over."
    (tmp_path / "escape").mkdir()
    async with talking(tmp_path / "escape", in_order(HELD[way])) as talk:
        talk.driver.session.send(SubmitPrompt("go"))
        await until(lambda: bool(talk.server.requests))
        if way == "one piece":
            await talk.driver.until(TextStreamed)
        begun = time.monotonic()
        assert (await talk.driver.run(InterruptRun())).status == "interrupted"
        assert time.monotonic() - begun < 0.5


@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 7, 4_096])
async def test_odd_but_valid_event_streams_are_read_however_they_are_cut(piece_bytes: int) -> None:
    two_lines = b'data: {"choices": [{"index": 0,\r\ndata: "delta": {"content": " \xe4\xb8\xad"}}]}\r\n\r\n'
    data = (
        b"\xef\xbb\xbfretry: 3000\n\n: ping\n\n"
        + chat(delta("Hü"), done=False, newline="\r\n")
        + b"data:\n\n"
        + two_lines
        + chat(delta(finish="stop"))
    )
    pieces = tuple(data[at : at + piece_bytes] for at in range(0, len(data), piece_bytes))
    async with serving("openai-chat", in_order(RawAnswer(pieces))) as (_, provider):
        assert (await reply_from(provider, request())).content == "Hü 中"
    # On the way pieces may have been put together again.
    decoder = SseDecoder()
    cut = [event for piece in pieces for event in decoder.feed(piece)]
    assert [*cut, *decoder.finish()] == SseDecoder().feed(data)


async def test_a_stream_reset_inside_a_call_runs_nothing_and_is_tried_a_limited_number_of_times(
    tmp_path: Path,
) -> None:
    half = typed(
        message_start(),
        TEXT_START,
        block_delta(0, "text_delta", text="I will clean up."),
        {"type": "content_block_stop", "index": 0},
        TOOL_START,
        block_delta(1, "input_json_delta", partial_json='{"command": "touch ran'),
    )
    # The pause lets the bytes arrive before the reset, which would overtake them.
    reset = RawAnswer((half,), ending="reset", piece_delay_s=0.05)
    async with talking(tmp_path, lambda _: reset, protocol="anthropic") as talk:
        state = await talk.driver.run("go")
        assert (state.status, state.cause) == ("failed", "provider")
        assert [retry.attempt for retry in talk.retries] == [1, 2, 3, 4, 5]
        assert {retry.of_attempts for retry in talk.retries} == {6}
        assert talk.server.requests[-1].number == 6
        # What was said is kept, marked as interrupted, and is no part of what is sent later.
        assert [(m.text, m.interrupted) for m in talk.messages[1:]] == [("I will clean up.", True)]
        assert not (talk.root / "ran").exists()


async def test_the_same_call_again_and_again_is_warned_of_and_stopped_and_turns_have_an_end(
    tmp_path: Path,
) -> None:
    async with talking(tmp_path, lambda _: WireReply("", (bash("true"),))) as talk:
        state = await talk.driver.run("go")
        assert (state.status, state.cause) == ("limit", "loop")
        assert len(talk.server.requests) == 5
        assert any("3 times" in text for text in talk.server.requests[3].user_texts)
    assert Settings().limits.turns == 200
    numbers = itertools.count()
    root = tmp_path / "tree"

    def other(_: WireRequest) -> Answer:
        return WireReply("", (bash(f"echo {next(numbers)}"),))

    async with WireServer(other) as server:
        arguments = ("run", "--mode", "auto", "--max-turns", "3", "--model", "openai-chat/m", "go")
        code, _, err = await tori(*arguments, cwd=root, url=server.openai_url)
    assert len(server.requests) == 3
    assert code not in (0, 1)
    assert "3 of 3 turns" in err


@pytest.mark.needs("openssl")
async def test_an_own_authority_and_proxies_are_honoured_and_a_missing_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, key = tmp_path / "ca.pem", tmp_path / "key.pem"
    names = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    make = ("openssl", "req", "-x509", *curve, *names, "-keyout", str(key), "-out", str(pem))
    await asyncio.to_thread(subprocess.run, make, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    root = tmp_path / "tree"
    root.mkdir()
    async with WireServer(by_history(FINE), tls=context) as server:
        url = server.openai_url
        run = ("run", "--mode", "auto", "--model", "openai-chat/m", "go")
        ways = {"SSL_CERT_FILE": str(pem), "HTTPS_PROXY": DEAD_PROXY, "NO_PROXY": "127.0.0.1"}
        code, out, err = await tori(*run, cwd=root, url=url, **ways)
        assert (code, out.strip()) == (0, "Fine."), err
        unknown = await failure_at(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        monkeypatch.setenv("HTTPS_PROXY", DEAD_PROXY)
        proxied = await failure_at(url)
    assert len(server.requests) == 1
    assert "certificate" in unknown.message
    assert "SSL_CERT_FILE" in unknown.hint
    assert "HTTPS_PROXY" in proxied.hint


async def failure_at(url: str) -> ProviderError:
    provider = make_provider(profile(), ProviderSettings(base_url=url), environ=os.environ)
    with pytest.raises(ProviderError) as caught:
        await reply_from(provider, request())
    await provider.close()
    return caught.value
