"""What a talk screen opens of what its blocks name: files at a line, diffs, checkpoints.

Must not reach files or saved trees itself; ports do, off the screen's own thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.domain.rewind import turn_after
from tori_tui.render.file_links import FileLink, spellings
from tori_tui.render.safe_text import one_line
from tori_tui.ui.editor import EditorFailed, opened_in_editor
from tori_tui.ui.file_port import FoundFile
from tori_tui.ui.screens.confirm import ConfirmScreen
from tori_tui.ui.screens.diff_page import DiffPage
from tori_tui.ui.screens.file_page import FilePage
from tori_tui.ui.screens.files import FilePlace, FilesScreen
from tori_tui.ui.screens.looking import LookingScreen
from tori_tui.ui.transcript.blocks import CheckpointBlock
from tori_tui.ui.transcript.checkpoints import Pair
from tori_tui.ui.widgets.transcript import Transcript

COUNTED_LIMIT: Final = 200
"""Of a resumed session's checkpoints the newest: to compare two trees takes about a millisecond."""


class OpeningScreen(LookingScreen):
    """Opens, asking once where what is opened lies outside or what is done cannot be seen."""

    # ── files ──

    def action_open_files(self) -> None:
        """Open a file that the marked block names, else the newest block in view that names one."""
        self.transcript.action_open_files()

    def on_transcript_files_wanted(self, message: Transcript.FilesWanted) -> None:
        """Show the file, or let the user choose one of several."""
        message.stop()
        self.run_worker(self._offer(message), name="files", exclusive=True, group="files")

    async def _offer(self, message: Transcript.FilesWanted) -> None:
        places = await asyncio.to_thread(self._found, message.links)
        if len(places) == 1:
            self._open(places[0])
        elif places:
            self.app.push_screen(FilesScreen(self.palette, places), self._open)
        elif not message.is_clicked:
            named = f" {one_line(message.links[0].path, 200)} is not there." if message.links else ""
            self.note(f"No file to open.{named} Mark a block that names one: n, p.")

    def _found(self, links: Sequence[FileLink]) -> list[FilePlace]:
        found = ((self._file(link.path), link.line) for link in links)
        places: dict[tuple[str, int], FilePlace] = {}
        for file, line in found:
            if file is not None:
                places.setdefault((file.path, line), (file, line))
        return list(places.values())

    def _file(self, name: str) -> FoundFile | None:
        found = (self.talk_ports.files.find(spelling) for spelling in spellings(name))
        return next((file for file in found if file is not None), None)

    def _open(self, place: FilePlace | None) -> None:
        if place is None:
            return
        file, _ = place
        if file.is_inside:
            self.run_worker(self._show_file(place), name="file", exclusive=True, group="files")
            return

        def answered(is_wanted: bool | None) -> None:
            if is_wanted:
                self.run_worker(self._show_file(place), name="file", exclusive=True, group="files")

        question = f"{one_line(file.path)}\nlies outside the work tree."
        self.app.push_screen(ConfirmScreen("Open it?", question, "opens it"), answered)

    async def _show_file(self, place: FilePlace) -> None:
        file, line = place
        try:
            text = await asyncio.to_thread(self.talk_ports.files.read, file.path)
        except ToriError as error:
            self.note(str(error), "warning")
            return

        def ended(wish: str | None) -> None:
            if wish == "editor":
                self.run_worker(self._edit_file(place), name="editor", group="editor")

        self.app.push_screen(FilePage(self.palette, file.shown, text, line, clock=self.clock), ended)

    async def _edit_file(self, place: FilePlace) -> None:
        file, line = place
        try:
            await opened_in_editor(self.app, file.path, line, os.environ)
        except EditorFailed as failure:
            self.note(str(failure), "warning")

    # ── diffs ──

    def action_switch_diffs(self) -> None:
        """Show diffs side by side, or again one side below the other."""
        self.transcript.action_switch_diffs()

    def on_transcript_diff_wanted(self, message: Transcript.DiffWanted) -> None:
        """Show a call's diff on a page of its own."""
        message.stop()
        self.show_diff(message.title, message.diff)

    def show_diff(self, title: str, diff: str) -> None:
        """Show a diff on a page of its own, in the form in which the conversation shows them."""
        form = self.transcript.diff_form
        self.app.push_screen(DiffPage(self.palette, title, diff, clock=self.clock, form=form))

    # ── checkpoints ──

    def on_transcript_checkpoint_chosen(self, message: Transcript.CheckpointChosen) -> None:
        """Show what changed there, or go back to it, asking once."""
        message.stop()
        if message.wish == "diff":
            self.run_worker(self._show_change(message.block), name="diff", exclusive=True, group="diff")
        else:
            self._ask_back(message.block)

    async def _show_change(self, block: CheckpointBlock) -> None:
        try:
            diff = await asyncio.to_thread(self.talk_ports.files.tree_diff, block.before, block.tree)
        except ToriError as error:
            self.note(str(error), "warning")
            return
        if diff:
            self.show_diff(
                f"Changed by {'you' if block.by == 'user' else 'the agent'}, turn {block.turn}", diff
            )
        else:
            self.note("This checkpoint's trees are not at hand.")

    def _ask_back(self, block: CheckpointBlock) -> None:
        turn = turn_after(self.state, block.seq)
        if turn is None:
            self.note("Nothing followed this checkpoint: there is nothing to take back.")
            return

        def answered(is_wanted: bool | None) -> None:
            if is_wanted:
                self.go_back_before(turn)

        question = f"Back to before turn {turn}, files and conversation? /undo takes it back."
        self.app.push_screen(ConfirmScreen("Go back?", question, "goes back"), answered)

    def go_back_before(self, turn: int) -> None:
        """Go back to before a turn; only a live session can."""
        self.note("A replay changes nothing.")

    def count_changes(self, pairs: Mapping[int, Pair]) -> None:
        """Find how many files changed at checkpoints, by the keys of their blocks."""
        if pairs:
            newest = dict(list(pairs.items())[-COUNTED_LIMIT:])
            self.run_worker(self._count(newest), name="count", group="count")

    async def _count(self, pairs: Mapping[int, Pair]) -> None:
        try:
            numbers = await asyncio.to_thread(self.talk_ports.files.count_changes, tuple(pairs.values()))
        except ToriError:
            return  # the line says that files changed, not how many
        if len(numbers) == len(pairs):
            self.show_counts(dict(zip(pairs, numbers, strict=True)))

    def show_counts(self, numbers: Mapping[int, int]) -> None:
        """Show them."""
        raise NotImplementedError


__all__ = ["OpeningScreen"]
