"""Objects and references of a git directory, written without a git process, which costs 3 ms each.

Must not write over an object that is there, and must not look at a work tree.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path
from typing import Final, Literal

COMPRESSION: Final = 1
"""As the settings of the shadow directory say: time matters more than the last bytes."""


def write_object(directory: Path, kind: Literal["blob", "tree"], data: bytes) -> str:
    """Write an object into a git directory, unless it is there, and return its name."""
    whole = b"%s %d\0" % (kind.encode(), len(data)) + data
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    path = directory / "objects" / name[:2] / name[2:]
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        # git takes what is called so for a leftover, and its pruning removes it.
        _put(path, path.with_name(f"tmp_obj_{name[2:]}"), zlib.compress(whole, COMPRESSION), 0o444)
    return name


def write_ref(directory: Path, ref: str, name: str) -> None:
    """Let a reference that only ever names one object name it; such a one needs no lock."""
    path = directory / ref
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _put(path, directory / "ref.new", f"{name}\n".encode(), 0o644)


def _put(path: Path, temporary: Path, data: bytes, mode: int) -> None:
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(temporary, path)


__all__ = ["write_object", "write_ref"]
