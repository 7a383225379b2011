"""The user's own slash commands: `commands/NAME.md`.

Must not follow a folder that nobody trusts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from tori_tui.domain.own_commands import OwnCommand
from tori_tui.permission.folder_trust import COMMANDS_NAME, FolderTrust, own_files

FILE_LIMIT_BYTES: Final = 64_000
"""16k tokens: more is no instruction."""

NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")

MEANING_LIMIT_CHARS: Final = 100


def own_commands(config_dir: Path, state_dir: Path, cwd: Path) -> tuple[OwnCommand, ...]:
    """Return those of the user and, nearer to the work, of the project's trusted folder, by their names."""
    folders = [config_dir / COMMANDS_NAME]
    own = own_files(cwd)
    if own is not None and FolderTrust(state_dir).answer(own) == "yes":
        folders.append(own.folder / COMMANDS_NAME)
    found = {path.stem: path for folder in folders for path in _files(folder)}
    return tuple(read_command(found[name]) for name in sorted(found))


def read_command(path: Path) -> OwnCommand:
    """Read one file; what is wrong with it is told when it is used."""
    try:
        with path.open("rb") as file:
            data = file.read(FILE_LIMIT_BYTES + 1)
    except OSError as error:
        return _faulty(path, f"cannot be read: {error.strerror}")
    if len(data) > FILE_LIMIT_BYTES:
        return _faulty(path, f"has more than {FILE_LIMIT_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").strip()
    except UnicodeDecodeError:
        return _faulty(path, "is not UTF-8")
    first, _, rest = text.partition("\n")
    is_title = first.startswith("# ") and bool(rest.strip())
    if not text:
        return _faulty(path, "is empty")
    meaning = first.removeprefix("# ").strip()[:MEANING_LIMIT_CHARS]
    return OwnCommand(path.stem, meaning, rest.strip() if is_title else text)


def _faulty(path: Path, what: str) -> OwnCommand:
    return OwnCommand(path.stem, f"({what})", "", f"The file of /{path.stem}, {path}, {what}.")


def _files(folder: Path) -> Iterator[Path]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            path = Path(entry.path)
            if path.suffix == ".md" and NAME.fullmatch(path.stem) and entry.is_file():
                yield path


__all__ = ["own_commands", "read_command"]
