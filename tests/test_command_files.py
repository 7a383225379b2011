from __future__ import annotations

from pathlib import Path

import pytest

from tori_tui.config.command_files import own_commands, read_command
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.permission.folder_trust import FolderTrust, own_files


def written(folder: Path, name: str, text: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.md"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "meaning", "said"),
    [
        ("# Make a release\n\nRelease $ARGUMENTS.\n", "Make a release", "Release $ARGUMENTS."),
        ("Tidy up.\nAll of it.\n", "Tidy up.", "Tidy up.\nAll of it."),
        ("# Only a title", "Only a title", "# Only a title"),
        ("\ufeff整理\r\n代码\r\n", "整理", "整理\n代码"),
    ],
)
def test_a_file_is_a_meaning_and_a_text(tmp_path: Path, text: str, meaning: str, said: str) -> None:
    assert read_command(written(tmp_path, "x", text)) == OwnCommand("x", meaning, said)


@pytest.mark.parametrize(
    ("data", "fault"), [(b"", "is empty"), (b"\xff\xfe", "is not UTF-8"), (b"x" * 70_000, "64,000 bytes")]
)
def test_what_is_wrong_with_a_file_is_told_when_it_is_used(tmp_path: Path, data: bytes, fault: str) -> None:
    path = written(tmp_path, "x", data)
    command = read_command(path)
    assert fault in command.fault
    assert str(path) in command.fault


def test_those_of_a_project_count_once_it_is_trusted_as_it_is(tmp_path: Path) -> None:
    config, state, project = tmp_path / "config", tmp_path / "state", tmp_path / "project"
    written(config / "commands", "tidy", "Mine.")
    written(config / "commands", "ship", "Ship.")
    written(config / "commands", "Not a name", "x")
    path = written(project / ".tori" / "commands", "tidy", "Theirs.")

    def said() -> dict[str, str]:
        return {command.name: command.text for command in own_commands(config, state, project)}

    assert said() == {"ship": "Ship.", "tidy": "Mine."}
    own = own_files(project)
    assert own is not None
    assert list(own.files) == ["commands/tidy.md"]
    FolderTrust(state).save(own, "yes")
    assert said() == {"ship": "Ship.", "tidy": "Theirs."}
    path.write_text("Changed.")
    assert said() == {"ship": "Ship.", "tidy": "Mine."}


def test_what_is_written_behind_a_command_goes_to_its_places_or_to_the_end() -> None:
    placed = OwnCommand("x", "", "Look at $ARGUMENTS, then at $ARGUMENTS again.")
    assert placed.filled("a.py") == "Look at a.py, then at a.py again."
    assert OwnCommand("x", "", "Look.").filled("") == "Look."
    assert OwnCommand("x", "", "Look.").filled("at b") == "Look.\n\nat b"
