"""The tool that replaces one text in a file.

Must not touch any other byte; `workspace.edits` holds the rules.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from msgspec import Meta, Struct

from tori_tui.domain.errors import ToriError
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import ArgumentsInvalid, CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.changes import FileChange, FileStale, carry_out, change_of, failed
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.edits import EditRefused, EditResult, replace_text
from tori_tui.workspace.files import digest, read_bytes
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.notebooks import SUFFIX, edit_notebook
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.suggest import missing_file

NAME: Final = "edit_file"


class EditFile(Struct, frozen=True):
    """Parameters of `edit_file`."""

    path: str
    old: str
    new: str
    replace_all: Annotated[bool, Meta(description="every occurrence")] = False


class EditFileTool:
    """Replaces a text that stands in a file exactly once, or all of its occurrences."""

    name: Final = NAME
    effect: Final[Effect] = "write"

    def __init__(self, workspace: Workspace, ledger: FileLedger, outputs: Outputs) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._outputs = outputs

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(EditFile))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Say what would change; an edit that cannot be done is refused here already."""
        wanted = parse(EditFile, arguments, NAME)
        try:
            change = await asyncio.to_thread(self._planned, wanted)
        except ToriError as error:
            raise ArgumentsInvalid(error.message, error.hint) from error
        return Preview(f"{NAME} {change.shown}", change.diff.text, paths=(wanted.path,))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Edit the file."""
        wanted = parse(EditFile, arguments, NAME)
        try:
            change = await asyncio.to_thread(self._planned, wanted)
            self._check_fresh(change)
            return await carry_out(change, scope, self._ledger, self._outputs)
        except ToriError as error:
            return failed(error)

    def _planned(self, wanted: EditFile) -> FileChange:
        path = self._workspace.resolve_for_writing(wanted.path)
        before = read_bytes(path, is_real=True)
        if before is None and wanted.old:
            raise missing_file(self._workspace, path, wanted.path)
        edit = edit_notebook if path.suffix == SUFFIX and before else replace_text
        try:
            result = edit(before or b"", wanted.old, wanted.new, wanted.replace_all)
        except EditRefused as error:
            raise EditRefused(f"{wanted.path}: {error.message}", error.hint) from error
        return change_of(self._workspace, path, before, result.data, _note(result))

    def _check_fresh(self, change: FileChange) -> None:
        """Refuse once where the content is not what the agent saw; then `old` itself is the proof."""
        if change.before is None:
            return
        sha256 = digest(change.before)
        if not self._ledger.is_stale(change.name, sha256) or self._ledger.was_refused(change.name, sha256):
            return
        self._ledger.note_refusal(change.name, sha256)
        raise FileStale(
            f"{change.shown} changed since you last saw it; it was left alone.",
            "Read it again, then repeat the edit if it still fits.",
        )


def _note(result: EditResult) -> str:
    place = f"First at line {result.first_line}, {result.n_replaced} in all." if result.n_replaced > 1 else ""
    return "\n".join(filter(None, (place or f"At line {result.first_line}.", result.note)))


__all__ = ["EditFile", "EditFileTool"]
