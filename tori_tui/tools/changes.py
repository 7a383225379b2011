"""Carrying out one change of a file, the same for every tool that writes.

Must not decide what to write; the tools do.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import FileIntent
from tori_tui.domain.messages import JsonObject
from tori_tui.tools.base import CallScope, ToolOutput
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.diffs import Diff, diff_of
from tori_tui.workspace.files import atomic_write, digest, sha256_of
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.paths import Workspace

T = TypeVar("T")

BEFORE_SUFFIX: Final = ".before"


class FileStale(ToriError):
    """A file holds something that the agent has not seen."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file's bytes before and after."""

    path: Path
    name: str
    """From the root, as records have it."""
    shown: str
    """From the cwd, as the model has it."""
    before: bytes | None
    after: bytes
    note: str = ""

    @property
    def diff(self) -> Diff:
        """What would change."""
        return diff_of(self.name, self.before, self.after)


def change_of(
    workspace: Workspace, path: Path, before: bytes | None, after: bytes, note: str = ""
) -> FileChange:
    """Return the change with the file's two names."""
    return FileChange(path, workspace.relative(path), workspace.shown(path), before, after, note)


async def carry_out(change: FileChange, scope: CallScope, ledger: FileLedger, outputs: Outputs) -> ToolOutput:
    """Keep the bytes before, write down the intent, replace the file, and tell.

    Raises:
        ToriError: Nothing has changed.
    """
    after_sha256 = digest(change.after)
    if change.before == change.after:
        ledger.saw(change.name, after_sha256)
        return ToolOutput(
            f"{change.shown} already holds exactly this; nothing was written.",
            details={"path": change.name, "sha256": after_sha256},
        )
    before_sha256 = None if change.before is None else digest(change.before)
    kept, n_names = await asyncio.to_thread(_keep_before, change, outputs)
    diff = await asyncio.to_thread(lambda: change.diff)
    await scope.started(files=(FileIntent(change.name, before_sha256, after_sha256, kept),))
    await uninterrupted(lambda: _write(change, before_sha256, ledger))
    facts: JsonObject = {
        "path": change.name,
        "sha256": after_sha256,
        "before_sha256": before_sha256,
        "before_output": kept,
        "added": diff.added,
        "removed": diff.removed,
        "changed_paths": [change.name],
        "diff": diff.text,
    }
    return ToolOutput(_told(change, diff, n_names), details=facts)


async def uninterrupted(function: Callable[[], T]) -> T:
    """Run in a thread, to its end even if the task is cancelled: an effect is whole or has not begun."""
    work = asyncio.ensure_future(asyncio.to_thread(function))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise


def failed(error: ToriError) -> ToolOutput:
    """Return what the model is told of a failure."""
    return ToolOutput(str(error), is_error=True)


def _keep_before(change: FileChange, outputs: Outputs) -> tuple[str | None, int]:
    if change.before is None:
        return None, 1
    with suppress(FileNotFoundError):
        return outputs.keep_bytes(change.before, BEFORE_SUFFIX), os.stat(change.path).st_nlink
    raise FileStale(f"{change.shown} was removed meanwhile.", "Look what happened, then write it anew.")


def _write(change: FileChange, before_sha256: str | None, ledger: FileLedger) -> None:
    if sha256_of(change.path) != before_sha256:
        raise FileStale(
            f"{change.shown} changed while it was about to be written; it was left alone.",
            "Read it again, then repeat the change.",
        )
    atomic_write(change.path, change.after, is_real=True)
    ledger.saw(change.name, digest(change.after))


def _told(change: FileChange, diff: Diff, n_names: int) -> str:
    verb = "Created" if change.before is None else "Changed"
    lines = [f"{verb} {change.shown} (+{diff.added} −{diff.removed})."]
    if change.note:
        lines += [change.note]
    if n_names > 1:
        lines += [f"It has {n_names} names (hard links); the other ones keep the old content."]
    return "\n".join(lines)


__all__ = ["FileChange", "FileStale", "carry_out", "change_of", "failed", "uninterrupted"]
