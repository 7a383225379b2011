"""The user's own slash commands: `commands/NAME.md`.

Must not follow a folder that nobody trusts.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Final

from tori_tui.config.markdown_files import NAME, bytes_of, markdown_files, text_of
from tori_tui.domain.errors import UsageError
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.permission.folder_trust import COMMANDS_NAME, FolderTrust, own_files

MEANING_LIMIT_CHARS: Final = 100


def own_commands(config_dir: Path, state_dir: Path, cwd: Path) -> tuple[OwnCommand, ...]:
    """Return those of the user and, nearer to the work, of the project's trusted folder, by their names."""
    found = {path.stem: read_command(path) for path in markdown_files(config_dir / COMMANDS_NAME)}
    own = own_files(cwd)
    if own is not None and FolderTrust(state_dir).answer(own) == "yes":
        # The very bytes that the trust is bound to; the files may have changed since.
        for name, data in own.files.items():
            if PurePosixPath(name).parent.name == COMMANDS_NAME:
                command = _command(own.folder / name, data)
                found[command.name] = command
    return tuple(found[name] for name in sorted(found) if NAME.fullmatch(name))


def read_command(path: Path) -> OwnCommand:
    """Read one file; what is wrong with it is told when it is used."""
    try:
        return _command(path, bytes_of(path))
    except UsageError as error:
        return _faulty(path, error)


def _command(path: Path, data: bytes) -> OwnCommand:
    try:
        text = text_of(path, data).strip()
    except UsageError as error:
        return _faulty(path, error)
    if not text:
        return _faulty(path, UsageError(f"{path} is empty.", "Write there what is to be said."))
    first, _, rest = text.partition("\n")
    is_title = first.startswith("# ") and bool(rest.strip())
    meaning = first.removeprefix("# ").strip()[:MEANING_LIMIT_CHARS]
    return OwnCommand(path.stem, meaning, rest.strip() if is_title else text)


def _faulty(path: Path, error: UsageError) -> OwnCommand:
    return OwnCommand(path.stem, "(its file is wrong)", "", str(error))


__all__ = ["own_commands", "read_command"]
