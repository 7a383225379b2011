"""Versions of the trace format: which can be read, and where older ones are brought up to date.

Must not know the kinds of records; there is one version so far, so nothing to bring up yet.
"""

from __future__ import annotations

from typing import Final

from tori_tui.trace.errors import BadLine, TraceTooNew

FORMAT_VERSION: Final = 1
"""Written into every record; grows only when a reader of the version before could go wrong."""


def check_version(version: int) -> None:
    """Let a version pass that this tori can read.

    Raises:
        TraceTooNew: It was written by a later tori.
        BadLine: There never was such a version.
    """
    if version > FORMAT_VERSION:
        raise TraceTooNew(
            f"The trace has format version {version}; this tori reads versions up to {FORMAT_VERSION}.",
            "Install a newer tori to open it. The trace was not changed.",
        )
    if version < 1:
        raise BadLine(f"format version {version} never existed")


__all__ = ["FORMAT_VERSION", "check_version"]
