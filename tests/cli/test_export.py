from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.cli.kit import EDIT, READ, Project, calls, says

KEY = "sk-ant-api03-abcDEF123456ghiJKL7890mnop"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("export")
    project = Project.make(
        folder, READ + EDIT + calls("bash", '{"command": "cat key.txt"}') + says("All done.")
    )
    (project.root / "key.txt").write_text(f"key={KEY}\n")
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        project.environ[name] = str(folder / name.lower())
    done = project.tori("run", "--mode", "auto", f"Mend it; my key is {KEY}")
    assert done.returncode == 0, done.stderr.decode()
    return project


def export(project: Project, *arguments: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    done = project.tori("export", *arguments, environ=env)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    ("flag", "beginning"), [("--html", "<!doctype html>"), ("--md", "# Mend it"), ("--svg", "<svg ")]
)
def test_each_form_goes_to_standard_output(project: Project, flag: str, beginning: str) -> None:
    code, out, err = export(project, flag)
    assert (code, err) == (0, "")
    assert out.startswith(beginning)


def test_a_trace_is_named_by_the_beginning_of_its_id(project: Project) -> None:
    trace = project.traces[0].name
    assert trace in export(project, trace[:-2], "--html")[1]
    code, _, err = export(project, "nothing", "--html")
    assert code == 2
    assert "nothing" in err


def test_the_name_of_the_file_says_the_form(project: Project, tmp_path: Path) -> None:
    target = tmp_path / "session.md"
    code, out, err = export(project, "-o", str(target))
    assert (code, out) == (0, "")
    assert str(target) in err
    assert target.read_text().startswith("# Mend it")


@pytest.mark.parametrize("arguments", [(), ("-o", "session"), ("--html", "--md")])
def test_without_one_form_it_is_wrong_usage(project: Project, arguments: tuple[str, ...]) -> None:
    code, out, err = export(project, *arguments)
    assert (code, out) == (2, "")
    assert "--html" in err


def test_a_file_that_is_there_stays_unless_forced(project: Project, tmp_path: Path) -> None:
    target = tmp_path / "a.html"
    target.write_text("mine")
    target.chmod(0o640)
    code, _, err = export(project, "-o", str(target))
    assert (code, target.read_text()) == (2, "mine")
    assert "--force" in err
    assert export(project, "-o", str(target), "--force")[0] == 0
    assert target.read_text().startswith("<!doctype html>")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_force_writes_through_a_link(project: Project, tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "link.md"
    real.write_text("old")
    link.symlink_to(real)
    assert export(project, "-o", str(link), "--force")[0] == 0
    assert link.is_symlink()
    assert real.read_text().startswith("# Mend it")


def test_a_folder_and_a_missing_folder_are_refused(project: Project, tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "no" / "a.html"):
        code, _, err = export(project, "--html", "-o", str(target), "--force")
        assert code == 2
        assert "folder" in err
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(project: Project, tmp_path: Path) -> None:
    old = tmp_path / "old.html"
    old.write_text("mine")
    # A file size limit is the full disk of one process.
    for name, more in (("new.html", ""), ("old.html", "--force")):
        done = project.shell(f"ulimit -f 4; trap '' XFSZ; tori export -o {tmp_path / name} {more}")
        assert done.returncode == 1
        assert b"could not be written" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["old.html"]
    assert old.read_text() == "mine"
    assert project.shell("tori export --html > /dev/full").returncode == 1


def test_a_device_is_written_to(project: Project) -> None:
    assert export(project, "--md", "-o", "/dev/stdout")[1].startswith("# Mend it")


@pytest.mark.parametrize("flag", ["--html", "--md", "--svg"])
def test_a_key_is_in_no_page(project: Project, flag: str) -> None:
    out = export(project, flag, env={"ANTHROPIC_API_KEY": KEY})[1]
    assert "All done." in out or flag == "--svg"
    assert KEY not in out


def test_a_broken_line_is_told_and_the_rest_exported(project: Project, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(("cp", "-r", project.traces[0], copy), check=True)
    lines = (copy / "messages.jsonl").read_bytes().split(b"\n")
    (copy / "messages.jsonl").write_bytes(b"\n".join([*lines[:3], b"{broken", *lines[3:]]))
    code, out, err = export(project, str(copy), "--html")
    assert code == 0
    assert "line 4" in err
    assert "All done." in out


def test_the_trace_stays_as_it_was(project: Project) -> None:
    def seen() -> dict[str, tuple[int, int]]:
        return {
            path: (os.stat(path).st_mtime_ns, os.stat(path).st_size)
            for path in map(str, project.traces[0].rglob("*"))
        }

    before = seen()
    export(project, "--html")
    assert seen() == before
