"""The bottom line: what keys do now at the left, where the session stands at the right.

Must not compute anything; what is unknown is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from tori_tui.render.amounts import shown_duration, shown_tokens
from tori_tui.render.safe_text import one_line
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.lines import strip_of
from tori_tui.ui.widgets.panes import Kept

SPINNER: Final = "◐◓◑◒"

SPINNER_INTERVAL_S: Final = 0.25

WIDE_CELLS: Final = 110
"""From this width on the model is shown with its provider."""

MODEL_LIMIT_CHARS: Final = 40

AGENT_LIMIT_CHARS: Final = 20

DROPPED: Final = ("branch", "model", "cost")
"""Facts that go, in this order, where there would be no room for what a key does now."""

FULL_SHARE: Final = 0.8
"""From this share of the window on the context is shown as a warning."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the line shows."""

    status: str = "idle"
    hints: tuple[str, ...] = ()
    """What keys do now, the most useful first; as many as there is room for."""
    note: str = ""
    """What holds for the moment: `retry in 3 s`, `3 permissions wait`."""
    model: str = ""
    effort: str = ""
    """What the model is told to think; empty where it goes by its own."""
    mode: str = ""
    agent: str = ""
    """Empty for the default one."""
    context_tokens: int = 0
    window_tokens: int = 0
    cost: str = ""
    branch: str = ""
    sandbox: str = ""
    """The name of the one that confines commands."""
    started_s: float | None = None
    """When the run began, on the screen's own clock."""


class StatusLine(Kept):
    """One line of facts."""

    DEFAULT_CSS = """
    StatusLine { height: 1; }
    """

    def __init__(self, palette: Palette, *, clock: Callable[[], float], id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._clock = clock
        self._status = Status()

    def show(self, status: Status) -> None:
        """Show other facts."""
        if status != self._status:
            self._status = status
            self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self.refresh()

    def tick(self) -> None:
        """Let the clock of a run go on."""
        if self._status.started_s is not None:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line."""
        width = self.size.width
        needed = self._left(0).cell_len + self._first_hint_cells + 2
        for n_dropped in range(len(DROPPED) + 1):
            right = self._right(width, DROPPED[:n_dropped])
            if right.cell_len + needed <= width:
                break
        room = width - right.cell_len - 2
        left = self._left(room)
        if left.cell_len > room:
            left.truncate(max(0, room), overflow="ellipsis")
        gap = " " * max(1, width - left.cell_len - right.cell_len)
        return strip_of(Text.assemble(left, gap, right), width, self._palette.base)

    @property
    def _first_hint_cells(self) -> int:
        return cell_len(self._status.hints[0]) + 2 if self._status.hints else 0

    def _left(self, room: int) -> Text:
        palette, status = self._palette, self._status
        mark, style = self._mark()
        text = Text.assemble(" ", (mark, style))
        if status.started_s is not None:
            text.append(f" {shown_duration(max(0.0, self._clock() - status.started_s))}", palette.muted)
        elif status.status != "idle":
            text.append(f" {status.status}", style)
        if status.note:
            text.append(f"  {one_line(status.note, 200)}", palette.warning)
        for index, hint in enumerate(status.hints):
            part = f" · {hint}" if index else f"  {hint}"
            if text.cell_len + len(part) > room:
                break
            text.append(part, palette.muted)
        return text

    def _mark(self) -> tuple[str, Style]:
        palette, status = self._palette, self._status
        match status.status:
            case "running":
                frame = int(self._clock() / SPINNER_INTERVAL_S) % len(SPINNER)
                return SPINNER[frame], palette.accent
            case "waiting":
                return "?", palette.warning
            case "done":
                return "✓", palette.success
            case "failed":
                return "✗", palette.error
            case "idle":
                return "·", palette.muted
            case _:
                return "■", palette.warning

    def _right(self, width: int, dropped: Sequence[str] = ()) -> Text:
        palette, status = self._palette, self._status
        facts: list[tuple[str, Style]] = []
        if status.model and "model" not in dropped:
            model = one_line(status.model)
            is_short = width >= WIDE_CELLS and len(model) <= MODEL_LIMIT_CHARS
            name = model if is_short else model.rpartition("/")[2] or model
            effort = f" ({status.effort})" if status.effort else ""
            facts.append((f"{one_line(name, MODEL_LIMIT_CHARS)}{effort}", palette.base))
        if status.context_tokens:
            facts.append(self._share())
        if status.cost and "cost" not in dropped:
            facts.append((status.cost, palette.muted))
        if status.agent:
            facts.append((f"@{one_line(status.agent, AGENT_LIMIT_CHARS)}", palette.accent))
        if status.mode:
            facts.append((status.mode, palette.accent if status.mode != "auto" else palette.warning))
        if status.sandbox:
            facts.append((one_line(status.sandbox, 20), palette.success))
        if status.branch and "branch" not in dropped:
            facts.append((one_line(status.branch, 30), palette.muted))
        text = Text()
        for index, (fact, style) in enumerate(facts):
            text.append(" · " if index else "", palette.border)
            text.append(fact, style)
        text.append(" ")
        return text

    def _share(self) -> tuple[str, Style]:
        status = self._status
        if not status.window_tokens:
            return f"ctx {shown_tokens(status.context_tokens)}", self._palette.muted
        share = status.context_tokens / status.window_tokens
        style = self._palette.warning if share >= FULL_SHARE else self._palette.muted
        return f"ctx {share:.0%}", style


__all__ = ["SPINNER_INTERVAL_S", "Status", "StatusLine"]
