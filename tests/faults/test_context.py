from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path

import pytest

from tests.faults.session_kit import (
    MESSAGES,
    TOO_LARGE,
    Answer,
    WireReply,
    WireRequest,
    call,
    does,
    on_wire,
    window,
)
from tests.ui.apps import Stage
from tests.ui.test_session_screen import live
from tests.wire.answers import RawAnswer, in_order
from tori_tui.cli.app_session import window_of
from tori_tui.config import Settings
from tori_tui.domain.commands import CompactContext, EditPlan
from tori_tui.domain.events import MessagesFolded, RequestStarted, RunStatusChanged
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId
from tori_tui.domain.plan_edits import GoalAbandoned

WINDOW = 100_000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


def distinct(salt: str, n_lines: int) -> str:
    return "".join(f"{salt} line {n} holds {n * 7919}\n" for n in range(n_lines))


def parts(tree: Path, n_files: int, n_lines: int) -> list[WireReply]:
    for n in range(n_files):
        (tree / f"part{n}.txt").write_text(distinct(f"part {n}", n_lines))
    return [does(call("read_file", path=f"part{n}.txt"), text=f"Part {n}.") for n in range(n_files)]


def folds(events: Sequence[object]) -> list[MessagesFolded]:
    return [event for event in events if isinstance(event, MessagesFolded)]


def is_summary(request: WireRequest) -> bool:
    return any("You condense the record" in text for text in request.system_texts)


@dataclass
class BoundedModel:
    """Refuses what is larger than its bytes, says so as servers do, else goes on with its answers."""

    limit_bytes: int
    answers: Sequence[WireReply]
    sizes: list[int] = field(default_factory=list)
    n_given: int = 0

    def __call__(self, request: WireRequest) -> Answer:
        size = len(json.dumps(request.body))
        self.sizes.append(size)
        if size > self.limit_bytes:
            return TOO_LARGE
        if is_summary(request):
            return WireReply("The files hold numbers.")
        self.n_given += 1
        return self.answers[self.n_given - 1]


async def test_server_that_reports_a_full_window_after_every_fold_costs_no_request_for_folding(
    tree: Path,
) -> None:
    # A fold asks no model, so a fruitless one burns nothing: the run takes exactly its own turns and ends,
    # and what cannot be folded again is not folded again.
    work = [does(*r.calls, text=r.text, used=97 * WINDOW // 100) for r in parts(tree, 20, 40)]
    script = in_order(*work, WireReply("All read."))
    async with on_wire(script, tree, settings=window(WINDOW)) as (server, driver):
        state = await driver.run("read it all")
    assert state.status == "done"
    assert len(server.requests) == 21
    assert not any(is_summary(request) for request in server.requests)
    assert len(folds(driver.events)) <= 10


async def test_model_that_refuses_every_size_ends_the_run_after_three_requests(tree: Path) -> None:
    work = parts(tree, 6, 400)
    script = in_order(*work, *(TOO_LARGE for _ in range(40)))
    async with on_wire(script, tree) as (server, driver):
        state = await driver.run("read it all")
    assert (state.status, state.cause) == ("failed", "provider")
    assert len(server.requests) <= len(work) + 3
    assert state.last_error is not None
    assert "the model refuses it" in state.last_error.message


async def test_history_of_three_windows_goes_on_after_at_most_three_requests(tree: Path) -> None:
    (tree / "huge.txt").write_text(distinct("huge", 60_000))
    work = parts(tree, 8, 900)
    huge = does(call("bash", command="cat huge.txt"), text="All of it.")
    model = BoundedModel(120_000, [*work, huge, WireReply("Seen."), WireReply("Still here.")])
    async with on_wire(model, tree, settings=window(1_000_000)) as (_, driver):
        state = await driver.run("read it all")
        assert state.status == "done"
        assert (await driver.run("and now?")).status == "done"
    assert model.n_given == 11
    in_a_row = n_refused = 0
    for size in model.sizes:
        n_refused = n_refused + 1 if size > model.limit_bytes else 0
        in_a_row = max(in_a_row, n_refused)
    assert 0 < in_a_row <= 2


async def test_folding_by_hand_works_where_the_window_is_full(tree: Path) -> None:
    work = parts(tree, 12, 300)
    model = BoundedModel(130_000, [*work, WireReply("Read."), WireReply("Still here.")])
    async with on_wire(model, tree, settings=window(1_000_000)) as (_, driver):
        await driver.run("read it all")
        model.limit_bytes = max(model.sizes) - 1
        driver.session.send(CompactContext())
        folded = await driver.until(MessagesFolded)
        assert isinstance(folded, MessagesFolded)
        assert folded.reason == "asked by the user"
        state = await driver.run("and now?")
    assert state.status == "done"
    assert model.sizes[-1] < 0.7 * max(model.sizes)


async def test_word_said_after_a_finished_task_is_the_last_word_behind_the_fold(tree: Path) -> None:
    work = parts(tree, 6, 300)
    script = in_order(*work, WireReply("Task X is finished."), WireReply("Y it is."))
    async with on_wire(script, tree) as (server, driver):
        await driver.run("do task X")
        driver.session.send(CompactContext())
        await driver.until(MessagesFolded)
        await driver.run("do task Y instead: 'größer' & <b>bold</b>")
    last = server.requests[-1]
    assert last.user_texts[-1].endswith("do task Y instead: 'größer' & <b>bold</b>")
    texts = [
        str(item.get("content")) for item in last.items if item.get("role") in ("user", "assistant", "tool")
    ]
    assert "do task Y instead" in texts[-1]
    assert sum("do task Y instead" in text for text in texts) == 1


async def test_plan_that_the_user_cancelled_stays_cancelled_behind_a_fold(tree: Path) -> None:
    work = parts(tree, 6, 300)
    script = in_order(
        does(call("goal", add="Read it, Rewrite everything in Rust", focus="1")),
        *work,
        does(call("goal", done="read")),
        WireReply("Read."),
        WireReply("Nothing is left to do."),
    )
    async with on_wire(script, tree) as (server, driver):
        await driver.run("read it")
        driver.session.send(EditPlan((GoalAbandoned(GoalId("2"), "not wanted"),)))
        driver.session.send(CompactContext())
        await driver.until(MessagesFolded)
        n_before = len(server.requests)
        state = await driver.run("status?")
    # Nothing ran by itself: one request for the question.
    assert len(server.requests) == n_before + 1
    rust = [
        line for request in server.requests for line in request.system_texts[-1].split("\n") if "Rust" in line
    ]
    assert rust[-1].strip().startswith("[ ] 2.")
    assert "Rust" not in server.requests[-1].system_texts[-1]
    # What was said and planned before is told as done and given up, nowhere as open.
    assert "[ ]" not in server.requests[-1].system_texts[-1]
    goal = state.tree.find(GoalId("2"))
    assert goal is not None
    assert goal.status == "abandoned"


async def test_project_instructions_stand_in_the_first_request_after_a_fold(tree: Path) -> None:
    (tree / "AGENTS.md").write_text("Always end with MARK-7.\n")
    script = in_order(*parts(tree, 6, 300), WireReply("Read. MARK-7"), WireReply("Yes. MARK-7"))
    async with on_wire(script, tree) as (server, driver):
        await driver.run("read it all")
        driver.session.send(CompactContext())
        await driver.until(MessagesFolded)
        await driver.run("go on")
    assert any("Always end with MARK-7." in text for text in server.requests[-1].system_texts)
    assert server.requests[-1].system_texts[0] == server.requests[0].system_texts[0]


async def test_each_request_of_a_session_extends_the_one_before_byte_for_byte(tree: Path) -> None:
    (tree / "a.txt").write_text("one\n")
    script = in_order(
        does(call("write_file", path="b.txt", content="b")),
        does(call("bash", command="git init -q .; date > c.txt")),
        does(call("read_file", path="a.txt")),
        WireReply("Done."),
        WireReply("Done again."),
    )
    async with on_wire(script, tree) as (server, driver):
        await driver.run("work")
        await driver.run("more")
    for before, after in pairwise(server.requests):
        assert json.dumps(after.body["tools"]) == json.dumps(before.body["tools"])
        # The plan stands behind the history, renewed every turn, so that nothing before it ever changes.
        history = list(before.items[:-1])
        assert before.items[-1]["role"] == "system"
        assert json.dumps(list(after.items[: len(history)])) == json.dumps(history)


def messages_with(usage: str, counts: str) -> RawAnswer:
    """Return an answer of the Messages API with exactly these counts at its start and its end."""
    events = [
        '{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],'
        f'"model":"w","stop_reason":null,"usage":{usage}}}}}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi."}}',
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},'
        f'"usage":{counts}}}',
        '{"type":"message_stop"}',
    ]
    named = [f"event: {json.loads(event)['type']}\ndata: {event}\n\n".encode() for event in events]
    return RawAnswer(tuple(named))


ANTHROPIC_USAGE = (
    '{"input_tokens":100,"cache_read_input_tokens":90000,"cache_creation_input_tokens":500,"output_tokens":1}'
)


@pytest.mark.parametrize(
    "at_the_end", ['{"output_tokens":9}', ANTHROPIC_USAGE.replace('"output_tokens":1', '"output_tokens":9')]
)
async def test_cached_tokens_are_counted_once_whatever_the_protocol_calls_them(
    tree: Path, at_the_end: str
) -> None:
    chat = in_order(WireReply("Hi.", usage=does(used=50_000, cached=49_000).usage))
    async with on_wire(chat, tree, settings=window(WINDOW)) as (_, driver):
        state = await driver.run("hi")
        assert state.last_turns[MAIN_CONTEXT].usage.input_tokens == 50_000
        assert state.last_turns[MAIN_CONTEXT].usage.cached_tokens == 49_000
        assert folds(driver.events) == []
    messages = in_order(messages_with(ANTHROPIC_USAGE, at_the_end))
    async with on_wire(messages, tree, model=MESSAGES, settings=window(WINDOW)) as (_, driver):
        state = await driver.run("hi")
        usage = state.last_turns[MAIN_CONTEXT].usage
        assert (usage.input_tokens, usage.cached_tokens, usage.cache_written_tokens) == (90_600, 90_000, 500)
        assert usage.output_tokens == 9


async def test_missing_usage_is_estimated_and_breaks_nothing(tree: Path) -> None:
    chunk = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"w","choices":[{"index":0,'
    raw = RawAnswer(
        (
            f'data: {chunk}"delta":{{"content":"Hi."}},"finish_reason":null}}]}}\n\n'.encode(),
            f'data: {chunk}"delta":{{}},"finish_reason":"stop"}}]}}\n\ndata: [DONE]\n\n'.encode(),
        )
    )
    async with on_wire(in_order(raw), tree) as (_, driver):
        state = await driver.run("hi")
    assert state.status == "done"
    assert sum(section.tokens for section in state.last_turns[MAIN_CONTEXT].sections) > 1_000


@pytest.mark.parametrize("window_tokens", [200_000, 1_000_000])
async def test_number_that_is_shown_is_the_number_that_folds(tree: Path, window_tokens: int) -> None:
    settings = window(window_tokens)
    numbers = count(1)

    def model(request: WireRequest) -> Answer:
        # The provider counts twice what was estimated: what is shown must follow, and so must the folds.
        number = next(numbers)
        if number > 30:
            return WireReply("Done.")
        return does(call("bash", command=f"cat part{number - 1}.txt"), used=2 * request.size_tokens)

    parts(tree, 30, 300)
    async with on_wire(model, tree, settings=settings) as (_, driver):
        await driver.run("read")
    shown = [i.context_tokens for i in driver.items if isinstance(i, RequestStarted)]
    first = next(
        n
        for n, i in enumerate(driver.items)
        if getattr(getattr(i, "record", None), "event", None) in folds(driver.events)
    )
    before = [i.context_tokens for i in driver.items[:first] if isinstance(i, RequestStarted)]
    assert max(shown) <= 77_000
    # The mark for this profile is 77k whatever the larger window: the last number shown lies a turn below it.
    assert 55_000 < before[-1] <= 77_000
    assert window_of(settings)("openai-chat/wire-model") == window_tokens
    assert window_of(Settings())("openai-chat/nobody-knows") > 0


async def test_shown_share_is_of_the_window_that_is_configured() -> None:
    async with live([RunStatusChanged("running", model="replay/x", mode="ask", cwd="/tmp")]) as (
        stage,
        pilot,
    ):
        assert isinstance(stage, Stage)
        stage.session.emit(RequestStarted(MAIN_CONTEXT, 1, "replay/x", 120_000))
        await pilot.pause()
        line = stage.screen.query_one("StatusLine")
        assert "ctx 60%" in "".join(segment.text for segment in line.render_line(0))
