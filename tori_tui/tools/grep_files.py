"""The tool that finds lines by content.

Must not run a regex in tori's own process.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from tori_tui.domain.errors import ToriError
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.request import ToolSpec
from tori_tui.permission.protected_paths import why_protected
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.changes import failed
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.workspace.files import FileUnusable
from tori_tui.workspace.hits import FoundLine, LineQuery
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.patterns import glob_of
from tori_tui.workspace.search import MATCHES_LIMIT, LinesFound, Search
from tori_tui.workspace.suggest import missing_file

NAME: Final = "grep_files"

CONTEXT_LIMIT_LINES: Final = 10

SHOWN_LIMIT_CHARS: Final = 60_000
"""100 matches of 500 characters and their paths."""

LEFT_OUT_LIMIT_PATHS: Final = 5


class GrepFiles(Struct, frozen=True):
    """Parameters of `grep_files`."""

    pattern: str
    path: Annotated[str, Meta(description="folder or file")] = "."
    glob: Annotated[str, Meta(description="only these files")] = ""
    ignore_case: bool = False
    context: Annotated[int, Meta(description="lines around", ge=0)] = 0


class GrepFilesTool:
    """Shows the lines that match a regular expression, by file."""

    name: Final = NAME
    effect: Final[Effect] = "read"

    def __init__(self, workspace: Workspace, search: Search) -> None:
        self._workspace = workspace
        self._search = search

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(GrepFiles))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Name the pattern and where it is looked for."""
        wanted = parse(GrepFiles, arguments, NAME)
        place = "" if wanted.path == "." else f" in {wanted.path}"
        glob = f" ({wanted.glob})" if wanted.glob else ""
        return Preview(f"{NAME} {wanted.pattern}{place}{glob}", paths=(wanted.path,))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Find the lines."""
        wanted = parse(GrepFiles, arguments, NAME)
        try:
            start = self._start(wanted.path)
            query = LineQuery(wanted.pattern, wanted.ignore_case, min(wanted.context, CONTEXT_LIMIT_LINES))
            glob = glob_of(wanted.glob) if wanted.glob else None
            found = await self._search.lines(start, query, glob, may_show=_may_show)
        except ToriError as error:
            return failed(error)
        n_matches = sum(line.is_match for line in found.lines)
        files = {line.path for line in found.lines}
        return ToolOutput(
            "\n".join(_bounded(self._rows(start, wanted, found))),
            is_error=not found.is_complete and not found.lines,
            details={"n_matches": n_matches, "n_files": len(files), "has_more": found.has_more},
        )

    def _start(self, path: str) -> Path:
        start = self._workspace.resolve(path)
        try:
            mode = start.stat().st_mode
        except OSError:
            raise missing_file(self._workspace, start, path) from None
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise FileUnusable(f"{path} is neither a folder nor a regular file.", "Search a folder.")
        return start

    def _rows(self, start: Path, wanted: GrepFiles, found: LinesFound) -> Iterator[str]:
        for path, lines in groupby(found.lines, key=lambda line: line.path):
            shown = self._workspace.shown(start / path if path else start)
            yield shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            yield from _file_rows(list(lines), has_gaps=wanted.context > 0)
        if not found.lines and found.is_complete:
            yield f"No line matches {wanted.pattern!r} (ignored and binary files are left out)."
        for path in found.left_out[:LEFT_OUT_LIMIT_PATHS]:
            yield f"[{path} matches but may hold secrets: name it as `path` to have it asked for]"
        if found.has_more:
            yield f"[first {MATCHES_LIMIT} matches: narrow the pattern, `path` or `glob`]"
        if not found.is_complete:
            yield "[stopped by the time limit: simplify the pattern or narrow `path`]"


def _may_show(path: str) -> bool:
    """Say whether a file that the call does not name may be shown without asking."""
    return not why_protected(path, "/", reads_only=True)


def _bounded(rows: Iterable[str]) -> Iterator[str]:
    left_chars = SHOWN_LIMIT_CHARS
    for row in rows:
        left_chars -= len(row) + 1
        if left_chars < 0:
            yield f"[cut after {SHOWN_LIMIT_CHARS:,} characters: narrow the search or ask for less context]"
            return
        yield row


def _file_rows(lines: list[FoundLine], has_gaps: bool) -> Iterator[str]:
    yield _row(lines[0])
    for before, line in pairwise(lines):
        if has_gaps and line.number > before.number + 1:
            yield "--"
        yield _row(line)


def _row(line: FoundLine) -> str:
    return f"{line.number}{':' if line.is_match else '-'}{line.text}"


__all__ = ["GrepFiles", "GrepFilesTool"]
