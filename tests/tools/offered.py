"""Writes what the model is told of the tools to `offered.json`: `python -m tests.tools.offered`.

Must not be needed by the product; a test says when it is due.
"""

from __future__ import annotations

import json
import pkgutil
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import tori_tui.tools
import tori_tui.tools.offered
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.offered import ORDER

OFFERED = Path(tori_tui.tools.offered.__file__).with_name("offered.json")


def specs() -> dict[str, ToolSpec]:
    """Return what every tool of the package says of itself, by name."""
    found: dict[str, ToolSpec] = {}
    for module_info in pkgutil.iter_modules(tori_tui.tools.__path__):
        module = import_module(f"tori_tui.tools.{module_info.name}")
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__module__ == module.__name__ and hasattr(kind, "effect"):
                # A spec says nothing of what a tool works on, so it needs no more than the class.
                spec: object = object.__new__(kind).spec
                if isinstance(spec, ToolSpec):
                    found[spec.name] = spec
    return found


def offered_text() -> str:
    """Return what the file must hold: one tool after the other, readable in a difference."""
    found = specs()
    listed = [asdict(found[name]) for name in ORDER]
    return json.dumps(listed, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    OFFERED.write_text(offered_text())
