"""Standard input, output and error as they really are: closed, piped, or a terminal of any charset.

Must not decide what is written; text that others wrote comes here after `render.safe_text`.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
from typing import Final, TextIO

READER_GONE: Final = frozenset({errno.EPIPE, errno.EBADF, errno.EIO})
"""Nobody reads any more, which is no fault: a closed pipe, descriptor or terminal."""

_lost: Final[list[str]] = []
"""Why output was lost; a process writes its output once."""

_STREAM_MODES: Final = ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY))


def repair() -> None:
    """Make the three streams usable before anything else opens a file.

    A descriptor that the caller closed is pointed at the null device, so that no later file takes
    its number; what the charset of a stream cannot say is escaped.
    """
    for descriptor, mode in _STREAM_MODES:
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", errors="replace", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def terminal_width() -> int | None:
    """Return how wide the terminal is that gets standard output; None where that is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def write_out(text: str) -> None:
    """Write to standard output at once; a reader that went away is no error."""
    write(sys.stdout, text)


def write_out_bytes(data: bytes) -> None:
    """Write bytes that are UTF-8 to standard output at once, whatever its charset."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except (OSError, ValueError) as error:
        _give_up(sys.stdout, error)


def write_err(text: str) -> None:
    """Write to standard error at once; a terminal that went away is no error."""
    write(sys.stderr, text)


def flush() -> None:
    """Write out what is buffered, so that the interpreter's own end has nothing left to fail at."""
    write(sys.stdout, "")
    write(sys.stderr, "")


def has_terminal() -> bool:
    """Say whether somebody sits there who reads questions and can answer them."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def can_show_app() -> bool:
    """Say whether there is a terminal to read keys from and to draw on."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


def has_colour(stream: TextIO) -> bool:
    """Say whether a stream shows colours: a terminal that is not dumb, and NO_COLOR is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def can_say(stream: TextIO, text: str) -> bool:
    """Say whether a stream's charset has these characters."""
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def write(stream: TextIO, text: str) -> None:
    """Write at once; a reader that went away is no error."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError) as error:
        _give_up(stream, error)


def has_lost_output() -> bool:
    """Say whether something could not be written though somebody waits for it: a full disk, say."""
    return bool(_lost)


def _give_up(stream: TextIO, error: OSError | ValueError) -> None:
    _silence(stream)
    if stream is sys.stdout and isinstance(error, OSError) and error.errno not in READER_GONE:
        _lost.append(error.strerror or str(error))
        write_err(f"tori: standard output cannot be written: {_lost[-1]}.\n")


def _silence(stream: TextIO) -> None:
    """Send what is still written to the null device: nobody reads it any more."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        return


__all__ = [
    "can_say",
    "flush",
    "has_colour",
    "has_lost_output",
    "has_terminal",
    "repair",
    "terminal_width",
    "write_err",
    "write_out",
    "write_out_bytes",
]
