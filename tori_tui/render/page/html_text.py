"""Texts as HTML: escaped words, Markdown, program text, diffs.

Must not let markup or an address of others through; what steers the reader's screen is made visible by
`html_page`, once, over the whole page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping, Sequence
from functools import lru_cache
from html import escape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

HIGHLIGHT_LIMIT_CHARS: Final = 20_000
"""Above this program text is shown plain: colours cost about a millisecond per 2,000 characters."""

MARKDOWN_LIMIT_CHARS: Final = 100_000
BRACKETS_LIMIT: Final = 2_000
"""Above either a text is shown as it is: the time to parse nested brackets grows with their square."""

CUT_HEAD_CHARS: Final = 40_000
CUT_TAIL_CHARS: Final = 20_000
"""Of an output that is longer than both together; its file beside the trace has the rest."""

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")

_FILE: Final = re.compile(r"^--- .*\n\+\+\+ ", re.MULTILINE)

_PLAIN: Final = re.compile(r"[^\W_][\w ,.;?'\"()/%’“”—–…-]*")
"""A line in which Markdown finds nothing: most short answers."""

_LINK_SCHEMES: Final = ("https://", "http://", "mailto:")

_CODE: Final = HtmlFormatter(nowrap=True, classprefix="t-")


def is_for_parsing(text: str) -> bool:
    """Whether a parser of Markdown is done with a text in short time, whoever wrote it."""
    return len(text) <= MARKDOWN_LIMIT_CHARS and text.count("[") <= BRACKETS_LIMIT


def markdown_html(text: str) -> str:
    """Return Markdown as HTML in which raw HTML and images are only words."""
    if _PLAIN.fullmatch(text):
        return f"<p>{escape(text)}</p>"
    if not is_for_parsing(text):
        return pre(text)
    return str(_PARSER.render(text))


def pre(text: str, css_class: str = "") -> str:
    """Return a text as it is."""
    of_class = f' class="{css_class}"' if css_class else ""
    return f"<pre{of_class}>{escape(text)}</pre>" if text else ""


def cut_output(text: str, full: str | None) -> str:
    """Return an output, the middle of a very long one left out and told."""
    n_left_out = len(text) - CUT_HEAD_CHARS - CUT_TAIL_CHARS
    if n_left_out <= 0:
        return text
    where = f"; the whole is in outputs/{full} of the trace" if full else "; the trace has them"
    told = f"\n\n… {n_left_out:,} characters left out here{where} …\n\n"
    return f"{text[:CUT_HEAD_CHARS]}{told}{text[-CUT_TAIL_CHARS:]}"


def code_html(code: str, language: str) -> str:
    """Return program text with its colours, where the language is known."""
    lexer = _lexer(language) if language and len(code) <= HIGHLIGHT_LIMIT_CHARS else None
    return highlight(code, lexer, _CODE) if lexer is not None else escape(code)


def diff_html(diff: str) -> str:
    """Return a unified diff, each line with its number and its colour; numbers are not copied."""
    return f'<pre class="diff">{"".join(_diff_lines(diff))}</pre>'


def _diff_lines(diff: str) -> Iterator[str]:
    old = new = n_old = n_new = 0
    is_one_file = diff.startswith("--- ") and len(_FILE.findall(diff)) == 1
    for line in diff.removesuffix("\n").split("\n"):
        sign = line[:1]
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[3])
            n_old, n_new = int(hunk[2] or 1), int(hunk[4] or 1)
            yield _diff_line("hunk", "⋯", line)
        elif sign == "+" and n_new > 0:
            yield _diff_line("add", str(new), line)
            new, n_new = new + 1, n_new - 1
        elif sign == "-" and n_old > 0:
            yield _diff_line("del", str(old), line)
            old, n_old = old + 1, n_old - 1
        elif sign != "\\" and (n_old > 0 or n_new > 0):
            yield _diff_line("same", str(new), line)
            old, new, n_old, n_new = old + 1, new + 1, n_old - 1, n_new - 1
        elif not is_one_file or not line.startswith(("--- ", "+++ ")):
            yield _diff_line("file", "", line)


def _diff_line(kind: str, number: str, line: str) -> str:
    return f'<span class="{kind}" data-n="{number}">{escape(line)}\n</span>'


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


class _Renderer(RendererHTML):
    """Writes Markdown's tokens; an image is named, an address leads only to the web or to mail."""

    def image(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: MutableMapping[str, object],
    ) -> str:
        """Name an image: to show it would ask its server for it."""
        token = tokens[idx]
        address = str(token.attrs.get("src", ""))
        return f'<span class="image">[image: {escape(token.content)} {escape(address)}]</span>'

    def fence(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: MutableMapping[str, object],
    ) -> str:
        """Show a block of program text in its colours."""
        token = tokens[idx]
        words = token.info.split()
        return f'<pre class="code"><code>{code_html(token.content, words[0] if words else "")}</code></pre>\n'

    def link_open(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: MutableMapping[str, object],
    ) -> str:
        """Open a link that says where it leads and tells nothing of the page."""
        address = str(tokens[idx].attrs.get("href", ""))
        if not address.lower().startswith(_LINK_SCHEMES):
            return f'<a title="{escape(address)}">'
        shown = escape(address)
        return f'<a href="{shown}" title="{shown}" rel="noopener noreferrer nofollow" target="_blank">'


_PARSER: Final = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(
    ["table", "strikethrough"]
)

__all__ = ["code_html", "cut_output", "diff_html", "is_for_parsing", "markdown_html", "pre"]
