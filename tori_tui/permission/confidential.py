"""Whether a text holds what must not be remembered: a key, a password, an address with credentials.

Stricter than redaction, which must leave ordinary text alone: here a false alarm costs one clear refusal.
Must not say the secret itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_REDACTED: Final = re.compile(r"\[redacted ([^\]]{1,80})\]")

_SHAPES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("an address with a password", re.compile(r"://[^/\s:@]*:[^/\s@]+@")),
    ("a signed token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    ("a token", re.compile(r"\b(?:Bearer|Basic)\s+[A-Za-z0-9+/_.=-]{16,}")),
)

_NAMED: Final = re.compile(
    r"(?:pass(?:word|wd|phrase|code)|secret|token|(?:api|private)[ _-]?key|credential|密码|口令|密钥|令牌)s?"
    # The name may go on (`DB_PASSWORD_PROD`), be quoted, or say whose it is (`password for admin is`).
    r"[\w\"'` -]{0,40}?\s*(?:=|:|：|\bis\b|\bare\b|是|为)\s*[\"'`]?(?P<value>[^\s\"'`,，。]{6,})",
    re.IGNORECASE,
)

_LETTER: Final = re.compile(r"[A-Za-z]")
_OTHER: Final = re.compile(r"[0-9!@#%^&*?]")


def secret_in(text: str, redact: Callable[[str], str]) -> str:
    """Return what secret a text seems to hold, in words; empty where it holds none.

    Args:
        text: What is to be remembered.
        redact: Takes known and well-formed keys out of a text.
    """
    redacted = redact(text)
    if redacted != text:
        found = _REDACTED.search(redacted)
        return f"a secret ({found.group(1)})" if found else "a secret"
    for name, shape in _SHAPES:
        if shape.search(text):
            return name
    is_named = any(_is_value(found["value"]) for found in _NAMED.finditer(text))
    return "a password or key" if is_named else ""


def _is_value(word: str) -> bool:
    """Tell `hunter2` from `hashed`, and a secret from the place where it is kept."""
    is_place = word.startswith(("$", "/", "./", "~", "<", "{", "http")) or word.isupper()
    return not is_place and _LETTER.search(word) is not None and _OTHER.search(word) is not None


__all__ = ["secret_in"]
