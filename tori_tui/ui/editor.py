"""The user's own editor, for a text that is too long for the input.

Must not stop the session: the app steps aside while the editor has the terminal, what runs goes on.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from textual.app import App, SuspendNotSupported

from tori_tui.domain.errors import ToriError
from tori_tui.permission.environment import is_key_name

_PLUS_EDITORS: Final = frozenset(
    ("vi", "vim", "nvim", "view", "gvim", "nano", "pico", "emacs", "emacsclient", "kak", "joe", "mg", "ne")
)
_GOTO_EDITORS: Final = frozenset(("code", "code-insiders", "codium", "cursor", "windsurf"))
_COLON_EDITORS: Final = frozenset(("hx", "helix", "subl", "zed", "micro"))


class EditorFailed(ToriError):
    """The text stays as it was."""


async def edited_in_editor(
    app: App[object], text: str, environ: Mapping[str, str], name: str = "draft.md"
) -> str:
    """Show a text in `$VISUAL` or `$EDITOR` and return what the user made of it.

    Editors end a file with a line break; the one that the text did not have is taken away again.

    Args:
        app: Steps aside meanwhile.
        text: What is shown.
        environ: Names the editor, which gets it without tori's keys.
        name: Of the file, for the editor to know its kind.

    Raises:
        EditorFailed: There is no editor, no terminal, or the editor failed.
    """
    command = _command(environ)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="tori-"))
    path = folder / name
    whole = text if text.endswith("\n") else f"{text}\n"
    path.write_bytes(whole.encode("utf-8", "surrogatepass"))
    try:
        with _aside(app):
            done = await asyncio.to_thread(_run, [*command, str(path)], environ)
    except (OSError, SuspendNotSupported) as error:
        _remove(folder)
        raise EditorFailed(
            f"The editor {command[0]!r} could not be started: {error}", "Set VISUAL or EDITOR."
        ) from None
    changed = _made_of(path, whole, command[0], done)
    _remove(folder)
    return changed if text.endswith("\n") else changed.removesuffix("\n")


async def opened_in_editor(app: App[object], path: str, line: int, environ: Mapping[str, str]) -> None:
    """Show a file in `$VISUAL` or `$EDITOR`, at a line where there is one.

    Raises:
        EditorFailed: There is no editor or no terminal.
    """
    command = _command(environ)
    try:
        with _aside(app):
            await asyncio.to_thread(_run, [*command, *_place(command[0], path, line)], environ)
    except (OSError, SuspendNotSupported) as error:
        raise EditorFailed(
            f"The editor {command[0]!r} could not be started: {error}", "Set VISUAL or EDITOR."
        ) from None


def _place(editor: str, path: str, line: int) -> Sequence[str]:
    """Return the arguments that name a line of a file; of an editor that nobody knows, only the file."""
    name = Path(editor).stem
    if line and name in _PLUS_EDITORS:
        return (f"+{line}", path)
    if line and name in _GOTO_EDITORS:
        return ("--goto", f"{path}:{line}")
    return (f"{path}:{line}",) if line and name in _COLON_EDITORS else (path,)


def _made_of(path: Path, whole: str, editor: str, code: int) -> str:
    """Return what stands in the file now.

    Raises:
        EditorFailed: The editor was killed or gave up; a file that it had changed is left where it is.
    """
    data = path.read_bytes() if path.exists() else None
    kept = f"What it had written is in {path}."
    if code == 0 and data is not None:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise EditorFailed(f"The editor left a file that is no UTF-8: {error.reason}.", kept) from None
    has_changed = data is not None and data != whole.encode("utf-8", "surrogatepass")
    if not has_changed or code > 0:
        _remove(path.parent)
        kept = "The text is as it was."
    if data is None:
        raise EditorFailed(f"The editor {editor!r} removed its file.", kept)
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    raise EditorFailed(f"The editor {editor!r} {how}.", kept)


def _command(environ: Mapping[str, str]) -> Sequence[str]:
    wanted = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        command = shlex.split(wanted)
    except ValueError:
        command = [wanted]
    if not command:
        raise EditorFailed("There is no editor.", "Set VISUAL or EDITOR, for example: export EDITOR=vim")
    return command


def _run(command: Sequence[str], environ: Mapping[str, str]) -> int:
    own = {name: value for name, value in environ.items() if not is_key_name(name)}
    return subprocess.run(command, env=own, check=False).returncode


@contextmanager
def _aside(app: App[object]) -> Iterator[None]:
    """Let another program have the terminal: nothing is drawn, and its Ctrl+C is not ours."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with app.batch_update(), app.suspend():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    app.refresh(layout=True)


def _remove(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink(missing_ok=True)
    os.rmdir(folder)


__all__ = ["EditorFailed", "edited_in_editor", "opened_in_editor"]
