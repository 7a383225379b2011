from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from rich.text import Text
from textual.pilot import Pilot

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import said
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready
from tori_tui.domain.events import TurnFinished
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId, Seq
from tori_tui.domain.inspection import ContextPage, Repeat, SentPart, SentRequest, SentTotals
from tori_tui.ui.talk_ports import TalkPorts
from tori_tui.ui.widgets.context_pane import LOOK_AFTER_S

TURN = TurnFinished(13, MAIN_CONTEXT, GoalId("2'.2"), "anthropic/claude-sonnet-5", "")


def part(name: str, title: str, tokens: int, *, is_cached: bool = True) -> SentPart:
    return SentPart(name, title, tokens, "", (Seq(tokens),), is_cached=is_cached)


PARTS = (
    part("rules", "", 1_210),
    part("project", "", 640),
    part("tools", "", 2_015),
    part("words", "Implement user authentication", 12),
    part("fold", "goal 1", 410),
    *(part("turn", f"read_file, bash {n}", 700 + 90 * n) for n in range(20)),
    part("words", "用 bcrypt，不要用 argon2，并且为登录写一个测试，再检查注册端点", 30),
    part("turn", "edit_file, bash", 3_420, is_cached=False),
    part("plan", "", 180, is_cached=False),
)

TOTALS = SentTotals(12, 310_400, 280_100, 290_300, 5_120, 0.43, False, ((9, "over 77k tokens"),))


def page(*, parts: tuple[SentPart, ...] = PARTS) -> ContextPage:
    repeats = (Repeat("turn #3420", "turn #700", 42, 380),)
    request = SentRequest(TURN, datetime(2026, 1, 1, tzinfo=UTC), parts, repeats)
    return ContextPage(request, TOTALS, 200_000, 0.031)


class Pages:
    def __init__(self) -> None:
        self.asked: list[int] = []
        self.page: ContextPage | None = page()

    def __call__(self, before: int) -> ContextPage | None:
        self.asked.append(before)
        return self.page


@asynccontextmanager
async def shown(size: tuple[int, int] = WIDE) -> AsyncIterator[tuple[Stage, Pilot[None], Pages]]:
    async with live(scenes.working_session(), size=size) as (stage, pilot):
        pages = Pages()
        stage.screen.connect(TalkPorts(context=pages))
        await pilot.press("f2")
        for _ in range(100):
            await pilot.pause(0.01)
            if stage.screen.context_pane.shown_text:
                break
        yield stage, pilot, pages


async def test_the_next_request_stands_beside_the_conversation_part_by_part() -> None:
    async with shown() as (stage, _, pages):
        text = stage.screen.context_pane.shown_text
        assert pages.asked == [int(stage.screen.state.next_seq)]
        assert "turn 13" in text
        assert "of 200k" in text
        assert "about $0.03 before its answer" in text
        assert "12 requests, 310k in, 5.1k out, $0.43" in " ".join(text.split())
        assert "saved 280k of 290k" in text
        assert "turn 9: over 77k tokens" in text
        assert "1 fold of finished work, 410 tokens" in text
        rows = [line for line in text.splitlines() if line[:2] in ("= ", "+ ") and line[2:10].strip()]
        assert len([row for row in rows if "%  " in row]) == len(PARTS)


async def test_it_is_looked_at_again_soon_after_the_session_went_on_and_only_while_open() -> None:
    async with shown() as (stage, pilot, pages):
        stage.session.emit(said("more", "2'.2"), said("and more", "2'.2"))
        await pilot.pause(LOOK_AFTER_S + 0.3)
        assert pages.asked[1:] == [int(stage.session.state.next_seq)]
        await pilot.press("f2")
        stage.session.emit(said("still more", "2'.2"))
        await pilot.pause(LOOK_AFTER_S + 0.2)
        assert len(pages.asked) == 2
        assert not stage.screen.context_pane.display
        assert stage.screen.focused is stage.screen.input


async def test_escape_closes_it_and_leads_back_to_the_input() -> None:
    async with shown() as (stage, pilot, _):
        await pilot.press("escape")
        assert not stage.screen.context_pane.display
        assert stage.screen.focused is stage.screen.input
        assert stage.session.sent == []


async def test_of_a_request_with_thousands_of_parts_only_those_in_view_are_drawn() -> None:
    async with shown() as (stage, pilot, pages):
        pages.page = page(parts=tuple(part("turn", f"bash {n}", 900 + n) for n in range(3_000)))
        stage.session.emit(said("more", "2'.2"))
        await pilot.pause(LOOK_AFTER_S + 0.3)
        pane = stage.screen.context_pane
        assert sum(not isinstance(line, Text) for line in pane._lines) == 3_000
        await pilot.press("pagedown")
        await pilot.pause(0.4)
        drawn = [pane.render_line(y).text for y in range(pane.size.height)]
        assert any("bash 40" in line for line in drawn)


async def test_before_the_first_request_it_says_so() -> None:
    async with live() as (stage, pilot):
        await pilot.press("f2")
        await pilot.pause(0.2)
        assert "No request yet" in stage.screen.context_pane.shown_text


@pytest.mark.parametrize("key", ["down", "j", "pagedown", "space"])
async def test_a_long_request_scrolls_by_keys(key: str) -> None:
    async with shown((120, 24)) as (stage, pilot, _):
        await pilot.press(key, key)
        await pilot.pause(0.4)
        assert stage.screen.context_pane.scroll_offset.y > 0


async def test_in_a_narrow_window_it_takes_the_conversation_s_place_and_the_goals_take_its() -> None:
    async with shown(SMALL) as (stage, pilot, _):
        assert not stage.screen.talk_frame.display
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert stage.screen.goals.display
        assert not stage.screen.context_pane.display
        await pilot.press("f2")
        await pilot.pause()
        assert stage.screen.context_pane.display
        assert not stage.screen.goals.display


async def test_the_slash_commands_show_it_and_tell_the_cost() -> None:
    async with live(scenes.working_session()) as (stage, pilot):
        stage.screen.connect(TalkPorts(context=Pages()))
        await pilot.press(*"/cost", "enter")
        await pilot.pause(0.3)
        said_text = "\n".join(stage.screen.transcript.shown_text)
        assert "All 12 requests: 310,400 tokens in" in said_text
        assert "2'.2 Login endpoint: 1 turn" in said_text
        await pilot.press(*"/context", "enter")
        await pilot.pause(0.3)
        assert stage.screen.context_pane.display


async def test_without_a_request_there_is_no_cost_to_tell() -> None:
    async with live() as (stage, pilot):
        await pilot.press(*"/cost", "enter")
        await pilot.pause(0.3)
        assert any("nothing was paid" in line for line in stage.screen.transcript.shown_text)


@pytest.mark.parametrize(
    ("theme", "size"),
    [("dark", WIDE), ("light", WIDE), ("light", SMALL), ("dark", (160, 40))],
    ids=["dark", "light", "light-small", "dark-wide"],
)
def test_how_the_next_request_looks(snap_compare: Compare, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*scenes.working_session())
        stage.screen.connect(TalkPorts(context=Pages()))
        await pilot.press("f2")
        await pilot.pause(0.6)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
