"""The tool that shows a file to the model.

Must not change anything, nor open what is no regular file.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from tori_tui.domain.errors import ToriError
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.changes import failed
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.workspace.files import FileUnusable
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.reading import FileWindow, Limits, read_window
from tori_tui.workspace.suggest import missing_file

NAME: Final = "read_file"

LISTED_LIMIT_ENTRIES: Final = 200


class ReadFile(Struct, frozen=True):
    """Parameters of `read_file`."""

    path: str
    offset: Annotated[int, Meta(description="first line", ge=1)] = 1
    limit: Annotated[int, Meta(description="lines", ge=1)] | None = None


class ReadFileTool:
    """Shows lines of a text file, the cells of a notebook, or what a folder holds."""

    name: Final = NAME
    effect: Final[Effect] = "read"

    def __init__(self, workspace: Workspace, ledger: FileLedger, limits: Limits | None = None) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._limits = limits or Limits()

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(ReadFile))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Name the file and the lines."""
        wanted = parse(ReadFile, arguments, NAME)
        last = "" if wanted.limit is None else str(wanted.offset + wanted.limit - 1)
        lines = f":{wanted.offset}-{last}" if wanted.offset > 1 or last else ""
        return Preview(f"{NAME} {wanted.path}{lines}", paths=(wanted.path,))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Read the file."""
        wanted = parse(ReadFile, arguments, NAME)
        try:
            return await asyncio.to_thread(self._read, wanted)
        except ToriError as error:
            return failed(error)

    def _read(self, wanted: ReadFile) -> ToolOutput:
        path = self._workspace.resolve(wanted.path)
        limits = replace(self._limits, lines=wanted.limit or self._limits.lines)
        try:
            if path.is_dir():
                return self._listed(path)
            window = read_window(path, wanted.offset, limits)
        except (FileNotFoundError, NotADirectoryError):
            raise missing_file(self._workspace, path, wanted.path) from None
        except OSError as error:
            raise FileUnusable(f"{wanted.path}: {error.strerror}.", "Read another file.") from None
        name = self._workspace.relative(path)
        self._ledger.saw(name, window.sha256)
        details: JsonObject = {
            "path": name,
            "sha256": window.sha256,
            "first_line": window.first_line,
            "last_line": window.last_line,
            "total_lines": window.total_lines,
        }
        return _told(wanted, window, details)

    def _listed(self, folder: Path) -> ToolOutput:
        with os.scandir(folder) as entries:
            names = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in entries)
        shown = names[:LISTED_LIMIT_ENTRIES]
        left = len(names) - len(shown)
        rest = [f"[{left:,} more: use glob_files]"] if left else []
        title = f"{self._workspace.shown(folder)} is a folder" + (":" if names else ", empty.")
        text = "\n".join([title, *shown, *rest])
        return ToolOutput(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _told(wanted: ReadFile, window: FileWindow, details: JsonObject) -> ToolOutput:
    if window.kind == "empty":
        return ToolOutput(f"{wanted.path} is empty.", details=details)
    if window.kind == "binary":
        return ToolOutput(
            f"{wanted.path} is a {window.what}, {window.size_bytes:,} bytes; it cannot be shown as text.",
            is_error=True,
            details=details,
        )
    if not window.lines:
        return ToolOutput(
            f"{wanted.path} has {window.total_lines:,} lines; line {wanted.offset:,} is behind its end.",
            is_error=True,
            details=details,
        )
    rows = [f"{number}\t{line}" for number, line in enumerate(window.lines, window.first_line)]
    if window.last_line < window.total_lines:
        rows.append(f"[lines to {window.total_lines:,} left out; next: offset={window.last_line + 1}]")
    return ToolOutput("\n".join(rows), details=details)


__all__ = ["ReadFile", "ReadFileTool"]
