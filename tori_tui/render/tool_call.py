"""A tool call and its result as one line each.

Must not need the tool: traces of other versions are shown too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from types import MappingProxyType
from typing import Final

from tori_tui.domain.messages import JsonObject, Message, ToolCall
from tori_tui.render.safe_text import cut, one_line, safe_text

TITLE_LIMIT_CHARS: Final = 100

VALUE_LIMIT_CHARS: Final = 72

_MAIN_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "read_file": ("path",),
        "write_file": ("path",),
        "edit_file": ("path",),
        "glob_files": ("pattern",),
        "grep_files": ("pattern", "path"),
        "bash": ("command",),
        "bash_output": ("job",),
        "bash_stop": ("job",),
        "explore": ("branches",),
        "adopt": ("branch",),
        "ask_user": ("question",),
        "abort": ("reason",),
        "recall": ("goal", "query"),
    }
)
"""What says most about a call; of other tools the first argument that is a text."""


def call_title(call: ToolCall, limit_chars: int = TITLE_LIMIT_CHARS) -> str:
    """Return a call as one safe line, such as `glob_files("**/user*.py")`."""
    name = one_line(call.name, VALUE_LIMIT_CHARS)
    if call.arguments_raw is not None:
        return cut(f"{name}({one_line(call.arguments_raw, VALUE_LIMIT_CHARS)})", limit_chars)
    if call.name == "goal":
        parts = [f"{key}={_shown(value)}" for key, value in call.arguments.items()]
    else:
        parts = [_shown(value) for value in _main_values(call.name, call.arguments)]
    return cut(f"{name}({', '.join(parts)})", limit_chars)


def result_line(result: Message, limit_chars: int = TITLE_LIMIT_CHARS) -> str:
    """Return what a call's result comes to, as one safe line.

    Of a command its exit code and last telling line, of anything else the first line.
    """
    exit_code = result.details.get("exit_code")
    if isinstance(exit_code, int):
        lines = result.text[-10_000:].splitlines()
        told = (ln for ln in reversed(lines) if any(map(str.isalnum, ln)) and not ln.startswith("[exit "))
        return one_line(" · ".join([f"exit {exit_code}", *islice(told, 1)]), limit_chars)
    first = next((line for line in result.text[:10_000].splitlines() if line.strip()), "")
    return one_line(first, limit_chars)


def _main_values(name: str, arguments: JsonObject) -> list[object]:
    wanted = _MAIN_ARGUMENTS.get(name)
    if wanted is not None:
        return [arguments[key] for key in wanted if arguments.get(key) not in (None, "")]
    return [next((v for v in arguments.values() if isinstance(v, str)), "")] if arguments else []


def _shown(value: object) -> str:
    if isinstance(value, str):
        text = safe_text(value[: VALUE_LIMIT_CHARS * 2])
        return json.dumps(cut(text, VALUE_LIMIT_CHARS), ensure_ascii=False)
    return one_line(json.dumps(value, ensure_ascii=False, default=str), VALUE_LIMIT_CHARS)


__all__ = ["TITLE_LIMIT_CHARS", "call_title", "result_line"]
