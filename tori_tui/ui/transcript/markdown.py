"""Markdown to lines, piece by piece, so that a growing answer costs only its last piece.

Must not open links, images or HTML: what is no text is named, and HTML is shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich.style import Style
from rich.text import Text

from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.code import highlighted
from tori_tui.ui.transcript.lines import prefixed, wrapped

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_CONTINUES = re.compile(r"\s|[-*+]\s|\d{1,9}[.)]\s|>|\|")
"""A line after a blank one that may belong to the piece before: indented, an item, a quote, a table."""

NESTING_LIMIT: Final = 120
"""Levels, two of which a list takes; what stands deeper the parser leaves out."""

_PARSER: Final = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING_LIMIT}).enable(
    ["table", "strikethrough"]
)

MIN_COLUMN_CELLS: Final = 2
"""One wide character."""

COLUMN_GAP_CELLS: Final = 3

MARKS_LIMIT: Final = 400
BRACKETS_LIMIT: Final = 200
UNCLOSED_LIMIT: Final = 50
"""Above any of these a paragraph is shown as it is: the time to find pairs grows with the square of their
number, most of all for brackets that nothing closes; 200 of those take 40 ms."""

_MARKS: Final = re.compile(r"[*_`~<!&\\\[]")

_OWN_PARAGRAPH: Final = re.compile(r"\s*(?:[-*+]\s|\d{1,9}[.)]\s|>|\||#|$)")
"""A line that begins with this belongs to no paragraph before it."""


def pieces_of(text: str) -> list[str]:
    """Cut Markdown where a blank line ends whatever stood before.

    Joining the pieces gives the text; each can be rendered alone, and in a growing text
    every piece but the last stays as it is.
    """
    pieces: list[str] = []
    current: list[str] = []
    fence = ""
    is_after_blank = False
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if is_after_blank and not fence and current and line.strip() and not _CONTINUES.match(line):
            pieces.append("".join(current))
            current = []
        if mark and not fence:
            fence = mark.group(1)
        elif fence and _closes(line, fence):
            fence = ""
        current.append(line)
        is_after_blank = not line.strip() and not fence
    if current:
        pieces.append("".join(current))
    return pieces


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(fence) and not stripped.strip(fence[0])


def is_for_parsing(text: str) -> bool:
    """Say whether a parser of Markdown is done with a text in short time, whoever wrote it."""
    fence = paragraph = ""
    may_be_heavy = text.count("[") > UNCLOSED_LIMIT or _is_heavy(text)
    for line in text.split("\n") if may_be_heavy else ():
        mark = _FENCE.match(line)
        if fence:
            fence = "" if _closes(line, fence) else fence
            continue
        fence = mark.group(1) if mark else ""
        paragraph = line if _OWN_PARAGRAPH.match(line) else paragraph + line
        if _is_heavy(paragraph):
            return False
    return True


def _is_heavy(text: str) -> bool:
    n_open = text.count("[")
    if n_open > BRACKETS_LIMIT or n_open - text.count("]") > UNCLOSED_LIMIT:
        return True
    return len(text) > MARKS_LIMIT and len(_MARKS.findall(text)) > MARKS_LIMIT


def markdown_lines(text: str, width: int, palette: Palette) -> list[Text]:
    """Return the lines of one piece of Markdown (or of a whole text)."""
    if not is_for_parsing(text):
        return [part for line in text.rstrip("\n").split("\n") for part in wrapped(Text(line), width)]
    root = SyntaxTreeNode(_PARSER.parse(text))
    return _Writer(palette).blocks(root.children, width)


class _Writer:
    """Writes block nodes as lines; its only state is the palette."""

    def __init__(self, palette: Palette) -> None:
        self._palette = palette

    def blocks(self, nodes: Sequence[SyntaxTreeNode], width: int, *, is_tight: bool = False) -> list[Text]:
        lines: list[Text] = []
        for node in nodes:
            if lines and not is_tight:
                lines.append(Text())
            lines.extend(self._block(node, max(1, width)))
        return lines

    def _block(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        palette = self._palette
        match node.type:
            case "paragraph":
                return wrapped(self.inline(node), width)
            case "heading":
                line = self.inline(node, palette.heading)
                return wrapped(line, width)
            case "bullet_list" | "ordered_list":
                return self._items(node, width)
            case "blockquote":
                bar = Text("▎ ", palette.border)
                lines = self.blocks(node.children, width - 2)
                for line in lines:
                    line.stylize_before(palette.muted)
                return prefixed(lines, bar, bar)
            case "fence" | "code_block":
                return self._code(node, width)
            case "hr":
                return [Text("─" * width, palette.border)]
            case "table":
                return self._table(node, width)
            case _:
                return wrapped(Text(node.content), width)

    def _items(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        is_tight = all(child.hidden for item in node.children for child in item.children if _is_text(child))
        number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        lines: list[Text] = []
        for item in node.children:
            marker = f"{number}. " if number is not None else "• "
            if lines and not is_tight:
                lines.append(Text())
            below = self.blocks(item.children, width - len(marker), is_tight=is_tight) or [Text()]
            lines.extend(prefixed(below, Text(marker, self._palette.accent), Text(" " * len(marker))))
            number = number + 1 if number is not None else None
        return lines

    def _code(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        ground = self._palette.code_block
        language = node.info.split()[0] if node.info.strip() else ""
        lines: list[Text] = []
        for line in highlighted(node.content.rstrip("\n"), language, self._palette):
            for part in wrapped(line, width - 2):
                body = Text.assemble(" ", part, " " * max(0, width - 1 - part.cell_len))
                body.stylize_before(ground)
                lines.append(body)
        return lines

    def _table(self, node: SyntaxTreeNode, width: int) -> list[Text]:
        sections = node.children
        rows = [[self.inline(cell) for cell in row.children] for part in sections for row in part.children]
        if not rows or not rows[0]:
            return []
        if len(rows[0]) * (MIN_COLUMN_CELLS + COLUMN_GAP_CELLS) > width + COLUMN_GAP_CELLS:
            # More columns than there is room for: a cell a line.
            return [part for row in rows for cell in row for part in wrapped(cell, width)]
        widths = _fitted(
            [max(row[i].cell_len for row in rows if i < len(row)) for i in range(len(rows[0]))], width
        )
        lines: list[Text] = []
        for index, row in enumerate(rows):
            if index == 0:
                for cell in row:
                    cell.stylize_before(self._palette.strong)
            lines.extend(self._row(row, widths))
            if index == 0:
                lines.append(Text("─┼─".join("─" * w for w in widths), self._palette.border))
        return lines

    def _row(self, cells: list[Text], widths: list[int]) -> list[Text]:
        columns = [wrapped(cell, w) for cell, w in zip(cells, widths, strict=False)]
        bar = Text(" │ ", self._palette.border)
        lines = []
        for y in range(max(len(column) for column in columns)):
            parts = [column[y] if y < len(column) else Text() for column in columns]
            padded = [
                Text.assemble(part, " " * (w - part.cell_len)) for part, w in zip(parts, widths, strict=False)
            ]
            lines.append(bar.join(padded))
        return lines

    def inline(self, node: SyntaxTreeNode, style: Style | None = None) -> Text:
        """Return the text of a paragraph, heading or cell with its emphasis."""
        text = Text(style=style or "")
        for child in node.children:
            if child.type == "inline":
                self._spans(child.children, text, style or Style.null())
        return text

    def _spans(self, nodes: Sequence[SyntaxTreeNode], text: Text, style: Style) -> None:
        palette = self._palette
        for node in nodes:
            match node.type:
                case "text":
                    text.append(node.content, style)
                case "code_inline":
                    text.append(node.content, style + palette.code)
                case "strong":
                    self._spans(node.children, text, style + Style(bold=True))
                case "em":
                    self._spans(node.children, text, style + Style(italic=True))
                case "s":
                    self._spans(node.children, text, style + Style(strike=True))
                case "softbreak" | "hardbreak":
                    text.append("\n")
                case "link":
                    self._link(node, text, style)
                case "image":
                    text.append(f"[image: {node.content or node.attrs.get('src', '')}]", palette.muted)
                case _:
                    text.append(node.content, style)

    def _link(self, node: SyntaxTreeNode, text: Text, style: Style) -> None:
        start = len(text)
        self._spans(node.children, text, style + self._palette.link)
        target = str(node.attrs.get("href", ""))
        if target and target != text.plain[start:]:
            text.append(f" ({target})", self._palette.muted)


def _is_text(node: SyntaxTreeNode) -> bool:
    return node.type == "paragraph"


def _fitted(widths: list[int], width: int) -> list[int]:
    """Narrow the widest columns until the table fits."""
    widths = [max(1, w) for w in widths]
    room = width - COLUMN_GAP_CELLS * (len(widths) - 1)
    while sum(widths) > room and max(widths) > MIN_COLUMN_CELLS:
        widths[widths.index(max(widths))] -= 1
    return widths


__all__ = ["is_for_parsing", "markdown_lines", "pieces_of"]
