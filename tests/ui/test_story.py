from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui import scenes
from tests.ui.fakes import answered, call, mission, plan, result, said
from tori_tui.domain.events import (
    ApprovalChanged,
    CallStreamed,
    CheckpointSaved,
    CommentReceived,
    CommentRouted,
    DurableEvent,
    MessageAdded,
    PlanChanged,
    Record,
    ReplyDiscarded,
    RequestStarted,
    RetryScheduled,
    RunStatusChanged,
    TextStreamed,
    ThinkingStreamed,
    ToolOutputStreamed,
    ToolRunStarted,
    TransientEvent,
)
from tori_tui.domain.ids import MAIN_CONTEXT, ApprovalId, CallId, CommentId, GoalId, Seq
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalFocused
from tori_tui.domain.plan_text import USER_EDITED
from tori_tui.domain.state import SessionState, reduce
from tori_tui.render.wording import fate_in_words
from tori_tui.ui.palette import palette_of
from tori_tui.ui.themes import load_theme, theme_directories
from tori_tui.ui.transcript.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    CheckpointBlock,
    CommentBlock,
    GoalBlock,
    NoticeBlock,
    PromptBlock,
    RetryBlock,
    RunBlock,
    ThinkingBlock,
)
from tori_tui.ui.transcript.layout import block_lines
from tori_tui.ui.transcript.story import Story

PALETTE = palette_of(load_theme("dark", theme_directories({"HOME": "/nonexistent"})))


def told(events: Iterable[DurableEvent | TransientEvent], now_s: float = 0.0) -> tuple[Story, SessionState]:
    story, state = Story(), SessionState()
    for event in events:
        if isinstance(event, DurableEvent):
            record = Record(Seq(state.next_seq), datetime(2026, 1, 1, tzinfo=UTC), event)
            state = reduce(state, record)
            story.tell_record(record, state)
        else:
            story.tell_event(event, now_s)
    return story, state


def blocks(story: Story) -> list[Block]:
    return [block for _, block in story.blocks]


def test_a_streamed_answer_becomes_the_message_under_the_same_key() -> None:
    story, _ = told([RequestStarted(MAIN_CONTEXT, 1, "x", 10), TextStreamed(MAIN_CONTEXT, "Hel")])
    key = story.blocks[0][0]
    story.tell_event(TextStreamed(MAIN_CONTEXT, "lo"), 0.0)
    assert story.blocks == ((key, AnswerBlock("Hello", is_streaming=True)),)
    record = Record(Seq(1), datetime(2026, 1, 1, tzinfo=UTC), answered("Hello"))
    story.tell_record(record, SessionState())
    assert story.blocks == ((key, AnswerBlock("Hello")),)


def test_a_discarded_reply_leaves_nothing() -> None:
    story, _ = told(
        [
            ThinkingStreamed(MAIN_CONTEXT, "hm"),
            TextStreamed(MAIN_CONTEXT, "Hel"),
            CallStreamed(MAIN_CONTEXT, "0", "bash", '{"com'),
            ReplyDiscarded(MAIN_CONTEXT, "retry"),
        ]
    )
    assert blocks(story) == []
    assert all(block is None for _, block in story.take_changes())


def test_a_comment_is_shown_once_with_its_fate() -> None:
    story, _ = told(
        [
            RunStatusChanged("running"),
            CommentReceived(CommentId("k"), "use bcrypt"),
            CommentRouted(CommentId("k"), "future", "user"),
            said("use bcrypt", origin="comment"),
        ]
    )
    (comment,) = blocks(story)
    assert isinstance(comment, CommentBlock)
    assert (comment.text, comment.fate.partition(",")[0]) == ("use bcrypt", "→ plan")


def test_a_call_is_one_block_from_writing_to_its_result() -> None:
    story, _ = told(
        [
            CallStreamed(MAIN_CONTEXT, "0", "bash", '{"command": "ls"}'),
            answered("", call("c", "bash", command="ls")),
            ApprovalChanged(ApprovalId("a"), CallId("c"), "bash", "bash ls", "asked", "ls"),
            ApprovalChanged(ApprovalId("a"), CallId("c"), "bash", "bash ls", "allowed"),
            ToolRunStarted(CallId("c"), "bash", "bash ls"),
            ToolOutputStreamed(CallId("c"), "one\n"),
            ToolOutputStreamed(CallId("c"), "two\n"),
        ],
        now_s=7.0,
    )
    (running,) = blocks(story)
    assert isinstance(running, CallBlock)
    assert (running.state, running.output, running.started_s) == ("running", "one\ntwo\n", 7.0)
    record = Record(Seq(9), datetime(2026, 1, 1, tzinfo=UTC), result("c", "one\ntwo\nthree", duration_s=0.5))
    story.tell_record(record, SessionState())
    (done,) = blocks(story)
    assert isinstance(done, CallBlock)
    assert (done.state, done.output, done.duration_s) == ("done", "one\ntwo\nthree", 0.5)


def test_a_denied_call_stays_denied_when_its_result_comes() -> None:
    story, _ = told(
        [
            answered("", call("c", "bash", command="ls")),
            ApprovalChanged(ApprovalId("a"), CallId("c"), "bash", "bash ls", "denied", reason="no"),
            result("c", "denied by the user: no", is_error=True),
        ]
    )
    (denied,) = blocks(story)
    assert isinstance(denied, CallBlock)
    assert denied.state == "denied"


def test_a_retry_counts_down_and_goes_with_the_next_request() -> None:
    story, _ = told([RetryScheduled(MAIN_CONTEXT, 1, 6, 4.0, "429")], now_s=10.0)
    story.tick(11.2)
    (retry,) = blocks(story)
    assert isinstance(retry, RetryBlock)
    assert retry.remaining_s == 3
    story.tell_event(RequestStarted(MAIN_CONTEXT, 1, "x", 10), 14.0)
    assert blocks(story) == []


def test_focus_on_a_goal_opens_a_section() -> None:
    story, _ = told(
        [mission("m"), plan(GoalAdded(GoalId("1"), None, "first"), GoalFocused(GoalId("1")))],
    )
    assert blocks(story) == [GoalBlock(GoalId("1"), "first")]


def test_an_interrupted_answer_says_so_and_the_run_ends() -> None:
    story, _ = told(
        [
            RunStatusChanged("running"),
            said("do it"),
            TextStreamed(MAIN_CONTEXT, "I beg"),
            answered("I beg", interrupted=True),
            RunStatusChanged("interrupted", "by the user"),
        ]
    )
    assert blocks(story) == [
        PromptBlock("do it"),
        AnswerBlock("I beg", interrupted=True),
        RunBlock("interrupted", "by the user"),
    ]


def test_thinking_ends_where_the_answer_begins() -> None:
    story, _ = told([ThinkingStreamed(MAIN_CONTEXT, "hm"), TextStreamed(MAIN_CONTEXT, "Yes")])
    assert blocks(story) == [ThinkingBlock("hm"), AnswerBlock("Yes", is_streaming=True)]


def test_a_state_alone_tells_what_was_said_with_its_results() -> None:
    records, state = told(scenes.working_session())
    resumed = Story()
    resumed.tell_state(state)
    kinds = (AnswerBlock, CallBlock, PromptBlock)
    assert [b for b in blocks(resumed) if isinstance(b, kinds)] == [
        b for b in blocks(records) if isinstance(b, kinds)
    ]


def test_telling_a_state_anew_replaces_every_block() -> None:
    story, state = told(scenes.working_session())
    old = {key for key, _ in story.blocks}
    story.take_changes()
    story.tell_state(state)
    changes = story.take_changes()
    assert {key for key, block in changes if block is None} == old
    assert not old & {key for key, _ in story.blocks}


@given(st.lists(st.sampled_from(["text", "thinking", "call", "discard", "message", "result"]), max_size=40))
def test_changes_tell_the_whole_story(steps: list[str]) -> None:
    events: dict[str, DurableEvent | TransientEvent] = {
        "text": TextStreamed(MAIN_CONTEXT, "a"),
        "thinking": ThinkingStreamed(MAIN_CONTEXT, "b"),
        "call": CallStreamed(MAIN_CONTEXT, "0", "bash", "{"),
        "discard": ReplyDiscarded(MAIN_CONTEXT, "x"),
        "message": answered("a", call("c", "bash")),
        "result": result("c", "out"),
    }
    story = Story()
    shown: dict[int, Block] = {}
    for step in steps:
        event = events[step]
        if isinstance(event, DurableEvent):
            story.tell_record(Record(Seq(1), datetime(2026, 1, 1, tzinfo=UTC), event), SessionState())
        else:
            story.tell_event(event, 0.0)
        for key, block in story.take_changes():
            if block is None:
                shown.pop(key, None)
            else:
                shown[key] = block
    assert tuple(sorted(shown.items(), key=lambda item: item[0])) == story.blocks


GOALS = (
    GoalAdded(GoalId("1"), None, "first"),
    GoalAdded(GoalId("2"), None, "second"),
    GoalFocused(GoalId("1")),
)


def replanned(call_id: str, goal: str) -> PlanChanged:
    return PlanChanged((GoalFocused(GoalId(goal)),), "model", CallId(call_id))


def kinds(story: Story) -> list[str]:
    return [block.name if isinstance(block, CallBlock) else type(block).__name__ for block in blocks(story)]


def test_what_a_reply_did_for_a_goal_stands_below_the_goals_line() -> None:
    calls = (call("e", "edit_file", path="a"), call("g", "goal", focus="2"))
    story, _ = told(
        [mission("m"), plan(*GOALS), answered("Next.", *calls), replanned("g", "2"), result("e", "ok")]
    )
    assert kinds(story) == ["GoalBlock", "AnswerBlock", "goal", "GoalBlock", "edit_file"]


def test_a_comment_follows_every_reply_until_the_model_is_told_and_stays_there() -> None:
    comment = CommentReceived(CommentId("k"), "use bcrypt")
    story, _ = told(
        [
            RunStatusChanged("running"),
            RequestStarted(MAIN_CONTEXT, 1, "x", 10),
            TextStreamed(MAIN_CONTEXT, "I lo"),
            comment,
            CallStreamed(MAIN_CONTEXT, "0", "bash", "{}"),
            answered("I look.", call("c", "bash")),
            result("c", "out"),
        ]
    )
    assert kinds(story) == ["AnswerBlock", "bash", "CommentBlock"]
    for event in (
        CommentRouted(CommentId("k"), "current", "fallback", note="joined the context: unsure"),
        said("use bcrypt", origin="comment"),
        answered("Then bcrypt."),
    ):
        story.tell_record(Record(Seq(20), datetime(2026, 1, 1, tzinfo=UTC), event), SessionState())
    assert kinds(story) == ["AnswerBlock", "bash", "CommentBlock", "AnswerBlock"]
    comment_block = blocks(story)[2]
    assert isinstance(comment_block, CommentBlock)
    assert comment_block.note == "joined the context: unsure"


@pytest.mark.parametrize(
    ("routed", "fate"),
    [
        (CommentRouted(CommentId("k"), "future", "user", GOALS[:1]), "→ goal 1, later"),
        (CommentRouted(CommentId("k"), "future", "user", (), "", (GoalId("3"),)), "→ goal 3, later"),
        (
            CommentRouted(
                CommentId("k"), "future", "user", (GoalAbandoned(GoalId("3"), "no"),), "", (GoalId("3"),)
            ),
            "→ goal 3 dropped",
        ),
        (
            CommentRouted(
                CommentId("k"), "past", "user", (GoalAdded(GoalId("1'"), None, "first"),), "", (GoalId("1"),)
            ),
            "→ goal 1 again, as 1'",
        ),
        (CommentRouted(CommentId("k"), "current", "user", cancels=True), "→ goal 2, begun again"),
        (CommentRouted(CommentId("k"), "requirement_change", "classifier"), "→ whole plan"),
        (CommentRouted(CommentId("k"), "future", "user", is_withdrawn=True), "taken back"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_fate_of_a_comment_is_told_at_it(routed: CommentRouted, fate: str) -> None:
    assert fate_in_words(routed, GoalId("2")) == fate
    for width in (30, 90):
        block = CommentBlock(CommentId("k"), "use bcrypt here", fate, "a note of some length")
        lines = " ".join(line.plain for line in block_lines(block, width, PALETTE, is_unfolded=False))
        assert fate in " ".join(lines.split())
        assert "a note of some length" in " ".join(lines.split())


def saved(tree: str, at_seq: int, by: Literal["agent", "user"] = "agent", turn: int = 1) -> CheckpointSaved:
    return CheckpointSaved(tree, "turn", GoalId("1"), turn, by, Seq(at_seq))


def test_a_checkpoint_stands_behind_the_work_that_changed_files_and_only_there() -> None:
    story, _ = told(
        [
            saved("t0", 0),  # 1: how it was
            answered("One.", call("a", "edit_file", path="a")),
            result("a", "ok"),  # 3
            answered("Two.", call("b", "read_file", path="a")),
            saved("t1", 3),
            result("b", "ok"),  # 6
            saved("t1", 6),
            saved("t2", 6, "user"),
            answered("Three."),
        ]
    )
    assert kinds(story) == [
        *("AnswerBlock", "edit_file", "CheckpointBlock", "AnswerBlock", "read_file", "CheckpointBlock"),
        "AnswerBlock",
    ]
    places = [block for block in blocks(story) if isinstance(block, CheckpointBlock)]
    assert [(place.before, place.tree, place.by) for place in places] == [
        ("t0", "t1", "agent"),
        ("t1", "t2", "user"),
    ]
    pairs = story.saved_trees.uncounted()
    story.saved_trees.counted(dict.fromkeys(pairs, 2))
    assert {block.n_files for block in blocks(story) if isinstance(block, CheckpointBlock)} == {2}
    assert story.saved_trees.uncounted() == {}


STEPS = st.lists(
    st.sampled_from(
        ["text", "call", "message", "goal", "result", "comment", "routed", "said", "saved", "end"]
    ),
    max_size=40,
)


@given(STEPS)
def test_a_session_is_told_again_as_it_was_told_live(steps: list[str]) -> None:
    live, state = Story(), SessionState()
    records: list[Record] = []
    n_comments = n_calls = 0
    for step in steps:
        event: DurableEvent | TransientEvent
        match step:
            case "text":
                event = TextStreamed(MAIN_CONTEXT, "a")
            case "call":
                event = CallStreamed(MAIN_CONTEXT, str(n_calls), "goal" if n_calls % 2 else "bash", "{")
            case "message":
                n_calls += 2
                calls = (call(f"c{n_calls}", "bash"), call(f"c{n_calls + 1}", "goal"))
                event = answered("a", *calls[: n_calls % 3])
            case "goal":
                event = replanned(f"c{n_calls + 1}", "12"[n_calls % 2])
            case "result":
                event = result(f"c{n_calls}", "out")
            case "comment":
                n_comments += 1
                event = CommentReceived(CommentId(f"k{n_comments}"), f"word {n_comments}")
            case "routed":
                event = CommentRouted(CommentId(f"k{n_comments}"), "current", "user")
            case "said":
                event = said(f"word {n_comments}", origin="comment")
            case "saved":
                event = saved(f"t{len(records)}", max(0, len(records) - 2))
            case _:
                event = RunStatusChanged("interrupted")
        if isinstance(event, DurableEvent):
            record = Record(Seq(state.next_seq), datetime(2026, 1, 1, tzinfo=UTC), event)
            state = reduce(state, record)
            records.append(record)
            live.tell_record(record, state)
        else:
            live.tell_event(event, 0.0)
    live.tell_event(ReplyDiscarded(MAIN_CONTEXT, "end"), 0.0)
    again = Story()
    again.tell_records(records, SessionState())
    assert blocks(again) == blocks(live)


def test_a_change_of_the_plan_by_the_user_is_told_once() -> None:
    edit = PlanChanged((GoalAdded(GoalId("1"), None, "Log in"),), "user")
    story, _ = told(
        [mission("m"), edit, runner_says(USER_EDITED + "New goal: 1 Log in."), runner_says("Go on.")]
    )
    notices = [block.text for _, block in story.blocks if isinstance(block, NoticeBlock)]
    assert notices == ["plan + 1 Log in", "Go on."]


def runner_says(text: str) -> MessageAdded:
    return MessageAdded(Message(MAIN_CONTEXT, None, "user", text, "runner"))
