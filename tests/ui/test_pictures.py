from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import pytest
from textual.app import App
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.test_session_screen import ready
from tests.ui.test_transcript import OneTranscript
from tori_tui.domain.events import DurableEvent, Fold, TransientEvent
from tori_tui.domain.ids import CallId, GoalId, Seq
from tori_tui.ui.transcript.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    CommentBlock,
    FoldBlock,
    NoticeBlock,
    PromptBlock,
    RetryBlock,
    RunBlock,
    ThinkingBlock,
)

WIDE, SMALL = (120, 40), (80, 24)


class Compare(Protocol):
    def __call__(
        self,
        app: App[None],
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], object] | None = None,
    ) -> bool: ...


Scene = Callable[[], Sequence[DurableEvent | TransientEvent]]


@pytest.mark.parametrize(
    ("scene", "theme", "size"),
    [
        (scenes.working_session, "dark", WIDE),
        (scenes.working_session, "light", SMALL),
        (scenes.working_session, "ansi", WIDE),
        (scenes.streaming_session, "dark", WIDE),
        (scenes.streaming_session, "light", SMALL),
        (scenes.running_session, "dark", SMALL),
        (scenes.running_session, "light", WIDE),
        (scenes.asking_edit, "dark", WIDE),
        (scenes.asking_edit, "light", SMALL),
        (scenes.asking_command, "light", WIDE),
        (scenes.asking_command, "dark", SMALL),
        (scenes.ended_session, "dark", WIDE),
        (scenes.ended_session, "light", WIDE),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value).replace(" ", ""),
)
def test_a_session(snap_compare: Compare, scene: Scene, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*scene())
        await pilot.pause(0.1)
        stage.clock.now_s += 1.3
        stage.screen._tick()
        await pilot.pause()

    assert snap_compare(stage.app, terminal_size=size, run_before=play)


@pytest.mark.parametrize(
    ("name", "keys", "size"),
    [
        ("help", ("f1",), WIDE),
        ("help-small", ("f1",), SMALL),
        ("deny", ("n", *"use a mock"), WIDE),
        ("goals-small", ("ctrl+g",), SMALL),
        ("rename", ("f6", "r"), WIDE),
        ("draft", (*"two lines", "ctrl+j", *"of a draft"), SMALL),
    ],
)
def test_after_keys(snap_compare: Compare, name: str, keys: tuple[str, ...], size: tuple[int, int]) -> None:
    stage = Stage()

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*(scenes.asking_command() if name == "deny" else scenes.working_session()))
        await pilot.pause(0.1)
        stage.clock.now_s += 1.3
        stage.screen._tick()
        await pilot.press(*keys)
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)


def test_without_colour_everything_still_has_a_mark(
    snap_compare: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    test_a_session(snap_compare, scenes.ended_session, "dark", WIDE)


BLOCKS: dict[str, Block] = {
    "prompt": PromptBlock("Mend the login\nand test it"),
    "long prompt": PromptBlock("\n".join(f"line {n}" for n in range(40))),
    "comment waits": CommentBlock(None, "also the logout"),
    "comment went": CommentBlock(None, "also the logout", "→ plan"),
    "answer": AnswerBlock(scenes.ANSWER),
    "table": AnswerBlock("| file | lines |\n|---|---|\n| a.py | 120 |\n| 中.py | 3 |\n\n> quoted\n\n---\n"),
    "thinking": ThinkingBlock("The test sends the wrong field, so mend the test."),
    "thinking now": ThinkingBlock("one\ntwo\nthree\nfour\nfive\nsix", is_streaming=True),
    "call writing": CallBlock(None, "bash", arguments_raw='{"command": "', state="writing"),
    "call asked": CallBlock(CallId("c"), "bash", {"command": "rm -rf build"}, state="asked"),
    "call denied": CallBlock(CallId("c"), "bash", {"command": "rm -rf build"}, state="denied", output="no"),
    "call done": CallBlock(CallId("c"), "read_file", {"path": "a.py"}, state="done", output="x\n" * 120),
    "fold": FoldBlock("goal 1 ended", (Fold((Seq(1), Seq(2)), "bcrypt, models/user.py", GoalId("1")),)),
    "error": NoticeBlock("401: no such key", "error", "Set OPENAI_API_KEY, or run tori doctor."),
    "retry": RetryBlock("429: too many requests", 1, 6, 0.0, 7),
    "run": RunBlock("interrupted", "by the user"),
}


@pytest.mark.parametrize("is_unfolded", [False, True], ids=["folded", "unfolded"])
def test_every_kind_of_block(snap_compare: Compare, is_unfolded: bool) -> None:
    app = OneTranscript(BLOCKS.values())

    async def unfold(pilot: Pilot[None]) -> None:
        for key in range(1, len(BLOCKS) + 1):
            app.transcript._slots.fold(key, unfolded=is_unfolded)
        app.transcript._changed()
        await pilot.pause()

    assert snap_compare(app, terminal_size=(90, 130), run_before=unfold)
