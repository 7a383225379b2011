from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.test_session_screen import RUNNING, live
from tori_tui.domain.events import DurableEvent, QuestionAsked, RunStatusChanged, TransientEvent
from tori_tui.domain.ids import QuestionId
from tori_tui.ui.notifying import BELL, NoticeKind, Notifier, notice_kind


@pytest.mark.parametrize(
    ("wanted", "environ", "kind"),
    [
        ("auto", {"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}, "osc9"),
        ("auto", {"TERM": "xterm-kitty"}, "osc9"),
        ("auto", {"TERM": "xterm-ghostty"}, "osc9"),
        ("auto", {"TERM": "xterm-256color", "VTE_VERSION": "7600"}, "osc777"),
        ("auto", {"TERM": "rxvt-unicode"}, "osc777"),
        ("auto", {"TERM": "xterm-256color"}, "bell"),
        ("auto", {"TERM": "tmux-256color", "TERM_PROGRAM": "WezTerm"}, "bell"),
        ("auto", {"TMUX": "/tmp/x", "TERM": "xterm-kitty"}, "bell"),
        ("bell", {"TERM": "xterm-kitty"}, "bell"),
        ("off", {"TERM": "xterm-kitty"}, "off"),
    ],
)
def test_each_terminal_is_called_as_it_understands(
    wanted: str, environ: dict[str, str], kind: NoticeKind
) -> None:
    assert notice_kind(wanted, environ) == kind


def written(kind: NoticeKind, text: str) -> str:
    out: list[str] = []
    Notifier(kind, out.append).call(text)
    return "".join(out)


def test_a_text_cannot_steer_the_terminal_or_end_its_notice() -> None:
    evil = "done\x1b]0;owned\x07\n;x\u202e"
    kinds: tuple[NoticeKind, ...] = ("osc9", "osc777")
    for kind in kinds:
        sequence = written(kind, evil)
        assert sequence.count("\x1b") == 1
        assert sequence.count(BELL) == 2
        assert "\n" not in sequence
        assert "\u202e" not in sequence
    assert written("osc777", evil).count(";") == 3
    assert written("bell", evil) == BELL
    assert written("off", evil) == ""
    assert len(written("osc9", "x" * 10_000)) < 200


def test_the_title_is_kept_once_and_given_back() -> None:
    out: list[str] = []
    notifier = Notifier("bell", out.append)
    notifier.show_title("▶ mission")
    notifier.show_title("▶ mission")
    notifier.show_title("✓ mission\x07")
    notifier.end()
    notifier.end()
    assert out == ["\x1b[22;2t\x1b]2;▶ mission\a", "\x1b]2;✓ mission␇\a", "\x1b[23;2t"]


def test_without_notices_no_title_is_written() -> None:
    out: list[str] = []
    notifier = Notifier("off", out.append)
    notifier.show_title("x")
    notifier.end()
    assert out == []


async def happened(
    stage: Stage, pilot: Pilot[None], *what: DurableEvent | TransientEvent, is_focused: bool
) -> list[str]:
    out: list[str] = []
    stage.screen.notifier.write = out.append
    stage.app.post_message(events.AppFocus() if is_focused else events.AppBlur())
    await pilot.pause()
    stage.session.emit(*what)
    await pilot.pause(0.1)
    return [sequence for sequence in out if not sequence.startswith(("\x1b]2;", "\x1b[22"))]


@pytest.mark.parametrize(
    "end",
    [
        RunStatusChanged("done", "2 of 2 goals"),
        RunStatusChanged("failed", "401: no such key"),
        RunStatusChanged("incomplete"),
        RunStatusChanged("limit"),
        QuestionAsked(QuestionId("q1"), "Which port?", ()),
        scenes.asking_command()[-2],
    ],
    ids=lambda end: f"{type(end).__name__} {getattr(end, 'status', '')}",
)
async def test_an_end_or_a_question_calls_who_looks_elsewhere(end: DurableEvent | TransientEvent) -> None:
    async with live(RUNNING) as (stage, pilot):
        assert await happened(stage, pilot, end, is_focused=False) == [BELL]


async def test_who_looks_at_it_is_not_called() -> None:
    async with live(RUNNING) as (stage, pilot):
        assert await happened(stage, pilot, RunStatusChanged("done"), is_focused=True) == []


async def test_the_users_own_interrupt_does_not_call() -> None:
    async with live(RUNNING) as (stage, pilot):
        assert await happened(stage, pilot, RunStatusChanged("interrupted"), is_focused=False) == []


async def test_the_title_says_how_it_stands() -> None:
    out: list[str] = []
    async with live() as (stage, pilot):
        stage.screen.notifier.write = out.append
        stage.session.emit(*RUNNING)
        await pilot.pause(0.1)
        assert out[-1].endswith("]2;▶ m\a")
        stage.session.emit(RunStatusChanged("done"))
        await pilot.pause(0.1)
        assert out[-1].endswith("]2;✓ m\a")
    assert out[-1] == "\x1b[23;2t"
