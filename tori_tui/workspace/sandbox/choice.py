"""Chooses the sandbox that works here, or refuses.

Must not fall back to none: who asked for a sandbox gets one, or an error.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Literal, cast

from tori_tui.workspace.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from tori_tui.workspace.sandbox.confinement import Sandbox, SandboxRefused, SandboxTerms

Backend = Literal["auto", "bubblewrap", "landlock"]


def open_sandbox(terms: SandboxTerms, backend: Backend = "auto") -> Sandbox:
    """Return a sandbox that was tried.

    Raises:
        SandboxRefused: None works here; names what is missing for each.
    """
    if terms.root in (terms.root.parent, terms.home):
        raise SandboxRefused(
            f"A sandbox in {terms.root} would leave everything writable.", "Work in a folder of the project."
        )
    reasons: list[str] = []
    if backend in ("auto", "bubblewrap"):
        found, reason = _bubblewrap(terms)
        if found is not None:
            return found
        reasons.append(f"bubblewrap: {reason}")
    if backend in ("auto", "landlock"):
        try:
            if sys.platform != "linux":
                raise SandboxRefused("it is a part of Linux")
            # Loaded late on purpose: it needs ctypes.
            module = import_module("tori_tui.workspace.sandbox.landlock")
            return cast("Sandbox", module.make_landlock(terms))
        except SandboxRefused as error:
            reasons.append(f"Landlock: {error}")
    raise SandboxRefused(
        f"No sandbox can be had here, so nothing is run. {'; '.join(reasons)}.",
        "Install bubblewrap (apt install bubblewrap), or run without --sandbox in a container of your own.",
    )


def _bubblewrap(terms: SandboxTerms) -> tuple[Sandbox | None, str]:
    program = find_bubblewrap(terms)
    if program is None:
        return None, "bwrap is not installed"
    sandbox = Bubblewrap(program, terms)
    reason = sandbox.probe()
    return (None, reason or "it failed") if reason else (sandbox, "")


__all__ = ["Backend", "open_sandbox"]
