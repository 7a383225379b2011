from __future__ import annotations

from pathlib import Path

from tori_tui.context.exact_tokens import DATA_NAME, data_directory, exact_counter


def test_without_data_there_is_no_counter(tmp_path: Path) -> None:
    assert exact_counter({}, tmp_path) is None
    assert exact_counter({"TIKTOKEN_CACHE_DIR": str(tmp_path)}, tmp_path) is None


def test_changed_data_is_not_used_and_not_fetched_anew(tmp_path: Path) -> None:
    (tmp_path / DATA_NAME).write_bytes(b"AAAA 0\n")
    assert exact_counter({"TIKTOKEN_CACHE_DIR": str(tmp_path)}, tmp_path) is None
    assert (tmp_path / DATA_NAME).read_bytes() == b"AAAA 0\n"


def test_directory_is_the_one_that_tiktoken_reads(tmp_path: Path) -> None:
    assert data_directory({"TIKTOKEN_CACHE_DIR": "/a", "DATA_GYM_CACHE_DIR": "/b"}, tmp_path) == Path("/a")
    assert data_directory({"DATA_GYM_CACHE_DIR": "/b"}, tmp_path) == Path("/b")
    assert data_directory({"TIKTOKEN_CACHE_DIR": ""}, tmp_path) is None
    assert data_directory({}, tmp_path) == tmp_path / "data-gym-cache"
