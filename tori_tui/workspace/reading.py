"""A window of lines of a file of any size, with the hash of the whole.

Must not hold more than the window in memory, notebooks and UTF-16 aside, and must not open what is no
regular file.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from tori_tui.workspace.encoding import decode, readings_unmarked
from tori_tui.workspace.files import FileUnusable, open_regular
from tori_tui.workspace.notebooks import SUFFIX, notebook_text

PIECE_BYTES: Final = 1 << 20
WHOLE_LIMIT_BYTES: Final = 64 << 20
"""Of files that can only be read as a whole."""
STREAM_LIMIT_BYTES: Final = 2 << 30
"""Hashing that much takes about 2 s."""

MAGICS: Final = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"%PDF-", "PDF"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one window may hold."""

    lines: int = 2_000
    line_chars: int = 2_000
    bytes: int = 50_000


@dataclass(frozen=True, slots=True)
class FileWindow:
    """What was read of a file."""

    kind: Literal["text", "empty", "binary"]
    size_bytes: int
    sha256: str
    lines: tuple[str, ...] = ()
    first_line: int = 0
    total_lines: int = 0
    what: str = ""
    """Of a binary file: what its first bytes say it is."""

    @property
    def last_line(self) -> int:
        """Number of the last line that is shown; one less than the first if there is none."""
        return self.first_line + len(self.lines) - 1


@dataclass(slots=True)
class _Collector:
    """Takes lines as they come and keeps those of the window."""

    first: int
    limits: Limits
    n_lines: int = 0
    kept: list[bytes] = field(default_factory=list)
    left_out: list[int] = field(default_factory=list)
    """For each kept line the number of its bytes that are not kept."""
    kept_bytes: int = 0
    is_full: bool = False
    _line: bytearray = field(default_factory=bytearray)
    _line_bytes: int = 0

    def feed(self, piece: bytes) -> None:
        n_newlines = piece.count(b"\n")
        if self._is_outside(n_newlines):
            self.n_lines += n_newlines
            after = len(piece) - (piece.rfind(b"\n") + 1)
            self._line_bytes = after if n_newlines else self._line_bytes + after
            return
        *whole, rest = piece.split(b"\n")
        for part in whole:
            self._add(part)
            self._end_line()
        self._add(rest)

    def finish(self) -> None:
        if self._line_bytes:
            self._end_line()

    def _is_outside(self, n_newlines: int) -> bool:
        return self.is_full or self.n_lines + n_newlines + 1 < self.first

    def _add(self, part: bytes) -> None:
        room = self.limits.line_chars * 4 + 4 - len(self._line)
        self._line += part[: max(0, room)]
        self._line_bytes += len(part)

    def _end_line(self) -> None:
        self.n_lines += 1
        line, size_bytes = bytes(self._line), self._line_bytes
        self._line.clear()
        self._line_bytes = 0
        if self.n_lines < self.first or self.is_full:
            return
        shown_bytes = min(len(line), self.limits.line_chars)
        if len(self.kept) >= self.limits.lines or (
            self.kept and self.kept_bytes + shown_bytes > self.limits.bytes
        ):
            self.is_full = True
            return
        self.kept_bytes += shown_bytes + 1
        self.kept.append(line)
        self.left_out.append(size_bytes - len(line))


def read_window(path: Path, first_line: int = 1, limits: Limits | None = None) -> FileWindow:
    """Read lines of a file, its path resolved, from `first_line` on, as many as the limits allow.

    A line that is cut says how much of it is left out. Line ends and a byte order mark are not shown.

    Raises:
        FileNotFoundError: There is no such file.
        FileUnusable: It is special, or too large to be gone through.
        OSError: The system refused.
    """
    limits = limits or Limits()
    with open_regular(path, is_real=True) as descriptor:
        head = os.pread(descriptor, PIECE_BYTES, 0)
        if path.suffix == SUFFIX or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            whole = _whole(path, descriptor)
            rendered = _rendered(path, whole)
            if rendered is not None:
                return _window(iter([rendered]), hashlib.sha256(whole), len(whole), first_line, limits)
        return _window(_pieces(path, descriptor), None, 0, first_line, limits, head)


def _window(
    pieces: Iterator[bytes],
    hasher: hashlib._Hash | None,
    size_bytes: int,
    first_line: int,
    limits: Limits,
    head: bytes = b"",
) -> FileWindow:
    collector = _Collector(first_line, limits)
    own = hashlib.sha256()
    n_bytes, has_nul = 0, False
    for piece in pieces:
        own.update(piece)
        n_bytes += len(piece)
        has_nul = has_nul or b"\0" in piece
        collector.feed(piece)
    collector.finish()
    digest = (hasher or own).hexdigest()
    size_bytes = size_bytes or n_bytes
    what = next((name for magic, name in MAGICS if head.startswith(magic)), "")
    if what or has_nul:
        return FileWindow("binary", size_bytes, digest, what=what or "binary file")
    if not n_bytes:
        return FileWindow("empty", size_bytes, digest)
    lines = _texts(collector, limits)
    return FileWindow("text", size_bytes, digest, lines, first_line, collector.n_lines)


def _pieces(path: Path, descriptor: int) -> Iterator[bytes]:
    n_bytes = 0
    while piece := os.pread(descriptor, PIECE_BYTES, n_bytes):
        n_bytes += len(piece)
        if n_bytes > STREAM_LIMIT_BYTES:
            raise FileUnusable(
                f"{path} is larger than {STREAM_LIMIT_BYTES >> 30} GB.", "Look into it with bash."
            )
        yield piece


def _whole(path: Path, descriptor: int) -> bytes:
    data = os.pread(descriptor, WHOLE_LIMIT_BYTES + 1, 0)
    if len(data) > WHOLE_LIMIT_BYTES:
        raise FileUnusable(f"{path} is larger than {WHOLE_LIMIT_BYTES >> 20} MB.", "Look into it with bash.")
    return data


def _rendered(path: Path, data: bytes) -> bytes | None:
    """Return a notebook's or a UTF-16 file's text as UTF-8; None if it is neither after all."""
    if path.suffix == SUFFIX:
        text = notebook_text(data)
        return None if text is None else _utf8(text)
    decoded = decode(data)
    return _utf8(decoded.text) if decoded.bom else None


def _utf8(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _texts(collector: _Collector, limits: Limits) -> tuple[str, ...]:
    raw = [
        _cut(line) if left else line for line, left in zip(collector.kept, collector.left_out, strict=True)
    ]
    data = b"\n".join(raw).removeprefix(codecs.BOM_UTF8 if collector.first == 1 else b"")
    texts = readings_unmarked(data)[0].text.split("\n") if raw else []
    return tuple(
        _shown(text.removesuffix("\r"), left, limits.line_chars)
        for text, left in zip(texts, collector.left_out, strict=True)
    )


def _cut(line: bytes) -> bytes:
    """Take the beginning of a character off the end, where the cut went through it."""
    end = len(line)
    while end and line[end - 1] & 0xC0 == 0x80 and len(line) - end < 3:
        end -= 1
    return line[: end - 1] if end and line[end - 1] >= 0xC0 else line


def _shown(text: str, left_bytes: int, limit_chars: int) -> str:
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    left = len(clean) - limit_chars + left_bytes
    return clean if left <= 0 else f"{clean[:limit_chars]}… [{left:,} more characters]"


__all__ = ["FileWindow", "Limits", "read_window"]
