"""A session folded as `tori show` prints it, as a picture that loads no font from anywhere.

Must not hold a character that no XML may hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from typing import Final

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tori_tui.render.folded_trace import DEFAULT_WIDTH, folded_trace
from tori_tui.render.page.entries import Account

_FORMAT: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SF Mono, Cascadia Mono, Menlo, Consolas, DejaVu Sans Mono, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 16px; font-family: system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own would ask a server for its font."""

_INDENT: Final = re.compile(r"\s*(?:→ |[├└│]─? )?")

_NONCHARACTERS: Final = re.compile("[\ufffe\uffff]")

_TITLE: Final = "tori show"

_THEME: Final = TerminalTheme(
    (0x14, 0x17, 0x1C),
    (0xD3, 0xD8, 0xE0),
    [
        (0x25, 0x2B, 0x35),
        (0xF2, 0x77, 0x7A),
        (0x98, 0xC3, 0x79),
        (0xE5, 0xB5, 0x67),
        (0x82, 0xAA, 0xFF),
        (0xA9, 0x9B, 0xC9),
        (0x7F, 0xD1, 0xC7),
        (0xD3, 0xD8, 0xE0),
    ],
)
"""The colours of the dark theme."""


def svg_picture(account: Account) -> str:
    """Return the picture."""
    console = Console(
        file=StringIO(),
        record=True,
        width=DEFAULT_WIDTH,
        color_system="truecolor",
        force_terminal=True,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
    )
    for line in folded_trace(account.state):
        for row in _rows(_for_xml(line), console):
            console.print(row)
    return console.export_svg(title=_TITLE, theme=_THEME, code_format=_FORMAT)


def _rows(line: Text, console: Console) -> Iterator[Text]:
    """Yield a line wrapped, what follows indented below its first word."""
    head = _INDENT.match(line.plain)
    n_indent = min(head.end(), DEFAULT_WIDTH // 2) if head else 0
    for number, row in enumerate(line[n_indent:].wrap(console, DEFAULT_WIDTH - n_indent)):
        yield Text.assemble(" " * n_indent if number else line[:n_indent], row)


def _for_xml(line: Text) -> Text:
    if not _NONCHARACTERS.search(line.plain):
        return line
    return Text(_NONCHARACTERS.sub("\ufffd", line.plain))


__all__ = ["svg_picture"]
