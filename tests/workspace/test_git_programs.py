from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tori_tui.workspace.git_programs import why_git_runs_programs
from tori_tui.workspace.programs import find_program
from tori_tui.workspace.user_repository import UserRepository


def git(root: Path, *words: str) -> None:
    as_somebody = ("-c", "user.name=n", "-c", "user.email=e@x")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *as_somebody, *words], cwd=root, env=environ, check=False, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.txt").write_text("a\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    # Not of the second in which the index was written, so that git looks into it.
    os.utime(root / "a.txt", (time.time() - 100, time.time() - 100))
    return root


def program(root: Path) -> str:
    return f"touch {root.parent}/PWN; cat"


def configured(*settings: str) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        (root / ".gitattributes").write_text("* filter=x=y diff=evil\n")
        for name in settings:
            git(root, "config", name, program(root))

    return make


def hooked(root: Path) -> None:
    hook = root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {root.parent}/PWN\n")
    hook.chmod(0o755)


def hooked_elsewhere(root: Path) -> None:
    hooked(root)
    (root / ".git" / "hooks").rename(root / "own")
    git(root, "config", "core.hooksPath", "own")


def included(root: Path) -> None:
    (root / "more").write_text(f'[core]\n\tfsmonitor = "{program(root)}"\n')
    git(root, "config", "include.path", "../more")


def led_away(root: Path) -> None:
    git(root, "config", "core.fsmonitor", program(root))
    (root / ".git").rename(root / "elsewhere")
    (root / ".git").write_text("gitdir: elsewhere\n")


def nested(root: Path) -> None:
    (root / "sub").mkdir()
    git(root / "sub", "init", "-q")
    git(root / "sub", "commit", "-q", "--allow-empty", "-m", "x")
    git(root, "add", "sub")
    git(root / "sub", "config", "core.fsmonitor", program(root))


ATTACKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "monitor": (configured("core.fsmonitor"), "status"),
    "external diff": (configured("diff.external"), "diff"),
    "text conversion": (configured("diff.evil.textconv"), "show"),
    "filter": (configured("filter.x=y.clean"), "status"),
    "hook": (hooked, "status"),
    "hooks elsewhere": (hooked_elsewhere, "status"),
    "included settings": (included, "status"),
    "file that leads away": (led_away, "status"),
    "repository within": (nested, "status"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_repository_that_has_git_run_its_programs_is_found(repository: Path, name: str) -> None:
    assert why_git_runs_programs(repository) == ""
    make, command = ATTACKS[name]
    make(repository)
    (repository / "a.txt").write_text("b\n")
    assert why_git_runs_programs(repository)
    assert not (repository.parent / "PWN").exists()
    git(repository, command)
    assert (repository.parent / "PWN").exists(), "the attack itself does not work with this git any more"


@pytest.mark.parametrize("name", ["monitor", "filter", "hook", "hooks elsewhere", "repository within"])
def test_the_look_for_dirty_files_runs_nothing_of_the_repository(repository: Path, name: str) -> None:
    ATTACKS[name][0](repository)
    (repository / "a.txt").write_text("b\n")
    (repository.parent / "PWN").unlink(missing_ok=True)
    found = UserRepository(repository, "git", os.environ).dirty()
    assert "a.txt" in found
    assert not (repository.parent / "PWN").exists()


def test_ordinary_settings_are_no_programs(repository: Path) -> None:
    for name, value in (
        *(("core.fsmonitor", "true"), ("core.hooksPath", ".husky/_"), ("user.name", "clean = x")),
        *(
            ("remote.origin.url", "git@host:a/b.git"),
            ("core.sshCommand", "ssh -i key"),
            ("alias.st", "status"),
        ),
    ):
        git(repository, "config", name, value)
    (repository / ".git" / "hooks" / "pre-commit").parent.mkdir(exist_ok=True)
    (repository / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    (repository / ".git" / "hooks" / "pre-commit").chmod(0o755)
    assert why_git_runs_programs(repository) == ""
    git(repository, "config", "remote.origin.promisor", "true")
    assert "sshcommand" in why_git_runs_programs(repository), "what is missing would be fetched by it"


def test_a_program_is_never_one_of_the_work_tree(tmp_path: Path) -> None:
    inside, outside = tmp_path / "tree" / "bin", tmp_path / "bin"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "rg").write_text("#!/bin/sh\n")
        (folder / "rg").chmod(0o755)
    (tmp_path / "linked").symlink_to("tree/bin")
    for before in (str(inside), str(tmp_path / "linked"), "tree/bin", "", "."):
        environ = {"PATH": f"{before}:{outside}"}
        assert find_program("rg", environ, tmp_path / "tree") == str(outside / "rg")
    assert find_program("rg", {"PATH": str(inside)}, tmp_path / "tree") is None
