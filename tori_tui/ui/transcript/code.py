"""Program text in colours.

Must not fail on any input: what no lexer knows is shown plain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import _TokenType
from pygments.util import ClassNotFound
from rich.text import Span, Text

from tori_tui.ui.palette import Palette

HIGHLIGHT_LIMIT_CHARS: Final = 60_000
"""Above this a text is shown plain: lexing takes about 1 ms per 2,000 characters."""


PREPARED_LANGUAGES: Final = ("python", "bash", "json")


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=64)
def language_of(path: str) -> str:
    """Return the language that a file's name stands for; empty if none is known."""
    try:
        return str(get_lexer_for_filename(path).aliases[0])
    except (ClassNotFound, IndexError):
        return ""


def highlighted(code: str, language: str, palette: Palette) -> list[Text]:
    """Return the lines of some program text, coloured where the language is known."""
    lexer = _lexer(language) if language and len(code) <= HIGHLIGHT_LIMIT_CHARS else None
    if lexer is None:
        return [Text(line) for line in code.split("\n")]
    return list(_lines(lexer.get_tokens(code), palette))


def _lines(tokens: Iterable[tuple[_TokenType, str]], palette: Palette) -> Iterator[Text]:
    parts: list[str] = []
    spans: list[Span] = []
    at = 0
    for token, text in tokens:
        style = palette.of_token(token)
        for index, piece in enumerate(text.split("\n")):
            if index:
                yield Text("".join(parts), spans=spans)
                parts, spans, at = [], [], 0
            if piece:
                parts.append(piece)
                if style is not None:
                    spans.append(Span(at, at + len(piece), style))
                at += len(piece)
    yield Text("".join(parts), spans=spans)


def prepare_languages() -> None:
    """Make the lexers that are needed most; the first use of each takes some 50 ms."""
    for language in PREPARED_LANGUAGES:
        _lexer(language)


__all__ = ["HIGHLIGHT_LIMIT_CHARS", "highlighted", "language_of", "prepare_languages"]
