"""Makes the sandbox that the configuration asks for, and says what it holds.

Must not be imported before one is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tori_tui.config import SandboxSettings
from tori_tui.workspace.sandbox.choice import open_sandbox
from tori_tui.workspace.sandbox.confinement import Sandbox, SandboxTerms


def make_sandbox(settings: SandboxSettings, root: Path, environ: Mapping[str, str]) -> Sandbox:
    """Return a sandbox that works here.

    Raises:
        SandboxRefused: There is none.
    """
    home = environ.get("HOME") or str(Path.home())
    writable = tuple(
        Path(os.path.realpath(home + text[1:] if text.startswith("~") else root / text))
        for text in settings.writable
    )
    terms = SandboxTerms(Path(os.path.realpath(root)), environ, settings.network, writable)
    return open_sandbox(terms, settings.backend)


__all__ = ["make_sandbox"]
