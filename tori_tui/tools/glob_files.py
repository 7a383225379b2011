"""The tool that finds files by name.

Must not open any of them.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from tori_tui.domain.errors import ToriError
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.changes import failed
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.workspace.files import FileUnusable
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.patterns import glob_of
from tori_tui.workspace.search import Search
from tori_tui.workspace.suggest import missing_file

NAME: Final = "glob_files"

SHOWN_LIMIT_PATHS: Final = 200


class GlobFiles(Struct, frozen=True):
    """Parameters of `glob_files`."""

    pattern: str
    path: Annotated[str, Meta(description="folder")] = "."


class GlobFilesTool:
    """Lists the files below a folder that a glob means, in the order of their paths."""

    name: Final = NAME
    effect: Final[Effect] = "read"

    def __init__(self, workspace: Workspace, search: Search) -> None:
        self._workspace = workspace
        self._search = search

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(GlobFiles))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Name the glob and the folder."""
        wanted = parse(GlobFiles, arguments, NAME)
        place = "" if wanted.path == "." else f" in {wanted.path}"
        return Preview(f"{NAME} {wanted.pattern}{place}", paths=(wanted.path,))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Find the files."""
        wanted = parse(GlobFiles, arguments, NAME)
        try:
            return await self._found(wanted)
        except ToriError as error:
            return failed(error)

    async def _found(self, wanted: GlobFiles) -> ToolOutput:
        start = self._workspace.resolve(wanted.path)
        if not start.exists():
            raise missing_file(self._workspace, start, wanted.path)
        if not start.is_dir():
            raise FileUnusable(f"{wanted.path} is no folder.", "Give a folder as `path`, or use read_file.")
        # An absolute glob that begins with the folder means the same as the rest of it.
        found = await self._search.files(start, glob_of(wanted.pattern.removeprefix(f"{start}/")))
        shown = [self._workspace.shown(start / path) for path in found.paths[:SHOWN_LIMIT_PATHS]]
        rows = [path.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for path in shown]
        if not rows:
            rows.append(f"No file matches {wanted.pattern!r} (ignored files are left out).")
        if left := len(found.paths) - len(shown):
            rows.append(f"[{left:,} more files: narrow the pattern]")
        if not found.is_complete:
            rows.append("[stopped by the time limit: narrow `path`]")
        return ToolOutput("\n".join(rows), details={"n_files": len(found.paths)})


__all__ = ["GlobFiles", "GlobFilesTool"]
