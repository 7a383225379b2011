"""What a word is when facts are searched: one rule for every backend and for every script.

Latin and the like by words and the parts of identifiers, a beginning of three letters is enough; Chinese,
Japanese and Korean, which write without spaces, by pairs of characters. Must not know how a backend
keeps its index.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Final

TERM_LIMIT_CHARS: Final = 64
"""What a longer word has behind that does not count, neither in a fact nor in a search."""

SHORTEST_BEGINNING_CHARS: Final = 3
"""A shorter word must be there as it is: `id` would find half of everything."""

WANTED_LIMIT: Final = 100
"""Terms of a search; who asks for more words means a text, and each costs a look on a server."""

_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A word that a fact must have."""

    term: str
    is_beginning: bool
    """Words that begin with it count too."""


def terms_of(text: str) -> frozenset[str]:
    """Return the terms under which a text is found."""
    terms: set[str] = set()
    for piece, is_unspaced in _pieces(text):
        if is_unspaced:
            terms.update(piece)
            terms.update(_pairs(piece))
        else:
            terms.update(_cut(part) for part in (piece, *_HUMP.split(piece)))
    return frozenset(terms)


def wanted_terms(words: str) -> tuple[Wanted, ...]:
    """Return what a fact must have to be found by these words, each once, the first hundred."""
    wanted: dict[str, Wanted] = {}
    for piece, is_unspaced in _pieces(words):
        if is_unspaced:
            for term in _pairs(piece) or (piece,):
                wanted.setdefault(term, Wanted(term, is_beginning=False))
        else:
            term = _cut(piece)
            wanted.setdefault(term, Wanted(term, len(term) >= SHORTEST_BEGINNING_CHARS))
    return tuple(wanted.values())[:WANTED_LIMIT]


def has_all(terms: Set[str], wanted: tuple[Wanted, ...]) -> bool:
    """Say whether a text with these terms has every word that is wanted."""
    return all(
        each.term in terms or (each.is_beginning and any(term.startswith(each.term) for term in terms))
        for each in wanted
    )


def as_ascii(term: str) -> str:
    """Return a term in letters that no index takes apart or changes; beginnings stay beginnings."""
    return term.encode("utf-8", "surrogatepass").hex()


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield words, letters still in their case, and runs of a script without spaces."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text)):
        end = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > end:
                yield word[end : run.start()], False
            yield run.group(), True
            end = run.end()
        if end < len(word):
            yield word[end:], False


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(run[start : start + 2] for start in range(len(run) - 1))


def _cut(word: str) -> str:
    return word.casefold()[:TERM_LIMIT_CHARS]


__all__ = ["TERM_LIMIT_CHARS", "WANTED_LIMIT", "Wanted", "as_ascii", "has_all", "terms_of", "wanted_terms"]
