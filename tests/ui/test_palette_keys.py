from __future__ import annotations

import pytest
from textual.app import SystemCommand
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.ui import scenes
from tests.ui.apps import Stage
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import live, ready
from tori_tui.ui.actions import ACTIONS, told_actions
from tori_tui.ui.command_palette import ActionPalette, found
from tori_tui.ui.screens.session import SessionScreen
from tori_tui.ui.slash_help import SLASH_HELP

KEYS_ONLY = frozenset({"approval", "search", "filter", "context", "history", "waiting"})
"""Scopes of what is open only while its keys are at hand."""

MOVES = frozenset(
    {
        *("scroll_lines", "scroll_pages", "scroll_back", "move_cursor", "collapse", "expand"),
        *("submit", "newline", "complete", "shell", "older", "newer", "undo", "paste"),
        *("palette", "copy_interrupt_or_quit"),
    }
)


def palette_of_app(stage: Stage) -> ActionPalette:
    assert isinstance(stage.app.screen, ActionPalette)
    return stage.app.screen


def base(name: str) -> str:
    return name.partition("(")[0].rpartition(".")[2]


async def test_every_action_of_the_registry_and_every_command_is_in_the_palette() -> None:
    async with live(scenes.working_session()) as (stage, pilot):
        stage.agents = ("review",)
        await pilot.press("ctrl+p")
        titles = [command.title for command in palette_of_app(stage).shown]
        listed = {base(action.name) for action in ACTIONS if action.in_palette}
        # Some keys do in one pane what an action of all panes does.
        listed |= {"follow", "toggle_fold", "details", "filter"}
        for scope, actions in told_actions(SessionScreen.SCOPES):
            for action in actions:
                if action.in_palette:
                    assert any(title.casefold().endswith(action.title.casefold()) for title in titles)
                else:
                    assert scope in KEYS_ONLY or base(action.name) in MOVES | listed, action.name
        for word in SLASH_HELP:
            assert any(title.startswith(f"/{word}") for title in titles) or any(
                action.slash == word and action.title in titles for action in ACTIONS
            )
        assert "Agent review" in titles


async def test_what_is_chosen_is_done_where_it_belongs() -> None:
    async with live(scenes.working_session()) as (stage, pilot):
        await pilot.press("ctrl+p", *"rename it", "enter")
        await pilot.pause()
        assert (stage.screen.input.purpose.kind, stage.screen.input.purpose.goal_id) == ("rename", "2'.2")
        await pilot.press("escape", "ctrl+p", *"/rewind", "enter")
        await pilot.pause()
        assert stage.screen.input.text == "/rewind "
        await pilot.press("ctrl+p", *"/rename", "enter")
        await pilot.pause()
        assert stage.screen.input.text == "/rewind "


async def test_letters_find_titles_keys_and_commands_the_best_first() -> None:
    commands = [
        SystemCommand(title, help_text, lambda: None)
        for title, help_text in (("Themes", "/theme"), ("Help", "F1"), ("Show or hide the goals", "Ctrl+G"))
    ]
    assert [command.title for command in found(commands, "goals")] == ["Show or hide the goals"]
    assert [command.title for command in found(commands, "/theme")] == ["Themes"]
    assert found(commands, "the")[0].title == "Themes"
    assert found(commands, "zq") == ()
    assert found(commands, " ") == tuple(commands)


async def test_a_page_key_in_a_palette_that_is_not_laid_out_breaks_nothing() -> None:
    stage = Stage()
    async with stage.app.run_test(size=(120, 40)) as pilot:
        await ready(stage, pilot)
        stage.app.action_command_palette()
        for key in ("pagedown", "pageup", "down", "pagedown", "escape"):
            await pilot.press(key)
        await pilot.pause()
    assert stage.app.crash is None


async def test_a_click_on_a_line_that_letters_have_taken_away_does_nothing() -> None:
    async with live() as (stage, pilot):
        await pilot.press("ctrl+p")
        palette = stage.app.screen
        assert isinstance(palette, ActionPalette)
        lines = palette.query_one(OptionList)
        last = OptionList.OptionSelected(lines, lines.get_option_at_index(0), len(palette.shown) - 1)
        await pilot.press(*"theme")
        palette.post_message(last)
        await pilot.pause()
        assert stage.app.screen is palette
        assert stage.app.crash is None


async def test_a_palette_in_a_terminal_of_a_few_cells_breaks_nothing() -> None:
    stage = Stage()
    async with stage.app.run_test(size=(120, 40)) as pilot:
        await ready(stage, pilot)
        stage.app.action_command_palette()
        await pilot.pause()
        await pilot.press("t")
        for size in ((12, 5), (6, 3), (3, 2), (1, 1), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
    assert stage.app.crash is None


@pytest.mark.parametrize(
    ("theme", "size", "words"),
    [("dark", WIDE, ""), ("light", SMALL, "goal")],
    ids=["dark", "light-small-filtered"],
)
def test_how_the_palette_looks(snap_compare: Compare, theme: str, size: tuple[int, int], words: str) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        stage.session.emit(*scenes.working_session())
        await pilot.press("ctrl+p", *words)
        await pilot.pause(0.1)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
