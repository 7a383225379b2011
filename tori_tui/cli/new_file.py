"""Writes a file that was asked for by name: whole or not at all, and never over another one unasked.

Must not leave a part of it behind when there is no room.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError, UsageError

NEW_MODE: Final = 0o666
"""What the user's umask leaves of it, as for any file that a command writes."""


class OutputFailed(ToriError):
    """A file could not be written whole; nothing of it stays."""


def write_new_file(path: Path, data: bytes, *, is_forced: bool) -> None:
    """Write a file.

    Args:
        path: Where; a device or a pipe is written to as it is.
        data: All of it.
        is_forced: Replace a file that is there. It stays as it was if the writing fails.

    Raises:
        UsageError: There is something already, or no such folder.
        OutputFailed: The disk is full, or the like.
    """
    try:
        known = path.stat()
    except FileNotFoundError:
        known = None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path} cannot be written: {why}.") from error
    if known is not None and stat.S_ISDIR(known.st_mode):
        raise UsageError(f"{path} is a folder.", f"Name a file in it, such as {path / 'session.html'}.")
    if known is not None and stat.S_ISREG(known.st_mode) and not is_forced:
        raise UsageError(f"{path} is there already.", "--force replaces it.")
    try:
        if known is not None and not stat.S_ISREG(known.st_mode):
            path.write_bytes(data)
        else:
            _put(Path(os.path.realpath(path)), data, known.st_mode if known is not None else None)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already.", "--force replaces it.") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"There is no folder {path.parent}.", "Make it first.") from error
    except PermissionError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
    except OSError as error:
        raise OutputFailed(
            f"{path} could not be written: {error.strerror}. Nothing of it stays.",
            f"It needs {len(data):,} bytes; free some space, or write it elsewhere.",
        ) from error


def _put(path: Path, data: bytes, old_mode: int | None) -> None:
    """Write beside the file first; a new one is then linked, which never replaces anything."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(_new_mode() if old_mode is None else stat.S_IMODE(old_mode))
        if old_mode is None:
            _move_to_new(part, path)
        else:
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _move_to_new(part: Path, path: Path) -> None:
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: claim the name, then take its place.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        part.replace(path)


def _new_mode() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return NEW_MODE & ~umask


__all__ = ["OutputFailed", "write_new_file"]
