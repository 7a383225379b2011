"""The Markdown files by which users add agents and commands: `NAME.md`, small, in UTF-8.

Must not know what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import UsageError

FILE_LIMIT_BYTES: Final = 64_000
"""16k tokens; a larger file is no prompt."""

NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def markdown_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder; nothing where there is none."""
    try:
        yield from (path for path in folder.iterdir() if path.suffix == ".md" and path.is_file())
    except OSError:
        return


def bytes_of(path: Path) -> bytes:
    """Return a file's bytes, one more than allowed at most.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(FILE_LIMIT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", "Mend its permissions.") from error


def text_of(path: Path, data: bytes) -> str:
    """Return a file's bytes as text.

    Raises:
        UsageError: They are too many or no UTF-8; names file and line.
    """
    if len(data) > FILE_LIMIT_BYTES:
        raise UsageError(f"{path} has more than {FILE_LIMIT_BYTES:,} bytes.", "Is it meant for a model?")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: this line is not UTF-8.", "Save the file as UTF-8.") from error


__all__ = ["NAME", "bytes_of", "markdown_files", "text_of"]
