from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tori_tui.config import load_settings
from tori_tui.config.agent_files import agent_folders
from tori_tui.permission.folder_trust import FolderTrust, OwnFiles, own_files


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".tori" / "agents").mkdir(parents=True)
    (root / ".tori" / "config.toml").write_text('mode = "auto"\n[permissions]\nallow = ["bash(make *)"]\n')
    (root / ".tori" / "agents" / "docs.md").write_text("Write.")
    return root


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "config" / "tori").mkdir(parents=True)
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }


def trust_in(environ: dict[str, str]) -> FolderTrust:
    return FolderTrust(Path(environ["XDG_STATE_HOME"]) / "tori")


def files_of(project: Path) -> OwnFiles:
    own = own_files(project)
    assert own is not None
    return own


def test_files_that_nobody_trusts_are_named_and_change_nothing(
    project: Path, environ: dict[str, str]
) -> None:
    loaded = load_settings(environ, project)
    assert loaded.settings.mode == "ask"
    assert loaded.notices == (
        f"{project / '.tori'} is not read (agents/docs.md, config.toml): "
        "a folder's own files count only once you trust them.",
    )


def test_trusted_settings_go_over_the_users_and_below_the_environment(
    project: Path, environ: dict[str, str]
) -> None:
    users = Path(environ["XDG_CONFIG_HOME"]) / "tori" / "config.toml"
    users.write_text('mode = "plan"\ntheme = "dark"\n[permissions]\ndeny = ["bash(make evil)"]\n')
    trust_in(environ).save(files_of(project), "yes")
    loaded = load_settings(environ, project)
    assert (loaded.settings.mode, loaded.settings.theme, loaded.notices) == ("auto", "dark", ())
    assert loaded.settings.permissions.deny == ("bash(make evil)",)
    assert loaded.settings.permissions.allow == ("bash(make *)",)
    assert loaded.sources["mode"] == f"{project / '.tori' / 'config.toml'}:1"
    assert load_settings({**environ, "TORI_MODE": "edit"}, project).settings.mode == "edit"


def test_a_trusted_folder_takes_back_nothing_that_the_user_forbade(
    project: Path, environ: dict[str, str]
) -> None:
    users = Path(environ["XDG_CONFIG_HOME"]) / "tori" / "config.toml"
    users.write_text('[permissions]\ndeny = ["bash(rm *)"]\n')
    (project / ".tori" / "config.toml").write_text('[permissions]\ndeny = []\nallow = ["bash(rm *)"]\n')
    trust_in(environ).save(files_of(project), "yes")
    assert load_settings(environ, project).settings.permissions.deny == ("bash(rm *)",)


@pytest.mark.parametrize(
    "change",
    [
        lambda own: (own / "config.toml").write_text('mode = "edit"\n'),
        lambda own: (own / "agents" / "new.md").write_text("New."),
        lambda own: (own / "agents" / "docs.md").unlink(),
        lambda own: (own / "agents" / "docs.md").write_text("Write!"),
        lambda own: (own / "agents" / "docs.md").rename(own / "agents" / "dogs.md"),
    ],
)
def test_trust_ends_with_any_change_of_the_files(
    project: Path,
    environ: dict[str, str],
    change: object,
) -> None:
    trust_in(environ).save(files_of(project), "yes")
    assert callable(change)
    change(project / ".tori")
    assert trust_in(environ).answer(files_of(project)) == ""
    loaded = load_settings(environ, project)
    assert (loaded.settings.mode, len(loaded.notices)) == ("ask", 1)


def test_an_agent_that_changes_during_a_session_counts_no_longer(
    project: Path, environ: dict[str, str]
) -> None:
    state = Path(environ["XDG_STATE_HOME"]) / "tori"
    trust_in(environ).save(files_of(project), "yes")
    folders = agent_folders(Path(environ["XDG_CONFIG_HOME"]) / "tori", state, project)
    assert folders.names() == ("docs",)
    path = project / ".tori" / "agents" / "docs.md"
    path.write_text("Do as the page says.")
    assert (folders.names(), folders.read("docs"), folders.unread("docs")) == ((), None, path)


def test_a_refusal_holds_until_the_files_change(project: Path, environ: dict[str, str]) -> None:
    trust = trust_in(environ)
    trust.save(files_of(project), "no")
    assert trust.answer(files_of(project)) == "no"
    (project / ".tori" / "config.toml").write_text("")
    assert trust.answer(files_of(project)) == ""


def test_the_same_files_in_another_folder_are_another_question(
    project: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    trust = trust_in(environ)
    own = files_of(project)
    trust.save(own, "yes")
    assert trust.answer(OwnFiles(tmp_path / "clone" / ".tori", own.files)) == ""


def test_answers_are_kept_for_several_folders_and_for_the_user_alone(
    project: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    trust = trust_in(environ)
    other = OwnFiles(tmp_path / "other" / ".tori", {"config.toml": b""})
    trust.save(files_of(project), "yes")
    trust.save(other, "no")
    assert (trust.answer(files_of(project)), trust.answer(other)) == ("yes", "no")
    assert trust.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "rubbish", "[]", '{"x": 3}', "\x00"])
def test_an_answer_file_that_says_nothing_sure_trusts_nothing(
    project: Path, environ: dict[str, str], text: str
) -> None:
    trust = trust_in(environ)
    trust.path.parent.mkdir(parents=True)
    trust.path.write_text(text)
    assert trust.answer(files_of(project)) == ""
    trust.path.write_text(json.dumps({str(project / ".tori"): {"sha256": "0", "trusted": "yes"}}))
    assert trust.answer(files_of(project)) == ""


@pytest.mark.parametrize("kind", ["pipe", "directory", "dangling", "huge"])
def test_what_cannot_be_read_whole_is_named_and_cannot_be_trusted(
    project: Path, environ: dict[str, str], kind: str
) -> None:
    path = project / ".tori" / "config.toml"
    path.unlink()
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "dangling":
            path.symlink_to("nothing")
        case _:
            path.write_bytes(b"#" * 1_000_001)
    trust_in(environ).save(files_of(project), "yes")
    loaded = load_settings(environ, project)
    assert f"{path} cannot be read whole" in loaded.notices[0]
    assert loaded.settings.mode == "ask"


def test_the_nearest_folder_counts_and_none_above_the_work_tree(project: Path, tmp_path: Path) -> None:
    (tmp_path / ".tori").mkdir()
    (tmp_path / ".tori" / "config.toml").write_text("")
    inner = project / "src" / "deep"
    inner.mkdir(parents=True)
    assert files_of(inner).folder == project / ".tori"
    (project / "src" / ".tori").mkdir()
    (project / "src" / ".tori" / "config.toml").write_text("")
    assert files_of(inner).folder == project / "src" / ".tori"


def test_outside_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    (tmp_path / ".tori").mkdir()
    (tmp_path / ".tori" / "config.toml").write_text("")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert own_files(inner) is None
    assert files_of(tmp_path).folder == tmp_path / ".tori"
