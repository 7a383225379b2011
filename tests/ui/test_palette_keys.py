from __future__ import annotations

from tests.ui.apps import Stage


async def test_a_page_key_in_a_palette_that_is_not_laid_out_breaks_nothing() -> None:
    stage = Stage()
    async with stage.app.run_test(size=(120, 40)) as pilot:
        stage.app.action_command_palette()
        for key in ("pagedown", "pageup", "down", "pagedown", "escape"):
            await pilot.press(key)
        await pilot.pause()
    assert stage.app.crash is None


async def test_a_palette_in_a_terminal_of_a_few_cells_breaks_nothing() -> None:
    stage = Stage()
    async with stage.app.run_test(size=(120, 40)) as pilot:
        stage.app.action_command_palette()
        await pilot.pause()
        await pilot.press("t")
        for size in ((12, 5), (6, 3), (3, 2), (1, 1), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
    assert stage.app.crash is None
