"""The user's own editor, for a text that is too long for the input.

Must not be called where no terminal is: the app steps aside while the editor has it.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported


def edited_in_editor(
    app: App[object], text: str, environ: Mapping[str, str], suffix: str = ".md"
) -> str | None:
    """Show a text in `$VISUAL` or `$EDITOR` and return what the user made of it.

    Returns:
        The new text, or None where there is no editor, no terminal, or the editor failed.
    """
    command = environ.get("VISUAL") or environ.get("EDITOR")
    if not command:
        return None
    with tempfile.TemporaryDirectory(prefix="tori-") as folder:
        path = Path(folder) / "plan.md"
        path.write_text(text, "utf-8")
        try:
            with app.suspend():
                done = subprocess.run([*shlex.split(command), str(path)], check=False)
        except (OSError, ValueError, SuspendNotSupported):
            return None
        return path.read_text("utf-8", "replace") if done.returncode == 0 else None


__all__ = ["edited_in_editor"]
