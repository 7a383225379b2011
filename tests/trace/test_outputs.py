from __future__ import annotations

import hashlib
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tori_tui.trace.errors import OutputsFull, TraceError, TraceMissing
from tori_tui.trace.outputs import Outputs


@pytest.fixture
def outputs(tmp_path: Path) -> Outputs:
    return Outputs(tmp_path / "t1" / "outputs")


def test_a_kept_text_comes_back_and_is_named_by_its_content(outputs: Outputs) -> None:
    name = outputs.keep_text("é中\n")
    assert name == hashlib.sha256("é中\n".encode()).hexdigest() + ".txt"
    assert outputs.read_text(name) == "é中\n"


def test_keeping_the_same_again_changes_nothing(outputs: Outputs) -> None:
    name = outputs.keep_bytes(b"abc")
    before = outputs.path(name).stat()
    assert outputs.keep_bytes(b"abc") == name
    after = outputs.path(name).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in outputs.directory.iterdir()] == [name]


def test_a_kept_file_that_a_crash_emptied_is_written_again(outputs: Outputs) -> None:
    name = outputs.keep_bytes(b"abc")
    outputs.path(name).write_bytes(b"")
    outputs.keep_bytes(b"abc")
    assert outputs.path(name).read_bytes() == b"abc"


def test_the_folder_is_made_when_needed_and_closed_to_others(outputs: Outputs) -> None:
    assert not outputs.directory.exists()
    name = outputs.keep_bytes(b"\0\xff", ".orig")
    _, path = outputs.open_new("call_1")
    assert stat.S_IMODE(outputs.directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in (outputs.path(name), path)} == {0o600}


@pytest.mark.parametrize(
    ("stem", "name"),
    [("call_1", "call_1.log"), ("../../etc/x y", "etc-x-y.log"), ("", "output.log"), ("...", "output.log")],
)
def test_a_new_name_is_plain_and_taken_once(outputs: Outputs, stem: str, name: str) -> None:
    first, path = outputs.open_new(stem)
    second, _ = outputs.open_new(stem)
    assert first == name
    assert path == outputs.path(name)
    assert path.read_bytes() == b""
    assert second == name.replace(".log", "-2.log")


@settings(deadline=None)
@given(st.text(), st.text(max_size=20))
def test_whatever_the_stem_the_file_lies_in_the_folder(
    tmp_path_factory: pytest.TempPathFactory, stem: str, suffix: str
) -> None:
    outputs = Outputs(tmp_path_factory.getbasetemp() / "any-stem")
    name, path = outputs.open_new(stem, suffix)
    assert path.parent == outputs.directory
    assert outputs.path(name) == path
    path.unlink()


@pytest.mark.parametrize("name", ["", ".", "..", "../goal.json", "/etc/passwd", "a/b", "a\0b"])
def test_a_name_that_leads_elsewhere_is_refused(outputs: Outputs, name: str) -> None:
    with pytest.raises(TraceError, match="no name of a kept output"):
        outputs.path(name)


def test_bytes_that_are_no_text_are_read_all_the_same(outputs: Outputs) -> None:
    assert outputs.read_text(outputs.keep_bytes(b"a\x80b\0c")) == "a�b\0c"
    assert outputs.read_text(outputs.keep_text("a\ud800b")) == "a�b"


def test_a_limit_leaves_out_the_character_that_it_cuts(outputs: Outputs) -> None:
    name = outputs.keep_text("é中é")
    assert [outputs.read_text(name, limit) for limit in (2, 3, 4, 5, 7, 99)] == [
        *("é", "é", "é", "é中", "é中é", "é中é")
    ]


def test_a_file_that_is_not_there_is_told(outputs: Outputs) -> None:
    with pytest.raises(TraceMissing, match=r"'a\.txt' cannot be read"):
        outputs.read_text("a.txt")


@pytest.mark.needs("mount")
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("kernel: mounting is not allowed here")
    try:
        outputs = Outputs(disk / "outputs")
        with pytest.raises(OutputsFull, match="No room for an output of 100000 bytes"):
            outputs.keep_bytes(b"x" * 100_000)
        assert list(outputs.directory.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)
