"""A new trace that begins as an old one did up to some record.

Must not change the old trace.
"""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path

from tori_tui.domain.events import CheckpointSaved, Record, RunStatusChanged
from tori_tui.domain.ids import Seq
from tori_tui.domain.rewind import FORK_REASON
from tori_tui.trace.errors import TraceError
from tori_tui.trace.outputs import OUTPUTS_NAME
from tori_tui.trace.store import BRANCHES_NAME, JsonlTraceStore


def fork_trace(source: Path, target: Path, until: Seq, at: datetime, title: str) -> tuple[str, ...]:
    """Copy a trace up to a record, with its outputs and branches; the copy names its parent.

    Returns:
        The saved trees that its records name, and what else is saved with them.

    Raises:
        TraceError: The old trace cannot be read, or the new one not written.
    """
    if target.exists():
        raise TraceError(f"{target} is there already.", "Fork again: the next one gets another id.")
    trees: dict[str, None] = {}
    with (
        JsonlTraceStore.open(source, read_only=True) as old,
        JsonlTraceStore.open(target) as new,
    ):
        last = Seq(0)
        for record in old.records():
            if record.seq > until:
                break
            new.append(record)
            last = record.seq
            if isinstance(record.event, CheckpointSaved):
                trees |= dict.fromkeys(filter(None, (record.event.tree, record.event.modes)))
        begun = RunStatusChanged(
            "interrupted", f"{FORK_REASON}{source.name} at {title}", "user", parent=source.name
        )
        new.append(Record(Seq(last + 1), at, begun))
    for name in (OUTPUTS_NAME, BRANCHES_NAME):
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, copy_function=_copy)
    return tuple(trees)


def _copy(source: str, target: str) -> None:
    shutil.copyfile(source, target)
    os.chmod(target, 0o600)


__all__ = ["fork_trace"]
