from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import answered, call, plan
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import RUNNING, live, ready, sent
from tori_tui.domain.commands import AddComment, DecideApproval
from tori_tui.domain.events import ApprovalChanged, RunStatusChanged
from tori_tui.domain.ids import ApprovalId, CallId, GoalId
from tori_tui.domain.plan_edits import GoalAdded, GoalFocused
from tori_tui.render.unmasked_text import unmasked
from tori_tui.ui.widgets.approval_bar import GUARD_S, ApprovalBar

FIRST, SECOND = ApprovalId("a1"), ApprovalId("a2")
GOAL = plan(GoalAdded(GoalId("1"), None, "first"), GoalFocused(GoalId("1")))


def asked(
    command: str, *, number: ApprovalId = FIRST, rules: tuple[str, ...] | None = None
) -> tuple[ApprovalChanged, RunStatusChanged]:
    exact = (f"bash({command})",) if rules is None else rules
    question = ApprovalChanged(
        number, CallId(number), "bash", f"bash {command}", "asked", command, "it deletes files", rules=exact
    )
    return question, RunStatusChanged("waiting")


def shown(bar: ApprovalBar) -> list[str]:
    return [bar.render_line(y).text.rstrip() for y in range(bar.size.height)]


async def test_a_key_counts_only_after_the_question_was_seen_for_a_moment() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.session.emit(answered("", call("a1", "bash", command="x")), *asked("rm x"))
        await pilot.pause()
        bar = stage.screen.approvals
        bar._seen_at_s = None  # as if it were not drawn yet, however long ago it was asked
        stage.clock.now_s += 60
        await pilot.press("y")
        assert sent(stage) == []
        bar.refresh()
        await pilot.pause()
        stage.clock.now_s += GUARD_S / 2
        await pilot.press("a", "enter")
        stage.clock.now_s += GUARD_S / 2
        await pilot.press("s")
        assert sent(stage) == []
        stage.clock.now_s += GUARD_S
        await pilot.press("y", "y", "a")
        assert sent(stage) == [DecideApproval(FIRST, True)]
        assert stage.screen.input.text == ""


@pytest.mark.parametrize("words", ["also write a test", "keep all", "go on", "stop!", "/clear", "no"])
@pytest.mark.parametrize("after_s", [GUARD_S / 2, 1])
async def test_a_comment_that_is_typed_at_a_question_answers_nothing(words: str, after_s: float) -> None:
    async with live((*RUNNING, GOAL)) as (stage, pilot):
        stage.session.emit(*asked("rm x"))
        await pilot.pause()
        stage.clock.now_s += after_s
        await pilot.press(*("space" if c == " " else c for c in words))
        assert sent(stage) == []
        assert stage.screen.input.text == (words if words != "no" or after_s < GUARD_S else "o")
        assert stage.screen.focused is stage.screen.input


@pytest.mark.parametrize(
    ("words", "draft"),
    [
        ("my words", "my words"),
        ("also go on", "also go on"),
        ("stop by\r", "stop by"),
        ("not this", "ot this"),
    ],
)
async def test_words_that_arrive_all_at_once_answer_nothing_and_none_of_their_letters_is_lost(
    words: str, draft: str
) -> None:
    async with live((*RUNNING, GOAL)) as (stage, pilot):
        stage.session.emit(*asked("rm x"))
        await pilot.pause()
        stage.clock.now_s += 5
        for character in words:
            key = {" ": "space", "\r": "enter"}.get(character, character)
            stage.screen.app.post_message(events.Key(key, character))
        await pilot.pause()
        await pilot.pause()
        assert sent(stage) == []
        assert stage.screen.input.text == draft
        assert stage.screen.focused is stage.screen.input


async def test_a_question_leaves_the_focus_where_a_draft_is_written_and_says_how_to_answer() -> None:
    async with live(RUNNING) as (stage, pilot):
        await pilot.press("w", "a", "i")
        stage.session.emit(*asked("rm x"))
        await pilot.pause()
        stage.clock.now_s += 5
        assert "F6 to answer:" in " ".join(shown(stage.screen.approvals)[-1].split())
        await pilot.press("t", "enter")
        (comment,) = sent(stage)
        assert isinstance(comment, AddComment)
        assert comment.text == "wait"
        await pilot.pause()
        stage.clock.now_s += 1
        await pilot.press("y")
        assert sent(stage)[1:] == [DecideApproval(FIRST, True)]


async def test_the_inputs_words_tell_of_a_question_only_while_it_waits() -> None:
    answer = ApprovalChanged(FIRST, CallId("a1"), "bash", "bash", "allowed")
    running = RunStatusChanged("running")
    async with live(RUNNING) as (stage, pilot):
        for answered_so in ((answer, running), (running, answer)):
            stage.session.emit(*asked("rm x"))
            await pilot.pause()
            assert str(stage.screen.input.placeholder).startswith("Answer above")
            stage.session.emit(*answered_so)
            await pilot.pause()
            assert str(stage.screen.input.placeholder) == "Say something about the work"


async def test_the_next_question_is_guarded_as_the_first_was() -> None:
    async with live(RUNNING) as (stage, pilot):
        stage.session.emit(*asked("rm x"), *asked("rm y", number=SECOND))
        await pilot.pause()
        stage.clock.now_s += 1
        await pilot.press("y")
        stage.session.emit(ApprovalChanged(FIRST, CallId("a1"), "bash", "bash", "allowed"))
        await pilot.pause()
        await pilot.press("y")
        assert len(sent(stage)) == 1
        stage.clock.now_s += 1
        await pilot.press("y")
        assert sent(stage)[1:] == [DecideApproval(SECOND, True)]


async def test_what_lay_over_the_question_guards_it_anew() -> None:
    async with live(RUNNING) as (stage, pilot):
        await pilot.press("f1")
        stage.session.emit(*asked("rm x"))
        await pilot.pause()
        stage.clock.now_s += 5
        await pilot.press("escape", "y")
        await pilot.pause()
        assert sent(stage) == []
        stage.clock.now_s += 1
        await pilot.press("y")
        assert sent(stage) == [DecideApproval(FIRST, True)]


@pytest.mark.parametrize(("key", "scope"), [("y", "once"), ("g", "goal"), ("s", "session"), ("a", "always")])
async def test_each_answer_holds_as_long_as_its_key_says(key: str, scope: str) -> None:
    async with live((*RUNNING, GOAL, *asked("rm x"))) as (stage, pilot):
        stage.clock.now_s += 1
        await pilot.press(key)
        if scope != "once":
            assert shown(stage.screen.approvals)[-1].split()[:2] == ["Enter", "allow"]
            assert sent(stage) == []
            await pilot.press("escape", key, "enter")
        (decided,) = sent(stage)
        assert isinstance(decided, DecideApproval)
        assert (decided.allow, decided.scope) == (True, scope)


async def test_enter_right_behind_a_denial_is_not_lost() -> None:
    """As keys come in one burst, from a paste or over a slow line."""
    async with live((*RUNNING, *asked("rm x"))) as (stage, pilot):
        stage.clock.now_s += 1
        bar = stage.screen.approvals
        for key, character in (("n", "n"), ("enter", "\r")):
            bar.post_message(events.Key(key, character))
        await pilot.pause(0.2)
        assert sent(stage) == [DecideApproval(FIRST, False)]


async def test_only_what_can_be_meant_is_offered() -> None:
    async with live((*RUNNING, *asked("rm x"))) as (stage, pilot):
        stage.clock.now_s += 1
        assert "this goal" not in shown(stage.screen.approvals)[-1]
        await pilot.press("g", "enter")
        stage.session.emit(*asked("rm y", number=FIRST, rules=()))
        await pilot.pause()
        assert shown(stage.screen.approvals)[-1].split() == ["y", "once", "n", "deny", "…"]
        stage.clock.now_s += 1
        await pilot.press("s", "enter", "a", "enter")
        assert sent(stage) == []


@pytest.mark.parametrize("width", [160, 120, 80, 60])
async def test_how_to_say_no_is_seen_at_any_width(width: int) -> None:
    events = (*RUNNING, GOAL, *asked("x\n" * 400))
    async with live(events, size=(width, 20)) as (stage, pilot):
        stage.clock.now_s += 1
        for _ in range(2):
            keys = shown(stage.screen.approvals)[-1]
            assert [key for key in keys.split() if key in "ygsan"] == ["y", "g", "s", "a", "n"]
            assert "deny" in keys
            assert "↑↓ " in keys
            await pilot.press("f6")
        assert "Esc interrupt" in stage.screen.status_line.render_line(0).text


@pytest.mark.parametrize("size", [WIDE, SMALL])
async def test_the_whole_command_can_be_scrolled_and_the_exact_rule_stays_in_view(
    size: tuple[int, int],
) -> None:
    command = "\n".join([*(f"echo {n}" for n in range(200)), "echo " + "x" * 4_000 + "THE-END", "last"])
    events = (*RUNNING, GOAL, *asked(command, rules=("bash(echo *)",)))
    async with live(events, size=size) as (stage, pilot):
        bar = stage.screen.approvals
        stage.clock.now_s += 1
        seen: set[str] = set()
        for _ in range(60):
            lines = shown(bar)
            assert any("allow exactly: bash(echo *)" in line for line in lines)
            seen.update(line.strip() for line in lines)
            await pilot.press("pagedown")
        assert {f"echo {n}" for n in range(200)} <= seen
        assert any("THE-END" in line for line in seen)
        assert "last" in seen
        await pilot.press("home")
        assert shown(bar)[1].strip() == "echo 0"
        await pilot.press("end")
        assert any(line.strip() == "last" for line in shown(bar))


async def test_nothing_is_hidden_in_what_is_asked() -> None:
    command = "rm\u00a0-rf \u202eetc\u200b \x1b[2K\r~ \U000e0041"
    async with live((*RUNNING, *asked(command))) as (stage, _):
        text = "\n".join(shown(stage.screen.approvals))
        for written in ("rm\\u00a0-rf", "\\u202eetc\\u200b", "␛[2K␍~", "\\U000e0041"):
            assert text.count(written) >= 2, "in the command and in the rule"


def test_what_is_no_disguise_stays_as_it_is() -> None:
    assert unmasked("中文 é ❤️\tx\n") == "中文 é ❤️\tx\n"


@pytest.mark.parametrize(("theme", "size"), [("dark", WIDE), ("light", SMALL)], ids=["dark", "light"])
def test_how_it_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)
    command = 'cd 文档\nfor f in *.md; do\n  rm \u202e"$f"\ndone\n' + "echo 完成\n" * 30

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(
            *RUNNING, answered(scenes.ANSWER), GOAL, *asked(command, rules=("bash(cd 文档 …)",))
        )
        await pilot.pause(0.1)
        stage.clock.now_s += 1
        await pilot.press("pagedown")

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
