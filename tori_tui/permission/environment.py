"""The environment of everything that the agent starts: the user's own, calm, and without tori's keys.

Must not read `os.environ`; it is handed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

CALM: Final[Mapping[str, str]] = MappingProxyType(
    {
        "CI": "1",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "TERM": "dumb",
        "GIT_TERMINAL_PROMPT": "0",
    }
)
"""Nobody is there to press a key: no pager, no prompt, no progress bar."""

ELSEWHERE: Final = "CDPATH"
"""With it `cd src` may go somewhere else than the permission policy believes."""

PROVIDER_PREFIXES: Final = ("OPENAI_", "ANTHROPIC_")
KEY_SUFFIXES: Final = ("_API_KEY", "_API_TOKEN", "_AUTH_TOKEN")

SHORTEST_SECRET_CHARS: Final = 8
"""A shorter value may stand in any variable by chance."""


def child_environment(base: Mapping[str, str], secret_names: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment for a command.

    Args:
        base: The user's environment.
        secret_names: Further variables that hold keys, as the configuration names them.

    Returns:
        A new dict without provider variables, without keys, and without any other variable that has the
        same value as one of those keys.
    """
    secret = frozenset(secret_names)
    values = {
        value
        for name, value in base.items()
        if is_key_name(name, secret) and len(value) >= SHORTEST_SECRET_CHARS
    }
    kept = {
        name: value
        for name, value in base.items()
        if not is_key_name(name, secret)
        and not name.upper().startswith(PROVIDER_PREFIXES)
        and name != ELSEWHERE
        and value not in values
    }
    return {**kept, **CALM}


def is_key_name(name: str, secret_names: Iterable[str] = ()) -> bool:
    """Say whether a variable of this name holds a key."""
    return name in secret_names or name.upper().endswith(KEY_SUFFIXES)


__all__ = ["CALM", "child_environment", "is_key_name"]
