"""Lines that begin with a slash, done.

Must not read them; `slash` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.goal_call import GoalRefused
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.domain.state import SessionState
from tori_tui.render.wording import memory_page
from tori_tui.ui.actions import action_of_slash
from tori_tui.ui.bridge import Bridge
from tori_tui.ui.slash import (
    Aimed,
    Commanded,
    EffortChosen,
    ExportWanted,
    MemoryWanted,
    ModeChosen,
    ModelChosen,
    PlanEdited,
    PlanPageWanted,
    ThemeChosen,
    read_slash,
)
from tori_tui.ui.slash_help import SLASH_HELP


class Commanding:
    """Does what slash commands ask for.

    Args:
        bridge: Takes most of it.
        state: The session as it stands.
        tell: Shows a word of the app's own, as `info` or `warning`.
        said: Called when a line said something to the model.
        edit_page: Lets the user edit the plan in his editor.
        export: Writes the session as a page.
        switch_effort: Lets the model think more or less.
        use_theme: Draws everything in another theme.
        own_commands: Those of the user's own.
    """

    def __init__(
        self,
        bridge: Bridge,
        *,
        state: Callable[[], SessionState],
        tell: Callable[[str, str], None],
        said: Callable[[], None],
        edit_page: Callable[[], object],
        export: Callable[[ExportWanted], object],
        switch_effort: Callable[[EffortChoice], None],
        use_theme: Callable[[str], object],
        own_commands: Callable[[], Sequence[OwnCommand]],
    ) -> None:
        self._bridge = bridge
        self._state = state
        self._tell = tell
        self._said = said
        self._edit_page = edit_page
        self._export = export
        self._switch_effort = switch_effort
        self._use_theme = use_theme
        self._own_commands = own_commands

    def obey(self, line: str, images: tuple[ContentPart, ...] = ()) -> bool:
        """Do what a line asks for; False if it is no command.

        Args:
            line: As it was written.
            images: What the user shows with it; goes along where the line says something to the model.
        """
        try:
            asked = read_slash(line, self._state().tree)
        except GoalRefused as refused:
            self._tell(str(refused), "warning")
            return True
        match asked:
            case None:
                return self._say_own(line, images)
            case Aimed():
                self._said()
                self._bridge.say(asked.text, asked.aim, images)
            case PlanEdited():
                self._bridge.edit_plan(asked.edits)
            case PlanPageWanted():
                self._edit_page()
            case ModelChosen():
                self._bridge.switch_model(asked.name)
            case EffortChosen():
                self._switch_effort(asked.effort)
            case ModeChosen():
                self._bridge.switch_mode(asked.mode)
            case ThemeChosen():
                self._use_theme(asked.name)
            case Commanded():
                self._bridge.command(asked.command)
            case ExportWanted():
                self._export(asked)
            case MemoryWanted():
                self._tell(memory_page(self._state().memory), "info")
            case _:
                assert_never(asked)
        return True

    def _say_own(self, line: str, images: tuple[ContentPart, ...]) -> bool:
        """Say what a command of the user's own stands for; False if there is none of that name."""
        word, *rest = line.removeprefix("/").split(maxsplit=1)
        if word in SLASH_HELP or action_of_slash(word) is not None:
            return False
        found = next((command for command in self._own_commands() if command.name == word), None)
        if found is None:
            return False
        if found.fault:
            self._tell(found.fault, "warning")
            return True
        self._said()
        self._bridge.say(found.filled(rest[0] if rest else ""), images=images)
        return True


__all__ = ["Commanding"]
