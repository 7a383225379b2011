"""Which processes belong to which command, those that left its process group included.

Must not be two of them in one tori: what an orphan belongs to can only be told by who knows every command.
Other parts of tori start their programs in tori's own session; those are never taken for a command's.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.process_table import (
    HAS_PROC,
    ProcessFacts,
    all_pids,
    children_of,
    read_facts,
    read_variable,
    walk_below,
)

MARKER_VARIABLE: Final = "TORI_CALL"
"""In the environment of everything below a command; its value is `marker_of`."""

LOOKS_LIMIT: Final = 100
"""One look takes a fifth of a millisecond; nothing forks and ends faster than that a hundred times."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_CALL_LIMIT_CHARS: Final = 64


@dataclass(eq=False, slots=True)
class CommandTree:
    """A running command and what was seen below it."""

    ref: ProcessRef
    marker: str
    seen: set[tuple[int, int]] = field(default_factory=set)
    """Pid and start of everything that was ever found."""
    is_waiting: bool = False
    """Whether it has no command yet: nothing can have escaped from it."""


class Descendants:
    """Knows every command that runs and finds what is left of each."""

    def __init__(self) -> None:
        self._trees: list[CommandTree] = []
        self._is_subreaper: bool | None = None
        self._first_ticks: int | None = None

    def enter(self, pgid: int, call_id: str, *, is_waiting: bool = False) -> CommandTree:
        """Begin to watch a command whose first process waits at its gate.

        Args:
            pgid: That process.
            call_id: Of its call.
            is_waiting: It is there before any call.
        """
        facts = read_facts(pgid) if HAS_PROC else None
        ref = ProcessRef(pgid, facts.start_ticks if facts else 0)
        tree = CommandTree(ref, marker_of(call_id, pgid), is_waiting=is_waiting)
        self._first_ticks = ref.start_ticks if self._first_ticks is None else self._first_ticks
        self._trees.append(tree)
        return tree

    def leave(self, tree: CommandTree) -> None:
        """Forget a command of which nothing is left."""
        self._trees.remove(tree)

    def prepare(self) -> None:
        """Make orphans come to us; called before each command, works once."""
        if self._is_subreaper is None and HAS_PROC:
            # Loaded late on purpose: see the module.
            module = importlib.import_module("tori_tui.workspace.subreaper")
            self._is_subreaper = bool(module.become_subreaper())

    def living(self, tree: CommandTree) -> list[ProcessFacts]:
        """Return what of a command is alive, and reap what is not and has no other parent than us."""
        if not HAS_PROC:
            return _living_group(tree.ref.pgid)
        for _ in range(LOOKS_LIMIT):
            children = children_of(os.getpid())
            found = self._found(tree, children if self._is_subreaper else all_pids())
            # What forks and ends while we look hands us its child, so an empty look counts only if
            # our children stood still.
            if found or children == children_of(os.getpid()):
                return found
        return []

    def _found(self, tree: CommandTree, candidates: list[int]) -> list[ProcessFacts]:
        roots = {other.ref.pgid for other in self._trees}
        orphans = [pid for pid in candidates if pid not in roots and self._belongs(tree, pid)]
        found: dict[int, ProcessFacts] = {}
        for top in (tree.ref.pgid, *orphans):
            for facts in walk_below(top):
                tree.seen.add(facts.key)
                if not facts.has_ended:
                    found[facts.pid] = facts
                elif facts.pid != tree.ref.pgid and facts.parent == os.getpid():
                    _reap(facts.pid)
        return list(found.values())

    def unclaimed(self) -> list[ProcessFacts]:
        """Return orphans that came to us and could be told to no command; nothing while one runs.

        Such a one left its session, cleaned its environment, and was never seen while its command ran.
        """
        is_busy = any(not tree.is_waiting for tree in self._trees)
        if is_busy or not self._is_subreaper or self._first_ticks is None:
            return []
        own = {os.getsid(0), *(tree.ref.pgid for tree in self._trees)}
        found: list[ProcessFacts] = []
        for pid in children_of(os.getpid()):
            top = read_facts(pid)
            if top is None or top.session in own or top.start_ticks < self._first_ticks:
                continue
            if top.has_ended:
                _reap(pid)
            found.extend(facts for facts in walk_below(pid) if not facts.has_ended)
        return found

    def _belongs(self, tree: CommandTree, pid: int) -> bool:
        facts = read_facts(pid)
        if facts is None or facts.session == os.getsid(0):
            return False
        # The first process stays unreaped till the end, so that its number means this command alone.
        if facts.session == tree.ref.pgid or facts.key in tree.seen:
            return True
        marker = read_variable(pid, MARKER_VARIABLE)
        if marker is not None:
            return marker == tree.marker
        if any(facts.session == other.ref.pgid for other in self._trees):
            return False
        is_alone = [other for other in self._trees if not other.is_waiting] == [tree]
        return is_alone and self._is_subreaper is True and facts.start_ticks >= tree.ref.start_ticks


def marker_of(call_id: str, pgid: int) -> str:
    """Return what marks the processes of one command, in this and in a later tori."""
    return f"{call_marker(call_id)}.{pgid}"


def call_marker(call_id: str) -> str:
    """Return the part of a marker that is known before the command has a pid."""
    return _UNSAFE.sub("-", call_id)[:_CALL_LIMIT_CHARS]


def left_of(commands: Mapping[ProcessRef, str]) -> list[ProcessFacts]:
    """Return what lives of commands of an earlier tori; nothing that only got one of their pids.

    Args:
        commands: Each with the id of its call, which may be empty. One look serves all of them.
    """
    told = {ref: call_id for ref, call_id in commands.items() if ref.start_ticks}
    if not HAS_PROC or not told:
        return []
    groups = {ref.pgid: ref for ref in told if _is_there(ref)}
    markers = {marker_of(call_id, ref.pgid): ref for ref, call_id in told.items() if call_id}
    first_ticks = min(ref.start_ticks for ref in told)
    found: dict[int, ProcessFacts] = {}
    for pid in all_pids():
        facts = read_facts(pid)
        if facts is None or facts.has_ended or facts.start_ticks < first_ticks:
            continue
        ref = groups.get(facts.group) or markers.get(read_variable(pid, MARKER_VARIABLE) or "")
        if ref is not None and facts.start_ticks >= ref.start_ticks:
            found.update((below.pid, below) for below in walk_below(pid) if not below.has_ended)
    return list(found.values())


def _is_there(ref: ProcessRef) -> bool:
    """Whether the first process of a command is still there."""
    first = read_facts(ref.pgid)
    return first is not None and first.start_ticks == ref.start_ticks


def _living_group(pgid: int) -> list[ProcessFacts]:
    try:
        os.killpg(pgid, 0)
    except (ProcessLookupError, PermissionError):
        return []
    return [ProcessFacts(-pgid, "its process group", "?", 0, pgid, pgid, 0)]


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


__all__ = ["MARKER_VARIABLE", "CommandTree", "Descendants", "call_marker", "left_of", "marker_of"]
