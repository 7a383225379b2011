from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from tests.ui.fakes import FakeClock
from tests.ui.scenes import DIFF
from tori_tui.domain.ids import CallId, GoalId
from tori_tui.ui.palette import palette_of
from tori_tui.ui.themes import load_theme, theme_directories
from tori_tui.ui.transcript.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    CommentBlock,
    GoalBlock,
    NoticeBlock,
    PromptBlock,
    ThinkingBlock,
)
from tori_tui.ui.transcript.layout import block_lines
from tori_tui.ui.transcript.slots import CACHED_LINES, Slots
from tori_tui.ui.transcript.story import Change
from tori_tui.ui.transcript.viewport import Viewport
from tori_tui.ui.widgets.transcript import Transcript

PALETTE = palette_of(load_theme("dark", theme_directories({"HOME": "/nonexistent"})))


class OneTranscript(App[None]):
    def __init__(self, blocks: Iterable[Block]) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.transcript = Transcript(PALETTE, clock=self.clock)
        self._blocks = tuple(blocks)

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_mount(self) -> None:
        self.transcript.show(Change(key, block) for key, block in enumerate(self._blocks, 1))
        self.transcript.focus()


@asynccontextmanager
async def showing(
    *blocks: Block, size: tuple[int, int] = (60, 12)
) -> AsyncIterator[tuple[Transcript, Pilot[None]]]:
    app = OneTranscript(blocks)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app.transcript, pilot


def done(output: str, name: str = "bash", **arguments: object) -> CallBlock:
    return CallBlock(CallId("c"), name, arguments, state="done", output=output)


def text_of(block: Block, width: int = 60, *, unfolded: bool = False) -> list[str]:
    return [line.plain.rstrip() for line in block_lines(block, width, PALETTE, is_unfolded=unfolded)]


async def test_only_the_blocks_in_view_are_drawn() -> None:
    blocks = [AnswerBlock(f"answer {n}\n\nmore") for n in range(2_000)]
    async with showing(*blocks) as (transcript, _):
        assert "answer 1999" in "\n".join(transcript.shown_text)
        assert sum(slot.strips is not None for slot in transcript._slots._slots) < 20


async def test_what_is_measured_above_does_not_move_the_view() -> None:
    blocks = [AnswerBlock("\n\n".join(f"{n}.{m}" for m in range(n % 7 + 1))) for n in range(200)]
    async with showing(*blocks) as (transcript, pilot):
        for _ in range(100):
            before = transcript.shown_text
            await pilot.press("up")
            assert transcript.shown_text[1:] == before[:-1]


async def test_end_follows_and_page_keys_move() -> None:
    async with showing(*[AnswerBlock(f"line {n}") for n in range(50)]) as (transcript, pilot):
        end = transcript.shown_text
        await pilot.press("pageup")
        assert transcript.shown_text != end
        assert not transcript.is_following
        await pilot.press("pagedown", "pagedown")
        assert transcript.is_following
        await pilot.press("home")
        assert "line 0" in "".join(transcript.shown_text[:2])
        await pilot.press("end")
        assert transcript.shown_text == end


async def test_a_change_below_the_view_does_not_move_it() -> None:
    async with showing(*[AnswerBlock(f"line {n}") for n in range(50)]) as (transcript, pilot):
        await pilot.press("home")
        before = transcript.shown_text
        transcript.show([Change(51, AnswerBlock("new")), Change(40, None)])
        await pilot.pause()
        assert transcript.shown_text == before


async def test_a_call_unfolds_by_click_and_folds_by_key() -> None:
    async with showing(AnswerBlock("hi"), done("one\ntwo\nthree", command="ls")) as (transcript, pilot):
        row = next(y for y, line in enumerate(transcript.shown_text) if "bash ls" in line)
        await pilot.click(transcript, offset=(5, row))
        await pilot.pause()
        assert any("two" in line for line in transcript.shown_text)
        await pilot.press("enter")
        assert not any("two" in line for line in transcript.shown_text)


async def test_n_and_p_move_the_mark_between_blocks_that_unfold() -> None:
    calls = [done(f"out {n}", command=f"echo {n}") for n in range(30)]
    async with showing(*calls) as (transcript, pilot):
        await pilot.press("home", "n", "n", "n", "enter")
        shown = transcript.shown_text
        at = next(y for y, line in enumerate(shown) if "echo 2" in line)
        assert "out 2" in shown[at + 1]
        await pilot.press("p", "enter")
        assert any("out 1" in line for line in transcript.shown_text)


async def test_the_selection_is_copied_without_gutter_and_padding() -> None:
    async with showing(AnswerBlock("first line\n\nsecond line")) as (transcript, pilot):
        await pilot.mouse_down(transcript, offset=(2, 1))
        await pilot.hover(transcript, offset=(20, 3))
        await pilot.mouse_up(transcript, offset=(20, 3))
        await pilot.pause()
        assert transcript.screen.get_selected_text() == "first line\n\nsecond line"


async def test_everything_can_be_selected() -> None:
    async with showing(*[AnswerBlock(f"line {n}") for n in range(100)]) as (transcript, _):
        copied = transcript.get_selection(Selection(None, None))
        assert copied is not None
        assert copied[0].split() == [word for n in range(100) for word in ("line", str(n))]


async def test_a_selection_starts_where_the_character_is_not_the_cell() -> None:
    async with showing(AnswerBlock("中文字 abc")) as (transcript, _):
        number = transcript._view.rows[1].place
        start = (number.key << 24) | number.line
        copied = transcript.get_selection(Selection(Offset(3, start), Offset(7, start)))
        assert copied is not None
        assert copied[0] == "文字 a"


async def test_a_streaming_block_is_drawn_at_most_twenty_times_a_second_and_its_end_at_once() -> None:
    async with showing(AnswerBlock("a", is_streaming=True)) as (transcript, _):
        clock = transcript.app.clock  # type: ignore[attr-defined]
        drawn_at = []
        refresh = transcript.refresh

        def counted(*regions: object, **options: object) -> Transcript:
            drawn_at.append(clock.now_s)
            refresh()
            return transcript

        transcript.refresh = counted  # type: ignore[method-assign]
        for n in range(1_000):
            clock.now_s += 0.001
            transcript.show([Change(1, AnswerBlock("a" * n, is_streaming=True))])
        assert len(drawn_at) <= 21
        transcript.show([Change(1, AnswerBlock("done"))])
        assert drawn_at[-1] == clock.now_s


def test_lines_that_were_not_looked_at_lately_are_forgotten() -> None:
    slots = Slots(PALETTE)
    slots.set_look(40, PALETTE)
    for key in range(1, 2_001):
        slots.put(key, AnswerBlock("\n\n".join(str(n) for n in range(10))))
    view = Viewport(slots)
    view.settle(30)
    for _ in range(300):
        view.scroll(-28)
        view.settle(30)
    assert sum(len(slot.strips or ()) for slot in slots._slots) <= CACHED_LINES + 100
    assert len(view.rows) == 30


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(["up", "down", "page", "grow", "add", "drop", "fold", "wide", "end"]), max_size=60
    )
)
def test_the_view_is_always_full_and_in_order(steps: list[str]) -> None:
    slots = Slots(PALETTE)
    slots.set_look(40, PALETTE)
    for key in range(1, 40):
        slots.put(
            key, done("x\n" * (key % 9), command=str(key)) if key % 2 else AnswerBlock("y\n\n" * (key % 5))
        )
    view, next_key = Viewport(slots), 40
    view.settle(15)
    for step in steps:
        match step:
            case "up" | "down" | "page":
                view.scroll({"up": -1, "down": 1, "page": -13}[step])
            case "grow":
                slots.put(next_key - 1, AnswerBlock("z\n\n" * (next_key % 30)))
            case "add":
                slots.put(next_key, PromptBlock("more"))
                next_key += 1
            case "drop":
                slots.put(next_key - 2, None)
            case "fold":
                view.toggle_fold(view.rows[len(view.rows) // 2].place.key)
            case "wide":
                slots.set_look(90 - slots.width, PALETTE)
            case "end":
                view.follow()
        view.settle(15)
        assert len(view.rows) == 15
        places = [row.place for row in view.rows]
        assert places == sorted(places)
        assert len(set(places)) == 15
        assert slots.total_height == slots.height_before(len(slots))
        if view.is_following:
            assert places[-1].key == slots.at(len(slots) - 1).key


def test_outside_text_steers_nothing() -> None:
    evil = "\x1b[31mred\x1b[0m \x9b2J [/red] \u202egnp.exe \x00 \x07"
    for block in (
        PromptBlock(evil),
        CommentBlock(None, evil, evil),
        AnswerBlock(evil),
        ThinkingBlock(evil),
        done(evil, command=evil),
        NoticeBlock(evil, "error", evil),
        GoalBlock(GoalId("1"), evil),
    ):
        for unfolded in (False, True):
            joined = "\n".join(text_of(block, unfolded=unfolded))
            assert not any(c in joined for c in "\x1b\x9b\u202e\x00\x07"), block
            assert "[/red]" in joined or isinstance(block, ThinkingBlock)


def test_ten_megabytes_on_one_line_are_cut_and_quick() -> None:
    huge = "x" * 10_000_000
    for block in (PromptBlock(huge), AnswerBlock(huge), done(huge, command="cat"), NoticeBlock(huge)):
        lines = text_of(block, unfolded=True)
        assert len(lines) < 100
        assert any("more characters" in line.replace("\n", " ") for line in [" ".join(lines)])


def test_a_hundred_thousand_lines_are_cut_and_counted() -> None:
    lines = text_of(done("line\n" * 100_000, command="yes"), unfolded=True)
    assert len(lines) < 500
    assert any("more lines" in line for line in lines)


def test_wide_characters_keep_the_right_edge() -> None:
    for text in ("中文" * 60, "👨‍👩‍👧 " * 40, "e\u0301" * 100, "ﾊﾝｶｸ" * 30):
        for width in (20, 41, 80):
            for line in block_lines(AnswerBlock(text), width, PALETTE, is_unfolded=False):
                assert cell_len(line.plain) <= width


def test_a_failed_call_shows_the_end_of_its_output() -> None:
    block = CallBlock(
        CallId("c"),
        "bash",
        {"command": "pytest"},
        state="failed",
        output="one\ntwo\nthree\nfour\n1 failed",
        details={"exit_code": 1},
        duration_s=2.14,
    )
    assert text_of(block) == [
        "✗ bash pytest" + " " * 35 + "exit 1  2.1s",
        *("  │ two", "  │ three", "  │ four", "  │ 1 failed"),
    ]


def test_an_edit_shows_its_diff_with_numbers() -> None:
    block = CallBlock(CallId("c"), "edit_file", {"path": "app.py"}, state="done", details={"diff": DIFF})
    lines = text_of(block, 80, unfolded=True)
    assert lines[0].endswith("+3 −1")
    assert any(line.strip().startswith("15 -") for line in lines)
    assert any(line.strip().startswith("17 +     session") for line in lines)


def test_a_removed_line_of_dashes_is_no_file_header() -> None:
    diff = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new\n x\n"
    block = CallBlock(CallId("c"), "edit_file", {"path": "q.sql"}, state="done", details={"diff": diff})
    lines = [line.strip() for line in text_of(block, unfolded=True)]
    assert lines[1:] == ["1 - -- old comment", "1 + ++ new", "2   x"]


async def test_the_scroll_bar_is_drawn_by_the_mouse_and_begins_no_selection() -> None:
    async with showing(*(AnswerBlock(f"answer {n}") for n in range(100))) as (transcript, pilot):
        assert transcript.shown_text[-1].strip() == "answer 99"
        await pilot.mouse_down(transcript, offset=(59, 11))
        for y in (8, 4, 0):
            await pilot.hover(transcript, offset=(59, y))
        assert not transcript.is_following
        assert transcript.shown_text[1].strip() == "answer 0"
        assert transcript.screen.get_selected_text() is None
        await pilot.hover(transcript, offset=(30, 5))
        middle = [int(line.split()[-1]) for line in transcript.shown_text if line]
        assert 35 <= middle[0] <= middle[-1] <= 65
        await pilot.mouse_up(transcript, offset=(30, 5))
        await pilot.hover(transcript, offset=(59, 11))
        assert not transcript.is_following
        await pilot.mouse_down(transcript, offset=(59, 11))
        await pilot.mouse_up(transcript, offset=(59, 11))
        assert transcript.is_following


async def test_a_wheel_scrolls_three_lines() -> None:
    async with showing(*(AnswerBlock(f"answer {n}") for n in range(100))) as (transcript, pilot):
        last = transcript.shown_text
        transcript.post_message(events.MouseScrollUp(transcript, 1, 1, 0, 0, 0, False, False, False))
        await pilot.pause()
        assert transcript.shown_text[3:] == last[:-3]
