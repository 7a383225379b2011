from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tests.ui import scenes
from tests.ui.fakes import answered, call, mission, plan, result, said
from tori_tui.domain.events import (
    ApprovalChanged,
    CallStreamed,
    CommentReceived,
    CommentRouted,
    DurableEvent,
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
from tori_tui.domain.plan_edits import GoalAdded, GoalFocused
from tori_tui.domain.state import SessionState, reduce
from tori_tui.ui.transcript.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    CommentBlock,
    GoalBlock,
    PromptBlock,
    RetryBlock,
    RunBlock,
    ThinkingBlock,
)
from tori_tui.ui.transcript.story import Story


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
