"""Textual's command palette, which no key can break.

Must not offer anything itself; the app's commands come from the registry of actions.
"""

from __future__ import annotations

from contextlib import suppress

from textual.command import CommandPalette


class ActionPalette(CommandPalette):
    """Lists the actions."""

    # Without a width Textual 8.2 divides an option's text into lines of no cells: ValueError.
    DEFAULT_CSS = """
    ActionPalette CommandList { min-width: 20; }
    """

    def _action_command_list(self, action: str) -> None:
        # Textual 8.2 looks a page up in a list whose lines are not laid out yet: KeyError.
        with suppress(KeyError):
            super()._action_command_list(action)


__all__ = ["ActionPalette"]
