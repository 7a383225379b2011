from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.workspace.copies_kit import snapshot, tree_of, write
from tori_tui.workspace.adopt import AdoptFailed, carry_out

LINES = b"".join(b"line %d\r\n" % n for n in range(1, 31))


def changed(data: bytes, line: int, text: bytes) -> bytes:
    return data.replace(b"line %d\r\n" % line, text)


def test_a_branchs_change_lands_on_top_of_uncommitted_work_byte_for_byte(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a.txt": LINES}) as tree:
        copy = tree.copy()
        (copy.root / "a.txt").write_bytes(changed(LINES, 3, b"theirs\r\n"))
        (tree.root / "a.txt").write_bytes(changed(LINES, 25, b"mine\n"))
        assert not tree.adopt(copy).conflicts
        assert (tree.root / "a.txt").read_bytes() == changed(changed(LINES, 3, b"theirs\r\n"), 25, b"mine\n")


def test_a_conflict_changes_nothing_and_names_the_hunk(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a.txt": LINES, "b.txt": b"b\n"}) as tree:
        copy = tree.copy()
        write(copy.root, {"a.txt": changed(LINES, 7, b"theirs\r\n"), "b.txt": b"B\n", "new.txt": b"n"})
        write(tree.root, {"a.txt": changed(changed(LINES, 2, b"two\r\ntwo\r\n"), 7, b"mine\r\n")})
        before = tree.files()
        (conflict,) = tree.adopt(copy).conflicts
        assert tree.files() == before
        (hunk,) = conflict.hunks
        assert (conflict.path, hunk.line, hunk.ours, hunk.theirs) == (
            "a.txt",
            8,
            "mine\r\n",
            "theirs\r\n",
        )


def test_every_kind_of_change_is_adopted(tmp_path: Path) -> None:
    files = {
        "edit": b"1\n",
        "gone": b"gone\n",
        "old/name.py": LINES,
        "data.bin": bytes(range(256)),
        "run.sh": b"#!/bin/sh\n",
        "file": b"will be a folder\n",
        "folder/x": b"will be a file\n",
        "latin": b"caf\xe9 no newline",
    }
    with tree_of(tmp_path, files) as tree:
        os.symlink("edit", tree.root / "link")
        tree.saved = tree.checkpoints.save("trace")
        copy = tree.copy()
        root = copy.root
        (root / "gone").unlink()
        (root / "new").mkdir()
        (root / "old/name.py").rename(root / "new/name.py")
        (root / "old").rmdir()
        write(root, {"edit": b"2\n", "data.bin": bytes(255 - n for n in range(256))})
        write(root, {"latin": b"th\xe9 no newline", "größe \n x": b"odd name", "empty": b""})
        (root / "run.sh").chmod(0o755)
        (root / "link").unlink()
        os.symlink("new/name.py", root / "link")
        (root / "file").unlink()
        write(root, {"file/inside": b"in\n"})
        shutil.rmtree(root / "folder")
        write(root, {"folder": b"now a file\n"})
        write(root, {"big.bin": os.urandom(6 << 20)})
        assert tree.adopt(copy).conflicts == ()
        wanted = {k: v for k, v in snapshot(root).items() if not k.startswith(".git")}
        assert tree.files() == wanted


def test_a_second_adoption_finds_nothing_to_do(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a": LINES, "old": LINES + b"old"}) as tree:
        copy = tree.copy()
        write(copy.root, {"a": changed(LINES, 3, b"x\r\n"), "n": b"n"})
        (copy.root / "old").rename(copy.root / "moved")
        assert tree.adopt(copy).steps
        again = tree.adopt(copy)
        assert (again.steps, again.conflicts) == ((), ())


def test_a_file_renamed_on_one_side_and_edited_on_the_other_gets_both(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a": LINES, "b": LINES + b"b\n"}) as tree:
        copy = tree.copy()
        write(copy.root, {"a": changed(LINES, 3, b"theirs\r\n")})
        (copy.root / "b").rename(copy.root / "b2")
        (tree.root / "a").rename(tree.root / "a2")
        write(tree.root, {"b": changed(LINES, 20, b"mine\r\n") + b"b\n"})
        assert tree.adopt(copy).conflicts == ()
        files = {path: data for path, (_, data) in tree.files().items()}
        assert files == {
            "a2": changed(LINES, 3, b"theirs\r\n"),
            "b2": changed(LINES, 20, b"mine\r\n") + b"b\n",
        }


@pytest.mark.parametrize(
    ("theirs", "ours", "named"),
    [
        ({"a": None}, {"a": b"mine"}, "a"),
        ({"a": b"theirs"}, {"a": None}, "a"),
        ({"a": b"\0theirs"}, {"a": b"\0mine"}, "a"),
        ({"new": b"theirs\n"}, {"new": b"mine\n"}, "new"),
        ({"dir/x": b"theirs\n"}, {"dir": b"a file"}, "dir/x"),
        ({"name": b"theirs\n"}, {"name/y": b"in a folder"}, "name"),
    ],
)
def test_what_cannot_be_put_together_is_a_conflict_and_changes_nothing(
    tmp_path: Path, theirs: dict[str, bytes | None], ours: dict[str, bytes | None], named: str
) -> None:
    with tree_of(tmp_path, {"a": b"base\n", "other": b"o\n"}) as tree:
        copy = tree.copy()
        write(copy.root, {"other": b"changed too\n"})
        for root, sides in ((copy.root, theirs), (tree.root, ours)):
            for name, data in sides.items():
                (root / name).unlink() if data is None else write(root, {name: data})
        before = tree.files()
        assert named in [conflict.path for conflict in tree.adopt(copy).conflicts]
        assert tree.files() == before


def test_a_link_out_of_the_tree_is_never_followed(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"dir/x": b"x\n"}) as tree:
        copy = tree.copy()
        write(copy.root, {"dir/y": b"y\n"})
        (tmp_path / "outside").mkdir()
        shutil.rmtree(tree.root / "dir")
        os.symlink(tmp_path / "outside", tree.root / "dir")
        assert tree.adopt(copy).conflicts
        assert os.listdir(tmp_path / "outside") == []


def test_what_changed_since_the_plan_takes_everything_back(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a": b"a\n", "b": b"b\n", "c": b"c\n"}) as tree:
        copy = tree.copy()
        write(copy.root, {"a": b"A\n", "b": b"B\n"})
        (copy.root / "c").unlink()
        steps = tree.plan(copy).steps
        write(tree.root, {"b": b"the user was faster\n"})
        before = tree.files()
        with pytest.raises(AdoptFailed, match="nothing was adopted"):
            carry_out(tree.checkpoints.shadow, "trace", steps)
        assert tree.files() == before


def test_the_users_repository_is_not_written_to(tmp_path: Path) -> None:
    with tree_of(tmp_path, {"a": b"a\n"}) as tree:
        write(tree.root, {"staged": b"s\n"})
        before = snapshot(tree.root / ".git")
        copy = tree.copy()
        write(copy.root, {"a": b"A\n"})
        tree.adopt(copy)
        assert snapshot(tree.root / ".git") == before


contents = st.one_of(
    st.none(), st.sampled_from([b"", b"1\n2\n3\n4\n5\n6\n7\n", b"x\r\n", b"\0\xff", b"no end"])
)
trees = st.dictionaries(st.sampled_from(["a", "b", "d/e", "d/f"]), contents, max_size=4)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(base=trees, theirs=trees, ours=trees)
def test_whatever_both_sides_do_it_is_whole_or_nothing(
    base: dict[str, bytes | None], theirs: dict[str, bytes | None], ours: dict[str, bytes | None]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first = {name: data for name, data in base.items() if data is not None}
        with tree_of(Path(folder) / "x", first, is_repository=False) as tree:
            copy = tree.copy()
            for root, sides in ((copy.root, theirs), (tree.root, ours)):
                for name, data in sides.items():
                    if data is None:
                        (root / name).unlink(missing_ok=True)
                    else:
                        write(root, {name: data})
            before = tree.files()
            adoption = tree.adopt(copy)
            if adoption.conflicts:
                assert tree.files() == before
                return
            for name, data in theirs.items():
                if name not in ours:
                    path = tree.root / name
                    assert (path.read_bytes() if path.exists() else None) == data
