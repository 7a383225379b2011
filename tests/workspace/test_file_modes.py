from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.workspace.going_back_kit import Saver, plain_tree


def bits(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o700, 0o444, 0o644, 0o755])
def test_a_deleted_file_comes_back_with_its_permissions(mode: int, tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    (root / "a.txt").chmod(mode)
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "a.txt").unlink()
    saver.save()
    saver.go_back(0)
    assert bits(root / "a.txt") == mode
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\r\n"


def test_permissions_alone_go_back_and_forth(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    (root / "gone.txt").chmod(0o600)
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "gone.txt").chmod(0o644)
    (root / "a.txt").chmod(0o640)
    saver.save()
    assert {step.path for step in saver.plan(0).steps} == {"a.txt", "gone.txt"}
    saver.go_back(0)
    assert (bits(root / "gone.txt"), bits(root / "a.txt")) == (0o600, 0o644)
    saver.go_back(2)
    assert (bits(root / "gone.txt"), bits(root / "a.txt")) == (0o644, 0o640)


def test_permissions_that_the_user_gave_stay(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "a.txt").write_text("the agent's\n")
    saver.save()
    (root / "a.txt").write_text("the user's\n")
    (root / "a.txt").chmod(0o600)
    saver.save("user")
    (root / "a.txt").unlink()
    saver.save()
    saver.go_back(0)
    assert (root / "a.txt").read_text() == "the user's\n"
    assert bits(root / "a.txt") == 0o600


def test_another_session_knows_them_too(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    (root / "a.txt").chmod(0o600)
    one, two = Saver(root, tmp_path / "state"), Saver(root, tmp_path / "state")
    assert one.save().modes == two.save().modes == {"a.txt": 0o600}
