"""Whether a folder's own `.tori/` may count, asked once for what its files say, before anything uses them.

Must not be asked where nobody sits at a terminal, nor take a key that was typed before the question.
"""

from __future__ import annotations

import os
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tori_tui.cli import streams

if TYPE_CHECKING:
    from tori_tui.permission.folder_trust import OwnFiles

CHOICES: Final = "y: yes, until they change   n: no, ask again when they change   Enter: not now  > "

_LINE_LIMIT_BYTES: Final = 4_096


def ask_about_folder(directory: Path) -> None:
    """Show what a folder's own files say and ask whether they may count, unless that is answered."""
    cwd = directory.absolute()
    # Nearly every start ends here, after a few looks at the disk.
    if not any((folder / ".tori").is_dir() for folder in (cwd, *cwd.parents)):
        return
    from tori_tui.config import user_state_dir
    from tori_tui.permission.folder_trust import FolderTrust, own_files

    own = own_files(cwd.resolve())
    trust = FolderTrust(user_state_dir(os.environ))
    if own is None or trust.answer(own):
        return
    _show(own, trust.path)
    answer = _answer()
    if answer is None:
        return
    try:
        trust.save(own, "yes" if answer else "no")
    except OSError as error:
        streams.write_err(
            f"The answer could not be saved to {trust.path}: {error.strerror}. It is not read.\n"
        )


def _show(own: OwnFiles, answers: Path) -> None:
    from tori_tui.render.safe_text import safe_text

    streams.write_err(
        f"\n{safe_text(str(own.folder))} has settings of its own. They may change what runs without a "
        "question, where your key is sent, and what agents are told and commands say:\n"
    )
    for name, data in sorted(own.files.items()):
        streams.write_err(f"\n  {safe_text(name)}\n")
        for line in safe_text(data.decode("utf-8", "replace")).splitlines():
            streams.write_err(f"    {line}\n")
    streams.write_err(f"\nTrust these files? (The answer is kept in {safe_text(str(answers))}.)\n")


def _answer() -> bool | None:
    """Return the user's answer; None for any line that is neither yes nor no."""
    descriptor = sys.stdin.fileno()
    with suppress(termios.error):
        # Before the prompt and not after it: what is typed once it stands there is an answer.
        termios.tcflush(descriptor, termios.TCIFLUSH)
    streams.write_err(CHOICES)
    try:
        line = os.read(descriptor, _LINE_LIMIT_BYTES)
    except OSError:
        return None
    return {"y": True, "yes": True, "n": False, "no": False}.get(
        line.decode("utf-8", "replace").strip().lower()
    )


__all__ = ["ask_about_folder"]
