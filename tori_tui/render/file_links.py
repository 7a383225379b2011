"""Names of files in a text, with the lines that they point to.

Must not look whether a file is there, nor take the address of a page for a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LINKS_LIMIT: Final = 200
"""Of one text: more nobody chooses from."""

SEARCHED_LIMIT_CHARS: Final = 200_000

_NAMED: Final = re.compile(
    r"""File "(?P<quoted>[^"\n]{1,500})", line (?P<quoted_line>\d{1,7})"""
    r"""|(?<![\w./~@:+-])(?P<path>~?(?:[\w.@+-]{0,100}/){0,30}[\w@+-][\w.@+-]{0,200})"""
    r"""(?:[:(](?P<line>\d{1,7})(?![A-Za-z0-9_]))?"""
)

_LEADING: Final = re.compile(r"^[^\x00-\x7f]+(?=[\x00-\x7f])")
_TRAILING: Final = re.compile(r"(?<=[\x00-\x7f])[^\x00-\x7f]+$")

_LINE: Final = re.compile(r"[:(]\d|, line \d")
"""Far quicker, and most texts have none."""

_SUFFIX: Final = re.compile(r"\.[A-Za-z_][\w-]{0,15}$")


@dataclass(frozen=True, slots=True)
class FileLink:
    """A place in a file, as a text names it."""

    path: str
    line: int = 0
    """0 is none."""

    @property
    def shown(self) -> str:
        """The place as `path:line`."""
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link and where its words stand in the text."""

    start: int
    end: int
    link: FileLink


def links_in(text: str) -> Iterator[FoundLink]:
    """Yield what looks like a file's name: with a folder or a suffix, or with a line behind it.

    Example:
        >>> [found.link.shown for found in links_in("see src/app.py:12, not https://x.org/y.html")]
        ['src/app.py:12']
    """
    for match in _NAMED.finditer(text[:SEARCHED_LIMIT_CHARS]):
        if quoted := match["quoted"]:
            yield FoundLink(*match.span(), FileLink(quoted, int(match["quoted_line"])))
            continue
        path = match["path"].rstrip(".")
        line = int(match["line"] or 0)
        is_address = "//" in path or text[match.end() : match.end() + 3] == "://"
        has_shape = "/" in path.strip("/") or _SUFFIX.search(path) is not None
        if has_shape and not is_address:
            end = match.end() if line else match.start() + len(path)
            yield FoundLink(match.start(), end, FileLink(path, line))


def places_in(text: str) -> Iterator[FoundLink]:
    """Yield the names of files that have a line behind them: these are hardly ever something else."""
    if _LINE.search(text) is not None:
        yield from (found for found in links_in(text) if found.link.line)


def spellings(path: str) -> tuple[str, ...]:
    """Return what a name may mean: words of a script without blanks may stand directly before or behind it.

    Example:
        >>> spellings("见app.py处")
        ('见app.py处', 'app.py处', '见app.py', 'app.py')
    """
    begun, ended = _LEADING.sub("", path), _TRAILING.sub("", path)
    return tuple(dict.fromkeys((path, begun, ended, _TRAILING.sub("", begun))))


def link_at(text: str, place: int) -> FileLink | None:
    """Return the link whose words hold the character at a place, or None."""
    return next((found.link for found in links_in(text) if found.start <= place < found.end), None)


__all__ = ["LINKS_LIMIT", "FileLink", "FoundLink", "link_at", "links_in", "places_in", "spellings"]
