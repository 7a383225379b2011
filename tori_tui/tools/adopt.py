"""The tool `adopt`: one branch's change into the work tree.

Must not decide what to do about a conflict; it names the hunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Protocol, cast

import msgspec

from tori_tui.domain.branches import Branch
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import BranchChanged, FileIntent
from tori_tui.domain.ids import BranchId
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.changes import BEFORE_SUFFIX, failed, uninterrupted
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.files import digest
from tori_tui.workspace.restore import LINK_MODE
from tori_tui.workspace.shadow_git import ShadowGit

if TYPE_CHECKING:
    from tori_tui.workspace.adopt import Adoption, Conflict
    from tori_tui.workspace.restore_plan import Step

NAME: Final = "adopt"

SHOWN_PATHS: Final = 30
SHOWN_PATCH_CHARS: Final = 100_000
SHOWN_HUNKS: Final = 10


class _Parameters(msgspec.Struct, frozen=True):
    branch: Annotated[str, msgspec.Meta(description="its number")]


class NotAdoptable(ToriError):
    """There is no such branch, or nothing of it to take over."""


class AdoptTool:
    """Applies a branch's change, three-way, whole or not at all.

    Args:
        state: Returns the session as it stands.
        checkpoints: Returns where saved trees lie; None where there are none.
        outputs: Holds the patches, and gets the bytes before.
        record: Writes down that a branch was adopted.
    """

    name: Final = NAME
    effect: Final[Effect] = "write"

    def __init__(
        self,
        state: Callable[[], SessionState],
        checkpoints: Callable[[], Checkpoints | None],
        outputs: Outputs,
        record: Callable[[BranchChanged], Awaitable[object]],
    ) -> None:
        self._state = state
        self._checkpoints = checkpoints
        self._outputs = outputs
        self._record = record

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Show the branch's whole change."""
        asked = parse(_Parameters, arguments, NAME)
        try:
            branch, end = _adoptable(self._state(), asked.branch)
            patch = self._outputs.read_text(end.patch, limit_bytes=SHOWN_PATCH_CHARS)
        except ToriError:
            # The call itself says what is wrong.
            return Preview(f"{NAME} {asked.branch}")
        n_files = len(end.changed_paths)
        size = f"{n_files} file{'s' if n_files != 1 else ''} +{end.added} −{end.removed}"
        checkpoints = self._checkpoints()
        # From the root and not, as the model writes paths, from the cwd.
        root = checkpoints.shadow.root if checkpoints is not None else Path()
        paths = tuple(str(root / path) for path in end.changed_paths)
        return Preview(f"{NAME} {branch.id} ({size})", patch, paths=paths)

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Plan the change, and carry it out unless something conflicts."""
        asked = parse(_Parameters, arguments, NAME)
        try:
            branch, end = _adoptable(scope.state, asked.branch)
            return await self._adopt(branch, end, scope)
        except ToriError as error:
            return failed(error)

    async def _adopt(self, branch: Branch, end: BranchChanged, scope: CallScope) -> ToolOutput:
        checkpoints = self._checkpoints()
        if checkpoints is None:
            raise NotAdoptable("Nothing can be adopted without checkpoints.", "They need a git program.")
        shadow = checkpoints.shadow
        patch = self._outputs.path(end.patch).read_bytes()
        last = scope.state.last_checkpoint
        adoption = await asyncio.to_thread(
            _adopting().plan_adoption, shadow, end.base, patch, last.tree if last else None
        )
        if adoption.conflicts:
            return _conflicting(branch, end, adoption.conflicts)
        if not adoption.steps:
            return ToolOutput(f"The work tree holds the change of branch {branch.id} already.")
        intents = await asyncio.to_thread(self._intents, shadow, adoption.steps)
        await scope.started(files=intents)
        await uninterrupted(lambda: _adopting().carry_out(shadow, scope.call_id, adoption.steps))
        await self._record(BranchChanged(branch.id, branch.call_id, "adopted"))
        return _adopted(branch, end, [step.path for step in adoption.steps])

    def _intents(self, shadow: ShadowGit, steps: Sequence[Step]) -> list[FileIntent]:
        """Return what changes in which file, the bytes before kept; links are told by their paths only."""
        intents: list[FileIntent] = []
        with shadow.locked(), shadow.blobs() as blobs:
            for step in steps:
                path = shadow.root / step.path
                if path.is_symlink() or (step.then is not None and step.then.mode == LINK_MODE):
                    continue
                before = path.read_bytes() if path.is_file() else None
                after = blobs.read(step.then.name) if step.then is not None else None
                kept = None if before is None else self._outputs.keep_bytes(before, BEFORE_SUFFIX)
                then = None if after is None else digest(after)
                intents.append(FileIntent(step.path, None if before is None else digest(before), then, kept))
        return intents


def _adoptable(state: SessionState, wanted: str) -> tuple[Branch, BranchChanged]:
    number = wanted.strip().lower().removeprefix("branch").strip(" #")
    branch = state.branches.get(BranchId(number))
    if branch is None:
        known = ", ".join(b.id for b in state.branches.values() if b.mode == "implement") or "none"
        raise NotAdoptable(f"There is no branch {wanted!r}.", f"Branches with a change: {known}.")
    if branch.mode == "research":
        raise NotAdoptable(f"Branch {branch.id} only looked: it has no change.")
    if branch.end is None:
        raise NotAdoptable(f"Branch {branch.id} has not ended.")
    if not branch.end.patch:
        raise NotAdoptable(f"Branch {branch.id} changed nothing.")
    return branch, branch.end


def _adopted(branch: Branch, end: BranchChanged, paths: Sequence[str]) -> ToolOutput:
    listed = "\n".join(paths[:SHOWN_PATHS])
    more = f"\n… and {len(paths) - SHOWN_PATHS} more" if len(paths) > SHOWN_PATHS else ""
    text = f"Adopted branch {branch.id} (+{end.added} −{end.removed}):\n{listed}{more}"
    return ToolOutput(text, details={"branch": branch.id, "changed_paths": list(paths)})


def _conflicting(branch: Branch, end: BranchChanged, conflicts: Sequence[Conflict]) -> ToolOutput:
    lines = [f"Nothing was changed: branch {branch.id} conflicts with the work tree as it is now."]
    n_shown = 0
    for conflict in conflicts:
        lines.append(f"{conflict.path}: {conflict.reason}")
        for hunk in conflict.hunks:
            n_shown += 1
            if n_shown > SHOWN_HUNKS:
                break
            lines += [
                f"{conflict.path}:{hunk.line}",
                "<<<<<<< work tree",
                *hunk.ours.splitlines(),
                "=======",
                *hunk.theirs.splitlines(),
                f">>>>>>> branch {branch.id}",
            ]
    if n_shown > SHOWN_HUNKS:
        lines.append(f"… and {n_shown - SHOWN_HUNKS} more places")
    lines.append(f"Make the change by hand; the branch's patch is outputs/{end.patch}.")
    paths = [conflict.path for conflict in conflicts]
    return ToolOutput("\n".join(lines), is_error=True, details={"branch": branch.id, "conflicts": paths})


class _Adopting(Protocol):
    """What is used of the module that plans and carries out an adoption."""

    def plan_adoption(self, shadow: ShadowGit, base: str, patch: bytes, present: str | None) -> Adoption: ...

    def carry_out(self, shadow: ShadowGit, owner: str, steps: Sequence[Step]) -> None: ...


@cache
def _adopting() -> _Adopting:
    """Load that module at the first adoption: few sessions have one."""
    return cast(_Adopting, import_module("tori_tui.workspace.adopt"))


__all__ = ["AdoptTool", "NotAdoptable"]
