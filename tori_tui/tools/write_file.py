"""The tool that creates a file or replaces all of it.

Must not write over what the agent has not seen.
"""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec import Struct

from tori_tui.domain.errors import ToriError
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import ArgumentsInvalid, CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.changes import FileChange, FileStale, carry_out, change_of, failed
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.edits import whole_text
from tori_tui.workspace.files import FileUnusable, digest, read_bytes
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.notebooks import SUFFIX, is_valid
from tori_tui.workspace.paths import Workspace

NAME: Final = "write_file"


class WriteFile(Struct, frozen=True):
    """Parameters of `write_file`."""

    path: str
    content: str


class WriteFileTool:
    """Writes a whole file; line ends, byte order mark, encoding and mode of an existing one stay."""

    name: Final = NAME
    effect: Final[Effect] = "write"

    def __init__(self, workspace: Workspace, ledger: FileLedger, outputs: Outputs) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._outputs = outputs

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(WriteFile))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Say what would change; what cannot be written is refused here already."""
        wanted = parse(WriteFile, arguments, NAME)
        try:
            change = await asyncio.to_thread(self._planned, wanted)
        except ToriError as error:
            raise ArgumentsInvalid(error.message, error.hint) from error
        return Preview(f"{NAME} {change.shown}", change.diff.text, paths=(wanted.path,))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Write the file."""
        wanted = parse(WriteFile, arguments, NAME)
        try:
            change = await asyncio.to_thread(self._planned, wanted)
            return await carry_out(change, scope, self._ledger, self._outputs)
        except ToriError as error:
            return failed(error)

    def _planned(self, wanted: WriteFile) -> FileChange:
        path = self._workspace.resolve_for_writing(wanted.path)
        before = read_bytes(path, is_real=True)
        after = whole_text(before or b"", wanted.content)
        change = change_of(self._workspace, path, before, after)
        if before and before != after:
            self._check_seen(change, digest(before))
        if path.suffix == SUFFIX and not is_valid(after):
            raise FileUnusable(f"{wanted.path}: a notebook must be a JSON object.", "Write valid JSON.")
        return change

    def _check_seen(self, change: FileChange, sha256: str) -> None:
        if not self._ledger.has_seen(change.name):
            raise FileStale(
                f"{change.shown} exists and you have not read it; it was left alone.",
                "Read it first, then write it, or use edit_file.",
            )
        if self._ledger.is_stale(change.name, sha256):
            raise FileStale(
                f"{change.shown} changed since you last saw it; it was left alone.",
                "Read it again, then write it with that change kept, or use edit_file.",
            )


__all__ = ["WriteFile", "WriteFileTool"]
