"""What ripgrep is told and what it answers, so that its results are those of tori's own search.

Must not start processes; `search` does.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tori_tui.workspace.hits import FoundLine, LineQuery, preview
from tori_tui.workspace.patterns import FileGlob
from tori_tui.workspace.tree import in_repository

COMMON: Final = (
    "--no-config", "--hidden", "--no-messages", "--no-ignore-messages", "--sort=path",
    "--no-ignore-dot", "--no-ignore-global", "--no-ignore-exclude", "--glob=!.git", "--glob=!.trace",
)  # fmt: skip

OUTSIDE_REPOSITORY: Final = ("--no-require-git", "--no-ignore-parent")
"""With these and `COMMON` exactly the rule that `tree` states."""

_TAIL: Final = re.compile(
    rb'"line_number":(\d+),"absolute_offset":(\d+),"submatches":\[(?:\{"match":\{.*?\},"start":(\d+),"end":(\d+))?'
)
"""The end of an answer too long to be read whole."""


def files_command(rg: str, start: Path, glob: FileGlob | None) -> list[str]:
    """Return the command that lists files below `start`, its cwd, each name ended by NUL."""
    return [rg, "--files", "--null", *_rule(start), *_names(glob), "--", "./"]


def lines_command(rg: str, start: Path, query: LineQuery, glob: FileGlob | None) -> list[str]:
    """Return the command that searches `start`, a file or its cwd, and answers in JSON."""
    case = ["--ignore-case"] if query.ignore_case else ["--case-sensitive"]
    context = [f"--context={query.context_lines}"] if query.context_lines else []
    own = ["--json", "--crlf", "--no-mmap", *case, *context, f"--regexp={query.regex}"]
    return [rg, *_rule(start), *_names(glob), *own, "--", "./" if start.is_dir() else start.as_posix()]


def _rule(start: Path) -> tuple[str, ...]:
    return COMMON if in_repository(start) else (*COMMON, *OUTSIDE_REPOSITORY)


def _names(glob: FileGlob | None) -> list[str]:
    """Let ripgrep skip files that cannot be meant; what is really meant the glob itself says."""
    names = glob.name_globs if glob else ()
    return [*(f"--type-add=tori:{name}" for name in names), "--type=tori"] if names else []


@dataclass(slots=True)
class JsonAnswers:
    """Turns ripgrep's JSON into found lines, a file at a time, binary files left out."""

    start: Path
    glob: FileGlob | None
    _lines: list[FoundLine] = field(default_factory=list)

    def feed(self, raw: bytes, is_whole: bool) -> Iterator[FoundLine]:
        """Take one answer; yield a file's lines when the file is over."""
        if not is_whole:
            self._take_long(raw)
            return
        answer = json.loads(raw)
        kind, data = answer["type"], answer["data"]
        if kind == "begin":
            self._lines = []
        elif kind in ("match", "context"):
            self._lines.append(_found(data, kind == "match"))
        elif kind == "end":
            # A file with a NUL is binary wherever the NUL stands.
            path = _path(data["path"])
            if data.get("binary_offset") is None and (not path or not self.glob or self.glob.matches(path)):
                yield from self._lines
            self._lines = []

    def _take_long(self, raw: bytes) -> None:
        tail = _TAIL.search(raw)
        head = raw[: raw.find(b'"lines"')]
        path = re.search(rb'"path":(\{[^}]*\})', head)
        if tail is None or path is None:
            return
        name = _path(json.loads(path[1]))
        offset, start, end = int(tail[2]), int(tail[3] or 0), int(tail[4] or 0)
        with open(self.start / name if name else self.start, "rb") as file:
            file.seek(offset + max(0, start - 1_000))
            text = file.read(2_000 + min(end - start, 1_000)).decode("utf-8", "replace").partition("\n")[0]
        shown = preview(text, min(start, 1_000), min(start, 1_000) + min(end - start, 1_000))
        self._lines.append(FoundLine(name, int(tail[1]), f"[of a very long line] {shown}"))


def _found(data: Mapping[str, object], is_match: bool) -> FoundLine:
    line = _bytes(data["lines"]).removesuffix(b"\n").removesuffix(b"\r")
    start, end = 0, 0
    submatches = data["submatches"]
    if isinstance(submatches, list) and submatches:
        start, end = (len(line[: submatches[0][key]].decode("utf-8", "replace")) for key in ("start", "end"))
    number = data["line_number"]
    text = preview(line.decode("utf-8", "replace"), start, end)
    return FoundLine(_path(data["path"]), number if isinstance(number, int) else 0, text, is_match)


def _path(value: object) -> str:
    path = os.fsdecode(_bytes(value))
    return path.removeprefix("./") if path.startswith("./") else ""


def _bytes(value: object) -> bytes:
    """Return what ripgrep writes as text, or as base64 where it is no UTF-8."""
    if not isinstance(value, Mapping):
        return b""
    text = value.get("text")
    return text.encode() if isinstance(text, str) else base64.b64decode(str(value.get("bytes", "")))


__all__ = ["JsonAnswers", "files_command", "lines_command"]
