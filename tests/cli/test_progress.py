from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.messages import AT, assistant, call, result, user
from tori_tui.cli.progress import Progress
from tori_tui.domain.events import (
    ApprovalChanged,
    DurableEvent,
    ErrorOccurred,
    MemoryChanged,
    MessageAdded,
    NoticeShown,
    PlanChanged,
    Record,
    RetryScheduled,
    RunStatusChanged,
    ToolRunStarted,
)
from tori_tui.domain.ids import MAIN_CONTEXT, ApprovalId, CallId, GoalId, MissionId, Seq
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalCompleted, GoalFocused, MissionOpened
from tori_tui.domain.state import SessionState, reduce
from tori_tui.runtime.bus import Published


class Screen:
    """Feeds a printer and collects what it wrote."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self._bytes = io.BytesIO()
        self._stream = io.TextIOWrapper(self._bytes, encoding=encoding, errors="backslashreplace")
        self.progress = Progress(self._stream)
        self.state = SessionState()

    def happens(self, *events: DurableEvent | Message) -> None:
        for event in events:
            durable = MessageAdded(event) if isinstance(event, Message) else event
            record = Record(Seq(self.state.next_seq), AT, durable)
            self.state = reduce(self.state, record)
            self.progress.show(Published(record, self.state))

    @property
    def text(self) -> str:
        self._stream.flush()
        return self._bytes.getvalue().decode()


def test_the_plan_is_told_change_by_change() -> None:
    screen = Screen()
    one, two = GoalId("1"), GoalId("2")
    screen.happens(
        PlanChanged((MissionOpened(MissionId("m1"), "m"),), "user"),
        PlanChanged((GoalAdded(one, None, "Look"), GoalAdded(two, None, "Mend"), GoalFocused(one)), "model"),
        PlanChanged((GoalCompleted(one, "seen"), GoalFocused(None)), "model"),
        PlanChanged((GoalAbandoned(two, "cannot"),), "model"),
        PlanChanged((), "model", refused="the check is red\n$ make test"),
    )
    assert screen.text == ("+ 1 Look\n+ 2 Mend\n✓ 1 seen\n✗ 2 cannot\n  not done: the check is red\n")


def test_the_focus_is_told_once_where_it_comes_to_rest() -> None:
    screen = Screen()
    one, two = GoalId("1"), GoalId("2")
    screen.happens(PlanChanged((GoalAdded(one, None, "Look"), GoalAdded(two, None, "Mend")), "model"))
    screen.happens(PlanChanged((GoalFocused(one),), "model"), PlanChanged((GoalFocused(two),), "model"))
    screen.progress.show(NoticeShown("next"))
    assert screen.text == "+ 1 Look\n+ 2 Mend\n→ 2 Mend\nnext\n"


def test_calls_retries_notices_and_errors_are_one_line_each() -> None:
    screen = Screen()
    screen.progress.show(ToolRunStarted(CallId("c"), "bash", "bash ls\n-la"))
    screen.progress.show(RetryScheduled(MAIN_CONTEXT, 1, 6, 1.25, "429 slow\ndown"))
    screen.progress.show(NoticeShown("take care"))
    screen.happens(ErrorOccurred("provider", "no answer", "try later"))
    assert screen.text == (
        "  · bash ls -la\n"
        "  try 1 of 6 failed, again in 1.2 s: 429 slow down\n"
        "take care\n"
        "no answer\ntry later\n"
    )


def test_what_is_remembered_of_the_project_is_told_with_how_to_forget_it() -> None:
    screen = Screen()
    screen.happens(
        MemoryChanged("project", "set", "12", "use\ntabs \x1b[2J"),
        MemoryChanged("session", "set", "memo", "x"),
    )
    (line,) = screen.text.splitlines()
    assert line.startswith("  remembered: use tabs ")
    assert line.endswith("  (tori memory forget 12)")
    assert "\x1b" not in line


def test_a_failed_call_tells_its_first_line_and_a_good_one_nothing() -> None:
    screen = Screen()
    good = result("c1", "bash", "fine")
    failed = Message(
        MAIN_CONTEXT, None, "tool", "\nno such file\nmore", tool_call_id=CallId("c2"), is_error=True
    )
    screen.happens(assistant("", call("c1", "bash"), call("c2", "bash")), good, failed)
    assert screen.text == "    no such file\n"


def test_only_the_last_word_of_the_model_is_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    screen.happens(
        user("do it"),
        assistant("I look.", call("c", "bash")),
        result("c", "bash", "x"),
        assistant("All done?"),
        user("goals are open"),
        assistant("Now it is done."),
        RunStatusChanged("done"),
    )
    screen.progress.finish(screen.state, ())
    assert capsys.readouterr().out == "Now it is done.\n"
    assert screen.text.startswith("I look.\nAll done?\ndone · ")


def test_denied_calls_are_listed_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    denial = ApprovalChanged(
        ApprovalId("a"), CallId("c"), "bash", "bash rm -r x", "denied", reason="nobody is there"
    )
    screen.happens(denial, assistant("I could not."), RunStatusChanged("done"))
    screen.progress.finish(screen.state, (denial,))
    assert "denied: bash rm -r x (nobody is there)\n" in screen.text
    assert "--mode" in screen.text


def test_hostile_text_reaches_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "a\x1b[2J\x9b31m[/red]\x07\ud800b"
    screen = Screen()
    screen.progress.show(ToolRunStarted(CallId("c"), "bash", evil))
    screen.progress.show(NoticeShown(evil))
    screen.happens(
        PlanChanged((MissionOpened(MissionId("m1"), evil), GoalAdded(GoalId("1"), None, evil)), "model"),
        assistant(evil, call("c", "bash")),
        ErrorOccurred("provider", evil, evil),
        assistant(evil),
        RunStatusChanged("failed", evil),
    )
    screen.progress.finish(screen.state, ())
    for text in (screen.text, capsys.readouterr().out):
        assert not set(text) & set("\x1b\x9b\x07\ud800")
        assert "[/red]" in text


def test_a_charset_without_our_marks_gets_plain_ones() -> None:
    screen = Screen("ascii")
    screen.happens(
        PlanChanged((GoalAdded(GoalId("1"), None, "café"), GoalCompleted(GoalId("1"), "ok")), "model")
    )
    assert screen.text == "+ 1 caf\\xe9\nv 1 ok\n"


def test_without_a_terminal_there_is_no_colour(tmp_path: Path) -> None:
    with (tmp_path / "err").open("w") as stream:
        Progress(stream).show(NoticeShown("x", "error"))
    assert (tmp_path / "err").read_text() == "x\n"


def test_what_may_not_run_is_told_once_with_how_often() -> None:
    screen = Screen()
    for number in range(5):
        name = f"c{number}"
        refused = result(name, "bash", "Not run: mode plan only reads.")
        screen.happens(assistant("", call(name, "bash")), replace(refused, is_error=True))
    screen.happens(RunStatusChanged("done"))
    screen.progress.finish(screen.state, ())
    assert screen.text.count("Not run: mode plan only reads.") == 2
    assert "5 times: Not run: mode plan only reads.\n" in screen.text
