"""Finding files by name and lines by content, with ripgrep where it is and without it the same.

Must not block the loop, nor leave a process behind, nor run a regex where it could not be stopped.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.workspace.hits import FoundLine, LineQuery
from tori_tui.workspace.patterns import FileGlob
from tori_tui.workspace.ripgrep import JsonAnswers, files_command, lines_command
from tori_tui.workspace.tree import walk

LIMIT_S: Final = 20.0
MATCHES_LIMIT: Final = 100
PIECE_BYTES: Final = 1 << 16
ANSWER_LIMIT_BYTES: Final = 4 << 20
"""Of one answer of an engine; of a longer one the beginning and the end are kept."""
KEPT_BYTES: Final = 1 << 16

WORKER: Final = "from tori_tui.workspace.search_worker import main; main()"


class PatternInvalid(ToriError):
    """A regex that cannot be searched for."""


@dataclass(frozen=True, slots=True)
class FilesFound:
    """Paths relative to where the search began, sorted."""

    paths: tuple[str, ...]
    is_complete: bool = True
    """False where the time ran out."""


@dataclass(frozen=True, slots=True)
class LinesFound:
    """Lines, sorted by path and number."""

    lines: tuple[FoundLine, ...]
    has_more: bool = False
    is_complete: bool = True
    left_out: tuple[str, ...] = ()
    """Paths with matches that were not to be shown."""


class Search:
    """Both searches over a folder.

    Args:
        rg: The ripgrep to use; None for tori's own search.
        limit_s: When a search is stopped and gives what it has.
    """

    def __init__(self, rg: str | None, limit_s: float = LIMIT_S) -> None:
        self._rg = rg
        self._limit_s = limit_s

    @classmethod
    def on_path(cls) -> Search:
        """Return a search that uses the ripgrep of the PATH, if there is one."""
        return cls(shutil.which("rg"))

    async def files(self, start: Path, glob: FileGlob) -> FilesFound:
        """Find the files below a folder that a glob means."""
        paths: list[str] = []
        try:
            async with asyncio.timeout(self._limit_s):
                await self._list(start, glob, paths)
        except TimeoutError:
            return FilesFound(tuple(filter(glob.matches, paths)), is_complete=False)
        return FilesFound(tuple(filter(glob.matches, paths)))

    async def lines(
        self,
        start: Path,
        query: LineQuery,
        glob: FileGlob | None = None,
        *,
        limit: int = MATCHES_LIMIT,
        may_show: Callable[[str], bool] = lambda path: True,
    ) -> LinesFound:
        """Find lines in one file, or in the files below a folder that a glob means.

        Args:
            start: A regular file or a folder.
            query: What to look for.
            glob: Which files of a folder; all if None.
            limit: How many matches at most.
            may_show: Whether a path, relative to `start`, may be shown; its lines are dropped if not.

        Raises:
            PatternInvalid: The regex is empty or broken.
        """
        if not query.regex:
            raise PatternInvalid("The pattern is empty.", "Give a regular expression.")
        if "\n" in query.regex:
            raise PatternInvalid("The pattern holds a line break.", "A match lies within one line.")
        lines: list[FoundLine] = []
        left_out: dict[str, None] = {}
        shows = cache(may_show)
        n_matches = 0
        try:
            async with asyncio.timeout(self._limit_s), aclosing(self._found(start, query, glob)) as found:
                async for line in found:
                    if line.path and not shows(line.path):
                        left_out[line.path] = None
                        continue
                    n_matches += line.is_match
                    if n_matches > limit:
                        return LinesFound(tuple(lines), has_more=True, left_out=tuple(left_out))
                    lines.append(line)
        except TimeoutError:
            return LinesFound(tuple(lines), is_complete=False, left_out=tuple(left_out))
        return LinesFound(tuple(lines), left_out=tuple(left_out))

    def _ripgrep(self, start: Path) -> str | None:
        """Return the program; None where an ignore list is a pipe, which it would read for ever."""
        ignore = start / ".gitignore"
        return None if ignore.exists() and not ignore.is_file() else self._rg

    async def _list(self, start: Path, glob: FileGlob, paths: list[str]) -> None:
        if rg := self._ripgrep(start):
            try:
                async with aclosing(_answers(files_command(rg, start, glob), start, b"", b"\0")) as names:
                    async for name, _ in names:
                        paths.append(os.fsdecode(name).removeprefix("./"))
                return
            except EngineFailed:
                pass  # an old ripgrep
        await _walked(start, paths)

    async def _found(
        self, start: Path, query: LineQuery, glob: FileGlob | None
    ) -> AsyncGenerator[FoundLine, None]:
        if rg := self._ripgrep(start):
            answers = JsonAnswers(start, glob)
            command = lines_command(rg, start, query, glob)
            folder = start if start.is_dir() else start.parent
            try:
                async with aclosing(_answers(command, folder, b"", b"\n")) as raw_answers:
                    async for raw, is_whole in raw_answers:
                        for line in answers.feed(raw, is_whole):
                            yield line
                return
            except EngineFailed:
                # A regex in another dialect than ripgrep's, or an old ripgrep.
                pass
        async with aclosing(self._found_by_worker(start, query, glob)) as found:
            async for line in found:
                yield line

    async def _found_by_worker(
        self, start: Path, query: LineQuery, glob: FileGlob | None
    ) -> AsyncGenerator[FoundLine, None]:
        question = {
            "start": str(start),
            "regex": query.regex,
            "ignore_case": query.ignore_case,
            "context_lines": query.context_lines,
            "glob": glob.pattern if glob else "",
            "limit_s": self._limit_s,
        }
        # -P: nothing of the user's folder can take the place of a module.
        command = [sys.executable, "-P", "-c", WORKER]
        stdin = json.dumps(question).encode()
        async with aclosing(_answers(command, Path("/"), stdin, b"\n")) as answers:
            async for raw, is_whole in answers:
                for line in _worker_lines(raw, query) if is_whole else ():
                    yield line


class EngineFailed(ToriError):
    """A search process could not be started, or ended with an error before it answered anything."""


def _worker_lines(raw: bytes, query: LineQuery) -> Iterator[FoundLine]:
    answer = json.loads(raw)
    if "error" in answer:
        raise PatternInvalid(
            f"{query.regex!r} is not a valid regex: {answer['error']}.", "Escape what is meant literally."
        )
    for path, number, text, is_match in answer["lines"]:
        yield FoundLine(path, number, text, is_match)


async def _walked(start: Path, paths: list[str]) -> None:
    stop = threading.Event()
    try:
        await asyncio.to_thread(lambda: paths.extend(walk(start, stop.is_set)))
    finally:
        stop.set()


async def _answers(
    command: Sequence[str], folder: Path, stdin: bytes, end: bytes
) -> AsyncGenerator[tuple[bytes, bool], None]:
    """Run a process and yield its answers and whether each is whole; it is gone when this is over.

    Raises:
        EngineFailed: It ended with an error and answered nothing.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=_environment(),
            stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise EngineFailed(str(error)) from error
    has_answered = False
    try:
        if process.stdin is not None:
            process.stdin.write(stdin)
            process.stdin.close()
        if process.stdout is not None:
            async with aclosing(_split(process.stdout, end)) as parts:
                async for part, is_whole in parts:
                    has_answered = True
                    yield part, is_whole
        if await process.wait() not in (0, 1) and not has_answered:
            raise EngineFailed(f"exit {process.returncode}")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _split(stream: asyncio.StreamReader, end: bytes) -> AsyncGenerator[tuple[bytes, bool], None]:
    """Yield what stands between the ends; of a part that is too long its beginning and its end."""
    head, rest = b"", bytearray()
    while piece := await stream.read(PIECE_BYTES):
        *parts, last = piece.split(end)
        for part in parts:
            yield head + bytes(rest + part), not head
            head, rest = b"", bytearray()
        rest += last
        if len(rest) > ANSWER_LIMIT_BYTES:
            head = head or bytes(rest[:KEPT_BYTES])
            del rest[:-KEPT_BYTES]


def _environment() -> dict[str, str]:
    """Return the little that the engines need; no key of the user's is in it."""
    names = ("PATH", "HOME", "PYTHONPATH", "VIRTUAL_ENV")
    return {name: os.environ[name] for name in names if name in os.environ} | {"LC_ALL": "C.UTF-8"}


__all__ = ["MATCHES_LIMIT", "FilesFound", "LinesFound", "PatternInvalid", "Search"]
