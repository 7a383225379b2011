"""Where the user writes: prompts, comments, and the short answers that other panes ask for.

Must not decide what a text means; it is posted with the purpose for which it was written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from rich.cells import CellSpan, split_graphemes
from textual import events
from textual.binding import BindingType
from textual.document._document import Location
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from tori_tui.domain.ids import ApprovalId, GoalId, QuestionId
from tori_tui.render.safe_text import safe_text
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.completing import Suggestion, Token
from tori_tui.ui.widgets.completion_popup import CompletionPopup

PurposeKind = Literal["comment", "goal_comment", "add", "rename", "drop", "rewind", "deny", "answer"]

PASTE_LIMIT_CHARS: Final = 2_000
PASTE_LIMIT_LINES: Final = 20
"""A larger paste stands in the input as one short word, and is sent whole."""

_PASTED = re.compile(r"\[paste #(\d+): [^\]\n]*\]")


@dataclass(frozen=True, slots=True)
class Purpose:
    """What the text is for."""

    kind: PurposeKind = "comment"
    title: str = ""
    goal_id: GoalId | None = None
    approval_id: ApprovalId | None = None
    question_id: QuestionId | None = None


COMMENT: Final = Purpose()


class CommentInput(TextArea):
    """A text area that sends on Enter, keeps history and drafts, and takes pastes of any size."""

    DEFAULT_CSS = """
    CommentInput {
        height: auto;
        min-height: 1;
        max-height: 8;
        border: none;
        padding: 0;
        scrollbar-size-vertical: 1;
        &:focus { border: none; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("input")

    class Submitted(Message):
        """The user sent a text."""

        def __init__(self, text: str, purpose: Purpose) -> None:
            super().__init__()
            self.text = text
            self.purpose = purpose

    class PurposeChanged(Message):
        """The input is for something else now."""

        def __init__(self, purpose: Purpose) -> None:
            super().__init__()
            self.purpose = purpose

    class ScrollRequested(Message):
        """The conversation is to be scrolled by pages, or (0) to its end."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    class TakeBackRequested(Message):
        """The newest comment that waits is to come back."""

    class HelpRequested(Message):
        """The user typed `?` into an empty input."""

    def __init__(
        self,
        history: Sequence[str] = (),
        *,
        popup: CompletionPopup,
        id: str | None = None,
    ) -> None:
        super().__init__(
            id=id, soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False, show_line_numbers=False
        )
        self.cursor_blink = False
        self.purpose = COMMENT
        self._popup = popup
        self.has_waiting = False
        """Whether a comment waits for its effect."""
        popup.on_chosen = self._put_chosen
        self._past: list[str] = list(history)
        self._at: int | None = None
        """Which entry of the history is shown; None is the draft."""
        self._draft = ""
        """What was written before the history was looked at."""
        self._search: str | None = None
        self._kept = ""
        """The comment that waits while the input is for something else."""
        self._pastes: dict[int, str] = {}

    # ── values in ──

    def begin(self, purpose: Purpose, text: str = "") -> None:
        """Take a text for another purpose; the draft waits until that is done."""
        if self.purpose == COMMENT:
            self._kept = self.text
        self.purpose = purpose
        self._set_text(text)
        self.post_message(self.PurposeChanged(purpose))

    def end_purpose(self) -> None:
        """Go back to the comment and its draft."""
        if self.purpose != COMMENT:
            self.purpose = COMMENT
            self._set_text(self._kept)
            self._kept = ""
            self.post_message(self.PurposeChanged(COMMENT))

    def add_to_draft(self, text: str) -> None:
        """Put typed characters where they were meant to go, at the cursor."""
        self.insert(text)

    def give_back(self, text: str) -> None:
        """Return a text that could not be used to the input, before what is written now."""
        self._set_text(f"{text}\n{self.text}" if self.text else text)

    @property
    def full_text(self) -> str:
        """The text with every paste in full."""
        return _PASTED.sub(self._expanded, self.text)

    @property
    def draft(self) -> str:
        """The comment as it stands, also while the input is for something else."""
        return self.text if self.purpose == COMMENT else self._kept

    # ── keys ──

    async def _on_key(self, event: events.Key) -> None:
        if self._popup.press(event.key) or self._is_handled(event.key):
            event.stop()
            event.prevent_default()
        elif event.character == "\ufffd":
            # A byte that is no text, as a broken mouse report sends it.
            event.stop()
            event.prevent_default()
        else:
            if event.is_printable:
                self._at = self._search = None
            await super()._on_key(event)

    def _is_handled(self, key: str) -> bool:
        match key:
            case "enter":
                self._enter()
            case "escape" if self.purpose != COMMENT:
                self.end_purpose()
            case "up" if not self.text and self._at is None and self.has_waiting and self.purpose == COMMENT:
                self.post_message(self.TakeBackRequested())
            case "up" if self._past and self.cursor_at_first_line and self.purpose == COMMENT:
                self._look_back()
            case "down" if self._at is not None and self.cursor_at_last_line:
                self._look_forward()
            case "end" if self.cursor_at_end_of_text:
                self.post_message(self.ScrollRequested(0))
            case "backspace" if self._ends_in_paste():
                pass
            case "question_mark" if not self.text and self.purpose == COMMENT:
                return False
            case "tab":
                self._look()
            case _:
                return False
        return True

    # ── completion ──

    def edit(self, edit: Edit) -> EditResult:
        """Change the text, and offer what fits it now: before the next key, which may be meant for that."""
        result = super().edit(edit)
        self._look()
        return result

    def on_text_area_selection_changed(self) -> None:
        """Offer what fits where the cursor stands now."""
        self._look()

    def on_blur(self) -> None:
        """Offer nothing to somebody who is elsewhere."""
        self._popup.close()

    def _look(self) -> None:
        if self.purpose != COMMENT or self._at is not None or not self.selection.is_empty:
            self._popup.close()
            return
        row, column = self.cursor_location
        is_whole = self.document.line_count == 1
        self._popup.look(self.document.get_line(row), column, is_whole=is_whole)

    def _put_chosen(self, token: Token, chosen: Suggestion) -> None:
        row = self.cursor_location[0]
        follows = self.document.get_line(row)[token.end : token.end + 1]
        # Behind a command a blank stands always: what it needs is offered there.
        is_apart = token.kind == "command" or not chosen.goes_on
        blank = " " if is_apart and token.kind != "argument" and not follows.isspace() else ""
        self.replace(chosen.insert + blank, (row, token.start), (row, token.end))
        self.move_cursor((row, token.start + len(chosen.insert) + len(blank or follows[:is_apart])))

    def _enter(self) -> None:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if line[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column))
            return
        self.submit()

    def submit(self) -> None:
        """Send what is written; an empty text is sent only where a purpose allows one."""
        text = self.full_text.strip("\n")
        purpose = self.purpose
        if not text.strip() and purpose.kind not in ("deny", "drop", "rewind"):
            return
        if purpose == COMMENT:
            self._remember(text)
            self._set_text("")
            self._pastes.clear()
        else:
            self.end_purpose()
        self.post_message(self.Submitted(text, purpose))

    def get_cursor_left_location(self) -> Location:
        """Return the place before the character at the left, as people count characters."""
        row, column = self.cursor_location
        starts = [start for start, _, _ in self._characters(row) if start < column]
        return (row, starts[-1]) if starts else super().get_cursor_left_location()

    def get_cursor_right_location(self) -> Location:
        """Return the place behind the character at the right."""
        row, column = self.cursor_location
        ends = [end for _, end, _ in self._characters(row) if end > column]
        return (row, ends[0]) if ends else super().get_cursor_right_location()

    def _characters(self, row: int) -> list[CellSpan]:
        """Return start, end and width of each character of a line: a base with its marks is one."""
        return split_graphemes(self.document.get_line(row))[0]

    def action_newline(self) -> None:
        """Insert a line break."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_scroll_back(self, pages: int) -> None:
        """Ask for the conversation to be scrolled."""
        self.post_message(self.ScrollRequested(pages))

    # ── history ──

    def _remember(self, text: str) -> None:
        if not self._past or self._past[-1] != text:
            self._past.append(text)
        self._at = self._search = None
        self._draft = ""

    def _look_back(self) -> None:
        if self._at is None:
            self._draft, self._at = self.text, len(self._past)
        if self._at > 0:
            self._at -= 1
            self._set_text(self._past[self._at])

    def _look_forward(self) -> None:
        if self._at is None:
            return
        self._at += 1
        if self._at < len(self._past):
            self._set_text(self._past[self._at])
        else:
            self._at = None
            self._set_text(self._draft)

    def action_search_history(self) -> None:
        """Show the next older message that contains the draft; again for still older ones."""
        if self._search is None or self._at is None:
            self._search, self._draft, self._at = self.text, self.text, len(self._past)
        found = next((i for i in range(self._at - 1, -1, -1) if self._search in self._past[i]), None)
        if found is None:
            self._at, self._search = None, None
            self._set_text(self._draft)
            return
        self._at = found
        self._set_text(self._past[found])

    # ── pastes ──

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        is_large = len(text) > PASTE_LIMIT_CHARS or text.count("\n") > PASTE_LIMIT_LINES
        if is_large or safe_text(text) != text:
            text = self._pasted(text)
        self._replace_via_keyboard(text, *self.selection)

    def _pasted(self, text: str) -> str:
        number = max(self._pastes, default=0) + 1
        self._pastes[number] = text
        n_lines = text.count("\n") + 1
        size = f"{n_lines:,} lines" if n_lines > 1 else f"{len(text):,} characters"
        return f"[paste #{number}: {size}]"

    def _expanded(self, match: re.Match[str]) -> str:
        return self._pastes.get(int(match.group(1)), match.group())

    def _ends_in_paste(self) -> bool:
        """Delete a whole pasted word with one key."""
        row, column = self.cursor_location
        if not self.selection.is_empty:
            return False
        before = self.document.get_line(row)[:column]
        word = next((m for m in _PASTED.finditer(before) if m.end() == len(before)), None)
        if word is None:
            return False
        self.delete((row, word.start()), (row, column))
        return True

    def _set_text(self, text: str) -> None:
        shown = text
        if len(text) > PASTE_LIMIT_CHARS or text.count("\n") > PASTE_LIMIT_LINES or safe_text(text) != text:
            shown = text if _PASTED.search(text) else self._pasted(text)
        self.load_text(shown)
        self.move_cursor(self.document.end)


__all__ = ["COMMENT", "CommentInput", "Purpose", "PurposeKind"]
