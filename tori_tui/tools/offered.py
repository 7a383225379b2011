"""What the model is told of every tool, without loading one: the first request needs no more than that.

Must not be edited by hand where it is data: `offered.json` is made from the tools' own parameters and
texts (`python -m tests.tools.offered`), and a test holds the two together.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from tori_tui.domain.request import ToolSpec

ORDER: Final = (
    *("goal", "explore", "adopt", "ask_user", "abort", "recall"),
    *("session_memory_set", "session_memory_get", "memory_add", "memory_search"),
    *("read_file", "write_file", "edit_file", "glob_files", "grep_files"),
    *("bash", "bash_output", "bash_stop"),
)
"""In which the tools are offered. A change of it makes every provider's prompt cache cold."""


def offered_tools() -> tuple[ToolSpec, ...]:
    """Return the specs of all tools, in the order in which they are offered."""
    # importlib.resources would add 16 ms to each start; a wheel is always installed as plain files.
    data = Path(__file__).with_name("offered.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[ToolSpec, ...])


__all__ = ["offered_tools"]
