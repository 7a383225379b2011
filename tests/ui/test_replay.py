from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.domain.test_counted_path import STORY
from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.fakes import START, FakeClock, said
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import ready
from tori_tui.bootstrap import open_session, real_surroundings
from tori_tui.cli.app_session import demo_session
from tori_tui.cli.replay_session import saved_records
from tori_tui.domain.events import DurableEvent, Record
from tori_tui.domain.ids import Seq
from tori_tui.domain.state import reduce_all
from tori_tui.ui.actions import ACTIONS, actions_of, shown_keys
from tori_tui.ui.app import ToriApp
from tori_tui.ui.bridge import SessionPort
from tori_tui.ui.palette import palette_of
from tori_tui.ui.screens.help import HelpScreen
from tori_tui.ui.screens.replay import RecordsGrew, ReplayScreen
from tori_tui.ui.screens.talk import TalkScreen
from tori_tui.ui.themes import ThemeSpec, load_theme, theme_directories
from tori_tui.ui.transcript.blocks import NoticeBlock


def timed(events: Sequence[object]) -> list[Record]:
    durable = [event for event in events if isinstance(event, DurableEvent)]
    return [Record(Seq(n), START + timedelta(seconds=n), event) for n, event in enumerate(durable, 1)]


class Replayed:
    def __init__(self, records: Sequence[Record], *, theme: str = "dark", note: str = "") -> None:
        self.records = records
        self.note = note
        self.app = ToriApp(lambda: self, theme=load_theme(theme, theme_directories({"HOME": "/nonexistent"})))

    def make_screen(self, theme: ThemeSpec) -> ReplayScreen:
        return ReplayScreen(palette_of(theme), self.records, clock=FakeClock(), note=self.note)

    async def serve(self, post: object) -> None: ...

    async def close(self) -> None: ...

    async def ready(self, pilot: Pilot[None]) -> None:
        for _ in range(200):
            await pilot.pause(0.01)
            if isinstance(self.app.screen, ReplayScreen):
                break
        await pilot.pause(0.05)

    @property
    def screen(self) -> ReplayScreen:
        assert isinstance(self.app.screen, ReplayScreen)
        return self.app.screen

    @property
    def shown(self) -> str:
        return "\n".join(self.screen.transcript.shown_text)

    @property
    def bar(self) -> list[str]:
        height = self.screen.scrubber.size.height
        return [self.screen.scrubber.render_line(y).text for y in range(height)]


@asynccontextmanager
async def replaying(
    records: Sequence[Record], *, size: tuple[int, int] = WIDE, note: str = ""
) -> AsyncIterator[tuple[Replayed, Pilot[None]]]:
    stage = Replayed(records, note=note)
    async with stage.app.run_test(size=size) as pilot:
        await stage.ready(pilot)
        yield stage, pilot


@pytest.mark.parametrize("size", [WIDE, SMALL])
async def test_every_key_of_time_leads_where_it_says(size: tuple[int, int]) -> None:
    async with replaying(STORY, size=size) as (stage, pilot):
        place = stage.screen.replaying
        seen = []
        for key in (
            *("left", "h", "right", "l", "end", "left_square_bracket", "left_square_bracket"),
            *("right_square_bracket", "home", "right_square_bracket", "comma", "full_stop", "end"),
        ):
            await pilot.press(key)
            seen.append(place.place)
        turns = [turn.end for turn in place.timeline.turns]
        assert turns == [7, 11, 19, 23, 26]
        assert seen == [23, 19, 23, 26, 26, 14, 6, 14, 0, 6, 5, 7, 26]
        assert "that is it" in stage.shown
        await pilot.press("home")
        assert "that is it" not in stage.shown


async def test_a_turn_is_reached_by_its_number_and_escape_asks_no_more() -> None:
    async with replaying(STORY) as (stage, pilot):
        await pilot.press("g", "9", "backspace", "2")
        assert "to turn 2▏of 5" in stage.bar[1]
        await pilot.press("enter")
        assert stage.screen.replaying.place == 11
        await pilot.press("3", "enter")
        assert stage.screen.replaying.place == 19
        await pilot.press("1", "escape")
        assert "turn 3/5" in stage.bar[1]
        await pilot.press("9", "9", "enter")
        assert stage.screen.replaying.is_at_end
        await pilot.press("g", "enter")
        assert stage.screen.replaying.is_at_end


async def test_it_plays_from_the_start_faster_and_stops_at_the_end() -> None:
    records = timed([record.event for record in STORY])
    async with replaying(records) as (stage, pilot):
        await pilot.press("space")
        assert stage.bar[1].startswith(" ▶")
        assert not stage.screen.replaying.is_at_end
        await pilot.press("plus", "equals_sign", "plus", "plus", "plus", "minus", "plus")
        assert "50×" in stage.bar[1]
        for _ in range(500):
            await pilot.pause(0.02)
            if stage.screen.replaying.is_at_end:
                break
        assert stage.screen.replaying.is_at_end
        assert not stage.screen.is_playing
        await pilot.press(*["minus"] * 4, "space", "space")
        assert not stage.screen.is_playing
        assert stage.screen.replaying.place < len(STORY)


async def test_q_quits_and_is_a_letter_while_something_is_searched() -> None:
    async with replaying(STORY) as (stage, pilot):
        assert "q quit" in stage.screen.status_line._status.hints
        await pilot.press("slash", "q")
        await pilot.pause()
        assert stage.screen.search_bar.words == "q"
        await pilot.press("escape", "q")
        await pilot.pause()
        assert not stage.app.is_running


def test_keys_are_named_as_they_stand_on_a_keyboard() -> None:
    told = " ".join(map(shown_keys, ACTIONS))
    assert "_stop" not in told
    assert "Comma" not in told


async def test_going_back_and_on_again_shows_what_stood_there_before() -> None:
    async with replaying(timed(scenes.ended_session())) as (stage, pilot):
        ways: dict[int, str] = {}
        for _ in range(2):
            for key in (*["left"] * 3, *["right"] * 3):
                await pilot.press(key)
                place = stage.screen.replaying.place
                assert ways.setdefault(place, stage.shown) == stage.shown
                assert stage.screen.replaying.state == reduce_all(stage.records[:place])
                assert not stage.screen._ticker or not stage.screen._ticker._active.is_set()
        assert len(ways) > 1


async def test_only_what_counted_is_a_state_that_is_seen_and_says_what_it_hides() -> None:
    async with replaying(STORY) as (stage, pilot):
        assert "in vain" in stage.shown
        await pilot.press("o")
        assert "in vain" not in stage.shown
        assert "wrong turn" not in stage.shown
        assert "try the other way" in stage.shown
        assert [row.goal.id for row in stage.screen.goals.rows if row.goal] == ["2"]
        told = "only what counted · hidden: 2 goals given up, 1 branch not adopted, 2 messages rewound;"
        assert told in stage.bar[2]
        assert len(stage.screen.replaying.timeline.turns) == 3
        await pilot.press("left", "left")
        assert stage.screen.replaying.place < len(STORY)
        await pilot.press("o", "end")
        assert "in vain" in stage.shown
        assert len(stage.bar) == 2


async def test_the_tree_leads_to_where_a_goal_began_and_its_own_keys_stay() -> None:
    async with replaying(STORY) as (stage, pilot):
        stage.screen.goals.focus()
        await pilot.press("up", "up", "up", "left")
        assert stage.screen.replaying.is_at_end
        await pilot.press("down", "down", "down", "enter")
        assert stage.screen.replaying.place == 14
        assert stage.screen.focused is stage.screen.transcript
        assert "wrong turn" not in stage.shown


async def test_a_click_on_the_bar_or_on_a_goal_leads_there() -> None:
    async with replaying(STORY) as (stage, pilot):
        scrubber = stage.screen.scrubber
        await pilot.click(scrubber, offset=(3 + scrubber._room // 2, 1))
        assert abs(stage.screen.replaying.place - len(STORY) // 2) <= 1
        await pilot.click(scrubber, offset=(3 + scrubber._cell(6), 0))
        assert stage.screen.replaying.place == 6
        await pilot.click(scrubber, offset=(scrubber.size.width - 2, 1))
        assert stage.screen.replaying.place == 6


async def test_words_that_are_looked_for_are_no_keys_of_time() -> None:
    async with replaying(STORY) as (stage, pilot):
        await pilot.press("ctrl+f", *"no, go 1")
        await pilot.pause()
        assert stage.screen.search_bar.words == "no, go 1"
        assert stage.screen.replaying.is_at_end
        assert not stage.screen.replaying.is_path


async def test_a_session_that_goes_on_is_followed_at_its_end_only() -> None:
    async with replaying(STORY) as (stage, pilot):
        longer = [*STORY, Record(Seq(27), START, said("and now"))]
        stage.screen.post_message(RecordsGrew(longer))
        await pilot.pause(0.1)
        assert stage.screen.replaying.is_at_end
        assert "and now" in stage.shown
        await pilot.press("home")
        stage.screen.post_message(RecordsGrew([*longer, Record(Seq(28), START, said("and then"))]))
        await pilot.pause(0.1)
        assert stage.screen.replaying.place == 0
        assert stage.screen.replaying.timeline.n_places == 28


async def test_damage_is_told_in_the_conversation_and_stays_in_the_status_line() -> None:
    async with replaying(STORY, note="2 damaged places\nLine 7: rubbish.") as (stage, pilot):
        await pilot.press("home")
        assert "Line 7: rubbish." in stage.shown
        assert "2 damaged places" in stage.screen.status_line.render_line(0).text


async def test_without_a_record_nothing_breaks() -> None:
    async with replaying([], size=SMALL) as (stage, pilot):
        await pilot.press("left", "right", "o", "left_square_bracket", "space", "g", "1", "enter", "end")
        assert "turn 0/0" in stage.bar[1]


async def test_its_help_tells_its_own_keys_once_and_nothing_that_needs_a_live_session() -> None:
    async with replaying(STORY) as (stage, pilot):
        await pilot.press("question_mark")
        page = stage.app.screen
        assert isinstance(page, HelpScreen)
        words = [str(cell) for cell in page._table().columns[1]._cells]
        for action in actions_of("replay"):
            assert (action.title in words) == action.is_told
        for gone in ("Drop it (asks once)", "Next permission mode", "Previous goal", "Start"):
            assert gone not in words


class LiveDemo(Stage):
    def __init__(self, opened: Callable[[], Awaitable[SessionPort]]) -> None:
        super().__init__()
        self._opened = opened

    async def _open(self) -> SessionPort:
        return await self._opened()


def looks(screen: TalkScreen) -> dict[str, list[str]]:
    """All that a reader sees of a session on a screen, what has to be scrolled for included."""
    slots = screen.transcript._slots
    tree = [screen.goals.render_line(y).text.rstrip() for y in range(len(screen.goals.rows))]
    return {
        "titles": [str(screen.talk_frame.border_title), str(screen.goals.border_subtitle)],
        "goals": tree if screen.goals.display else [],
        "plan": [screen.plan_strip.render_line(0).text] if screen.plan_strip.display else [],
        "conversation": [
            strip.text.rstrip()
            for index in range(len(slots))
            for strip in slots.lines(index)
            # What only the live screen says of itself stands in no record.
            if not isinstance(slots.at(index).block, NoticeBlock)
        ],
    }


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_the_replay_of_the_demo_shows_line_by_line_what_the_live_run_showed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    loaded, options, words = demo_session()
    surroundings = real_surroundings({**os.environ, "HOME": str(tmp_path)})
    live = LiveDemo(lambda: open_session(loaded.settings, options, surroundings))
    shown: dict[tuple[int, int], dict[str, list[str]]] = {}
    async with live.app.run_test(size=WIDE) as pilot:
        await ready(live, pilot)
        live.bridge.say(words)
        while live.screen.state.status != "done":
            await pilot.pause(0.05)
        for size in (WIDE, SMALL):
            await pilot.resize_terminal(*size)
            await pilot.pause(0.2)
            shown[size] = looks(live.screen)
        assert live.bridge.session is not None
        directory = live.bridge.session.directory
    assert len(shown[WIDE]["conversation"]) > 60
    assert len(shown[WIDE]["goals"]) == 6
    async with replaying(saved_records(directory)) as (replayed, pilot):
        await pilot.press("left", "home", "end")
        for size, look in shown.items():
            await pilot.resize_terminal(*size)
            await pilot.pause(0.2)
            assert looks(replayed.screen) == look


@pytest.mark.parametrize(
    ("theme", "size", "keys"),
    [
        ("dark", WIDE, ("left",)),
        ("light", SMALL, ("left", "left")),
        ("light", WIDE, ("o",)),
        ("dark", SMALL, ("o", "2")),
    ],
    ids=["dark", "light-small", "light-path", "dark-small-path-typed"],
)
def test_how_a_replay_looks(
    snap_compare: Compare, theme: str, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    stage = Replayed(timed(scenes.ended_session()), theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await stage.ready(pilot)
        await pilot.press(*keys)
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
