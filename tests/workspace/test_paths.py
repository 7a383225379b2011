from __future__ import annotations

import os
from pathlib import Path

import pytest

from tori_tui.workspace.paths import PathInvalid, PathOutside, PathProtected, Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "a.py").write_text("a")
    (tmp_path / "outside.txt").write_text("secret")
    return root


@pytest.mark.parametrize("path", ["a.py", "./a.py", "sub/../a.py", "sub//../a.py", "~", "new/deep/b.py", "."])
def test_a_path_inside_is_taken(root: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(root))
    assert Workspace(root).resolve(path) == Path(os.path.normpath(root / path.replace("~", ".")))


def test_an_absolute_path_inside_is_taken(root: Path) -> None:
    assert Workspace(root).resolve(str(root / "a.py")) == root / "a.py"


def test_relative_paths_begin_at_the_cwd(root: Path) -> None:
    workspace = Workspace(root, root / "sub")
    assert workspace.resolve("../a.py") == root / "a.py"
    assert workspace.resolve("b.py") == root / "sub" / "b.py"
    assert workspace.relative(root / "sub" / "b.py") == "sub/b.py"
    assert workspace.shown(root / "sub" / "b.py") == "b.py"
    assert workspace.shown(root / "a.py") == "../a.py"


@pytest.mark.parametrize(
    "path",
    ["..", "../outside.txt", "sub/../../outside.txt", "/etc/passwd", "~/x", "~", "/proc/self/cwd/../../etc",
     "/proc/self/root/etc/passwd", "/proc/self/environ", "/dev/stdin"],
)  # fmt: skip
def test_a_path_outside_is_refused_and_the_hint_names_the_root(root: Path, path: str) -> None:
    with pytest.raises(PathOutside) as caught:
        Workspace(root).resolve(path)
    assert path in str(caught.value)
    assert str(root) in caught.value.hint


@pytest.mark.parametrize("target", ["../outside.txt", "../not-there.txt", "/etc/passwd"])
def test_a_link_that_leads_outside_is_refused_even_if_it_dangles(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    (root / "chain").symlink_to("link")
    for path in ("link", "chain"):
        with pytest.raises(PathOutside):
            Workspace(root).resolve(path)


def test_a_linked_folder_that_leads_outside_is_refused(root: Path) -> None:
    (root / "up").symlink_to("..")
    with pytest.raises(PathOutside):
        Workspace(root).resolve("up/outside.txt")


def test_a_link_inside_stands_for_its_target(root: Path) -> None:
    (root / "link").symlink_to("sub/../a.py")
    (root / "chain").symlink_to(root / "link")
    (root / "dangling").symlink_to("later.py")
    workspace = Workspace(root)
    assert workspace.resolve("chain") == root / "a.py"
    assert workspace.resolve_for_writing("dangling") == root / "later.py"


def test_a_root_that_is_reached_by_a_link_is_one_tree(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    workspace = Workspace(tmp_path / "alias")
    assert workspace.resolve(str(tmp_path / "alias" / "a.py")) == root / "a.py"


def test_links_in_a_circle_are_an_error_and_no_hang(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    for path in ("a", "b", "a/x"):
        with pytest.raises(PathInvalid):
            Workspace(root).resolve(path)


@pytest.mark.parametrize("path", ["", "  ", "a\0b", "\ud800", "x" * 5_000])
def test_what_is_no_path_is_refused(root: Path, path: str) -> None:
    with pytest.raises(PathInvalid):
        Workspace(root).resolve(path)


def test_a_file_really_called_tilde_can_be_named(root: Path) -> None:
    (root / "~").mkdir()
    (root / "~" / "f").write_text("x")
    assert Workspace(root).resolve("~/f") == root / "~" / "f"


def test_the_trace_is_readable_and_not_writable(root: Path) -> None:
    workspace = Workspace(root)
    (root / "sneaky").symlink_to(".trace/x")
    assert workspace.resolve(".trace/x/outputs/1.txt") == root / ".trace/x/outputs/1.txt"
    for path in (".trace/x", ".trace", "sub/../.trace/x", "sneaky"):
        with pytest.raises(PathProtected):
            workspace.resolve_for_writing(path)
    assert workspace.resolve_for_writing("sub/.trace") == root / "sub" / ".trace"


def test_the_root_itself_cannot_be_written(root: Path) -> None:
    with pytest.raises(PathInvalid):
        Workspace(root).resolve_for_writing(".")


def test_a_folder_named_readable_is_read_but_never_written(root: Path, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    workspace = Workspace(root, also_readable=(tmp_path / "state",))
    path = str(tmp_path / "state" / "out.txt")
    assert workspace.resolve(path) == Path(path)
    assert workspace.shown(Path(path)) == path
    with pytest.raises(PathOutside):
        workspace.resolve_for_writing(path)
