"""Where in a TOML file a key stands: the standard library's parser does not tell.

Must not judge a value; a file that does not parse never comes here.
"""

from __future__ import annotations

from collections.abc import Mapping


def line_of(text: str, place: tuple[str, ...]) -> int:
    """Return the line on which a key is set; of a key inside an inline table, that table's line."""
    best_line, best_depth = 1, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = _dotted(stripped.strip("[]").partition("]")[0])
            here = table
        else:
            here = (*table, *_dotted(stripped.partition("=")[0])) if "=" in stripped else ()
        if len(here) > best_depth and here == place[: len(here)]:
            best_line, best_depth = number, len(here)
    return best_line


def leaves(table: Mapping[str, object], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the path of every value; an empty table counts as one."""
    found: list[tuple[str, ...]] = []
    for key, value in table.items():
        place = (*above, key)
        found += leaves(value, place) if isinstance(value, dict) and value else [place]
    return found


def _dotted(key: str) -> tuple[str, ...]:
    parts: list[str] = []
    rest = key.strip()
    while rest:
        quote = rest[0] if rest[0] in "\"'" else ""
        if quote:
            part, _, rest = rest[1:].partition(quote)
            rest = rest.strip().removeprefix(".").strip()
        else:
            part, _, rest = rest.partition(".")
        parts.append(part.strip())
        rest = rest.strip()
    return tuple(parts)


__all__ = ["leaves", "line_of"]
