from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.memory.facts import fact
from tori_tui.memory.base import MemoryFailed
from tori_tui.memory.sqlite import SqliteStore
from tori_tui.memory.words import as_ascii


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "memory" / "project.sqlite3"


@pytest_asyncio.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(path)
    yield made
    await made.close()


async def test_nothing_is_made_before_the_first_use(store: SqliteStore, path: Path) -> None:
    assert not path.parent.exists()
    assert await store.count() == 0
    assert path.exists()


async def test_only_the_user_can_read_it(store: SqliteStore, path: Path) -> None:
    before = os.umask(0)
    try:
        await store.add(fact("private"))
    finally:
        os.umask(before)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}


async def test_another_process_reads_what_this_one_wrote(store: SqliteStore, path: Path) -> None:
    await store.add(fact("shared with others"))
    other = SqliteStore(path)
    assert [each.text for each in await other.search("shared", 5)] == ["shared with others"]
    await other.close()


@pytest.mark.parametrize("damage", ["text", "header", "middle"])
async def test_a_damaged_file_is_told_and_stays(store: SqliteStore, path: Path, damage: str) -> None:
    for n in range(300):
        await store.add(fact(f"fact {n} " + "long " * 50))
    await store.close()
    data = bytearray(path.read_bytes())
    match damage:
        case "text":
            data = bytearray(b"this is a shopping list\n" * 100)
        case "header":
            data[:16] = b"\0" * 16
        case _:
            data[4096:-4096] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(MemoryFailed, match="is damaged") as failed:
        await store.search("fact", 1_000)
    assert str(path) in failed.value.message
    assert f"mv '{path}'" in failed.value.hint
    with pytest.raises(MemoryFailed):
        await store.add(fact("one more"))
    assert path.read_bytes() == bytes(data)


async def test_a_newer_format_is_told_and_stays(store: SqliteStore, path: Path) -> None:
    await store.add(fact("kept"))
    await store.close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(MemoryFailed, match="newer tori"):
        await store.count()


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    store = SqliteStore(tmp_path / "state" / "memory.sqlite3")
    with pytest.raises(MemoryFailed, match="cannot be used"):
        await store.count()


async def test_a_file_that_was_moved_away_is_made_anew(store: SqliteStore, path: Path) -> None:
    await store.add(fact("in the old file"))
    path.rename(path.with_suffix(".old"))
    await store.add(fact("in the new file"))
    other = SqliteStore(path)
    assert [each.text for each in await other.search("", 5)] == ["in the new file"]
    await other.close()


async def test_after_a_failure_the_next_call_tries_anew(store: SqliteStore, path: Path) -> None:
    await store.add(fact("kept"))
    await store.close()
    whole = path.read_bytes()
    path.write_bytes(b"damaged" * 999)
    with pytest.raises(MemoryFailed):
        await store.count()
    path.write_bytes(whole)
    assert await store.count() == 1


async def test_forgotten_words_stand_nowhere_in_the_file(store: SqliteStore, path: Path) -> None:
    for n in range(50):
        await store.add(fact(f"harmless number {n}"))
    added = await store.add(fact("the Mandrake grows here"))
    await store.add(fact("harmless too"))
    assert await store.forget(added.fact.id)
    for file in path.parent.iterdir():
        data = file.read_bytes()
        assert b"Mandrake" not in data
        assert as_ascii("mandrake").encode() not in data


async def test_a_writer_that_holds_the_file_is_waited_for(store: SqliteStore, path: Path) -> None:
    await store.add(fact("first"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(store.add(fact("second")))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    reader = SqliteStore(path)
    assert [each.text for each in await reader.search("", 5)] == ["first"]
    await reader.close()
    other.execute("COMMIT")
    other.close()
    assert (await waiting).is_new


async def test_eight_new_processes_make_the_file_together(path: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path; from tests.memory.facts import fact\n"
        "from tori_tui.memory.sqlite import SqliteStore\n"
        "async def main():\n"
        "    store = SqliteStore(Path(sys.argv[1]))\n"
        "    await store.add(fact(sys.argv[2])); await store.close()\n"
        "asyncio.run(main())"
    )
    began_s = time.monotonic()
    processes = [
        subprocess.Popen([sys.executable, "-c", script, path, f"fact of {n}"], cwd=Path(__file__).parents[2])
        for n in range(8)
    ]
    assert [process.wait() for process in processes] == [0] * 8
    assert time.monotonic() - began_s < 20
    store = SqliteStore(path)
    assert await store.count() == 8
    await store.close()
