from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from typing import Literal

import pytest
from textual import events
from textual.geometry import Size

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import answered, call, mission, plan, result, said
from tests.ui.test_session_screen import ready
from tori_tui.domain.events import (
    ApprovalChanged,
    CallStreamed,
    CommentReceived,
    DurableEvent,
    ErrorOccurred,
    QuestionAsked,
    ReplyDiscarded,
    RequestStarted,
    RetryScheduled,
    RunStatus,
    RunStatusChanged,
    TextStreamed,
    ThinkingStreamed,
    ToolOutputStreamed,
    ToolRunStarted,
    TransientEvent,
)
from tori_tui.domain.ids import MAIN_CONTEXT, ApprovalId, CallId, CommentId, GoalId, QuestionId
from tori_tui.domain.plan_edits import GoalAdded, GoalCompleted, GoalFocused

SECONDS = float(os.environ.get("MONKEY_SECONDS", "60"))

SEED = int(os.environ.get("MONKEY_SEED", "20261130"))
"""The same everywhere, so that a red run can be run again; 0 is another one each time."""

KEYS = (
    *("enter", "escape", "tab", "shift+tab", "f1", "f6", "ctrl+c", "ctrl+g", "ctrl+o", "ctrl+p", "ctrl+r"),
    *("ctrl+j", "up", "down", "left", "right", "pageup", "pagedown", "home", "end", "ctrl+end", "backspace"),
    *("delete", "space", "question_mark", "ctrl+u", "ctrl+w", "ctrl+a", "ctrl+k", "ctrl+underscore"),
    *"acdfhjklmMnprsuxy0123456789\\/é中😀",
)

TEXTS = (
    *("word ", "# Head\n\n", "- item\n", "```python\n", "x = 1\n", "```\n", "\n\n", "| a | b |\n|---|---|\n"),
    *(
        "[/red]",
        "\x1b[31m",
        "\x9b",
        "\u202e",
        "中文",
        "👨‍👩‍👧",
        "x" * 5_000,
        "\t",
        "> quote\n",
        "\r\n",
        "\x00",
    ),
)


STATUSES: tuple[RunStatus, ...] = ("running", "waiting", "done", "interrupted", "failed", "idle")

APPROVALS: tuple[Literal["asked", "allowed", "denied"], ...] = ("asked", "asked", "allowed", "denied")


class Monkey:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.n_calls = 0
        self.n_goals = 0
        self.happenings: tuple[Callable[[str], list[DurableEvent | TransientEvent]], ...] = (
            lambda text: [TextStreamed(MAIN_CONTEXT, text)],
            lambda text: [TextStreamed(MAIN_CONTEXT, text) for _ in range(20)],
            lambda text: [ThinkingStreamed(MAIN_CONTEXT, text)],
            lambda text: [CallStreamed(MAIN_CONTEXT, str(len(text) % 3), "bash", text)],
            lambda text: [ReplyDiscarded(MAIN_CONTEXT, text)],
            lambda text: [RequestStarted(MAIN_CONTEXT, 1, "x", len(text) * 1_000)],
            lambda text: [RetryScheduled(MAIN_CONTEXT, 1, 6, len(text) % 6, text)],
            lambda text: [ErrorOccurred("provider", text, text)],
            lambda text: [plan(GoalCompleted(GoalId(str(self.n_goals)), text))],
            lambda text: [RunStatusChanged(self.random.choice(STATUSES), text, mode="ask")],
            lambda text: [CommentReceived(CommentId(text), text), said(text)],
            lambda text: [QuestionAsked(QuestionId("q"), text, (text,))],
            self._called,
            self._answered,
            self._asked,
            self._planned,
        )

    def event(self) -> list[DurableEvent | TransientEvent]:
        text = "".join(self.random.choices(TEXTS, k=self.random.randint(1, 8)))
        return self.random.choice(self.happenings)(text)

    @property
    def _call(self) -> CallId:
        return CallId(str(self.n_calls))

    def _called(self, text: str) -> list[DurableEvent | TransientEvent]:
        self.n_calls += 1
        return [answered(text, call(self._call, "bash", command=text))]

    def _answered(self, text: str) -> list[DurableEvent | TransientEvent]:
        running: list[DurableEvent | TransientEvent] = [
            ToolRunStarted(self._call, "bash", text),
            ToolOutputStreamed(self._call, text),
        ]
        return [*running, result(self._call, text * 100, is_error=len(text) % 2 == 0)]

    def _asked(self, text: str) -> list[DurableEvent | TransientEvent]:
        state = self.random.choice(APPROVALS)
        return [ApprovalChanged(ApprovalId(self._call), self._call, "bash", text, state, text)]

    def _planned(self, text: str) -> list[DurableEvent | TransientEvent]:
        self.n_goals += 1
        goal = GoalId(str(self.n_goals))
        return [plan(GoalAdded(goal, None, text, check=text), GoalFocused(goal))]


@pytest.mark.slow
@pytest.mark.timeout(SECONDS * 4 + 60)
async def test_a_monkey_finds_no_way_to_break_it() -> None:
    seed = SEED if SEED else random.SystemRandom().randint(1, 1 << 32)
    monkey = Monkey(seed)
    end = time.monotonic() + SECONDS
    n_steps = 0
    while time.monotonic() < end:
        # It may find the way out: then it gets another session.
        n_steps = await live_of(monkey, end, n_steps, f"seed {seed}")
    assert n_steps > SECONDS * 5


async def live_of(monkey: Monkey, end: float, n_steps: int, name: str) -> int:
    """Let it play with one session until the time is up or it quits; returns its steps so far."""
    stage = Stage(history=("old one", "older\nlines"))
    async with stage.app.run_test(size=(120, 40)) as pilot:
        await ready(stage, pilot)
        stage.session.emit(mission("monkey"), *scenes.working_session())
        while time.monotonic() < end and not stage.session.is_closed:
            n_steps += 1
            stage.clock.now_s += monkey.random.random() * 0.3
            try:
                await step(stage, monkey)
                if n_steps % 5 == 0:
                    await pilot.pause()
            except Exception as error:
                raise AssertionError(f"{name}, step {n_steps}") from error
            assert stage.app.crash is None, (name, n_steps, stage.app.crash)
        await pilot.pause()
        assert stage.app.crash is None, (name, n_steps)
    return n_steps


async def step(stage: Stage, monkey: Monkey) -> None:
    pick, app = monkey.random, stage.app
    kind = pick.randint(0, 99)
    if kind < 45:
        key = pick.choice(KEYS)
        target = app.screen.focused or app.screen
        # Two Ctrl+C would end the run that is to be long.
        if key != "ctrl+c" or stage.screen.is_busy:
            (app if kind % 2 else target).post_message(events.Key(key, key if len(key) == 1 else None))
    elif kind < 50:
        app.screen.post_message(events.Paste("".join(pick.choices(TEXTS, k=pick.randint(1, 60)))))
    elif kind < 54:
        size = Size(pick.randint(1, 180), pick.randint(1, 60))
        app.post_message(events.Resize(size, size))
    elif kind < 58:
        x, y = pick.randint(0, 100), pick.randint(0, 35)
        for name in (events.MouseDown, events.MouseUp):
            app.post_message(name(None, x, y, 0, 0, 1, False, False, False, x, y))
    elif kind < 60:
        stage.screen._tick()
    else:
        stage.session.emit(*monkey.event())
