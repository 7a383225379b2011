"""Text whose every character is seen: for what the user is asked to allow.

Must not be used for prose: it shows what joins letters and emoji, too.
"""

from __future__ import annotations

import re
from typing import Final

from tori_tui.render.safe_text import safe_text

_UNSEEN: Final = re.compile(
    "[\u00a0\u2000-\u200a\u202f\u205f"  # blanks that are none for a shell
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\uffa0"
    "\ufe00-\ufe0e\ufff0-\ufffb"
    "\U000e0000-\U000e0fff\U0001d173-\U0001d17a]"
)
"""Characters without a shape (Unicode's Default_Ignorable_Code_Point) that `safe_text` lets pass; U+FE0F
stands behind many an emoji and changes nothing else."""


def unmasked(text: str) -> str:
    r"""Return the text with everything that steers a terminal, is not seen or looks like a blank written out.

    Example:
        >>> unmasked("rm\u00a0-rf\u200b a\u202eb")
        'rm\\u00a0-rf\\u200b a\\u202eb'
    """
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_written, safe_text(text))


def _written(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


__all__ = ["unmasked"]
