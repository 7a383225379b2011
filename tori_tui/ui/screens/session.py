"""The live session: what the user wants becomes commands, what happens is shown.

Must not run anything; every intent goes over the bridge, every change comes back from it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar, Final

from textual.app import SystemCommand
from textual.content import Content
from textual.widget import Widget

from tori_tui.domain.agents import BUILD
from tori_tui.domain.commands import RewindTo, SwitchAgent, WithdrawComment
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import (
    CommentReceived,
    MessageAdded,
    Mode,
    QuestionAsked,
    RequestStarted,
    RunStatusChanged,
    TextStreamed,
)
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_page import plan_page
from tori_tui.render.amounts import shown_cost
from tori_tui.render.safe_text import one_line
from tori_tui.ui.actions import Scope, action_of_slash
from tori_tui.ui.bridge import Bridge, EventArrived, RecordArrived, SessionOpened, StateReset
from tori_tui.ui.commanding import Commanding
from tori_tui.ui.editor import edited_in_editor
from tori_tui.ui.notifying import TITLE_MARKS, Notifier, calling
from tori_tui.ui.outside import Outside
from tori_tui.ui.palette import Palette
from tori_tui.ui.planning import Planning, purpose_of
from tori_tui.ui.screens.diff_page import DiffPage
from tori_tui.ui.screens.talk import TalkScreen
from tori_tui.ui.slash import ExportWanted, read_shell
from tori_tui.ui.transcript.blocks import NoticeBlock
from tori_tui.ui.widgets.approval_bar import ApprovalBar
from tori_tui.ui.widgets.comment_input import COMMENT, CommentInput, Purpose
from tori_tui.ui.widgets.completion_popup import CompletionPopup, CompletionSources
from tori_tui.ui.widgets.goal_tree import GoalTree
from tori_tui.ui.widgets.panes import Frame
from tori_tui.ui.widgets.status_line import Status
from tori_tui.ui.widgets.waiting_list import WaitingList

MODES: Final[tuple[Mode, ...]] = ("plan", "ask", "edit", "auto")

QUIT_WITHIN_S: Final = 2.0
"""Two Ctrl+C within this time, when idle, quit."""

_IDLE_HINTS: Final = ("Enter send", "F1 keys", "Ctrl+P commands")
_BUSY_HINTS: Final = ("Esc interrupt", "Enter comment", "F1 keys", "Ctrl+P commands")


class SessionScreen(TalkScreen):
    """Panes, permission bar, input, status line."""

    SCOPES: ClassVar[tuple[Scope, ...]] = (
        "session",
        "input",
        "transcript",
        "goals",
        "context",
        "search",
        "approval",
    )

    def __init__(
        self,
        palette: Palette,
        bridge: Bridge,
        outside: Outside,
        *,
        clock: Callable[[], float],
        model: str = "",
        mode: str = "",
    ) -> None:
        super().__init__(palette, clock=clock)
        self._bridge = bridge
        self._outside = outside
        self._branch = ""
        self._sandbox = ""
        self._model, self._mode = model, mode
        """What is shown until the session tells."""
        self.approvals = ApprovalBar(palette, clock=clock, id="approval")
        sources = CompletionSources(lambda: self.state.tree, outside.agents, outside.files)
        self.popup = CompletionPopup(palette, sources, clock=clock, id="completion")
        self.input = CommentInput(outside.history, popup=self.popup, id="comment")
        self.waiting = WaitingList(palette, id="waiting")
        self._box = Frame(self.input, id="input-box")
        self._planning = Planning(bridge, tree=lambda: self.state.tree, tell=self.note)
        self._commanding = Commanding(
            bridge,
            state=lambda: self.state,
            tell=self.note,
            said=self.transcript.action_follow,
            edit_page=self._edit_plan_page,
            export=lambda wanted: self.run_worker(self._export(wanted), name="export", group="export"),
        )
        self.notifier = Notifier(outside.notice, self._write_to_terminal)
        self._question: QuestionAsked | None = None
        self._context_tokens = 0
        self._run_since_s: float | None = None
        self._quit_asked_s = float("-inf")
        self._unanswered = ""
        """The newest words of the user, until the model answers."""

    def compose_below(self) -> Iterable[Widget]:
        """Return the permission bar and the input."""
        return (self.approvals, self.waiting, self.popup, self._box)

    def on_mount(self) -> None:
        """Begin in the input."""
        self.input.focus()
        self._show_purpose(COMMENT)
        self._branch = self._outside.branch()
        self.show_status()

    @property
    def home(self) -> Widget:
        """The input, or the question that waits."""
        return self.approvals if self.approvals.approval is not None else self.input

    @property
    def is_busy(self) -> bool:
        """Whether a run is going on."""
        return self.state.status in ("running", "waiting")

    # ── from the bridge ──

    def on_session_opened(self, message: SessionOpened) -> None:
        """Show what the session holds so far."""
        self.tell_state(message.state, message.records)
        self._sandbox = message.sandbox.partition(":")[0]
        for text in (*((f"Sandbox {message.sandbox}",) if message.sandbox else ()), *message.notices):
            self.note(text)
        self._show_waiting()
        self.show_status()

    def on_state_reset(self, message: StateReset) -> None:
        """Begin anew after a lag."""
        self.tell_state(message.state, message.records)
        self._show_waiting()

    def on_record_arrived(self, message: RecordArrived) -> None:
        """Show a durable event."""
        event = message.record.event
        if isinstance(event, MessageAdded) and event.message.role == "assistant":
            self._unanswered = ""
        if isinstance(event, RunStatusChanged):
            self._run_changed(event)
        self.tell_record(message.record, message.state)
        self._call_user(calling(event))
        if isinstance(event, RunStatusChanged):
            self._show_purpose(self.input.purpose)
        self._show_waiting()

    def on_event_arrived(self, message: EventArrived) -> None:
        """Show something that happens."""
        event = message.event
        match event:
            case RequestStarted():
                self._context_tokens = event.context_tokens
                self.show_status()
            case TextStreamed():
                self._unanswered = ""
            case QuestionAsked():
                self._ask(event)
                self._call_user(event.text)
            case _:
                pass
        self.tell_event(event)

    def _call_user(self, text: str) -> None:
        """Say in the title how it stands, and call a user who looks elsewhere."""
        mission = self.state.tree.current_mission
        if mission is not None:
            self.notifier.show_title(f"{TITLE_MARKS.get(self.state.status, '○')} {mission.text}")
        if text and not self.app.app_focus:
            self.notifier.call(text)

    def _write_to_terminal(self, sequence: str) -> None:
        driver = self.app._driver
        if driver is not None:
            driver.write(sequence)

    def on_unmount(self) -> None:
        """Give the window its own title back."""
        self.notifier.end()

    def _run_changed(self, event: RunStatusChanged) -> None:
        self._branch = self._outside.branch()
        if event.status in ("running", "waiting"):
            self._run_since_s = self.clock() if self._run_since_s is None else self._run_since_s
            return
        self._run_since_s = None
        self._question = None
        if self.input.purpose.kind in ("deny", "answer"):
            self.input.end_purpose()
        if event.status == "interrupted" and self._unanswered and not self.input.draft:
            self.input.give_back(self._unanswered)
        self._unanswered = ""

    def on_comment_input_take_back_requested(self) -> None:
        """Take the newest comment that waits back into the input."""
        if (comment := self.waiting.newest) is not None:
            self._take_back(comment)

    def on_waiting_list_chosen(self, message: WaitingList.Chosen) -> None:
        """Take a comment back into the input."""
        self._take_back(message.comment)

    def _take_back(self, comment: CommentReceived) -> None:
        self._bridge.command(WithdrawComment(comment.comment_id))
        self.input.give_back(comment.text)
        self.input.focus()

    def _show_waiting(self) -> None:
        comments = [c for c in self.state.comments.values() if c.comment_id not in self.state.routed]
        self.waiting.show(comments)
        self.input.has_waiting = bool(comments)
        waiting = tuple(self.state.approvals.values())
        had_one = self.approvals.approval is not None
        self.approvals.show(waiting)
        if waiting and not had_one and self.input.purpose == COMMENT:
            self.approvals.focus()
        elif had_one and not waiting:
            if self.input.purpose.kind == "deny":
                self.input.end_purpose()
            if self.focused is self.approvals or self.focused is None:
                self.input.focus()

    def _ask(self, event: QuestionAsked) -> None:
        if self._question is not None and self._question.question_id == event.question_id:
            return  # told a second time, after a lag
        self._question = event
        options = "".join(f"\n{number}. {option}" for number, option in enumerate(event.options, 1))
        self.note(f"{event.text}{options}", "warning")
        self.input.begin(Purpose("answer", "answer the question", question_id=event.question_id))
        self.input.focus()

    # ── from the input ──

    def on_comment_input_submitted(self, message: CommentInput.Submitted) -> None:
        """Turn a text into what it was written for."""
        text, purpose = message.text, message.purpose
        match purpose.kind:
            case "comment":
                self._say(text)
            case "goal_comment":
                self._bridge.say(text, f"goal:{purpose.goal_id}")
            case "add" | "rename" | "drop":
                self._planning.finish(purpose, text)
                # The keys went from the tree; the next one is meant for it again.
                self.goals.focus()
            case "rewind":
                self._bridge.command(RewindTo(goal=purpose.goal_id))
                self.goals.focus()
            case "deny":
                if purpose.approval_id is not None:
                    self._bridge.deny(purpose.approval_id, text.strip())
            case "answer":
                if purpose.question_id is not None:
                    self._bridge.answer(purpose.question_id, _answer(self._question, text))
        if self.focused is None or self.focused is self.approvals:
            self.home.focus()

    def _say(self, text: str) -> None:
        if shell := read_shell(text):
            self.transcript.action_follow()
            self._bridge.command(shell)
            self._outside.remember(text)
            return
        word = text[1:].split(maxsplit=1)[0] if text.startswith("/") and len(text) > 1 else ""
        if word and self._commanding.obey(text):
            self._outside.remember(text)
            return
        if (action := action_of_slash(word)) is not None:
            self.call_later(self.run_action, action.name)
            return
        self._unanswered = text
        self.transcript.action_follow()
        self._bridge.say(text)
        self._outside.remember(text)

    def _edit_plan_page(self) -> None:
        """Show the plan in the user's editor and take over what he made of it."""
        tree = self.state.tree
        page = edited_in_editor(self.app, plan_page(tree), os.environ)
        if page is None:
            self.note("No editor: set VISUAL or EDITOR.", "warning")
            return
        self._planning.take_page(tree, page)

    def on_comment_input_purpose_changed(self, message: CommentInput.PurposeChanged) -> None:
        """Say what the input is for; a question for permission that still waits comes back."""
        self._show_purpose(message.purpose)
        if message.purpose == COMMENT and self.approvals.approval is not None:
            self.approvals.focus()

    def _show_purpose(self, purpose: Purpose) -> None:
        self._box.set_class(purpose != COMMENT, "-other")
        self._box.border_title = Content(purpose.title or "comment")
        words = "Say something about the work" if self.is_busy else "What is to be done?"
        self.input.placeholder = Content("" if purpose != COMMENT else words)

    def on_comment_input_scroll_requested(self, message: CommentInput.ScrollRequested) -> None:
        """Scroll the conversation from the input."""
        if message.pages:
            self.transcript.action_scroll_pages(message.pages)
        else:
            self.transcript.action_follow()

    # ── from the other panes ──

    def on_approval_bar_decided(self, message: ApprovalBar.Decided) -> None:
        """Let a call run."""
        self._bridge.allow(message.approval_id, message.scope)

    def on_approval_bar_denial_begun(self, message: ApprovalBar.DenialBegun) -> None:
        """Ask why not; the run goes on either way."""
        title = "deny: the reason, or nothing · Esc back"
        self.input.begin(Purpose("deny", title, approval_id=message.approval_id))
        self.input.focus()

    def on_approval_bar_typed_on(self, message: ApprovalBar.TypedOn) -> None:
        """Put a key that was on its way where it was meant to go."""
        self.input.add_to_draft(message.character)

    def on_goal_tree_intended(self, message: GoalTree.Intended) -> None:
        """Begin or do what the user wants of a goal."""
        goal_id, tree = message.goal_id, self.state.tree
        wanted = purpose_of(message.intent, tree, goal_id)
        if wanted is not None:
            self.remove_class("-goals-shown")
            self.input.begin(*wanted)
            self.input.focus()
        elif goal_id is not None and message.intent == "diff":
            self.run_worker(self._show_diff(goal_id), name="diff", exclusive=True, group="diff")
        elif goal_id is not None:
            self._planning.do(message.intent, goal_id)

    async def _export(self, wanted: ExportWanted) -> None:
        try:
            self.note(await asyncio.to_thread(self._outside.export, wanted.form, wanted.path))
        except ToriError as error:
            self.note(str(error), "warning")

    async def _show_diff(self, goal_id: GoalId) -> None:
        try:
            diff = await asyncio.to_thread(self._outside.goal_diff, self.state, goal_id)
        except ToriError as error:
            self.note(str(error), "warning")
            return
        goal = self.state.tree.find(goal_id)
        title = f"{goal_id} {one_line(goal.description, 200) if goal else ''}"
        if diff:
            self.app.push_screen(DiffPage(self.palette, title, diff, clock=self.clock))
        else:
            self.note(f"No change of a file is known of goal {goal_id}.")

    def commands(self) -> Iterable[SystemCommand]:
        """Return the actions, and a switch to each agent."""
        yield from super().commands()
        for name in self._outside.agents():
            switch = partial(self._bridge.command, SwitchAgent(name))
            yield SystemCommand(f"Agent {name}", f"/agent {name}", switch)

    # ── what is shown ──

    def note(self, text: str, level: str = "info") -> None:
        """Show a word of the app's own in the conversation."""
        self.story.tell_note(NoticeBlock(text, "warning" if level == "warning" else "info"))
        self.show_story()

    def show_status(self) -> None:
        """Show model, mode, context share, cost and branch."""
        state = self.state
        model = state.model_in_force or self._model
        turn = state.last_turns.get(state.active_context)
        tokens = self._context_tokens or (turn.usage.total_tokens if turn else 0)
        is_quitting = self.clock() - self._quit_asked_s < QUIT_WITHIN_S
        self.status_line.show(
            Status(
                status=state.status,
                hints=_BUSY_HINTS if self.is_busy else _IDLE_HINTS,
                note="Ctrl+C again quits" if is_quitting else "",
                model=model,
                mode=state.mode_in_force or self._mode,
                agent="" if state.agent == BUILD else state.agent,
                context_tokens=tokens,
                window_tokens=self._outside.window_of(model) if model and tokens else 0,
                cost=shown_cost(state.cost_usd, is_partial=state.has_unpriced_turns) if state.n_turns else "",
                branch=self._branch,
                sandbox=self._sandbox,
                started_s=self._run_since_s if state.status == "running" else None,
            )
        )

    def set_palette(self, palette: Palette) -> None:
        """Draw everything in other styles."""
        super().set_palette(palette)
        self.approvals.set_palette(palette)
        self.popup.set_palette(palette)
        self.waiting.set_palette(palette)

    # ── actions ──

    def action_interrupt(self) -> None:
        """Interrupt what runs; when idle, go back to the input."""
        if self.is_busy or self.story.is_counting:
            # In an idle session a command of the user's own may run.
            self._bridge.interrupt()
        self.remove_class("-goals-shown")
        if not self.is_busy or self.approvals.approval is None:
            self.input.focus()

    def action_copy_interrupt_or_quit(self) -> None:
        """Copy, else interrupt, else clear, else quit at the second time."""
        now_s = self.clock()
        if self.input.selected_text:
            self.app.copy_to_clipboard(self.input.selected_text)
        elif selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
        elif self.is_busy or self.story.is_counting:
            self._bridge.interrupt()
        elif self.input.text:
            self.input.end_purpose()
            self.input.load_text("")
        elif now_s - self._quit_asked_s < QUIT_WITHIN_S:
            self.call_later(self.run_action, "quit")
        else:
            self._quit_asked_s = now_s
            self.show_status()
            self.set_timer(QUIT_WITHIN_S, self.show_status)

    def action_next_mode(self) -> None:
        """Use the next permission mode."""
        now = self.state.mode or self._mode
        index = MODES.index(now) + 1 if now in MODES else 1
        self._bridge.switch_mode(MODES[index % len(MODES)])

    def action_go_on(self) -> None:
        """Go on with the mission."""
        self._bridge.go_on()


def _answer(question: QuestionAsked | None, text: str) -> str:
    """A number stands for the option of that number."""
    options, number = question.options if question else (), text.strip()
    return options[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(options) else text


__all__ = ["MODES", "SessionScreen"]
