"""The files that a block names: of a search by its lines, of a call by its path, of words where they stand.

Must not open a file nor look whether it is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tori_tui.render.diff_parts import parsed_diff
from tori_tui.render.file_links import LINKS_LIMIT, FileLink, link_at, links_in
from tori_tui.render.wording import diff_of
from tori_tui.ui.transcript.blocks import Block, CallBlock, DiffBlock
from tori_tui.ui.transcript.finding import block_text
from tori_tui.ui.transcript.search_rows import HIT, SEARCHES, is_path

_GUTTER: Final = re.compile(r"^\s*[│┆] ")


def links_of(block: Block) -> tuple[FileLink, ...]:
    """Return the files that a block names, each place once, in order."""
    found: dict[FileLink, None] = {}
    for link in _links_of(block):
        found[link] = None
        if len(found) >= LINKS_LIMIT:
            break
    return tuple(found)


def _links_of(block: Block) -> Iterator[FileLink]:
    match block:
        case CallBlock(name="grep_files"):
            yield from _hits(block.output.split("\n"))
        case CallBlock(name="glob_files"):
            yield from (FileLink(line) for line in block.output.split("\n") if is_path(line))
        case CallBlock() if path := str(block.arguments.get("path") or ""):
            yield FileLink(path, _line_of(block))
        case DiffBlock():
            yield from _changed_files(block.diff)
        case _:
            yield from (found.link for found in links_in(block_text(block)))


def _hits(lines: Iterable[str]) -> Iterator[FileLink]:
    path = ""
    for line in lines:
        hit = HIT.match(line)
        if hit and path:
            if hit[2] == ":":
                yield FileLink(path, int(hit[1]))
        elif is_path(line):
            path = line


def _line_of(block: CallBlock) -> int:
    if diff := diff_of(block):
        return next((link.line for link in _changed_files(diff)), 0)
    first = block.details.get("first_line")
    return first if isinstance(first, int) and first > 1 else 0


def _changed_files(diff: str) -> Iterator[FileLink]:
    for file in parsed_diff(diff):
        lines = [line for hunk in file.hunks for line in hunk.lines]
        first = next((line.new for line in lines if line.kind == "added"), lines[0].new if lines else 0)
        if file.new_name and file.new_name != "/dev/null":
            yield FileLink(file.new_name, first)


def link_under(block: Block, rows: Sequence[str], y: int, x: int) -> FileLink | None:
    """Return the file that a character of a drawn block stands for, or None.

    Args:
        block: The block.
        rows: Its lines as they are drawn.
        y: Which of them.
        x: Which character of it.
    """
    if isinstance(block, CallBlock) and block.name in SEARCHES:
        texts = [_GUTTER.sub("", row).rstrip() for row in rows]
        hit = HIT.match(texts[y])
        if hit is None and block.name == "glob_files":
            return FileLink(texts[y]) if y > 0 and is_path(texts[y]) else None
        known = {link.path for link in links_of(block)}
        above = (text for text in reversed(texts[: y + 1]) if text in known)
        path = next(above, None)
        return FileLink(path, int(hit[1]) if hit else 0) if path and (hit or texts[y] == path) else None
    return link_at(rows[y], x)


__all__ = ["link_under", "links_of"]
