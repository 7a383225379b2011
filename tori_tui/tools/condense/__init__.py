"""Takes out of a command's output what test runners and compilers say about what went well."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tori_tui.tools.condense.without_noise import Condensed


def condense(command: str, text: str) -> Condensed | None:
    """Return an output without its noise, or None where it is to stay as it is.

    The recognisers and their patterns are loaded at the first call: a session begins without them.
    """
    found: Condensed | None = import_module("tori_tui.tools.condense.without_noise").condensed(command, text)
    return found


__all__ = ["condense"]
