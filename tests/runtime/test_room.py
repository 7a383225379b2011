from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.provider import Script, ScriptedReply
from tests.fakes.session import driven, reply
from tori_tui.domain.events import ErrorOccurred, MessagesFolded
from tori_tui.domain.request import ModelRequest
from tori_tui.domain.usage import Usage
from tori_tui.providers.errors import ProviderError

TOO_LARGE = ProviderError("prompt is too long", fault="context_overflow", status=400)
LOOKS = 12


def distinct(n_lines: int, salt: str) -> str:
    return "".join(f"line {number} of {salt} holds {number * 7919}\n" for number in range(n_lines))


def looks(cwd: Path) -> list[ScriptedReply]:
    for number in range(LOOKS):
        (cwd / f"part{number}.txt").write_text(distinct(300, f"part {number}"), "utf-8")
    return [reply(f"Part {n}.", read_file={"path": f"part{n}.txt"}) for n in range(LOOKS)]


def size_of(request: ModelRequest) -> int:
    return sum(len(message.text) for message in request.messages)


async def test_refused_request_is_sent_again_with_its_history_folded(tmp_path: Path) -> None:
    sent: list[int] = []

    def second(request: ModelRequest) -> ScriptedReply:
        sent.append(size_of(request))
        assert [m.text for m in request.messages if m.is_users_word] == ["read it all"]
        return reply("All read.")

    def first(request: ModelRequest) -> ProviderError:
        sent.append(size_of(request))
        return TOO_LARGE

    async with driven([*looks(tmp_path), first, second], tmp_path) as driver:
        state = await driver.run("read it all")
    assert state.status == "done"
    assert sent[1] < 0.6 * sent[0]
    rewrites = [event for event in driver.events if isinstance(event, MessagesFolded)]
    assert [rewrite.rule for rewrite in rewrites] == ["overflow"]
    assert "refused at" in rewrites[0].reason


async def test_summary_by_the_model_is_the_last_resort(tmp_path: Path) -> None:
    requests: list[ModelRequest] = []

    def summary(request: ModelRequest) -> ScriptedReply:
        requests.append(request)
        return reply("The parts hold numbers.")

    def last(request: ModelRequest) -> ScriptedReply:
        requests.append(request)
        return reply("All read.")

    script: list[Script] = [*looks(tmp_path), TOO_LARGE, TOO_LARGE, summary, last]
    async with driven(script, tmp_path) as driver:
        state = await driver.run("read it all")
    assert state.status == "done"
    assert [block.name for block in requests[0].system] == ["summary"]
    assert any("The parts hold numbers." in message.text for message in requests[1].messages)


@pytest.mark.parametrize(
    "answer",
    [TOO_LARGE, ScriptedReply(""), ScriptedReply("  \n"), ProviderError("reset", fault="bad_request")],
    ids=["refused too", "empty", "blank", "failed"],
)
async def test_after_three_requests_it_says_what_does_not_fit_and_keeps_everything(
    tmp_path: Path, answer: ScriptedReply | ProviderError
) -> None:
    async with driven([*looks(tmp_path), TOO_LARGE, TOO_LARGE, answer], tmp_path) as driver:
        state = await driver.run("read it all")
        before = len(state.log)
    assert state.status == "failed"
    error = state.last_error
    assert isinstance(error, ErrorOccurred)
    assert "your own words" in error.message
    assert "/clear" in error.hint
    assert before == 1 + 2 * LOOKS


async def test_fixed_prompt_that_does_not_fit_is_told_after_one_request(tmp_path: Path) -> None:
    async with driven([TOO_LARGE], tmp_path) as driver:
        state = await driver.run("hello")
    assert state.status == "failed"
    assert state.last_error is not None
    assert "the fixed prompt" in state.last_error.message


async def test_one_huge_result_is_cut_head_and_tail(tmp_path: Path) -> None:
    (tmp_path / "huge.txt").write_text(distinct(1_500, "huge"), "utf-8")
    seen: list[str] = []

    def after(request: ModelRequest) -> ScriptedReply:
        seen.append(next(m.text for m in request.messages if m.role == "tool"))
        return reply("Seen.")

    script: list[Script] = [reply("Look.", read_file={"path": "huge.txt"}), TOO_LARGE, after]
    async with driven(script, tmp_path) as driver:
        state = await driver.run("read it")
    assert state.status == "done"
    assert "characters left out here" in seen[0]
    assert "line 0 of huge" in seen[0]


@pytest.mark.parametrize("usage", [None, Usage(0, 0), Usage(10**9, 5), Usage(1, 1)])
async def test_wrong_or_missing_usage_stops_nothing(tmp_path: Path, usage: Usage | None) -> None:
    script = [ScriptedReply(r.text, r.calls, usage=usage) for r in looks(tmp_path)]
    async with driven([*script, ScriptedReply("Done.", usage=usage)], tmp_path) as driver:
        state = await driver.run("read it all")
    assert state.status == "done"
    last = state.last_turns[state.active_context]
    assert 0 < sum(section.tokens for section in last.sections) < 400_000
