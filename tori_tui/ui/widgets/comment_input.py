"""Where the user writes: prompts, comments, and the short answers that other panes ask for.

Must not decide what a text means; it is posted with the purpose for which it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widgets.text_area import Edit, EditResult

from tori_tui.domain.ids import ApprovalId, GoalId, QuestionId
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.shown_image import ShownImage
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.completing import Suggestion, Token, history_offer
from tori_tui.ui.draft_history import DraftHistory
from tori_tui.ui.widgets.completion_popup import CompletionPopup
from tori_tui.ui.widgets.vim_area import VimArea

PurposeKind = Literal[
    "comment", "goal_comment", "add", "rename", "drop", "rewind", "deny", "answer", "history"
]

QUERY_LIMIT_CHARS: Final = 80
"""A draft that is no longer and of one line is what the history is first searched for."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What the text is for."""

    kind: PurposeKind = "comment"
    title: str = ""
    goal_id: GoalId | None = None
    approval_id: ApprovalId | None = None
    question_id: QuestionId | None = None


COMMENT: Final = Purpose()

HISTORY: Final = Purpose("history", "search earlier messages · Enter takes · Esc back")


@dataclass(frozen=True, slots=True)
class Words:
    """What the user sends."""

    text: str
    images: tuple[ContentPart, ...] = ()
    """What he shows with it, in the order in which the text names them."""
    remembered: str = ""
    """The text as another session may take it up."""


class CommentInput(VimArea):
    """Sends on Enter, keeps history and drafts, and offers what may be meant."""

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

        def __init__(self, words: Words, purpose: Purpose) -> None:
            super().__init__()
            self.words = words
            self.purpose = purpose

    class PurposeChanged(Message):
        """The input is for something else now."""

        def __init__(self, purpose: Purpose) -> None:
            super().__init__()
            self.purpose = purpose

    class GivenUp(Message):
        """The user wants nothing of what the input was for."""

        def __init__(self, purpose: Purpose) -> None:
            super().__init__()
            self.purpose = purpose

    class ScrollRequested(Message):
        """The conversation is to be scrolled by pages, or (0) to its end."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    class EditorRequested(Message):
        """The draft is to be shown in the editor."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class GoOnRequested(Message):
        """The work that stopped is to go on."""

    class TakeBackRequested(Message):
        """The newest comment that waits is to come back."""

    def __init__(
        self,
        history: Sequence[str] = (),
        *,
        popup: CompletionPopup,
        has_vim_keys: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(has_vim_keys=has_vim_keys, id=id)
        self.purpose = COMMENT
        self._popup = popup
        self.has_waiting = False
        """Whether a comment waits for its effect."""
        self.can_go_on = False
        """Whether an empty message lets the work go on that stopped."""
        popup.on_chosen = self._put_chosen
        self._past = DraftHistory(history)
        self._kept = ""
        """The comment that waits while the input is for something else."""
        self._is_sending = False
        """The draft is sent as soon as its images are there."""

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

    def give_up(self) -> None:
        """Do nothing of what the text was for."""
        self.post_message(self.GivenUp(self.purpose))
        self.end_purpose()

    def add_to_draft(self, text: str) -> None:
        """Put typed characters where they were meant to go, at the cursor."""
        self.insert(text)

    def give_back(self, text: str, images: Sequence[ContentPart] = ()) -> None:
        """Return a text that could not be used to the input, before what is written now."""
        text = self.chips.given_back(text, images)
        self._set_text(f"{text}\n{self.text}" if self.text else text)

    def show_images(self, raw: str, images: tuple[ShownImage, ...], *, is_refused: bool = False) -> None:
        """Put images in the place of the words that name them; a draft that waited for them is sent.

        Args:
            raw: The words, as they stand in the text.
            images: None where the words name no image.
            is_refused: There is one, but it cannot be shown: nothing is sent yet.
        """
        super().show_images(raw, images)
        self._is_sending = self._is_sending and not is_refused
        if self._is_sending and not self._awaited:
            self._is_sending = False
            self.submit()

    @property
    def draft(self) -> str:
        """The comment as it stands, also while the input is for something else."""
        return self.text if self.purpose == COMMENT else self._kept

    # ── keys ──

    async def _on_key(self, event: events.Key) -> None:
        is_vims = self.purpose == COMMENT and not self._popup.is_open and self.take_for_vim(event)
        # U+FFFD is a byte that is no text, as a broken mouse report sends it.
        is_rubbish = event.character == "\ufffd"
        if is_vims or is_rubbish or self._popup.press(event.key) or self._is_handled(event.key):
            event.stop()
            event.prevent_default()
        else:
            if event.is_printable:
                self._past.stay()
            await super()._on_key(event)

    def _is_handled(self, key: str) -> bool:
        is_comment = self.purpose == COMMENT
        match key:
            case "enter":
                self._enter()
            case "escape" if not is_comment:
                self.give_up()
            case "up" if not self.text and self._past.is_at_draft and self.has_waiting and is_comment:
                self.post_message(self.TakeBackRequested())
            case "up" if self._past.past and self.cursor_at_first_line and is_comment:
                self._recall(self._past.back(self.text))
            case "down" if not self._past.is_at_draft and self.cursor_at_last_line:
                self._recall(self._past.forward())
            case "end" if self.cursor_at_end_of_text:
                self.post_message(self.ScrollRequested(0))
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
        if self.purpose == HISTORY:
            self._popup.offer_always(history_offer(self.text, self._past.past))
            return
        is_draft = self.purpose == COMMENT and self._past.is_at_draft and not self.is_normal_mode
        if not is_draft or not self.selection.is_empty:
            self._popup.close()
            return
        row, column = self.cursor_location
        is_whole = self.document.line_count == 1
        self._popup.look(self.document.get_line(row), column, is_whole=is_whole)

    def _put_chosen(self, token: Token, chosen: Suggestion) -> None:
        if token.kind == "history":
            self.end_purpose()
            self.put_all(chosen.insert)
            return
        row = self.cursor_location[0]
        follows = self.document.get_line(row)[token.end : token.end + 1]
        # Behind a command a blank stands always: what it needs is offered there.
        is_apart = token.kind == "command" or not chosen.goes_on
        blank = " " if is_apart and token.kind != "argument" and not follows.isspace() else ""
        self.replace(chosen.insert + blank, (row, token.start), (row, token.end))
        if token.kind == "file" and self.unknown_images:
            self.want_images(self.unknown_images)
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
        text, purpose = self.full_text.strip("\n"), self.purpose
        if not self.text and purpose == COMMENT and self.can_go_on:
            self.post_message(self.GoOnRequested())
            return
        if purpose == HISTORY or (not text.strip() and purpose.kind not in ("deny", "drop", "rewind")):
            return
        if purpose.kind in ("comment", "goal_comment") and (self._awaited or self.unknown_images):
            self._is_sending = True
            if self.unknown_images:
                self.want_images(self.unknown_images)
            return
        words = Words(text, self.chips.images(self.text), self.chips.remembered(self.text).strip("\n"))
        self._looked_at.clear()
        self.write_on()
        if purpose == COMMENT:
            self._past.remember(self.text.strip("\n"))
            self._set_text("")
        else:
            self.end_purpose()
        self.post_message(self.Submitted(words, purpose))

    def action_newline(self) -> None:
        """Insert a line break."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_scroll_back(self, pages: int) -> None:
        """Ask for the conversation to be scrolled."""
        self.post_message(self.ScrollRequested(pages))

    def action_edit_draft(self) -> None:
        """Show the draft in the editor, pastes in full."""
        self.post_message(self.EditorRequested(self.full_text))

    def action_paste(self) -> None:
        """Show the image that the clipboard holds."""
        self.post_message(self.ClipboardWanted())

    # ── history ──

    def action_search_history(self) -> None:
        """Look for an earlier message; again for the next older one."""
        if self.purpose == HISTORY:
            self._popup.press("down")
        elif self.purpose == COMMENT:
            is_query = len(self.text) <= QUERY_LIMIT_CHARS and "\n" not in self.text
            self.begin(HISTORY, self.text if is_query else "")
            self._look()

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self._set_text(text)

    def _set_text(self, text: str) -> None:
        self.load_text(self.chips.shown(text))
        self.move_cursor(self.document.end)


__all__ = ["COMMENT", "CommentInput", "Purpose", "PurposeKind", "Words"]
