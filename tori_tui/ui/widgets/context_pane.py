"""The next request, section by section, beside the conversation.

Must not read a trace; what it shows comes from the port, and only while the pane is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from tori_tui.domain.inspection import ContextPage, Repeat, SentPart, SentRequest, SentTotals
from tori_tui.domain.state import SessionState
from tori_tui.render.amounts import counted, shown_cost, shown_tokens
from tori_tui.render.safe_text import one_line
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.talk_ports import FindPage, no_page
from tori_tui.ui.transcript.lines import strip_of, title_line, wrapped

LOOK_AFTER_S: Final = 0.4
"""A turn's records come together: one look does for all of them."""

NUMBER_CELLS: Final = 8
SHARE_CELLS: Final = 7
REWRITES_SHOWN: Final = 3
REPEATS_SHOWN: Final = 5

CACHED, NEW = "=", "+"
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


class ContextPane(ScrollView, can_focus=True):
    """Follows the session while it is open; draws the lines in view, however many there are."""

    DEFAULT_CSS = """
    ContextPane { height: 1fr; display: none; scrollbar-gutter: stable; }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("context")

    class Closed(Message):
        """The user has seen enough."""

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._find: FindPage = no_page
        self._next_seq = 0
        self._shown_seq = -1
        self._page: ContextPage | None = None
        self._timer: Timer | None = None
        self._lines: Sequence[Text | SentPart] = ()
        """Above, what is told of the whole; then the parts, each drawn when it is in view."""
        self._n_tokens = 0

    def connect(self, find: FindPage) -> None:
        """Say where pages come from."""
        self._find = find

    def on_mount(self) -> None:
        """Say what it is."""
        self.border_title = Content("Context")

    def show(self, state: SessionState) -> None:
        """Take in that the session went on; looked at soon, if the pane is open."""
        self._next_seq = int(state.next_seq)
        if self.display and self._timer is None and self._next_seq != self._shown_seq:
            self._timer = self.set_timer(LOOK_AFTER_S, self._look)

    def opened(self) -> None:
        """Look at once."""
        self._look()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self._draw()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def _look(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        before = self._next_seq
        self.run_worker(lambda: self._found(before), thread=True, exclusive=True, name="context")

    def _found(self, before: int) -> None:
        page = self._find(before)
        self.app.call_from_thread(self._take, page, before)

    def _take(self, page: ContextPage | None, before: int) -> None:
        self._page, self._shown_seq = page, before
        self._draw()

    @property
    def shown_text(self) -> str:
        """What the pane says, as plain text."""
        return "\n".join(self._line(y).plain for y in range(len(self._lines)))

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if width > 0:
            self._lines = page_lines(self._page, width, self._palette)
            request = self._page.request if self._page is not None else None
            self._n_tokens = request.tokens if request is not None else 0
            self.virtual_size = Size(width, len(self._lines))
            self.refresh()

    def _line(self, y: int) -> Text:
        line = self._lines[y]
        if isinstance(line, Text):
            return line
        return _row(line, self._n_tokens, self.scrollable_content_region.width, self._palette)

    def render_line(self, y: int) -> Strip:
        """Return one line of the view."""
        width, line = self.size.width, y + self.scroll_offset.y
        if line >= len(self._lines):
            return Strip.blank(width, self._palette.base)
        return strip_of(self._line(line), width, self._palette.base)

    def action_close(self) -> None:
        """Close the pane."""
        self.post_message(self.Closed())


def page_lines(page: ContextPage | None, width: int, palette: Palette) -> Sequence[Text | SentPart]:
    """Return the lines of a page, the parts of the request as they are, and what is sent twice."""
    request = page.request if page is not None else None
    if page is None or request is None:
        told = "No request yet. With the first one, this shows what each request holds."
        return [Text(line, palette.muted) for line in wrap(told, width)]
    lines = _wrapped((*_head(page, request, width, palette), *_told(page.totals, palette)), width)
    head = f"  {'tokens':>{NUMBER_CELLS}}{'share':>{SHARE_CELLS}}  in the order of sending"
    return [
        *lines,
        Text(""),
        title_line(Text(head, palette.muted), Text(), width),
        *request.parts,
        *_wrapped((_repeat(repeat, palette) for repeat in request.repeats[:REPEATS_SHOWN]), width),
    ]


def _wrapped(lines: Iterable[Text], width: int) -> Iterator[Text]:
    return (piece for line in lines for piece in wrapped(line, width))


def _told(totals: SentTotals, palette: Palette) -> Iterator[Text]:
    return (Text(one_line(line, 400), palette.muted) for line in told_sums(totals))


def _repeat(repeat: Repeat, palette: Palette) -> Text:
    told = f"twice: {repeat.part} shows {counted(repeat.n_lines, 'line')} of {repeat.of_part} again"
    return Text(told, palette.warning)


def _head(page: ContextPage, request: SentRequest, width: int, palette: Palette) -> Iterator[Text]:
    tokens, cached = request.tokens, request.cacheable_tokens
    window = page.window_tokens
    yield title_line(
        Text("Next request", palette.strong), Text(f"turn {request.turn.number}", palette.muted), width
    )
    yield title_line(Text(one_line(request.turn.model), palette.muted), Text(), width)
    yield Text("")
    if window:
        yield _bar(tokens / window, width, palette)
    share = f" of {shown_tokens(window)} · {_percent(tokens, window)}" if window else ""
    yield Text.assemble((f"{tokens:,}", palette.strong), (f" tokens{share}", palette.muted))
    yield Text.assemble(
        (f"{CACHED} ", palette.success),
        f"{cached:,} the cache may have ({_percent(cached, tokens)})",
    )
    yield Text.assemble((f"{NEW} ", palette.warning), f"{tokens - cached:,} new")
    if request.is_cold:
        yield Text("! the cache has gone cold: all is paid for again", palette.warning)
    if request.turn.rewrite:
        yield Text(f"! rewritten: {one_line(request.turn.rewrite)}", palette.warning)
    if page.cost_usd is not None:
        yield Text(f"about {shown_cost(page.cost_usd, is_partial=False) or '$0'} before its answer")
    folds = [part for part in request.parts if part.name == "fold"]
    if folds:
        size = sum(part.tokens for part in folds)
        yield Text(f"{counted(len(folds), 'fold')} of finished work, {size:,} tokens")
    yield Text("")


def told_sums(totals: SentTotals) -> Iterator[str]:
    """Yield what all requests together took, and what the cache came to."""
    cost = shown_cost(totals.cost_usd, is_partial=totals.has_unpriced_turns)
    yield (
        f"So far: {counted(totals.n_turns, 'request')}, {shown_tokens(totals.input_tokens)} in, "
        f"{shown_tokens(totals.output_tokens)} out{f', {cost}' if cost else ''}"
    )
    saved, expected = totals.cached_tokens, totals.cacheable_tokens
    # What it should have saved is estimated before the server has counted.
    share = f"of {shown_tokens(expected)} that" if saved < expected else "tokens, all that"
    yield f"Cache: saved {shown_tokens(saved)} {share} it should have"
    for number, why in totals.rewrites[-REWRITES_SHOWN:]:
        yield f"Rewritten before turn {number}: {why}"


def _row(part: SentPart, whole_tokens: int, width: int, palette: Palette) -> Text:
    mark, style = (CACHED, palette.success) if part.is_cached else (NEW, palette.warning)
    left = Text.assemble(
        (f"{mark} ", style),
        f"{part.tokens:>{NUMBER_CELLS},}",
        (f"{_percent(part.tokens, whole_tokens):>{SHARE_CELLS}}  ", palette.muted),
        (part.name, palette.accent),
        (f" {one_line(part.title, 200)}" if part.title else ""),
    )
    return title_line(left, Text(), width)


def _bar(share: float, width: int, palette: Palette) -> Text:
    eighths = round(min(1.0, share) * width * 8)
    full, rest = divmod(eighths, 8)
    filled = "█" * full + (_EIGHTHS[rest] if rest else "")
    return Text.assemble((filled, palette.accent), ("░" * (width - len(filled)), palette.border))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else ""


__all__ = ["ContextPane", "page_lines", "told_sums"]
