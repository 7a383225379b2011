"""What can stand in place of the word before the cursor, over the conversation.

Must not take the focus and must not wait: files are looked for in a thread, keys go on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from rich.text import Text
from textual import events
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.domain.goals import GoalTree
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.ui.completing import (
    Names,
    Offer,
    Suggestion,
    Token,
    argument_offer,
    command_offer,
    file_offer,
    goal_offer,
    token_before,
)
from tori_tui.ui.outside import FindFiles, no_files
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of
from tori_tui.ui.widgets.offer_rows import n_offer_rows, offer_row

ROWS: Final = 8
"""At most so many at once; more are scrolled to."""

SMALL_ROWS: Final = 5
SMALL_SCREEN_ROWS: Final = 30

FRESH_S: Final = 5.0
"""After so long the names of files are looked up anew when they are asked for."""

PAUSE_S: Final = 0.0005
"""In which the keys get on while thousands of names are ranked."""

FRAME_ROWS: Final = 2

_TITLES: Final = {
    "file": "files",
    "goal": "goals",
    "command": "commands",
    "argument": "form",
    "history": "earlier messages, the newest first",
}


@dataclass(frozen=True, slots=True)
class CompletionSources:
    """Where what is offered comes from."""

    tree: Callable[[], GoalTree]
    agents: Callable[[], Sequence[str]] = lambda: ()
    own_commands: Callable[[], Sequence[OwnCommand]] = lambda: ()
    files: FindFiles = no_files


class CompletionPopup(Widget):
    """A list above the input; its keys come from there.

    Args:
        palette: The styles.
        sources: Where what is offered comes from.
        clock: Seconds that only grow.
    """

    DEFAULT_CSS = """
    CompletionPopup {
        overlay: screen;
        display: none;
        width: 1fr;
        margin: 0 1;
        padding: 0 1;
        background: $surface;
        border: round $border;
        border-title-color: $tori-muted;
        border-subtitle-color: $tori-muted;
    }
    """

    def __init__(
        self,
        palette: Palette,
        sources: CompletionSources,
        *,
        clock: Callable[[], float],
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.on_chosen: Callable[[Token, Suggestion], None] = lambda token, suggestion: None
        """Puts what was chosen into the text."""
        self._palette = palette
        self._sources = sources
        self._clock = clock
        self._offer: Offer | None = None
        self._at = 0
        self._top = 0
        self._was_moved = False
        self._own: tuple[OwnCommand, ...] | None = None
        """The user's commands, read once for each word that may be one."""
        self._dismissed: tuple[str, int] | None = None
        """The kind and place of a word for which the user wants nothing offered."""
        self._names: Names | None = None
        self._names_note = ""
        self._looked_s = float("-inf")
        self._is_looking = False
        self._is_gone = False

    def on_unmount(self) -> None:
        """Let no look go on."""
        self._is_gone = True

    # ── what is offered ──

    @property
    def offer(self) -> Offer | None:
        """What is shown."""
        return self._offer

    @property
    def is_open(self) -> bool:
        """Whether there is something to choose."""
        return self._offer is not None and bool(self._offer.suggestions)

    def look(self, line: str, column: int, *, is_whole: bool) -> None:
        """Offer what fits the word before the cursor, if anything does."""
        token = token_before(line, column, is_whole=is_whole)
        if token is None or token.kind != "command":
            self._own = None
        if token is None or (token.kind, token.start) != self._dismissed:
            self._dismissed = None
        if token is None or self._dismissed is not None:
            self.close()
            return
        if self._offer is not None and self._offer.token == token:
            return
        match token.kind:
            case "command":
                if self._own is None:
                    self._own = tuple(self._sources.own_commands())
                self._show(command_offer(token, self._own))
            case "argument":
                self._show(argument_offer(token, self._sources.tree(), self._sources.agents))
            case "goal":
                self._show(goal_offer(token, self._sources.tree()))
            case "file":
                self._look_for_files(token)

    def offer_always(self, offer: Offer) -> None:
        """Offer what somebody else found, until it is closed."""
        self._show(offer)

    def close(self) -> None:
        """Offer nothing."""
        if self._offer is not None:
            self._offer = None
            self.display = False

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    def _look_for_files(self, token: Token) -> None:
        before = self._offer
        if before is None or before.token.kind != "file":
            self._show(Offer(token, note="looking for files …" if self._names is None else ""))
        else:
            # What was found for the letters before stays until there is something better.
            self._offer = Offer(token, before.suggestions, before.note)
        if not self._is_looking and self._clock() - self._looked_s > FRESH_S:
            self._is_looking = True
            self.run_worker(self._read_names(), group="names")
        if self._names is not None:
            self.run_worker(self._rank(self._names, token), group="rank", exclusive=True)

    async def _read_names(self) -> None:
        found = await asyncio.to_thread(self._sources.files, lambda: self._is_gone)
        names = self._names = await asyncio.to_thread(Names.of_files, found.paths)
        more = "" if found.is_complete else f"only the first {len(found.paths):,} files are looked through"
        self._names_note = found.fault or ("no files here" if not found.paths else more)
        self._looked_s, self._is_looking = self._clock(), False
        if self._offer is not None and self._offer.token.kind == "file":
            await self._rank(names, self._offer.token)

    async def _rank(self, names: Names, token: Token) -> None:
        paths = await asyncio.to_thread(names.like, token.word.strip('"'), pause=partial(time.sleep, PAUSE_S))
        if self._offer is not None and self._offer.token == token:
            none = "" if paths or self._names_note else "no such file"
            self._show(file_offer(token, paths, self._names_note or none))

    def _show(self, offer: Offer) -> None:
        self._offer, self._at, self._top, self._was_moved = offer, 0, 0, False
        self.display = bool(offer.suggestions or offer.note)
        n_rows = n_offer_rows(offer, self._rows)
        self.styles.height = n_rows + FRAME_ROWS
        self.styles.offset = (0, -(n_rows + FRAME_ROWS))
        self.border_title = Content(_TITLES[offer.token.kind])
        self._show_place()
        self.refresh()

    @property
    def _rows(self) -> int:
        return SMALL_ROWS if self.screen.size.height < SMALL_SCREEN_ROWS else ROWS

    def _show_place(self) -> None:
        n = len(self._offer.suggestions) if self._offer else 0
        self.border_subtitle = Content(f"{self._at + 1}/{n} · Tab takes · Esc closes" if n else "")

    # ── keys of the input ──

    def press(self, key: str) -> bool:
        """Take a key that was meant for this; False leaves it to the input."""
        offer = self._offer
        if offer is None or not offer.suggestions:
            return False
        match key:
            case "up" | "down":
                self._move(1 if key == "down" else -1)
            case "tab":
                self._choose(self._at)
            case "enter" if (offer.is_eager or self._was_moved) and not self._stands_there:
                self._choose(self._at)
            case "escape" if offer.token.kind != "history":
                self._dismissed = (offer.token.kind, offer.token.start)
                self.close()
            case _:
                return False
        return True

    @property
    def _stands_there(self) -> bool:
        """Whether the word is what would be put in its place, so that Enter sends."""
        assert self._offer is not None
        token, chosen = self._offer.token, self._offer.suggestions[self._at]
        return token.kind != "history" and token.word == chosen.insert.lstrip("/@#")

    def _move(self, by: int) -> None:
        assert self._offer is not None
        self._was_moved = True
        self._at = (self._at + by) % len(self._offer.suggestions)
        self._top = min(max(self._top, self._at - self._rows + 1), self._at)
        self._show_place()
        self.refresh()

    def _choose(self, index: int) -> None:
        offer = self._offer
        if offer is not None and index < len(offer.suggestions):
            self.close()
            self.on_chosen(offer.token, offer.suggestions[index])

    # ── mouse ──

    def on_click(self, event: events.Click) -> None:
        """Take the row under the pointer."""
        event.stop()
        self._choose(self._top + event.y - 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go to the next one."""
        event.stop()
        self._scroll(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go to the one before."""
        event.stop()
        self._scroll(-1)

    def _scroll(self, by: int) -> None:
        if self.is_open:
            self._move(by)

    # ── drawing ──

    def render_line(self, y: int) -> Strip:
        """Return a row."""
        width, palette = self.size.width, self._palette
        offer = self._offer
        row = (
            Text() if offer is None else offer_row(offer, y, self._at, self._top, self._rows, width, palette)
        )
        return strip_of(row, width, palette.panel)


__all__ = ["CompletionPopup", "CompletionSources"]
