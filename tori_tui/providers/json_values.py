"""Reading of JSON that a stranger wrote: the wanted type or an empty value, never an exception.

Must not guess a value that is not there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def mapping_of(value: object) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings_of(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list; empty for everything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return the value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def number_of(value: object) -> int:
    """Return a count; 0 for everything that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(0, int(value)) if math.isfinite(value) else 0


__all__ = ["mapping_of", "mappings_of", "number_of", "text_of"]
