from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.worker import WorkerFailed

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import FakeSession, answered, call, mission, plan, said
from tori_tui.domain.commands import (
    AddComment,
    AnswerQuestion,
    Command,
    ContinueRun,
    DecideApproval,
    EditPlan,
    InterruptRun,
    RewindTo,
    SwitchMode,
)
from tori_tui.domain.events import (
    ApprovalChanged,
    DurableEvent,
    QuestionAsked,
    RunStatusChanged,
    TextStreamed,
)
from tori_tui.domain.ids import MAIN_CONTEXT, ApprovalId, CallId, CommentId, GoalId, QuestionId
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalFocused, GoalMoved, GoalRenamed
from tori_tui.ui.app import crash_report
from tori_tui.ui.screens.diff_page import DiffPage
from tori_tui.ui.screens.help import HelpScreen
from tori_tui.ui.widgets.comment_input import COMMENT


@asynccontextmanager
async def live(
    happened: Iterable[DurableEvent] = (),
    *,
    size: tuple[int, int] = (120, 40),
    history: tuple[str, ...] = (),
) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    stage = Stage(history=history)
    async with stage.app.run_test(size=size) as pilot:
        await ready(stage, pilot)
        stage.session.emit(*happened)
        await pilot.pause()
        yield stage, pilot


async def ready(stage: Stage, pilot: Pilot[None]) -> None:
    for _ in range(200):
        await pilot.pause(0.01)
        if stage.bridge.session is not None and stage.app._talk is not None:
            break
    await pilot.pause()


RUNNING = (RunStatusChanged("running", model="replay/x", mode="ask", cwd="/tmp"), mission("m"), said("m"))


def sent(stage: Stage) -> list[Command]:
    return stage.session.sent


async def test_a_text_is_sent_once_and_the_input_is_empty() -> None:
    async with live() as (stage, pilot):
        await pilot.press(*"hi there", "enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "hi there")]
        assert stage.screen.input.text == ""
        assert stage.remembered == ["hi there"]


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_line_breaks_do_not_send(key: str) -> None:
    async with live() as (stage, pilot):
        await pilot.press("a", key, "b")
        assert stage.screen.input.text == "a\nb"
        assert sent(stage) == []


async def test_a_backslash_before_enter_is_a_line_break() -> None:
    async with live() as (stage, pilot):
        await pilot.press("a", "backslash", "enter", "b", "enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "a\nb")]


async def test_keys_typed_before_the_screen_was_there_are_not_lost() -> None:
    stage = Stage()
    async with stage.app.run_test(size=(120, 40)) as pilot:
        shell = stage.app.screen_stack[0]
        for key in "early":
            shell.post_message(events.Key(key, key))
        await ready(stage, pilot)
        await pilot.press("!", "enter")
        assert sent(stage) == [AddComment(CommentId("t1"), "early!")]


async def test_escape_interrupts_a_run_and_nothing_else() -> None:
    async with live(RUNNING) as (stage, pilot):
        await pilot.press("escape")
        assert sent(stage) == [InterruptRun()]
        stage.session.emit(RunStatusChanged("interrupted"))
        await pilot.pause()
        await pilot.press("escape")
        assert sent(stage) == [InterruptRun()]


async def test_the_text_of_an_interrupted_send_returns() -> None:
    async with live() as (stage, pilot):
        await pilot.press(*"do it", "enter")
        stage.session.emit(*RUNNING, RunStatusChanged("interrupted"))
        await pilot.pause()
        assert stage.screen.input.text == "do it"


async def test_an_answered_text_does_not_return() -> None:
    async with live() as (stage, pilot):
        await pilot.press(*"do it", "enter")
        stage.session.emit(*RUNNING, TextStreamed(MAIN_CONTEXT, "I"), RunStatusChanged("interrupted"))
        await pilot.pause()
        assert stage.screen.input.text == ""


async def test_ctrl_c_interrupts_then_clears_then_quits() -> None:
    async with live(RUNNING) as (stage, pilot):
        await pilot.press(*"draft", "ctrl+c")
        assert sent(stage) == [InterruptRun()]
        assert stage.screen.input.text == "draft"
        stage.session.emit(RunStatusChanged("interrupted"))
        await pilot.pause()
        await pilot.press("ctrl+c")
        assert stage.screen.input.text == ""
        await pilot.press("ctrl+c")
        assert not stage.session.is_closed
        await pilot.press("ctrl+c")
        await pilot.pause(0.1)
        assert stage.session.is_closed


async def test_two_slow_ctrl_c_do_not_quit() -> None:
    async with live() as (stage, pilot):
        await pilot.press("ctrl+c")
        stage.clock.now_s += 5
        await pilot.press("ctrl+c")
        assert not stage.session.is_closed


async def test_shift_tab_goes_through_the_modes() -> None:
    async with live(RUNNING) as (stage, pilot):
        await pilot.press("shift+tab")
        assert sent(stage) == [SwitchMode("edit")]


async def test_f6_goes_through_the_panes_and_back() -> None:
    async with live(scenes.working_session()) as (stage, pilot):
        seen = []
        for _ in range(3):
            await pilot.press("f6")
            seen.append(stage.screen.focused)
        assert seen == [stage.screen.goals, stage.screen.transcript, stage.screen.input]


async def test_help_lists_every_bound_key_and_closes() -> None:
    async with live() as (stage, pilot):
        await pilot.press("f1")
        assert isinstance(stage.app.screen, HelpScreen)
        await pilot.press("escape")
        assert stage.app.screen_stack[-1] == stage.screen
        await pilot.press("question_mark")
        assert stage.screen.input.text == "?"


async def test_question_mark_outside_the_input_is_help() -> None:
    async with live(scenes.working_session()) as (stage, pilot):
        stage.screen.transcript.focus()
        await pilot.press("question_mark")
        assert isinstance(stage.app.screen, HelpScreen)


async def test_the_palette_runs_an_action() -> None:
    async with live() as (stage, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause(0.1)
        await pilot.press(*"show or hide")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert stage.screen.has_class("-goals-hidden")


async def test_slash_words_are_actions_and_paths_are_text() -> None:
    async with live() as (stage, pilot):
        await pilot.press(*"/continue", "enter")
        await pilot.pause()
        await pilot.press(*"/usr/bin/x is broken", "enter")
        assert sent(stage) == [ContinueRun(), AddComment(CommentId("t1"), "/usr/bin/x is broken")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/modle gpt", "There is no command /modle. Did you mean /model?"),
        ("/nosuch thing", "There is no command /nosuch. F1 lists them."),
        ("/undo 7", "It is written /undo: take the last rewind back."),
        ("!", "Write a command behind it"),
    ],
)
async def test_a_mistyped_command_is_told_and_stays_in_the_input(text: str, said: str) -> None:
    async with live() as (stage, pilot):
        stage.screen.input.load_text(text)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert sent(stage) == []
        shown = " ".join(" ".join(stage.screen.transcript.shown_text).split())
        assert said in shown
        assert stage.screen.input.text == text
        await pilot.press("home", "space", "enter")
        assert sent(stage) == [AddComment(CommentId("t1"), f" {text}")]


async def test_a_command_of_the_users_own_says_its_text() -> None:
    async with live() as (stage, pilot):
        stage.own_commands = (
            OwnCommand("ship", "make a release", "Release version $ARGUMENTS."),
            OwnCommand("tidy", "tidy up", "Tidy up."),
            OwnCommand("bad", "(is empty)", "", "The file of /bad, bad.md, is empty."),
            OwnCommand("undo", "never reached", "Never."),
        )
        for text in ("/ship 1.2", "/tidy", "/tidy the tests", "/bad"):
            stage.screen.input.load_text(text)
            await pilot.press("enter")
            await pilot.pause()
        assert [command.text for command in sent(stage) if isinstance(command, AddComment)] == [
            "Release version 1.2.",
            "Tidy up.",
            "Tidy up.\n\nthe tests",
        ]
        await pilot.pause(0.2)
        assert any("bad.md, is empty" in line for line in stage.screen.transcript.shown_text)
        assert stage.remembered[:2] == ["/ship 1.2", "/tidy"]
        titles = [command.title for command in stage.screen.commands()]
        assert "/ship …" in titles


# ── permission ──


async def test_allowing_needs_a_key_that_was_not_on_its_way() -> None:
    async with live(RUNNING) as (stage, pilot):
        await pilot.press(*"so ")
        stage.session.emit(*scenes.asking_edit()[-3:])
        await pilot.pause()
        stage.clock.now_s += 5
        await pilot.press("y", "s")
        assert sent(stage) == []
        assert stage.screen.input.text == "so ys"
        await pilot.press("f6", "y")
        assert sent(stage) == []
        stage.clock.now_s += 0.4
        await pilot.press("y")
        assert sent(stage) == [DecideApproval(ApprovalId("a1"), True)]
        assert stage.screen.input.text == "so ys"


async def test_allowing_for_the_session() -> None:
    async with live(scenes.asking_command()) as (stage, pilot):
        stage.clock.now_s += 1
        await pilot.press("s", "enter")
        assert sent(stage) == [DecideApproval(ApprovalId("a1"), True, scope="session")]


@pytest.mark.parametrize(("typed", "reason"), [("", ""), ("too risky", "too risky")])
async def test_denying_takes_a_reason_or_none_and_keeps_the_draft(typed: str, reason: str) -> None:
    async with live(RUNNING) as (stage, pilot):
        await pilot.press(*"draft")
        stage.session.emit(*scenes.asking_command()[-2:])
        stage.session.emit(
            answered("", call("c6", "bash", command="rm x")),
            ApprovalChanged(ApprovalId("a1"), CallId("c6"), "bash", "bash rm x", "asked", "rm x"),
        )
        await pilot.press("f6")
        stage.clock.now_s += 1
        await pilot.press("n", *typed, "enter")
        assert sent(stage) == [DecideApproval(ApprovalId("a1"), False, reason)]
        assert stage.screen.input.text == "draft"


async def test_escape_leaves_a_denial_and_asks_again() -> None:
    async with live(scenes.asking_command()) as (stage, pilot):
        stage.clock.now_s += 1
        await pilot.press("n", *"no", "escape")
        assert sent(stage) == []
        assert stage.screen.focused is stage.screen.approvals


async def test_the_focus_returns_to_the_input_when_nothing_is_asked_any_more() -> None:
    async with live(scenes.asking_command()) as (stage, pilot):
        stage.session.emit(
            ApprovalChanged(ApprovalId("a1"), CallId("c6"), "bash", "bash", "allowed"),
            RunStatusChanged("running"),
        )
        await pilot.pause()
        assert stage.screen.focused is stage.screen.input
        assert not stage.screen.approvals.display


async def test_a_question_is_answered_by_the_number_of_an_option() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.session.emit(QuestionAsked(QuestionId("q"), "Which?", ("sqlite", "redis")))
        await pilot.pause()
        await pilot.press("2", "enter")
        assert sent(stage) == [AnswerQuestion(QuestionId("q"), "redis")]


# ── goal tree ──

PLAN = (
    *RUNNING,
    plan(
        GoalAdded(GoalId("1"), None, "first"),
        GoalAdded(GoalId("2"), None, "second"),
        GoalFocused(GoalId("1")),
    ),
)


@pytest.mark.parametrize(
    ("keys", "commands"),
    [
        (("c", *"why", "enter"), [AddComment(CommentId("t1"), "why", "goal:1")]),
        (("a", *"sub", "enter"), [EditPlan((GoalAdded(GoalId("1.1"), GoalId("1"), "sub"),))]),
        (("r", "backspace", "enter"), [EditPlan((GoalRenamed(GoalId("1"), "firs"),))]),
        (("m",), [EditPlan((GoalMoved(GoalId("1"), GoalId("2")),))]),
        (("down", "M"), [EditPlan((GoalMoved(GoalId("2"), None),))]),
        (("down", "f"), [EditPlan((GoalFocused(GoalId("2")),))]),
        (("down", "x", "enter"), [EditPlan((GoalAbandoned(GoalId("2"), "dropped by the user"),))]),
        (("down", "x", "escape"), []),
        (("down", "u", "enter"), [RewindTo(goal=GoalId("2"))]),
        (("u", "escape"), []),
    ],
)
async def test_keys_of_the_goal_tree(keys: tuple[str, ...], commands: list[Command]) -> None:
    async with live(PLAN) as (stage, pilot):
        stage.screen.goals.focus()
        await pilot.press(*keys)
        await pilot.pause()
        assert sent(stage) == commands


async def test_escape_from_a_goals_text_goes_back_to_the_tree() -> None:
    async with live(PLAN) as (stage, pilot):
        stage.screen.goals.focus()
        await pilot.press("r", "escape", "down", "m", "a")
        await pilot.pause()
        assert stage.screen.input.purpose.kind == "add"
        stage.screen.transcript.focus()
        assert stage.screen.status_line._status.hints[0] == "Esc back"
        await pilot.press("escape")
        await pilot.pause()
        assert stage.screen.input.purpose == COMMENT
        assert stage.screen.status_line._status.hints[0] == "Esc interrupt"
        assert InterruptRun() not in sent(stage)
        await pilot.press("escape")
        assert sent(stage)[-1] == InterruptRun()


async def test_enter_jumps_to_the_work_on_a_goal() -> None:
    long = [answered(f"line {n}\n\n" * 30) for n in range(5)]
    async with live([*PLAN, *long]) as (stage, pilot):
        assert stage.screen.transcript.is_following
        stage.screen.goals.focus()
        await pilot.press("enter")
        await pilot.pause()
        assert not stage.screen.transcript.is_following
        assert any("1 first" in line for line in stage.screen.transcript.shown_text[:3])


async def test_d_in_the_tree_shows_what_the_goal_changed() -> None:
    async with live(PLAN) as (stage, pilot):
        stage.diffs["1"] = scenes.DIFF
        stage.screen.goals.focus()
        await pilot.press("d")
        await pilot.pause(0.1)
        page = stage.app.screen
        assert isinstance(page, DiffPage)
        shown = "\n".join(page.page.shown_text)
        assert "app/login.py" in shown
        assert "+" in shown
        await pilot.press("escape")
        assert stage.app.screen is stage.screen


async def test_d_on_a_goal_that_changed_nothing_says_so() -> None:
    async with live(PLAN) as (stage, pilot):
        stage.screen.goals.focus()
        await pilot.press("d")
        await pilot.pause(0.1)
        assert any("No change of a file" in line for line in stage.screen.transcript.shown_text)


async def test_ctrl_g_hides_the_goals_and_in_a_narrow_window_shows_them() -> None:
    async with live(PLAN) as (stage, pilot):
        await pilot.press("ctrl+g")
        assert not stage.screen.goals.display
    async with live(PLAN, size=(80, 24)) as (stage, pilot):
        assert not stage.screen.goals.display
        assert stage.screen.plan_strip.display
        await pilot.press("ctrl+g")
        assert stage.screen.goals.display
        await pilot.press("escape")
        assert not stage.screen.goals.display


# ── conversation ──


async def test_history_goes_back_and_forth_and_keeps_the_draft() -> None:
    async with live(history=("one", "two")) as (stage, pilot):
        await pilot.press(*"dr", "up")
        assert stage.screen.input.text == "two"
        await pilot.press("up", "down", "down")
        assert stage.screen.input.text == "dr"


async def test_scrolling_up_from_the_input_stays_while_streaming_and_end_follows() -> None:
    async with live([*RUNNING, answered("\n\n".join(f"line {n}" for n in range(200)))]) as (stage, pilot):
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        before = stage.screen.transcript.shown_text
        for n in range(50):
            stage.session.emit(TextStreamed(MAIN_CONTEXT, f"more {n}\n\n"))
        stage.clock.now_s += 1
        await pilot.pause(0.1)
        assert stage.screen.transcript.shown_text == before
        await pilot.press("end")
        await pilot.pause()
        assert stage.screen.transcript.is_following
        assert (
            "more 49" in stage.screen.transcript.shown_text[-2:][0] + stage.screen.transcript.shown_text[-1]
        )


async def test_a_megabyte_is_pasted_shown_short_and_sent_once() -> None:
    text = "x" * 80 + "\n"
    text *= 13_000
    async with live() as (stage, pilot):
        stage.screen.input.post_message(events.Paste(text))
        await pilot.pause()
        assert len(stage.screen.input.text) < 60
        await pilot.press("enter")
        (command,) = sent(stage)
        assert isinstance(command, AddComment)
        assert command.text == text.strip("\n")


async def test_a_pasted_word_is_deleted_by_one_key() -> None:
    async with live() as (stage, pilot):
        stage.screen.input.post_message(events.Paste("a\n" * 100))
        await pilot.pause()
        await pilot.press("backspace")
        assert stage.screen.input.text == ""


async def test_two_hundred_pasted_lines_while_streaming_send_nothing() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.screen.input.post_message(events.Paste("line\r" * 200))
        stage.session.emit(TextStreamed(MAIN_CONTEXT, "answer"))
        await pilot.pause()
        assert sent(stage) == []


# ── ways out ──


class FailingSession(FakeSession):
    async def run(self) -> None:
        raise RuntimeError("the session broke")


async def run_until_ready(stage: Stage) -> None:
    async with stage.app.run_test() as pilot:
        await ready(stage, pilot)
        await pilot.pause(0.2)


async def test_a_fault_ends_the_app_and_is_kept_for_the_way_out() -> None:
    stage = Stage(session=FailingSession())
    with pytest.raises(WorkerFailed):
        await run_until_ready(stage)
    assert isinstance(stage.app.crash, RuntimeError)
    report = crash_report(stage.app.crash, Path("/work/.trace/20260101-000000-abcd"), "tori resume 20")
    assert "RuntimeError: the session broke" in report
    assert report.endswith("/20260101-000000-abcd\nGo on with it: tori resume 20\n")
