"""What a session may remember for its contexts: which keys, how long, and whose a notebook is.

Pure. Must not know keys of providers; `permission.redaction` finds those.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tori_tui.domain.plan_text import one_line

MEMO: Final = "memo"
"""Each agent's own notebook, told to no other agent."""

KEY_LIMIT_CHARS: Final = 60
VALUE_LIMIT_CHARS: Final = 2_000
"""A decision with its reason takes 200 to 400; longer texts belong in files."""

KEYS_LIMIT: Final = 100


def stored_key(key: str, agent: str) -> str:
    """Return under which key an agent's entry is kept: its own notebook's bears its name."""
    plain = one_line(key, KEY_LIMIT_CHARS + 1)
    return f"{MEMO}:{agent}" if plain == MEMO else plain


def told_entries(memory: Mapping[str, str], agent: str) -> dict[str, str]:
    """Return what an agent is told: everything but the other agents' notebooks, its own as `memo`."""
    own = stored_key(MEMO, agent)
    return {
        MEMO if key == own else key: text
        for key, text in memory.items()
        if key == own or not key.startswith(f"{MEMO}:")
    }


def why_not_kept(memory: Mapping[str, str], key: str, text: str) -> str:
    """Say why an entry cannot be kept; empty where it can."""
    if not key:
        return "The key is empty. Name what it is about in a word or two."
    if len(key) > KEY_LIMIT_CHARS:
        return f"The key has {len(key)} characters; at most {KEY_LIMIT_CHARS}."
    if len(text) > VALUE_LIMIT_CHARS:
        return f"The value has {len(text):,} characters; at most {VALUE_LIMIT_CHARS:,}. Keep what matters."
    if key not in memory and len(memory) >= KEYS_LIMIT:
        return f"There are {KEYS_LIMIT} keys already. Remove one, or change one that is there."
    return ""


__all__ = ["KEY_LIMIT_CHARS", "MEMO", "VALUE_LIMIT_CHARS", "stored_key", "told_entries", "why_not_kept"]
