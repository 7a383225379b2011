"""Lists the names of a folder's files by the rule of every search, within bounds of number and time.

Must not run on the loop, and must not leave a process behind.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, Final

from tori_tui.domain.file_names import FileNames
from tori_tui.workspace.git_head import find_work_tree
from tori_tui.workspace.programs import find_program
from tori_tui.workspace.ripgrep import files_command
from tori_tui.workspace.tree import walk

NAMES_LIMIT: Final = 100_000
"""Ranked in about 0.1 s for each key; a tree with more is searched by words instead."""
LIMIT_S: Final = 5.0
PIECE_BYTES: Final = 1 << 16

POLL_S: Final = 0.1
"""How soon a look that is over notices it."""


def list_files(
    folder: Path,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    limit: int = NAMES_LIMIT,
    limit_s: float = LIMIT_S,
) -> FileNames:
    """Return the names below a folder, without those that `.gitignore` names.

    Args:
        folder: Where to look.
        should_stop: Asked all the time; the look ends with what it has.
        limit: How many names at most.
        limit_s: After so long the look ends with what it has.
    """
    try:
        with os.scandir(folder):
            pass
    except OSError as error:
        return FileNames(fault=f"{folder} cannot be read: {error.strerror}")
    until_s = time.monotonic() + limit_s
    rg = find_program("rg", os.environ, find_work_tree(folder) or folder)

    def is_over() -> bool:
        return should_stop() or time.monotonic() > until_s

    with closing(_listed(rg, folder, is_over) if rg else _walked(folder, is_over)) as names:
        paths = tuple(islice((name for name in names if name.isprintable()), limit + 1))
    return FileNames(paths[:limit], is_complete=len(paths) <= limit and not is_over())


def _walked(folder: Path, is_over: Callable[[], bool]) -> Generator[str, None, None]:
    yield from walk(folder, is_over)


def _listed(rg: str, folder: Path, is_over: Callable[[], bool]) -> Generator[str, None, None]:
    """Yield what ripgrep lists; it is gone when this is over."""
    with subprocess.Popen(
        files_command(rg, folder, None),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            for name in _split(_pieces(process.stdout, is_over)):
                yield os.fsdecode(name).removeprefix("./")
        finally:
            process.kill()


def _pieces(pipe: IO[bytes] | None, is_over: Callable[[], bool]) -> Iterator[bytes]:
    while pipe is not None and not is_over():
        if select.select([pipe], [], [], POLL_S)[0]:
            piece = os.read(pipe.fileno(), PIECE_BYTES)
            if not piece:
                return
            yield piece


def _split(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *names, rest = (rest + piece).split(b"\0")
        yield from names


__all__ = ["LIMIT_S", "NAMES_LIMIT", "list_files"]
