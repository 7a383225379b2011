from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.pilot import Pilot
from textual.strip import Strip

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import answered, call, result, said
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready
from tori_tui.domain.events import DurableEvent
from tori_tui.ui.transcript.finding import highlighted


def long_session() -> list[DurableEvent]:
    hidden = "\n".join(f"line {n}" for n in range(30)) + "\nthe needle in the haystack\n"
    return [
        *scenes.working_session(),
        answered("", call("s1", "read_file", path="notes.txt"), goal="2'.2"),
        result("s1", hidden, name="read_file", goal="2'.2"),
        *(said(f"word {n}\n" * 3, "2'.2") for n in range(20)),
        answered("登录测试已经通过，下一步检查注册端点。" * 8, goal="2'.2"),
        *(said(f"later {n}\n" * 3, "2'.2") for n in range(20)),
        answered("Another Needle here.", goal="2'.2"),
    ]


@asynccontextmanager
async def searching(words: str) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    async with live(long_session()) as (stage, pilot):
        await pilot.press("ctrl+f")
        await pilot.press(*words)
        await pilot.pause()
        yield stage, pilot


def shown(stage: Stage) -> str:
    return "\n".join(stage.screen.transcript.shown_text)


def count(stage: Stage) -> str:
    return str(stage.screen.search_bar.query_one(".told").render()).strip()


async def test_the_nearest_hit_is_shown_while_words_are_typed_and_they_are_counted() -> None:
    async with searching("needle") as (stage, _):
        assert "Another Needle here." in shown(stage)
        assert count(stage) == "2 of 2 places · 2 hits"


async def test_a_hit_in_a_folded_block_unfolds_it() -> None:
    async with searching("needle") as (stage, pilot):
        await pilot.press("up")
        await pilot.pause()
        assert "the needle in the haystack" in shown(stage)
        assert count(stage) == "1 of 2 places · 2 hits"
        assert not stage.screen.transcript.is_following


async def test_hits_go_round_at_the_ends_and_n_goes_on_when_the_bar_is_closed() -> None:
    async with searching("needle") as (stage, pilot):
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "the needle in the haystack" in shown(stage)
        assert stage.screen.focused is stage.screen.transcript
        assert not stage.screen.search_bar.display
        await pilot.press("n")
        await pilot.pause()
        assert "Another Needle" in shown(stage)
        await pilot.press("N")
        await pilot.pause()
        assert "the needle in the haystack" in shown(stage)


async def test_words_without_blanks_are_found_where_a_line_ends_within_them() -> None:
    async with searching("注册端点") as (stage, _):
        assert "注册" in shown(stage)
        assert count(stage).endswith("1 of 1 place · 8 hits")


async def test_what_stands_nowhere_is_said() -> None:
    async with searching("zebra") as (stage, pilot):
        assert count(stage) == "nowhere"
        await pilot.press("enter")
        await pilot.pause()
        assert stage.screen.search_bar.display
        await pilot.press("escape", "n")
        await pilot.pause()
        assert stage.app.crash is None


async def test_a_slash_in_the_conversation_searches_and_one_in_the_input_does_not() -> None:
    async with live(long_session()) as (stage, pilot):
        await pilot.press("/")
        assert not stage.screen.search_bar.display
        stage.screen.transcript.focus()
        await pilot.press("/")
        await pilot.pause()
        assert stage.screen.search_bar.display


async def test_going_to_the_end_ends_the_search() -> None:
    async with searching("needle") as (stage, pilot):
        await pilot.press("escape", "end")
        await pilot.pause()
        assert not stage.screen.transcript._finder.words
        assert stage.screen.transcript.is_following


async def test_one_goes_from_goal_to_goal() -> None:
    async with live(long_session(), size=(120, 24)) as (stage, pilot):
        stage.screen.transcript.focus()
        await pilot.press("[")
        await pilot.pause()
        assert "2'.2 Login endpoint" in "".join(stage.screen.transcript.shown_text[:2])
        await pilot.press("[")
        await pilot.pause()
        assert "2'.1 Design" in "".join(stage.screen.transcript.shown_text[:2])
        await pilot.press("]", "]")
        await pilot.pause()
        assert stage.screen.transcript.is_following


async def test_a_block_is_asked_for_whole_in_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with searching("haystack") as (stage, pilot):
        await pilot.press("escape", "e", "end")
        await pilot.pause()
        assert "There is no editor." in shown(stage)


@given(st.text(st.characters(categories=("L", "N", "Zs")), max_size=40), st.text("abé中İß ", max_size=3))
def test_a_marked_line_says_what_it_said(text: str, words: str) -> None:
    strip = Strip([Segment(text, Style(color="red"))])
    marked = highlighted(strip, words.lower(), Style(reverse=True))
    assert marked.text == text
    assert marked.cell_length == strip.cell_length


@pytest.mark.parametrize(
    ("words", "theme", "size"),
    [("needle", "dark", WIDE), ("端点", "light", SMALL), ("bcrypt", "light", WIDE)],
    ids=["dark", "chinese-light-small", "light"],
)
def test_how_a_search_looks(snap_compare: Compare, words: str, theme: str, size: tuple[int, int]) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*long_session())
        await pilot.pause(0.1)
        await pilot.press("ctrl+f")
        await pilot.press(*words)
        await pilot.press("up")
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
