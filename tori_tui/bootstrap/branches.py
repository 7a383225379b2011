"""Explore calls with everything that they need: made when a model first explores.

Must not be imported at the top of a module; most sessions never load it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from tori_tui.bootstrap.ground import BranchTerms, Ground, RunnerParts
from tori_tui.bootstrap.opening import open_session
from tori_tui.config.settings import FeedbackSettings, LimitSettings
from tori_tui.config.surroundings import SessionOptions
from tori_tui.domain.ids import BranchId, CallId, Seq
from tori_tui.domain.messages import ToolCall
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.rewind import touched_paths
from tori_tui.domain.view import View
from tori_tui.runtime.asking import Decider
from tori_tui.runtime.branches.exploring import ExploreCaps, Exploring, Surround
from tori_tui.runtime.branches.in_process import MEGABYTE, BranchPlace, InProcessExecutor
from tori_tui.runtime.branches.seed import inherited_records
from tori_tui.runtime.branches.work import BaseTree, BranchesImpossible, BranchWork, InheritedView
from tori_tui.runtime.limits import Limits
from tori_tui.runtime.requests import InheritedPrefix
from tori_tui.runtime.session import Session
from tori_tui.trace.store import BRANCHES_NAME
from tori_tui.workspace.copies import COPIES_NAME, Copies, tree_bytes, whole_tree
from tori_tui.workspace.shadow_git import GitFailed

if TYPE_CHECKING:
    from tori_tui.bootstrap.acting import Acting

NEVER_IN_BRANCHES: Final = frozenset({"explore", "adopt", "ask_user"})
ONLY_TO_CHANGE: Final = frozenset({"write_file", "edit_file", "bash_output", "bash_stop"})
"""Not offered to those who only read; bash is, for commands that only read."""


def make_exploring(ground: Ground, parts: RunnerParts, acting: Acting) -> Exploring:
    """Return what runs the explore calls of one session."""
    made = _Making(ground, parts, acting)
    wanted = ground.settings.explore
    return Exploring(
        ground.recorder,
        ground.asking,
        ground.outputs,
        ground.branches,
        ExploreCaps(wanted.max_parallel, wanted.branches, Limits(wanted.turns, cost_usd=wanted.cost_usd)),
        Surround(
            make_executor=made.executor,
            inherit=made.inherit,
            save_tree=made.save_tree,
            check_refusal=made.check_refusal,
            spent=parts.spending.spent,
            new_trace=made.new_trace,
        ),
    )


class _Making:
    """What exploring asks of one session."""

    def __init__(self, ground: Ground, parts: RunnerParts, acting: Acting) -> None:
        self._ground = ground
        self._parts = parts
        self._acting = acting

    def executor(self, call_id: CallId) -> InProcessExecutor:
        ground = self._ground
        return InProcessExecutor(
            open_branch=self._open,
            parent=ground.opened.directory,
            root=Path(os.path.realpath(ground.root)),
            cwd=Path(os.path.realpath(ground.options.cwd)),
            copies=self._copies(),
            disk_bytes=ground.settings.explore.disk_mb * MEGABYTE,
            clock=ground.world.clock,
        )

    def inherit(self, call_id: CallId) -> InheritedView:
        ground, state = self._ground, self._ground.recorder.state
        call = state.open_calls[call_id]
        moment = state.past.moment_at(Seq(call.message_seq - 1))
        view = (moment.views.get(call.context) if moment is not None else None) or View()
        system, plan, cache_key = self._parts.requests.inheritable(state)
        records = inherited_records(view, ground.world.clock.now())
        return InheritedView(system, plan, ground.identities.offered(), records, cache_key)

    async def save_tree(self) -> BaseTree:
        ground = self._ground
        checkpointing = ground.going_back.checkpointing
        await checkpointing.settled()
        checkpoints = checkpointing.checkpoints
        if checkpoints is None:
            raise BranchesImpossible("Without checkpoints there are no copies.", "Use mode research.")
        touched, owner = touched_paths(ground.recorder.state), ground.opened.trace_id
        try:
            saved = await asyncio.to_thread(whole_tree, checkpoints, owner, touched)
            if saved.is_partial:
                raise BranchesImpossible("The work tree is too large to copy.", "Use mode research.")
            size_bytes = await asyncio.to_thread(tree_bytes, checkpoints.shadow, saved.tree)
        except (GitFailed, OSError) as error:
            raise BranchesImpossible(f"The work tree cannot be copied: {error}") from error
        return BaseTree(saved.tree, saved.empty_folders, saved.left_out, size_bytes)

    async def check_refusal(self, command: str, call_id: CallId) -> str | None:
        bash, state = self._acting.bash, self._ground.recorder.state
        call = ToolCall(call_id, bash.name, {"command": command})
        preview = await bash.preview(call.arguments)
        goal = state.tree.find(state.tree.current_id) if state.tree.current_id else None
        return await self._acting.gate.check_refusal(command, "model", call, bash, preview, goal)

    def new_trace(self, branch_id: BranchId) -> str:
        folder = self._ground.opened.directory / BRANCHES_NAME
        name, number = str(branch_id), 1
        while (folder / name).exists():
            number += 1
            name = f"{branch_id}-{number}"
        return name

    async def _open(self, work: BranchWork, place: BranchPlace, decider: Decider) -> Session:
        ground = self._ground
        limits = LimitSettings(turns=work.limits.turns or 1, cost_usd=work.limits.cost_usd)
        settings = replace(ground.settings, limits=limits, feedback=FeedbackSettings(classifier="off"))
        options = SessionOptions(
            cwd=place.cwd,
            model=work.model,
            mode=work.permission,
            trace_dir=place.trace.parent,
            resume=str(place.trace),
        )
        return await open_session(settings, options, ground.world, self._terms(work, place, decider))

    def _terms(self, work: BranchWork, place: BranchPlace, decider: Decider) -> BranchTerms:
        ground, inherited = self._ground, work.inherited
        links = self._links() if place.is_copy else ()
        n_rewrites = 0
        if inherited is not None and any(r.event.kind == "fold" for r in inherited.records):
            n_rewrites = 1
        return BranchTerms(
            root=place.root,
            copy_of=ground.root if place.is_copy else None,
            readable=(ground.opened.directory, *(ground.root / link for link in links)),
            models=ground.models,
            memory=ground.memory,
            descendants=self._acting.descendants,
            gate=self._acting.gate,
            decider=decider,
            tools=inherited.tools if inherited else _offered(ground.identities.offered(), work),
            system=inherited.system if inherited else None,
            prefix=InheritedPrefix(inherited.plan, inherited.cache_key, n_rewrites) if inherited else None,
        )

    def _copies(self) -> Copies | None:
        ground = self._ground
        checkpoints = ground.going_back.checkpointing.checkpoints
        if checkpoints is None:
            return None
        folder = f"{ground.opened.trace_id}-{ground.world.new_token()}"
        return Copies(ground.world.state_dir / COPIES_NAME / folder, checkpoints.shadow, self._links())

    def _links(self) -> tuple[str, ...]:
        """Return the folders to link: those inside the tree only."""
        wanted = (PurePosixPath(link) for link in self._ground.settings.explore.link)
        inside = (path for path in wanted if not path.is_absolute() and ".." not in path.parts)
        return tuple(path.as_posix() for path in inside if path.parts)


def _offered(tools: Sequence[ToolSpec], work: BranchWork) -> tuple[ToolSpec, ...]:
    hidden = NEVER_IN_BRANCHES | (ONLY_TO_CHANGE if work.mode == "research" else frozenset())
    return tuple(tool for tool in tools if tool.name not in hidden)


__all__ = ["make_exploring"]
