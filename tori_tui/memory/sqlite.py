"""Memory in one SQLite file for each project, shared by all processes of this machine.

Must not delete or replace a file that it cannot read: it says so, and what to do.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

from tori_tui.domain.ids import FactId, GoalId, TraceId
from tori_tui.domain.memory import Fact, FactAuthor, NewFact
from tori_tui.memory.base import MemoryFailed, Remembered, as_fact
from tori_tui.memory.words import Wanted, as_ascii, terms_of, wanted_terms

SCHEMA_VERSION: Final = 1

BUSY_LIMIT_S: Final = 10.0
"""How long a write waits for other processes; one write takes some milliseconds."""

BUSY_LOOK_S: Final = 0.002
"""Between looks whether the writers' lock is free. SQLite's own waiting grows to 0.1 s, in which four
processes that write without a pause let a fifth one starve."""

_SCHEMA: Final = """
CREATE TABLE facts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    author TEXT NOT NULL,
    trace_id TEXT,
    goal_id TEXT,
    goal TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE words USING fts5(terms, tokenize='ascii', detail='none');
CREATE TABLE kept (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;
"""

_COLUMNS: Final = "id, text, created_at, author, trace_id, goal_id, goal"

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")

Row = tuple[int, str, str, FactAuthor, str | None, str | None, str]
T = TypeVar("T")


class SqliteStore:
    """A `MemoryStore` in a file; every acknowledged write is synced to the disk.

    Args:
        path: The file; it and its folder are made at the first use, for the user alone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._file_id = (0, 0)

    async def add(self, new: NewFact) -> Remembered:
        """Remember a fact."""
        return await self._write(lambda db: _add(db, new))

    async def search(self, words: str, limit: int) -> tuple[Fact, ...]:
        """Return facts that hold all the words, newest first."""
        wanted = wanted_terms(words)
        if words.strip() and not wanted:
            return ()
        return await self._read(lambda db: _search(db, wanted, limit))

    async def get(self, fact_id: FactId) -> Fact | None:
        """Return a fact by its id."""
        return await self._read(lambda db: _get(db, fact_id))

    async def forget(self, fact_id: FactId) -> bool:
        """Remove a fact and every trace of its words."""
        is_gone = await self._write(lambda db: _forget(db, fact_id))
        if is_gone:
            await self._read(_scrub_log)
        return is_gone

    async def count(self) -> int:
        """Return how many facts there are."""
        return await self._read(lambda db: int(db.execute("SELECT count(*) FROM facts").fetchone()[0]))

    async def set_value(self, namespace: str, key: str, value: str) -> None:
        """Keep a value."""
        await self._write(lambda db: _set_value(db, namespace, key, value))

    async def value(self, namespace: str, key: str) -> str | None:
        """Return a value, or None."""
        found = await self._read(
            lambda db: db.execute(
                "SELECT value FROM kept WHERE namespace = ? AND key = ?", (namespace, key)
            ).fetchone()
        )
        return None if found is None else str(found[0])

    async def delete_value(self, namespace: str, key: str) -> bool:
        """Remove a key."""
        sql = "DELETE FROM kept WHERE namespace = ? AND key = ?"
        return await self._write(lambda db: db.execute(sql, (namespace, key)).rowcount > 0)

    async def values(self, namespace: str) -> tuple[tuple[str, str], ...]:
        """Return all keys with their values, in order."""
        sql = "SELECT key, value FROM kept WHERE namespace = ? ORDER BY place"
        return await self._read(lambda db: tuple(db.execute(sql, (namespace,))))

    async def replace_values(self, namespace: str, items: tuple[tuple[str, str], ...]) -> None:
        """Let the namespace hold exactly these."""
        await self._write(lambda db: _replace_values(db, namespace, items))

    async def close(self) -> None:
        """Let go of the file."""
        await asyncio.to_thread(self._close)

    async def _read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._with_connection, ask)

    async def _write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        def changed(db: sqlite3.Connection) -> T:
            with _transaction(db):
                return change(db)

        return await asyncio.to_thread(self._with_connection, changed)

    def _with_connection(self, use: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return use(self._opened())
            except (sqlite3.Error, OSError) as error:
                self._let_go()
                raise _failure(self._path, error) from error
            except MemoryFailed:
                self._let_go()
                raise

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._file_id == _file_id(self._path):
            return self._connection
        # Never opened, or somebody moved the file away: what is written there would be lost.
        self._let_go()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite gives its side files the same mode.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        self._file_id = _file_id(self._path)
        self._connection = sqlite3.connect(
            self._path, timeout=BUSY_LIMIT_S, isolation_level=None, check_same_thread=False
        )
        _set_up(self._connection, self._path)
        return self._connection

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _close(self) -> None:
        with self._lock:
            self._let_go()


def _set_up(db: sqlite3.Connection, path: Path) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise MemoryFailed(
            f"The memory {path} was written by a newer tori (format {version}).", "Update this one."
        )
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA secure_delete = ON")
    if version == SCHEMA_VERSION:
        return
    _go_to_log_mode(db)
    with _transaction(db):
        # Another process may have done it while this one waited.
        if db.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in filter(str.strip, _SCHEMA.split(";")):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _go_to_log_mode(db: sqlite3.Connection) -> None:
    """Let readers go on while one writes; kept in the file. Among many new processes one is first."""
    _patiently(lambda: db.execute("PRAGMA journal_mode = WAL").fetchone())


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    _patiently(lambda: db.execute("BEGIN IMMEDIATE"))
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _patiently(step: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + BUSY_LIMIT_S
    while True:
        try:
            step()
            return
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline_s:
                raise
        time.sleep(BUSY_LOOK_S)


def _is_busy(error: sqlite3.Error) -> bool:
    # The low byte of an extended code is the plain one.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _add(db: sqlite3.Connection, new: NewFact) -> Remembered:
    known = db.execute(f"SELECT {_COLUMNS} FROM facts WHERE text = ?", (new.text,)).fetchone()
    if known is not None:
        return Remembered(_fact(known), is_new=False)
    values = (new.text, new.created_at.isoformat(), new.author, new.trace_id, new.goal_id, new.goal)
    row_id = db.execute(
        "INSERT INTO facts (text, created_at, author, trace_id, goal_id, goal) VALUES (?, ?, ?, ?, ?, ?)",
        values,
    ).lastrowid
    terms = " ".join(map(as_ascii, sorted(terms_of(new.text))))
    db.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (row_id, terms))
    return Remembered(as_fact(FactId(str(row_id)), new), is_new=True)


def _search(db: sqlite3.Connection, wanted: tuple[Wanted, ...], limit: int) -> tuple[Fact, ...]:
    if not wanted:
        rows = db.execute(f"SELECT {_COLUMNS} FROM facts ORDER BY id DESC LIMIT ?", (limit,))
    else:
        asked = " AND ".join(f'"{as_ascii(each.term)}"{"*" * each.is_beginning}' for each in wanted)
        rows = db.execute(
            f"SELECT {_COLUMNS} FROM facts WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?)"
            " ORDER BY id DESC LIMIT ?",
            (asked, limit),
        )
    return tuple(map(_fact, rows))


def _get(db: sqlite3.Connection, fact_id: FactId) -> Fact | None:
    row = db.execute(f"SELECT {_COLUMNS} FROM facts WHERE id = ?", (_row_id(fact_id),)).fetchone()
    return None if row is None else _fact(row)


def _forget(db: sqlite3.Connection, fact_id: FactId) -> bool:
    row_id = _row_id(fact_id)
    is_gone = db.execute("DELETE FROM facts WHERE id = ?", (row_id,)).rowcount > 0
    if is_gone:
        db.execute("DELETE FROM words WHERE rowid = ?", (row_id,))
        # Until it is merged, the index keeps what was deleted.
        db.execute("INSERT INTO words (words) VALUES ('optimize')")
    return is_gone


def _scrub_log(db: sqlite3.Connection) -> None:
    """Empty the write-ahead log, in which a forgotten text still stands; a reader may keep it for later."""
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _set_value(db: sqlite3.Connection, namespace: str, key: str, value: str) -> None:
    db.execute(
        "INSERT INTO kept (namespace, key, value, place) VALUES (?1, ?2, ?3,"
        " (SELECT coalesce(max(place), 0) + 1 FROM kept WHERE namespace = ?1))"
        " ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value",
        (namespace, key, value),
    )


def _replace_values(db: sqlite3.Connection, namespace: str, items: tuple[tuple[str, str], ...]) -> None:
    db.execute("DELETE FROM kept WHERE namespace = ?", (namespace,))
    for key, value in items:
        _set_value(db, namespace, key, value)


def _row_id(fact_id: FactId) -> int | None:
    """Return the number in its only spelling; SQLite takes none that is longer."""
    return int(fact_id) if _NUMBER.fullmatch(fact_id) else None


def _fact(row: Row) -> Fact:
    row_id, text, created_at, author, trace_id, goal_id, goal = row
    return Fact(
        FactId(str(row_id)),
        text,
        datetime.fromisoformat(created_at),
        author,
        None if trace_id is None else TraceId(trace_id),
        None if goal_id is None else GoalId(goal_id),
        goal,
    )


def _file_id(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_dev, status.st_ino)


def _failure(path: Path, error: sqlite3.Error | OSError) -> MemoryFailed:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return MemoryFailed(
            f"The memory {path} is damaged: {error}.",
            f"Nothing was changed in it. To begin a new one: mv '{path}' '{path}.damaged'",
        )
    if isinstance(error, sqlite3.Error) and _is_busy(error):
        return MemoryFailed(
            f"The memory {path} was busy for {BUSY_LIMIT_S:g} s: another process writes and does not end.",
            "Try again later.",
        )
    reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return MemoryFailed(
        f"The memory {path} cannot be used: {reason}.",
        "Mend the permissions or the disk, or set [memory] url.",
    )


__all__ = ["BUSY_LIMIT_S", "SqliteStore"]
