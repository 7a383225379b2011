"""A unified diff in colour.

Must not make the diff: tools and checkpoints do.
"""

from __future__ import annotations

import re
from typing import Final

from rich.text import Text

from tori_tui.render.safe_text import safe_text

_HUNK: Final = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE)


def looks_like_diff(text: str) -> bool:
    """Say whether a text is a unified diff."""
    return _HUNK.search(text) is not None


def diff_text(diff: str) -> Text:
    """Return a unified diff as safe text: added lines green, removed red, places cyan."""
    text = Text(no_wrap=False)
    for line in safe_text(diff).splitlines(keepends=True):
        text.append(line, style=_style_of(line))
    text.rstrip()
    return text


def count_lines(diff: str) -> tuple[int, int]:
    r"""Return how many lines a unified diff adds and removes.

    Example:
        >>> count_lines("--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n")
        (2, 1)
    """
    body = [line for line in diff.splitlines() if not line.startswith(("+++ ", "--- "))]
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)


def _style_of(line: str) -> str:
    if line.startswith(("+++ ", "--- ")):
        return "bold"
    if line.startswith("@@"):
        return "cyan"
    return {"+": "green", "-": "red"}.get(line[:1], "")


__all__ = ["count_lines", "diff_text", "looks_like_diff"]
