"""What the model is shown of a command's output: all of it, or its head and its tail.

Must not lose anything: what is left out is counted, and the file that holds it is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tori_tui.domain.messages import COLORS, JsonObject
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.terminal_colors import colored_parts
from tori_tui.workspace.terminal_text import plain_text

SHOWN_LIMIT_BYTES: Final = 8_000
HEAD_SHARE: Final = 0.3
"""The end says what failed, the beginning what was run."""

READ_WHOLE_BYTES: Final = 1_000_000
"""Up to this size all is read, so that progress bars shrink before anything is cut."""

READ_AT_EACH_END_BYTES: Final = 200_000

COLORED_LIMIT_BYTES: Final = 200_000
"""Above this nobody looks for colours: it takes some 50 ms."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of output as text."""

    text: str
    is_cut: bool


def excerpt(output: CommandOutput, start: int, end: int, whole_name: str | None) -> Excerpt:
    """Return the output between two offsets as text of at most about 8,000 bytes.

    Args:
        output: What a command has written.
        start: First byte.
        end: After the last byte.
        whole_name: The file in `outputs/` with everything; None where it is only in memory.
    """
    if end - start <= READ_WHOLE_BYTES:
        return excerpt_of(_plain(output.read(start, end - start)), whole_name)
    first = _plain(output.read(start, READ_AT_EACH_END_BYTES))
    last = _plain(output.read(end - READ_AT_EACH_END_BYTES, READ_AT_EACH_END_BYTES))
    return _head_and_tail(first, last, end - start, whole_name)


def excerpt_of(plain: bytes, whole_name: str | None) -> Excerpt:
    """Return a text that is at hand as `excerpt` returns an output."""
    if len(plain) <= SHOWN_LIMIT_BYTES:
        return Excerpt(plain.decode(), is_cut=False)
    return _head_and_tail(plain, plain, len(plain), whole_name)


def whole_text(output: CommandOutput, end: int) -> str | None:
    """Return all of an output as text, or None where it is too large for that."""
    return _plain(output.read(0, end)).decode() if end <= READ_WHOLE_BYTES else None


def colors_of(output: CommandOutput, start: int, end: int, text: str) -> JsonObject:
    """Return the details that tell how a text looks which is made of an output; empty if it is plain.

    Args:
        output: What a command has written.
        start: First byte that the text is made of.
        end: After the last byte.
        text: What is shown, as it will be recorded.
    """
    if end - start > COLORED_LIMIT_BYTES:
        return {}
    parts = colored_parts(output.read(start, end - start).decode("utf-8", "replace"), text)
    return {COLORS: [list(part) for part in parts]} if parts else {}


def _head_and_tail(first: bytes, last: bytes, size: int, whole_name: str | None) -> Excerpt:
    head_limit = int(SHOWN_LIMIT_BYTES * HEAD_SHARE)
    head = _head(first, head_limit)
    tail = _tail(last, SHOWN_LIMIT_BYTES - head_limit)
    left_out = size - len(head) - len(tail)
    where = f"the whole is in outputs/{whole_name}" if whole_name else "the disk has no room to keep them"
    middle = f"[… {left_out:,} bytes left out; {where}]\n"
    line_end = "" if head.endswith(b"\n") or not head else "\n"
    return Excerpt(head.decode() + line_end + middle + tail.decode(), is_cut=True)


def whole_characters(data: bytes) -> int:
    """Return how many of the bytes make whole UTF-8 characters; the rest may still be completed."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if needed > back else len(data)
        if byte < 0x80:
            break
    return len(data)


def _plain(data: bytes) -> bytes:
    return plain_text(data.decode("utf-8", "replace")).encode()


def _head(data: bytes, limit: int) -> bytes:
    if len(data) <= limit:
        return data
    line_end = data.rfind(b"\n", 0, limit)
    if line_end >= limit // 2:
        return data[: line_end + 1]
    return data[:limit].decode("utf-8", "ignore").encode()


def _tail(data: bytes, limit: int) -> bytes:
    if len(data) <= limit:
        return data
    start = len(data) - limit
    line_end = data.find(b"\n", start - 1)
    if 0 <= line_end < start + limit // 2:
        return data[line_end + 1 :]
    return data[start:].decode("utf-8", "ignore").encode()


__all__ = ["Excerpt", "colors_of", "excerpt", "excerpt_of", "whole_characters", "whole_text"]
