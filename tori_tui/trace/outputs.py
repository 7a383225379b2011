"""The folder `outputs/` of a trace: texts and bytes that are too large or too rare for a record.

Must not change a file that is there; a name that stands for content stands for that content always.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from tori_tui.trace.errors import NO_ROOM_ERRNOS, OutputsFull, TraceError, TraceMissing

OUTPUTS_NAME: Final = "outputs"

STEM_LIMIT_CHARS: Final = 80
"""Of a file's name; file systems end at 255 bytes."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files beside a trace, named by their content or by the call that writes them."""

    directory: Path

    def keep_text(self, text: str, suffix: str = ".txt") -> str:
        """Keep a text as UTF-8 and return its file's name; lone surrogates become U+FFFD."""
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return self.keep_bytes(whole.encode(), suffix)

    def keep_bytes(self, data: bytes, suffix: str = ".bin") -> str:
        """Keep bytes and return their file's name: the SHA-256 in hex and the suffix.

        Raises:
            OutputsFull: The disk has no room; nothing stays of the try.
        """
        name = hashlib.sha256(data).hexdigest() + _UNSAFE.sub("-", suffix)
        target = self.directory / name
        if _size_of(target) == len(data):
            return name
        try:
            self._make_directory()
            _write_whole(target, data)
        except OSError as error:
            raise self._failure(error, len(data)) from error
        return name

    def open_new(self, stem: str, suffix: str = ".log") -> tuple[str, Path]:
        """Make an empty file with a name that no other has, for a program that writes into it."""
        clean = _UNSAFE.sub("-", stem).strip(".-")[:STEM_LIMIT_CHARS] or "output"
        ending = _UNSAFE.sub("-", suffix)
        try:
            self._make_directory()
            for number in count(1):
                name = f"{clean}{ending}" if number == 1 else f"{clean}-{number}{ending}"
                path = self.directory / name
                try:
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                except FileExistsError:
                    continue
                return name, path
        except OSError as error:
            raise self._failure(error, 0) from error
        raise AssertionError("count() never ends")

    def path(self, name: str) -> Path:
        """Return where a file lies.

        Raises:
            TraceError: The name is not that of a file in this folder.
        """
        if not name or name in (".", "..") or "/" in name or "\0" in name:
            raise TraceError(
                f"{name!r} is no name of a kept output.", "Give the file's name alone, without a folder."
            )
        return self.directory / name

    def read_text(self, name: str, limit_bytes: int | None = None) -> str:
        """Return a file's text, or its beginning; bytes that are no UTF-8 become U+FFFD.

        Raises:
            TraceMissing: There is no such file.
        """
        try:
            with self.path(name).open("rb") as file:
                data = file.read() if limit_bytes is None else file.read(limit_bytes)
                is_whole = limit_bytes is None or not file.read(1)
        except OSError as error:
            raise TraceMissing(f"The kept output {name!r} cannot be read: {error.strerror}.") from error
        # A character that the limit cuts in two is left out, not shown broken.
        return codecs.getincrementaldecoder("utf-8")("replace").decode(data, is_whole)

    def _make_directory(self) -> None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _failure(self, error: OSError, size_bytes: int) -> TraceError:
        if error.errno in NO_ROOM_ERRNOS:
            return OutputsFull(
                f"No room for an output of {size_bytes} bytes in {self.directory}: {error.strerror}.",
                "Free some space and try again.",
            )
        return TraceError(f"Cannot write an output in {self.directory}: {error.strerror}.")


def _size_of(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _write_whole(target: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


__all__ = ["OUTPUTS_NAME", "Outputs"]
