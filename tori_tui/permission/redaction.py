"""Takes keys out of text, once, before a result becomes an event.

Must not change ordinary text: see `Redactor` for the rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

SHORTEST_SECRET_CHARS: Final = 8
"""Shorter values (`none`, `ollama`) are words of ordinary text, and no server's real key."""

BLOCK_BYTES: Final = 4_000_000
"""Of a file, read at once; only a private key that lies across two blocks would be seen in two halves."""

_BODY: Final = r"[A-Za-z0-9_-]"

SHAPES: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = (
    # name, a literal that must occur (found a hundred times faster than the pattern), pattern
    (
        "private key",
        "PRIVATE KEY-----",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----"
            r"(?:.{0,20000}?-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----|(?:\s+[A-Za-z0-9+/=:, -]{16,})+)",
            re.DOTALL,
        ),
    ),
    ("API key", "sk-", re.compile(rf"sk-{_BODY}{{20,300}}")),
    ("API key", "AIza", re.compile(rf"AIza{_BODY}{{35}}")),
    ("AWS key id", "AKIA", re.compile(r"AKIA[A-Z0-9]{16}")),
    ("AWS key id", "ASIA", re.compile(r"ASIA[A-Z0-9]{16}")),
    ("GitHub token", "gh", re.compile(r"gh[pousr]_[A-Za-z0-9]{36,}")),
    ("GitHub token", "github_pat_", re.compile(r"github_pat_[A-Za-z0-9_]{50,}")),
    ("GitLab token", "glpat-", re.compile(rf"glpat-{_BODY}{{20,}}")),
    ("Slack token", "xox", re.compile(r"xox[abprs]-[A-Za-z0-9-]{20,}")),
    ("Hugging Face token", "hf_", re.compile(r"hf_[A-Za-z0-9]{30,}")),
)
"""Forms that the vendors publish. A match counts only on its own: nothing of a word before or after it."""

_WORD: Final = re.compile(r"[A-Za-z0-9_+/=-]")

_HAS_DIGITS: Final = re.compile(r"(?:[^0-9]*[0-9]){3}")
_HAS_LETTERS: Final = re.compile(r"(?:[^A-Za-z]*[A-Za-z]){3}")
# `sk-toggleable__label-arrow-icon` is a style, not a key; no key of a vendor has fewer of either.


class Redactor:
    """Replaces keys by `[redacted NAME]`.

    Two rules. The value of a known key of at least 8 characters goes wherever it stands, also where it
    is percent-encoded. What only looks like a key goes if it has a vendor's published prefix and length,
    stands alone (no letter, digit, `_ + / = -` touches it, so never inside a base64 text or a longer
    name) and mixes letters with digits. Hashes, UUIDs and images have no such prefix and stay.

    Args:
        secrets: Name → value of the keys that tori itself was given.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        names: dict[str, str] = {}
        for name, value in secrets.items():
            for form in (value, value.strip(), quote(value, safe="")):
                if len(form) >= SHORTEST_SECRET_CHARS:
                    names.setdefault(form, name)
        # A key that contains another one goes first.
        self._known = tuple(sorted(names.items(), key=lambda item: -len(item[0])))

    def redact(self, text: str) -> str:
        """Return the text without keys."""
        for value, name in self._known:
            if value in text:
                text = text.replace(value, f"[redacted {name}]")
        for name, literal, pattern in SHAPES:
            if literal in text:
                text = _without_shape(text, name, pattern)
        return text


def redact_file(path: Path, redact: Callable[[str], str]) -> bool:
    """Take keys out of a kept output, whole or not at all; every other byte stays.

    Returns:
        Whether there was one. A file that cannot be read or replaced is emptied rather than kept.
    """
    if all(redact(block) == block for block in _blocks(path)):
        return False
    partial = path.with_name(f".{path.name}.partial")
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.writelines(redact(block).encode("utf-8", "surrogateescape") for block in _blocks(path))
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        os.truncate(path, 0)
    return True


def _blocks(path: Path) -> Iterator[str]:
    """Yield a file in pieces that end with a line, so that memory stays flat."""
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield (block + file.readline()).decode("utf-8", "surrogateescape")


def _without_shape(text: str, name: str, pattern: re.Pattern[str]) -> str:
    def replaced(match: re.Match[str]) -> str:
        return f"[redacted {name}]" if _is_key(text, match) else match.group()

    return pattern.sub(replaced, text)


def _is_key(text: str, match: re.Match[str]) -> bool:
    if match.group().startswith("-----"):
        return True
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    # `KEY=sk-…` is how keys stand in files, so an equals sign may come before one.
    if (before != "=" and _WORD.match(before)) or _WORD.match(after):
        return False
    body = match.group()[4:]
    return _HAS_DIGITS.match(body) is not None and _HAS_LETTERS.match(body) is not None


__all__ = ["Redactor", "redact_file"]
