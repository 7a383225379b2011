from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.bugfix import ANSWER, FIXED, TURNS, make_repository, mend
from tests.e2e.commands import tori
from tests.wire.answers import Answer, WireRefusal, WireReply, WireRequest
from tests.wire.server import WireServer

MODELS = {
    "chat": "openai-chat/m",
    "responses": "openai/gpt-6.1-sol",
    "messages": "anthropic/claude-sonnet-5-5",
}


@pytest.mark.parametrize("protocol", MODELS)
async def test_the_bug_is_mended_over_every_protocol(tmp_path: Path, protocol: str) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(mend) as server:
        code, out, err = await run(root, server, protocol)
    assert (code, out.strip()) == (0, ANSWER), err
    assert (root / "calc" / "ops.py").read_text() == FIXED
    assert server.violations == []
    assert [request.protocol for request in server.requests] == [protocol] * len(TURNS)
    for request in server.requests:
        assert any("## Current Plan" in text for text in request.system_texts)


@pytest.mark.parametrize("protocol", MODELS)
async def test_a_session_with_every_fault_ends_right_and_runs_no_cut_call(
    tmp_path: Path, protocol: str
) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(faulty()) as server:
        code, out, err = await run(root, server, protocol)
    assert (code, out.strip()) == (0, ANSWER), err
    assert (root / "calc" / "ops.py").read_text() == FIXED
    assert server.violations == []


async def test_a_retry_after_of_an_hour_is_told_and_not_slept(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(lambda _: WireRefusal(429, {}, {"Retry-After": "3600"})) as server:
        code, _, err = await run(root, server, "chat")
    assert code == 5
    assert "3600" in err or "60 min" in err or "1 h" in err
    assert len(server.requests) == 1


def faulty() -> Callable[[WireRequest], Answer]:
    """Before its 2nd to 5th reply the server fails in four ways; the 6th comes slowly."""
    seen: set[int] = set()

    def script(request: WireRequest) -> Answer:
        step = request.n_replies
        reply = mend(request)
        is_first_try = step not in seen
        seen.add(step)
        assert isinstance(reply, WireReply)
        match step:
            case 1 if is_first_try:
                return WireRefusal(429, {}, {"Retry-After": "1"})
            case 2 if is_first_try:
                return WireRefusal(
                    529, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
                )
            case 4 if is_first_try:
                return WireReply(reply.text, reply.calls, cut_after=4, ending="close")
            case 5 if is_first_try:
                return WireReply(reply.text, reply.calls, cut_after=3, ending="reset")
            case 6:
                return WireReply(reply.text, reply.calls, piece_delay_s=0.1)
            case _:
                return reply

    return script


async def run(root: Path, server: WireServer, protocol: str) -> tuple[int, str, str]:
    return await tori(
        "run",
        "fix the failing test",
        "--mode",
        "auto",
        "--model",
        MODELS[protocol],
        cwd=root,
        url=server.openai_url,
        ANTHROPIC_BASE_URL=server.url,
        ANTHROPIC_API_KEY="test-key",
    )
