"""Text from models, tools and files as text: nothing in it steers a terminal or is taken for markup.

Must not be skipped for any text that tori did not write itself.
"""

from __future__ import annotations

import re
from typing import Final

_STEERING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 (tab and newline excepted), DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that reorder what is shown
    "\u2028\u2029"  # line breaks that are none in a file
    "\ufeff"  # an unseen mark
    "\ud800-\udfff]"  # halves of characters, which no stream can encode
)

_PICTURES_START: Final = 0x2400
"""Unicode's pictures of the control characters: U+2400 + code."""

_DELETE: Final = 0x7F
_DELETE_PICTURE: Final = "\u2421"
_ELLIPSIS: Final = "…"


def safe_text(text: str) -> str:
    r"""Return the text with every character that steers a terminal replaced by a visible one.

    Line feeds and tabs stay, CR LF becomes LF. Length may change.

    Example:
        >>> safe_text("a\x1b[31mb\r\n")
        'a␛[31mb\n'
    """
    if text.isascii() and text.isprintable():
        return text
    return _STEERING.sub(_shown, text.replace("\r\n", "\n"))


def one_line(text: str, limit_chars: int = 0) -> str:
    r"""Return the text as one safe line, white space joined, cut with an ellipsis.

    Args:
        text: Any text.
        limit_chars: Most characters of the result; 0 is no limit.

    Example:
        >>> one_line("a\n  b", 10), one_line("abcdef", 4)
        ('a b', 'abc…')
    """
    if limit_chars:
        # Only what can be shown is looked at: a text may have megabytes.
        text = text[: limit_chars * 8 + 1_000]
    line = safe_text(" ".join(text.split()))
    return cut(line, limit_chars)


def cut(line: str, limit_chars: int) -> str:
    """Return the line, cut with an ellipsis where it is longer than the limit (0: none)."""
    if not limit_chars or len(line) <= limit_chars:
        return line
    return line[: limit_chars - 1].rstrip() + _ELLIPSIS


def _shown(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(_PICTURES_START + code)
    if code == _DELETE:
        return _DELETE_PICTURE
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


__all__ = ["cut", "one_line", "safe_text"]
