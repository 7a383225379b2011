"""Makes tori the parent of every orphan below it (Linux), so that no process of a command gets away.

Must not be imported before the first command: `ctypes` costs a start several milliseconds.
"""

from __future__ import annotations

import ctypes
from typing import Final

PR_SET_CHILD_SUBREAPER: Final = 36
"""linux/prctl.h, since Linux 3.4."""


def become_subreaper() -> bool:
    """Return whether orphans below this process come to it from now on; safe to call twice."""
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return False
    return int(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0


__all__ = ["become_subreaper"]
