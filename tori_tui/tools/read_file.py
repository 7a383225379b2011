"""The tool that shows a file to the model.

Must not change anything, nor open what is no regular file.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
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
from tori_tui.workspace.files import FileUnusable, read_bytes
from tori_tui.workspace.images import IMAGE_LIMIT_BYTES, image_part
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.notebooks import SUFFIX as NOTEBOOK
from tori_tui.workspace.outline import Definition, outline_of
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.reading import FileWindow, Limits, read_window
from tori_tui.workspace.suggest import missing_file
from tori_tui.workspace.syntax import SIZE_LIMIT_BYTES as OUTLINE_LIMIT_BYTES

NAME: Final = "read_file"

LISTED_LIMIT_ENTRIES: Final = 200

OUTLINE_FROM_LINES: Final = 60
"""So many lines must be left out before it pays to say what they define."""
OUTLINE_LIMIT_ROWS: Final = 40
"""About 600 tokens; what is inside classes goes first."""


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
        self._outlined: set[str] = set()
        """Contents whose outline was told: a file that is paged through tells it once."""

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
        told = _told(wanted, window, details, self._outline(path, window))
        if window.kind != "binary" or window.size_bytes > IMAGE_LIMIT_BYTES:
            return told
        image = image_part(read_bytes(path, is_real=True) or b"")
        if image is None:
            return told
        text = f"{wanted.path}: an image, {window.size_bytes:,} bytes; it follows for a model that sees."
        return replace(told, text=text, images=(image,), is_error=False)

    def _outline(self, path: Path, window: FileWindow) -> list[str]:
        """Return rows that say what the lines define which are not shown."""
        n_left_out = window.total_lines - len(window.lines)
        is_small = n_left_out < OUTLINE_FROM_LINES or window.size_bytes > OUTLINE_LIMIT_BYTES
        if is_small or window.kind != "text" or path.suffix == NOTEBOOK or window.sha256 in self._outlined:
            return []
        self._outlined.add(window.sha256)
        try:
            text = (read_bytes(path, is_real=True) or b"").decode("utf-8", "replace")
        except FileUnusable:
            return []
        rest = [
            part
            for part in outline_of(path.name, text)
            if not window.first_line <= part.first_line <= window.last_line
        ]
        return _outline_rows(rest)

    def _listed(self, folder: Path) -> ToolOutput:
        with os.scandir(folder) as entries:
            names = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in entries)
        shown = names[:LISTED_LIMIT_ENTRIES]
        left = len(names) - len(shown)
        rest = [f"[{left:,} more: use glob_files]"] if left else []
        title = f"{self._workspace.shown(folder)} is a folder" + (":" if names else ", empty.")
        text = "\n".join([title, *shown, *rest])
        return ToolOutput(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _outline_rows(parts: Sequence[Definition]) -> list[str]:
    if len(parts) > OUTLINE_LIMIT_ROWS:
        parts = [part for part in parts if part.depth == 0] or parts
    rows = [f"{'  ' * part.depth}{part.first_line}-{part.last_line} {part.label}" for part in parts]
    left_out = len(rows) - OUTLINE_LIMIT_ROWS
    more = [f"[{left_out} more]"] if left_out > 0 else []
    return ["[not shown here:]", *rows[:OUTLINE_LIMIT_ROWS], *more] if rows else []


def _told(wanted: ReadFile, window: FileWindow, details: JsonObject, outline: Sequence[str]) -> ToolOutput:
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
    rows += outline
    return ToolOutput("\n".join(rows), details=details)


__all__ = ["ReadFile", "ReadFileTool"]
