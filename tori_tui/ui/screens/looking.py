"""What a talk screen lets the user look at beside the conversation: the next request, and what all cost.

Must not find anything out; numbers come through ports, off the screen's own thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from textual.screen import Screen
from textual.widget import Widget

from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.inspection import ContextPage
from tori_tui.domain.request import Effort
from tori_tui.domain.state import SessionState
from tori_tui.render.spending import spending_lines
from tori_tui.ui.editor import EditorFailed, edited_in_editor
from tori_tui.ui.palette import Palette
from tori_tui.ui.screens.efforts import DEFAULT, EffortsScreen
from tori_tui.ui.screens.models import ModelsScreen
from tori_tui.ui.talk_ports import TalkPorts
from tori_tui.ui.widgets.context_pane import ContextPane
from tori_tui.ui.widgets.search_bar import SearchBar
from tori_tui.ui.widgets.transcript import Transcript


class LookingScreen(Screen[None]):
    """Opens and closes what stands beside the conversation."""

    def __init__(self, palette: Palette, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self.palette = palette
        self.clock = clock
        self.transcript = Transcript(palette, clock=clock, id="transcript")
        self.search_bar = SearchBar(id="search")
        self.state = SessionState()
        self.context_pane = ContextPane(palette, id="context")
        self.talk_ports = TalkPorts()

    def connect(self, ports: TalkPorts) -> None:
        """Say where what is shown beside the conversation comes from."""
        self.talk_ports = ports
        self.context_pane.connect(ports.context)

    @property
    def home(self) -> Widget:
        """The widget that has the focus when nothing else wants it."""
        raise NotImplementedError

    def note(self, text: str, level: str = "info") -> None:
        """Show a word of the app's own in the conversation."""
        raise NotImplementedError

    def action_toggle_context(self) -> None:
        """Show or hide the next request; in a narrow window it takes the conversation's place."""
        self.toggle_class("-context-shown")
        if self.has_class("-context-shown"):
            self.remove_class("-goals-shown")
            self.context_pane.show(self.state)
            self.context_pane.opened()
            self.context_pane.focus()
        else:
            self.home.focus()

    def on_context_pane_closed(self, message: ContextPane.Closed) -> None:
        """Close the pane again."""
        if self.has_class("-context-shown"):
            self.action_toggle_context()

    # ── searching ──

    def action_search(self) -> None:
        """Look for words in the conversation."""
        self.remove_class("-goals-shown", "-context-shown")
        self.search_bar.open()
        self.search_bar.show(self.transcript.find(self.search_bar.words))

    def on_search_bar_changed(self, message: SearchBar.Changed) -> None:
        """Go to the nearest hit of what was typed so far."""
        self.search_bar.show(self.transcript.find(message.words))

    def on_search_bar_stepped(self, message: SearchBar.Stepped) -> None:
        """Go to the next hit."""
        self.search_bar.show(self.transcript.find(self.search_bar.words, message.step, stays=False))

    def on_search_bar_closed(self, message: SearchBar.Closed) -> None:
        """Go on in the conversation, at the hit."""
        self.transcript.focus()

    def on_transcript_page_wanted(self, message: Transcript.PageWanted) -> None:
        """Show a block in the user's editor; what is changed there changes nothing here."""
        self.run_worker(self.edit(message.text), name="editor", group="editor")

    async def edit(self, text: str, name: str = "text.md") -> str | None:
        """Return what the user made of a text in his editor, or None if that failed, which is told."""
        try:
            return await edited_in_editor(self.app, text, os.environ, name)
        except EditorFailed as failure:
            self.note(str(failure), "warning")
            return None

    # ── models ──

    def action_choose_model(self) -> None:
        """Choose the model of the next request and those after it."""

        def chosen(name: str | None) -> None:
            if name is not None:
                self.talk_ports.switch_model(name)

        ports = self.talk_ports
        page = ModelsScreen(self.palette, ports.models(), self.model, ports.model_sources())
        self.app.push_screen(page, chosen)

    @property
    def model(self) -> str:
        """The model of the next request; empty where it is not known yet."""
        return self.state.model_in_force

    @property
    def effort(self) -> Effort:
        """What the model is told to think; empty where it goes by its own."""
        wanted = self.state.effort
        return wanted if wanted and wanted in self.talk_ports.efforts(self.model) else ""

    def action_choose_effort(self) -> None:
        """Choose how much the model thinks."""

        def chosen(effort: EffortChoice | None) -> None:
            if effort is not None:
                self.switch_effort(effort)

        efforts = self.talk_ports.efforts(self.model)
        if efforts:
            self.app.push_screen(EffortsScreen(self.palette, self.model, efforts, self.state.effort), chosen)
        else:
            self.note(effort_unknown(self.model, efforts), "warning")

    def switch_effort(self, effort: EffortChoice) -> None:
        """Let the model think more or less, and say so where it cannot be told."""
        efforts = self.talk_ports.efforts(self.model)
        if effort != DEFAULT and effort not in efforts:
            self.note(effort_unknown(self.model, efforts), "warning")
        self.talk_ports.switch_effort(effort)

    # ── cost ──

    def action_tell_cost(self) -> None:
        """Say what the session cost so far, in all and by goal."""
        before = int(self.state.next_seq)
        self.run_worker(lambda: self._find_cost(before), thread=True, exclusive=True, group="cost")

    def _find_cost(self, before: int) -> None:
        page = self.talk_ports.context(before)
        self.app.call_from_thread(self._show_cost, page)

    def _show_cost(self, page: ContextPage | None) -> None:
        if page is None or not page.totals.n_turns:
            self.note("Nothing was sent yet, so nothing was paid.")
            return
        self.note("\n".join(spending_lines(page.totals, self.state)))


def effort_unknown(model: str, efforts: Sequence[Effort]) -> str:
    """Return in words why an effort is not passed on."""
    if efforts:
        return f"{model} takes {', '.join(efforts)}: with another effort it thinks as it does by itself."
    return (
        f"tori does not know that {model or 'the model'} takes an effort, so it is not told of one. "
        f'If it does: efforts = ["low", "medium", "high"] under [models."{model or "NAME"}"].'
    )


__all__ = ["LookingScreen"]
