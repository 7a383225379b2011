from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.facts import fact
from tests.memory.redis_server import RedisServer
from tests.test_layers import modules_after
from tori_tui.memory.base import MemoryFailed
from tori_tui.memory.late import LateStore, make_store, memory_path


def test_nothing_heavy_is_loaded_before_the_first_use() -> None:
    loaded = modules_after("from tori_tui.memory.late import LateStore, make_store")
    assert not loaded & {"sqlite3", "redis", "msgspec", "unicodedata"}


async def test_nothing_is_opened_before_the_first_use(tmp_path: Path) -> None:
    store = LateStore(lambda: make_store("sqlite", tmp_path, tmp_path / "state"))
    await store.close()
    assert not (tmp_path / "state").exists()
    await store.add(fact("now"))
    assert memory_path(tmp_path, tmp_path / "state").exists()
    await store.close()


async def test_a_failure_is_told_once_until_the_store_works_again(tmp_path: Path) -> None:
    told: list[str] = []
    store = LateStore(lambda: make_store("sqlite", tmp_path, tmp_path / "state"), told.append)
    (tmp_path / "state").write_text("in the way")
    for _ in range(3):
        with pytest.raises(MemoryFailed):
            await store.count()
    assert len(told) == 1
    (tmp_path / "state").unlink()
    assert await store.count() == 0
    await store.close()


@pytest.mark.parametrize("url", ["postgres://user:hunter2@x/y", "", "sqlite:///tmp/x", "hunter2"])
async def test_an_unknown_url_is_told_at_the_first_use(tmp_path: Path, url: str) -> None:
    store = LateStore(lambda: make_store(url, tmp_path, tmp_path / "state"))
    with pytest.raises(MemoryFailed, match="neither of sqlite, memory and redis"):
        await store.count()


async def test_a_lone_surrogate_is_mended_before_it_is_kept(tmp_path: Path) -> None:
    store = LateStore(lambda: make_store("sqlite", tmp_path, tmp_path / "state"))
    added = await store.add(fact("broken \ud800 text"))
    assert added.fact.text == "broken \ufffd text"
    await store.set_value("n", "k\ud800", "v\ud800")
    assert await store.values("n") == (("k\ufffd", "v\ufffd"),)
    await store.close()


def test_two_folders_of_one_name_have_two_files(tmp_path: Path) -> None:
    paths = {memory_path(tmp_path / name / "app", tmp_path) for name in ("one", "two")}
    assert len(paths) == 2
    assert all(path.name.startswith("app-") for path in paths)
    assert memory_path(Path("/"), tmp_path).name.startswith("root-")
    assert "/" not in memory_path(tmp_path / ("字 " * 99), tmp_path).name.removesuffix(".sqlite3")


async def test_on_a_server_a_project_is_its_origin_wherever_it_lies(
    shared_redis: RedisServer, tmp_path: Path
) -> None:
    one, other, third = (
        make_store(shared_redis.url, tmp_path / folder, tmp_path, origin)
        for folder, origin in (("a", "example.com/x"), ("b", "example.com/x"), ("c", ""))
    )
    await one.add(fact("shared"))
    assert await other.count() == 1
    assert await third.count() == 0
    for store in (one, other, third):
        await store.close()
