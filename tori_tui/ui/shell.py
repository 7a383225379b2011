"""The first frame: the session's frames without a session, and every key kept for it.

Must not import the domain, the panes or a configuration; those are loaded while this is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from textual import events
from textual.app import ComposeResult, RenderResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

NARROW_CELLS: Final = 100
"""Below this width the goal tree gives its room to the conversation."""

ECHO_LIMIT_CHARS: Final = 4_000


class Blank(Widget):
    """A frame with nothing in it."""

    def render(self) -> RenderResult:
        """Return nothing."""
        return ""


class GoalTree(Blank):
    """Stands where the goal tree will be; of the same name, so that the same style rules hold."""


class Echo(Widget):
    """Shows what is typed until the input is there."""

    DEFAULT_CSS = """
    Echo { height: 1; }
    """

    typed = ""

    def render(self) -> RenderResult:
        """Return the text with a cursor."""
        return Content(self.typed[-ECHO_LIMIT_CHARS:].rpartition("\n")[2] + "█")


class ShellScreen(Screen[None]):
    """Frames, and an input that only remembers."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[events.Key | events.Paste] = []
        self._heir: Callable[[Iterable[events.Key | events.Paste]], None] | None = None
        self._echo = Echo()

    def compose(self) -> ComposeResult:
        """Lay out what the session's screen lays out."""
        with Horizontal(id="body"):
            goals = GoalTree(id="goals")
            goals.border_title = "Goals"
            yield goals
            talk = Blank(id="talk")
            talk.border_title = "tori"
            yield talk
        box = Vertical(self._echo, id="input-box", classes="-active")
        box.border_title = "comment"
        yield box
        yield Blank(id="status")

    def on_resize(self, event: events.Resize) -> None:
        """Take the narrow form where the session's screen would."""
        self.set_class(event.size.width < NARROW_CELLS, "-narrow")

    def hand_over(self, heir: Callable[[Iterable[events.Key | events.Paste]], None]) -> None:
        """Give keys and pastes, in order, to the real input: what is kept now, later ones at once."""
        self._heir = heir
        heir(self._kept)

    def _keep(self, event: events.Key | events.Paste) -> None:
        if self._heir is None:
            self._kept.append(event)
        else:
            self._heir([event])

    def on_key(self, event: events.Key) -> None:
        """Keep a key."""
        event.stop()
        event.prevent_default()
        self._keep(events.Key(event.key, event.character))
        if event.is_printable:
            self._echo.typed += event.character or ""
        elif event.key == "backspace":
            self._echo.typed = self._echo.typed[:-1]
        self._echo.refresh()

    def on_paste(self, event: events.Paste) -> None:
        """Keep a paste."""
        event.stop()
        self._keep(events.Paste(event.text))
        self._echo.typed += event.text
        self._echo.refresh()


__all__ = ["NARROW_CELLS", "ShellScreen"]
