"""Text that can be written down: without lone surrogates.

Must not change any other character.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Final, TypeVar, cast

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

V = TypeVar("V")


def mend(text: str) -> str:
    """Return the text with surrogate pairs joined and lone surrogates replaced by U+FFFD.

    Example:
        >>> mend("a" + chr(0xD83D) + chr(0xDE00)) == "a\U0001f600"
        True
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def mended(value: V) -> V:
    """Return a frozen value with every text in it mended; itself where nothing is to mend."""
    found: object = value
    if isinstance(value, str):
        found = mend(value)
    elif isinstance(value, tuple):
        items = tuple(map(mended, value))
        found = items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    elif is_dataclass(value) and not isinstance(value, type):
        changes = {
            f.name: new for f in fields(value) if (new := mended(old := getattr(value, f.name))) is not old
        }
        found = replace(value, **changes) if changes else value
    return cast(V, found)


__all__ = ["mend", "mended"]
