"""A screen that is written on: the input with its purposes, and what waits for the user's answer.

Must not know what a text of the user's own comes to; the session's screen does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from textual.content import Content
from textual.widget import Widget

from tori_tui.domain.commands import MoveComment, WithdrawComment
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import CommentReceived, QuestionAsked
from tori_tui.ui.bridge import Bridge
from tori_tui.ui.draft_keeping import DraftKeeper
from tori_tui.ui.outside import Outside
from tori_tui.ui.palette import Palette
from tori_tui.ui.screens.talk import TalkScreen
from tori_tui.ui.transcript.blocks import NoticeBlock
from tori_tui.ui.widgets.approval_bar import ApprovalBar
from tori_tui.ui.widgets.chip_area import ChipArea
from tori_tui.ui.widgets.comment_input import COMMENT, CommentInput, Purpose
from tori_tui.ui.widgets.completion_popup import CompletionPopup, CompletionSources
from tori_tui.ui.widgets.panes import Frame
from tori_tui.ui.widgets.vim_area import VimArea
from tori_tui.ui.widgets.waiting_list import WaitingList

STOPPED: Final = ("failed", "interrupted", "limit", "incomplete")
"""What a run's end is called after which its work can go on."""


class WritingScreen(TalkScreen):
    """Permission bar, comments that wait, input."""

    def __init__(
        self, palette: Palette, bridge: Bridge, outside: Outside, *, clock: Callable[[], float]
    ) -> None:
        super().__init__(palette, clock=clock)
        self.bridge = bridge
        self.outside = outside
        self.approvals = ApprovalBar(palette, clock=clock, id="approval")
        sources = CompletionSources(
            lambda: self.state.tree, outside.agents, outside.own_commands, outside.files
        )
        self.popup = CompletionPopup(palette, sources, clock=clock, id="completion")
        self.input = CommentInput(
            outside.history, popup=self.popup, has_vim_keys=outside.has_vim_keys, id="comment"
        )
        self.drafts = DraftKeeper(lambda: self.input.chips.remembered(self.input.draft), outside.keep_draft)
        self._left = outside.draft
        self.waiting = WaitingList(palette, id="waiting")
        self._box = Frame(self.input, id="input-box")
        self._question: QuestionAsked | None = None
        self.first_model = ""
        """What is used until the session tells."""
        self._blind: set[str] = set()

    def compose_below(self) -> Iterable[Widget]:
        """Return the permission bar and the input."""
        return (self.approvals, self.waiting, self.popup, self._box)

    @property
    def home(self) -> Widget:
        """The input, or the question that waits."""
        return self.approvals if self.approvals.approval is not None else self.input

    @property
    def is_busy(self) -> bool:
        """Whether a run is going on."""
        return self.state.status in ("running", "waiting")

    def on_screen_resume(self) -> None:
        """Come back from what lay over the conversation: a question under it was not seen yet."""
        self.approvals.guard()

    def note(self, text: str, level: str = "info") -> None:
        """Show a word of the app's own in the conversation."""
        self.story.tell_note(NoticeBlock(text, "warning" if level == "warning" else "info"))
        self.show_story()

    def set_palette(self, palette: Palette) -> None:
        """Draw everything in other styles."""
        super().set_palette(palette)
        self.approvals.set_palette(palette)
        self.popup.set_palette(palette)
        self.waiting.set_palette(palette)

    def action_next_pane(self) -> None:
        """Move the focus to the next pane; from the input first to the question that waits."""
        if self.focused is self.input and self.approvals.approval is not None:
            self.approvals.focus()
        else:
            super().action_next_pane()

    # ── what waits for an answer ──

    def on_comment_input_take_back_requested(self) -> None:
        """Take the newest comment that waits back into the input."""
        if (comment := self.waiting.newest) is not None:
            self._take_back(comment)

    def on_waiting_list_chosen(self, message: WaitingList.Chosen) -> None:
        """Take a comment back into the input."""
        self._take_back(message.comment)

    def on_waiting_list_dropped(self, message: WaitingList.Dropped) -> None:
        """Let a comment have no effect."""
        self.bridge.command(WithdrawComment(message.comment.comment_id))

    def on_waiting_list_moved(self, message: WaitingList.Moved) -> None:
        """Let a comment have its effect earlier or later."""
        self.bridge.command(MoveComment(message.comment.comment_id, message.before))

    def on_waiting_list_left(self) -> None:
        """Go back to writing."""
        self.home.focus()

    def _take_back(self, comment: CommentReceived) -> None:
        self.bridge.command(WithdrawComment(comment.comment_id))
        self.input.give_back(comment.text, comment.images)
        self.input.focus()

    def show_waiting(self) -> None:
        """Ask for what waits, and say which comments do."""
        comments = [c for c in self.state.comments.values() if c.comment_id not in self.state.routed]
        self.waiting.show(comments)
        self.input.has_waiting = bool(comments)
        waiting = tuple(self.state.approvals.values())
        had_one = self.approvals.approval is not None
        self.approvals.show(waiting, has_goal=self.state.tree.current_id is not None)
        if waiting and not had_one and self.input.purpose == COMMENT and not self.input.text:
            self.approvals.focus()
        elif had_one and not waiting:
            if self.input.purpose.kind == "deny":
                self.input.end_purpose()
            if self.focused is self.approvals or self.focused is None:
                self.input.focus()

    def ask(self, event: QuestionAsked) -> None:
        """Ask the model's question, once."""
        if self._question is not None and self._question.question_id == event.question_id:
            return  # told a second time, after a lag
        self._question = event
        options = "".join(f"\n{number}. {option}" for number, option in enumerate(event.options, 1))
        self.note(f"{event.text}{options}", "warning")
        self.input.begin(Purpose("answer", "answer the question", question_id=event.question_id))
        self.input.focus()

    def answer_of(self, text: str) -> str:
        """Return the answer to the question; a number stands for the option of that number."""
        options, number = self._question.options if self._question else (), text.strip()
        return options[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(options) else text

    def end_questions(self) -> None:
        """Ask nothing any more: the run has ended."""
        self._question = None
        if self.input.purpose.kind in ("deny", "answer"):
            self.input.end_purpose()

    def on_approval_bar_decided(self, message: ApprovalBar.Decided) -> None:
        """Let a call run."""
        self.bridge.allow(message.approval_id, message.scope)

    def on_approval_bar_denial_begun(self, message: ApprovalBar.DenialBegun) -> None:
        """Ask why not; the run goes on either way."""
        title = "deny: the reason, or nothing · Esc back"
        self.input.begin(Purpose("deny", title, approval_id=message.approval_id))
        self.input.focus()

    def on_approval_bar_typed_on(self, message: ApprovalBar.TypedOn) -> None:
        """Put keys that begin a word where they were meant to go, and the next ones too."""
        self.input.add_to_draft(message.text)
        self.input.focus()

    def on_approval_bar_denial_ended(self) -> None:
        """Deny, with what was typed of a reason just before."""
        self.input.submit()

    # ── images and the editor ──

    def on_chip_area_images_wanted(self, message: ChipArea.ImagesWanted) -> None:
        """Show what the words name, where they name images."""
        for raw, paths in message.found:
            self.run_worker(self._show_images(raw, paths), name="images", group="images")

    async def _show_images(self, raw: str, paths: Sequence[str]) -> None:
        try:
            found = [await asyncio.to_thread(self.outside.image, path) for path in paths]
        except ToriError as error:
            self.input.show_images(raw, (), is_refused=True)
            self.note(f"{error}\nEnter again sends the message without it.", "warning")
            return
        images = tuple(image for image in found if image is not None)
        if images and len(images) == len(found):
            self._tell_blindness()
        self.input.show_images(raw, images if len(images) == len(found) else ())

    def _tell_blindness(self) -> None:
        """Say once of each model that it will not see what is shown."""
        model = self.state.model_in_force or self.first_model
        if model and model not in self._blind and not self.outside.sees_images(model):
            self._blind.add(model)
            self.note(
                f"{model} is not known to see images: it is told only that there is one. If it does, write "
                f'vision = true under [models."{model}"] into config.toml.',
                "warning",
            )

    def on_chip_area_clipboard_wanted(self) -> None:
        """Show the image that the clipboard holds."""
        self.run_worker(self._show_clipboard(), name="clipboard", group="clipboard", exclusive=True)

    async def _show_clipboard(self) -> None:
        try:
            image = await asyncio.to_thread(self.outside.clipboard_image)
        except ToriError as error:
            self.note(str(error), "warning")
            return
        self._tell_blindness()
        self.input.show_images("", (image,))

    def on_comment_input_editor_requested(self, message: CommentInput.EditorRequested) -> None:
        """Let the user write the draft in his editor."""
        self.run_worker(self._edit_draft(message.text), name="editor", group="editor")

    async def _edit_draft(self, text: str) -> None:
        changed = await self.edit(text, "draft.md")
        if changed is not None and changed != text:
            self.input.put_all(changed)
        self.input.focus()

    def on_chip_area_paste_opened(self, message: ChipArea.PasteOpened) -> None:
        """Show a paste in the user's editor, and take over what he makes of it."""
        self.run_worker(self._edit_paste(message.number, message.text), name="editor", group="editor")

    async def _edit_paste(self, number: int, text: str) -> None:
        changed = await self.edit(text, "paste.txt")
        if changed is not None and changed != text:
            self.input.change_paste(number, changed)
        self.input.focus()

    def action_unfold(self) -> None:
        """Unfold the paste at the cursor while the user writes, else what stands in the conversation."""
        if self.focused is self.input and self.input.paste_at_cursor is not None:
            self.input.action_unfold_paste()
        else:
            super().action_unfold()

    # ── the input ──

    def give_draft_back(self) -> None:
        """Put into the input what an earlier tori left unsent there; once."""
        text, self._left = self._left, ""
        if text:
            self.input.give_back(text)
            self.note("What you were writing when tori ended last is in the input again.")

    def on_text_area_changed(self) -> None:
        """Keep the draft, which a kill or a lost connection would take."""
        if not self.drafts.is_following:
            self.run_worker(self.drafts.follow(), name="draft", group="draft")

    def on_comment_input_submitted(self, message: CommentInput.Submitted) -> None:
        """Go back to the question that a comment was written beside."""
        if message.purpose == COMMENT and self.approvals.approval is not None:
            self.approvals.focus()

    def on_comment_input_purpose_changed(self, message: CommentInput.PurposeChanged) -> None:
        """Say what the input is for; a question for permission that still waits comes back."""
        self.show_purpose(message.purpose)
        if message.purpose == COMMENT and self.approvals.approval is not None:
            self.approvals.focus()

    def show_purpose(self, purpose: Purpose) -> None:
        """Say what the input is for."""
        self._box.set_class(purpose != COMMENT, "-other")
        self._box.border_title = Content(purpose.title or "comment")
        self._box.border_subtitle = Content(self.input.vim_mode if purpose == COMMENT else "")
        words = "Say something about the work" if self.is_busy else "What is to be done?"
        tree = self.state.tree
        is_open = self.state.status in STOPPED or (not self.is_busy and bool(tree.open_goals))
        self.input.can_go_on = is_open and tree.mission is not None
        if self.input.can_go_on:
            words = "Enter goes on · or say what is to be done"
        if self.approvals.approval is not None:
            words = "Answer above, or say something about the work"
        self.input.placeholder = Content("" if purpose != COMMENT else words)

    def on_vim_area_mode_told(self, message: VimArea.ModeTold) -> None:
        """Say in which mode vim's keys are."""
        self._box.border_subtitle = Content(message.text)

    def on_comment_input_scroll_requested(self, message: CommentInput.ScrollRequested) -> None:
        """Scroll the conversation from the input."""
        if message.pages:
            self.transcript.action_scroll_pages(message.pages)
        else:
            self.transcript.action_follow()


__all__ = ["WritingScreen"]
