"""The live session: what the user wants becomes commands, what happens is shown.

Must not run anything; every intent goes over the bridge, every change comes back from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar, Final

from textual.app import SystemCommand

from tori_tui.domain.commands import RewindTo, SwitchAgent
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import (
    ApprovalChanged,
    MessageAdded,
    Mode,
    PlanChanged,
    QuestionAsked,
    RequestStarted,
    Rewound,
    RunStatusChanged,
    TextStreamed,
)
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_page import plan_page
from tori_tui.render.safe_text import one_line
from tori_tui.ui.actions import Scope, action_of_slash
from tori_tui.ui.bridge import Bridge, EventArrived, RecordArrived, SessionOpened, StateReset
from tori_tui.ui.commanding import Commanding
from tori_tui.ui.messages import ThemeTried
from tori_tui.ui.notifying import TITLE_MARKS, Notifier, calling
from tori_tui.ui.outside import Outside
from tori_tui.ui.palette import Palette
from tori_tui.ui.planning import Planning, purpose_of
from tori_tui.ui.screens.writing import WritingScreen
from tori_tui.ui.session_status import QUIT_WITHIN_S, Pane, SessionStatus
from tori_tui.ui.slash import ExportWanted, read_shell, why_not_sent
from tori_tui.ui.slash_help import SLASH_HELP
from tori_tui.ui.widgets.comment_input import COMMENT, CommentInput, Purpose, Words
from tori_tui.ui.widgets.goal_tree import GoalTree

MODES: Final[tuple[Mode, ...]] = ("plan", "ask", "edit", "auto")


class SessionScreen(WritingScreen):
    """Commands from the input and the panes, state to the status line and the title."""

    SCOPES: ClassVar[tuple[Scope, ...]] = (
        "session",
        "input",
        "transcript",
        "goals",
        "filter",
        "context",
        "search",
        "approval",
        "waiting",
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
        super().__init__(palette, bridge, outside, clock=clock)
        self.first_model = model
        self._status = SessionStatus(outside, clock, model, mode)
        self._planning = Planning(bridge, tree=lambda: self.state.tree, tell=self.note)
        self._commanding = Commanding(
            bridge,
            state=lambda: self.state,
            tell=self.note,
            said=self.transcript.action_follow,
            edit_page=lambda: self.run_worker(self._edit_plan_page(), name="editor", group="editor"),
            export=lambda wanted: self.run_worker(self._export(wanted), name="export", group="export"),
            switch_effort=self.switch_effort,
            use_theme=lambda name: self.app.post_message(ThemeTried(name)),
            own_commands=outside.own_commands,
        )
        self.notifier = Notifier(outside.notice, self._write_to_terminal)
        self._unanswered: Words | None = None
        """The newest words of the user, until the model answers."""

    def on_mount(self) -> None:
        """Begin in the input."""
        self.input.focus()
        self.show_purpose(COMMENT)
        self._status.look_at_branch()
        self.show_status()

    # ── from the bridge ──

    def on_session_opened(self, message: SessionOpened) -> None:
        """Show what the session holds so far."""
        self.tell_state(message.state, message.records)
        self._status.sandbox = message.sandbox.partition(":")[0]
        for text in (*((f"Sandbox {message.sandbox}",) if message.sandbox else ()), *message.notices):
            self.note(text)
        self.give_draft_back()
        self.show_waiting()
        self.show_purpose(self.input.purpose)
        self.show_status()

    def on_state_reset(self, message: StateReset) -> None:
        """Begin anew after a lag."""
        self.tell_state(message.state, message.records)
        self.show_waiting()
        self.show_purpose(self.input.purpose)

    def on_record_arrived(self, message: RecordArrived) -> None:
        """Show a durable event."""
        event = message.record.event
        if isinstance(event, MessageAdded) and event.message.role == "assistant":
            self._unanswered = None
        if isinstance(event, RunStatusChanged):
            self._run_changed(event)
        self.tell_record(message.record, message.state)
        self._call_user(calling(event))
        self.show_waiting()
        if isinstance(event, (RunStatusChanged, Rewound, ApprovalChanged, PlanChanged, MessageAdded)):
            self.show_purpose(self.input.purpose)

    def on_event_arrived(self, message: EventArrived) -> None:
        """Show something that happens."""
        event = message.event
        match event:
            case RequestStarted():
                self._status.context_tokens = event.context_tokens
                self.show_status()
            case TextStreamed():
                self._unanswered = None
            case QuestionAsked():
                self.ask(event)
                self._call_user(event.text)
            case _:
                pass
        was_counting = self.story.is_counting
        self.tell_event(event)
        if self.story.is_counting != was_counting:
            self.show_status()

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
        self.drafts.finish()

    def _run_changed(self, event: RunStatusChanged) -> None:
        self._status.run_changed(event)
        if event.status in ("running", "waiting"):
            return
        self.end_questions()
        if event.status == "interrupted" and self._unanswered and not self.input.draft:
            self.input.give_back(self._unanswered.text, self._unanswered.images)
        self._unanswered = None

    # ── from the input ──

    def on_comment_input_go_on_requested(self) -> None:
        """Go on with the work that stopped."""
        self.action_go_on()

    def on_comment_input_submitted(self, message: CommentInput.Submitted) -> None:
        """Turn a text into what it was written for."""
        text, purpose = message.words.text, message.purpose
        match purpose.kind:
            case "comment":
                self._say(message.words)
            case "goal_comment":
                self.bridge.say(text, f"goal:{purpose.goal_id}", message.words.images)
            case "add" | "rename" | "drop":
                self._planning.finish(purpose, text)
                # The keys went from the tree; the next one is meant for it again.
                self.goals.focus()
            case "rewind":
                self.bridge.command(RewindTo(goal=purpose.goal_id))
                self.goals.focus()
            case "deny":
                if purpose.approval_id is not None:
                    self.bridge.deny(purpose.approval_id, text.strip())
            case "answer":
                if purpose.question_id is not None:
                    self.bridge.answer(purpose.question_id, self.answer_of(text))
        if self.focused is None or self.focused is self.approvals:
            self.home.focus()

    def on_comment_input_given_up(self, message: CommentInput.GivenUp) -> None:
        """Go back to where the purpose came from."""
        is_trees = message.purpose.kind in ("add", "rename", "drop", "rewind", "goal_comment")
        (self.goals if is_trees and self.goals.display else self.home).focus()

    def _say(self, words: Words) -> None:
        text = words.text
        if shell := read_shell(text):
            self.transcript.action_follow()
            self.bridge.command(shell)
            self.outside.remember(words.remembered)
            return
        word = text[1:].split(maxsplit=1)[0] if text.startswith("/") and len(text) > 1 else ""
        if word and self._commanding.obey(text, words.images):
            self.outside.remember(words.remembered)
            return
        if (action := action_of_slash(word)) is not None:
            self.call_later(self.run_action, action.name)
            return
        if why := why_not_sent(text):
            self.note(why, "warning")
            self.input.give_back(text, words.images)
            return
        self._unanswered = words
        self.transcript.action_follow()
        self.bridge.say(text, images=words.images)
        self.outside.remember(words.remembered)

    async def _edit_plan_page(self) -> None:
        """Show the plan in the user's editor and take over what he made of it."""
        tree = self.state.tree
        page = await self.edit(plan_page(tree), "plan.md")
        if page is not None:
            self._planning.take_page(tree, page)

    # ── from the other panes ──

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
            self.note(await asyncio.to_thread(self.outside.export, wanted.form, wanted.path))
        except ToriError as error:
            self.note(str(error), "warning")

    async def _show_diff(self, goal_id: GoalId) -> None:
        try:
            diff = await asyncio.to_thread(self.outside.goal_diff, self.state, goal_id)
        except ToriError as error:
            self.note(str(error), "warning")
            return
        goal = self.state.tree.find(goal_id)
        title = f"{goal_id} {one_line(goal.description, 200) if goal else ''}"
        if diff:
            self.show_diff(title, diff)
        else:
            self.note(f"No change of a file is known of goal {goal_id}.")

    def commands(self) -> Iterable[SystemCommand]:
        """Return the actions, a switch to each agent, and the user's own commands."""
        yield from super().commands()
        for name in self.outside.agents():
            switch = partial(self.bridge.command, SwitchAgent(name))
            yield SystemCommand(f"Agent {name}", f"/agent {name}", switch)
        for own in self.outside.own_commands():
            yield SystemCommand(f"/{own.name} …", own.meaning, partial(self._begin, own.name))
        for word, form in SLASH_HELP.items():
            if action_of_slash(word) is None:
                usage, _, meaning = form.partition(": ")
                yield SystemCommand(usage, meaning, partial(self._begin, word))

    def _begin(self, word: str) -> None:
        """Let the user write on at a command."""
        if self.input.draft:
            self.note("Send or clear what you have written first.", "warning")
        else:
            self.input.give_back(f"/{word} ")
        self.input.focus()

    # ── what is shown ──

    @property
    def model(self) -> str:
        """The model of the next request."""
        return self._status.model_of(self.state)

    def show_purpose(self, purpose: Purpose) -> None:
        """Say what the input is for, and what Esc does."""
        super().show_purpose(purpose)
        self.show_status()

    def show_status(self) -> None:
        """Show model, mode, context share, cost and branch."""
        self.status_line.show(
            self._status.shown(
                self.state,
                pane=self._pane,
                is_busy=self.is_busy or self.story.is_counting,
                goes_back=self.input.purpose != COMMENT,
                effort=self.effort,
            )
        )

    @property
    def _pane(self) -> Pane:
        if self.focused is None or self.focused is self.input:
            return "input"
        if self.focused is self.goals:
            return "goals"
        return "transcript" if self.focused is self.transcript else "other"

    def on_descendant_focus(self) -> None:
        """Say what keys do where they go now."""
        self.show_status()

    # ── actions ──

    def action_interrupt(self) -> None:
        """Interrupt what runs; when idle, go back to the input."""
        if self.input.purpose != COMMENT:
            # As the line above the input says, wherever the focus is.
            self.input.give_up()
            return
        if self.is_busy or self.story.is_counting:
            # In an idle session a command of the user's own may run.
            self.bridge.interrupt()
        self.remove_class("-goals-shown")
        if not self.is_busy or self.approvals.approval is None:
            self.input.focus()

    def action_copy_interrupt_or_quit(self) -> None:
        """Copy, else interrupt, else clear, else quit at the second time."""
        if self.input.selected_text:
            self.app.copy_to_clipboard(self.input.selected_text)
        elif selected := self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
        elif self.is_busy or self.story.is_counting:
            self.bridge.interrupt()
        elif self.input.text:
            self.input.end_purpose()
            self.input.load_text("")
        elif self._status.asks_again_to_quit():
            self.call_later(self.run_action, "quit")
        else:
            self.show_status()
            self.set_timer(QUIT_WITHIN_S, self.show_status)

    def action_next_mode(self) -> None:
        """Use the next permission mode."""
        now = self._status.mode_of(self.state)
        index = MODES.index(now) + 1 if now in MODES else 1
        self.bridge.switch_mode(MODES[index % len(MODES)])

    def go_back_before(self, turn: int) -> None:
        """Go back to before a turn, files too."""
        self.bridge.command(RewindTo(turn=turn))

    def action_switch_diffs(self) -> None:
        """Show diffs in the other form, the one of a question too."""
        super().action_switch_diffs()
        self.approvals.show_diffs(self.transcript.diff_form)

    def action_go_on(self) -> None:
        """Go on with the mission."""
        self.bridge.go_on()


__all__ = ["MODES", "SessionScreen"]
