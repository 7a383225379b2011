from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workspace.going_back_kit import ENVIRON, Saver, content_of, git, git_traces, git_tree, plain_tree
from tori_tui.workspace.checkpoints import SIZE_LIMIT_BYTES
from tori_tui.workspace.shadow_git import shadow_directory
from tori_tui.workspace.tree_changes import changes_between

KINDS = pytest.mark.parametrize("make", [plain_tree, git_tree], ids=["plain", "git"])
Make = Callable[[Path], Path]


def agent_works(root: Path) -> None:
    """Change, make, delete, rename, link and mark files as a shell command would."""
    (root / "a.txt").write_bytes(b"changed\r\n")
    (root / "run.sh").chmod(0o644)
    (root / "link").unlink()
    (root / "link").symlink_to("run.sh")
    (root / "dangling").unlink()
    (root / "dangling").write_text("a file now\n")
    (root / "blob.dat").write_bytes(b"\r\n\0")
    (root / "no newline").rename(root / "sub" / "moved")
    (root / "made").mkdir()
    (root / "made" / "new.txt").write_text("new\n")
    (root / "empty" / "full.txt").write_text("no longer empty\n")
    (root / "bare").mkdir()
    odd = root / "sub" / "deep" / "with space\nand line.txt"
    odd.unlink()
    odd.parent.rmdir()
    odd.parent.write_text("a file where a folder was\n")


@KINDS
def test_going_back_and_forth_is_byte_equal_each_time(make: Make, tmp_path: Path) -> None:
    root = make(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    first = content_of(root)
    saver.save("user")
    agent_works(root)
    second = content_of(root)
    saver.save()
    assert saver.go_back(0) == ()
    assert content_of(root) == first
    # Undo: back to the state that was saved before going back.
    assert saver.go_back(2) == ()
    assert content_of(root) == second
    # Redo: back to what the first going back came to.
    assert saver.go_back(3) == ()
    assert content_of(root) == first


def test_the_users_repository_never_notices(tmp_path: Path) -> None:
    root = git_tree(tmp_path / "tree")
    git(root, "status")
    traces, status = git_traces(root), git(root, "status", "--porcelain=v2")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    agent_works(root)
    saver.save()
    saver.go_back(0)
    assert git_traces(root) == traces
    assert git(root, "status", "--porcelain=v2") == status
    assert not (root / ".git" / "index.lock").exists()


def test_nested_repositories_are_plain_folders_with_their_own_ignore_rules(tmp_path: Path) -> None:
    root = git_tree(tmp_path / "tree")
    inner = root / "nested" / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "x.txt").write_text("x\n")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "x")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "nested" / "inner.txt").write_text("changed\n")
    (inner / "x.txt").unlink()
    saver.save()
    saver.go_back(0)
    assert (root / "nested" / "inner.txt").read_text() == "inner\n"
    assert (inner / "x.txt").read_text() == "x\n"


@KINDS
def test_ignored_files_are_never_touched(make: Make, tmp_path: Path) -> None:
    root = make(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "build" / "out.o").write_bytes(b"built again")
    (root / "build" / "more.o").write_bytes(b"more")
    saver.save()
    saver.go_back(0)
    assert (root / "build" / "out.o").read_bytes() == b"built again"
    assert (root / "build" / "more.o").exists()


def test_a_file_that_ignore_rules_no_longer_hide_is_not_taken_for_a_made_one(tmp_path: Path) -> None:
    root = git_tree(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / ".gitignore").write_text("")
    saver.save()
    assert "build/out.o" in saver.go_back(0)
    assert (root / "build" / "out.o").read_bytes() == b"built"
    assert (root / ".gitignore").read_text() == "*.o\nbuild/\n"


def test_large_files_stand_outside_and_are_named(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "a.txt").write_bytes(b"x" * (SIZE_LIMIT_BYTES + 1))
    (root / "big").write_bytes(b"y" * (SIZE_LIMIT_BYTES + 1))
    assert saver.save().left_out == ("a.txt", "big")
    assert saver.go_back(0) == ("a.txt",)
    assert (root / "a.txt").stat().st_size == (root / "big").stat().st_size == SIZE_LIMIT_BYTES + 1


def test_a_file_that_a_tool_changed_is_saved_whatever_its_size_and_even_if_ignored(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    (root / "big").write_bytes(b"y" * (SIZE_LIMIT_BYTES + 1))
    saver.save("user", ("big", "build/out.o"))
    (root / "big").write_bytes(b"z")
    (root / "build" / "out.o").write_bytes(b"other")
    saver.save("agent", ("big", "build/out.o"))
    saver.go_back(0)
    assert (root / "big").stat().st_size == SIZE_LIMIT_BYTES + 1
    assert (root / "build" / "out.o").read_bytes() == b"built"


def test_an_ignored_file_that_the_user_tracks_is_saved(tmp_path: Path) -> None:
    root = git_tree(tmp_path / "tree")
    git(root, "add", "-f", "build/out.o")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "build" / "out.o").unlink()
    saver.save()
    saver.go_back(0)
    assert (root / "build" / "out.o").read_bytes() == b"built"


def test_a_users_edit_between_two_turns_survives_going_back_over_both(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    before = content_of(root)
    saver.save("user")
    (root / "run.sh").write_text("#!/bin/sh\necho agent\n")
    saver.save()
    (root / "a.txt").write_bytes(b"the user's own\r\n")
    (root / "mine.txt").write_text("the user's too\n")
    (root / "mine folder").mkdir()
    saver.save("user")
    (root / "mine.txt").unlink()
    (root / "gone.txt").unlink()
    (root / "a.txt").write_bytes(b"over it\n")
    saver.save()
    saver.save("user")
    plan = saver.plan(0)
    saver.go_back(0)
    now = content_of(root)
    assert (root / "a.txt").read_bytes() == b"the user's own\r\n"
    assert (root / "mine.txt").read_text() == "the user's too\n"
    assert now["mine folder"][0] == "folder"
    assert {k: v for k, v in now.items() if not k.startswith("mine") and k != "a.txt"} == {
        k: v for k, v in before.items() if k != "a.txt"
    }
    assert plan.kept == ("a.txt", "mine folder/", "mine.txt")


def test_a_link_out_of_the_tree_is_not_written_through(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "sub" / "x.txt").write_text("x\n")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "sub" / "x.txt").write_text("agent\n")
    saver.save()
    (root / "sub").rename(tmp_path / "elsewhere")
    (root / "sub").symlink_to(outside)
    saver.go_back(0)
    assert list(outside.iterdir()) == []
    assert (root / "sub").is_symlink()


def test_a_file_that_changes_while_it_is_restored_is_left_alone(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    saver.save("user")
    (root / "a.txt").write_text("agent\n")
    saver.save()
    plan = saver.plan(0)
    (root / "a.txt").write_text("meanwhile\n")
    assert [step.path for step in plan.steps] == ["a.txt"]
    assert "a.txt" not in saver.go_back(0)
    assert (root / "a.txt").read_text() == "meanwhile\n"


def test_a_second_session_shares_the_directory_and_sees_the_same_tree(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    one, two = Saver(root, tmp_path / "state"), Saver(root, tmp_path / "state")
    assert one.save().tree == two.save().tree
    (root / "a.txt").write_text("x")
    assert one.save().tree == two.save().tree != one.chain[0].tree


def test_a_torn_index_and_left_locks_are_mended(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    saver = Saver(root, tmp_path / "state")
    tree = saver.save().tree
    shadow = shadow_directory(tmp_path / "state", root)
    (shadow / "index").write_bytes((shadow / "index").read_bytes()[:100])
    (shadow / "index.lock").touch()
    assert Saver(root, tmp_path / "state").save().tree == tree


def test_home_is_saved_only_where_a_tool_touched_it(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    from_home = dict(ENVIRON, HOME=str(root))
    saver = Saver(root, tmp_path / "state")
    opened = type(saver.checkpoints).open(root, tmp_path / "state", from_home)
    assert opened is not None
    saver.checkpoints = opened
    (root / "made.txt").write_text("made\n")
    saved = saver.save("user", ("a.txt",))
    assert saved.is_partial
    (root / "a.txt").write_text("agent\n")
    last = saver.save("agent", ("a.txt", "made.txt"))
    (changed,) = changes_between(opened.shadow, [(saved.tree, last.tree)])
    assert set(changed) == {"a.txt", "made.txt"}
    assert saver.go_back(0) == ("made.txt",)
    assert (root / "made.txt").exists()
    assert (root / "a.txt").read_bytes() == b"one\r\ntwo\r\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="kernel: root reads everything")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    root = plain_tree(tmp_path / "tree")
    (root / "a.txt").chmod(0)
    assert Saver(root, tmp_path / "state").save().left_out == ("a.txt",)
