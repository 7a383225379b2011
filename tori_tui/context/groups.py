"""Which messages of a view become one fold, and what that fold says beside its pins.

Must not choose which messages stay; it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tori_tui.context.fold_text import (
    PinnedLines,
    fold_text,
    mission_fold_text,
    overview_row,
    overview_text,
)
from tori_tui.context.sight import message_at
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import GoalId, MissionId, Seq
from tori_tui.domain.log import Log
from tori_tui.domain.messages import Message
from tori_tui.domain.state import LoggedMessage
from tori_tui.domain.view import ViewEntry

SUMMARY_SHARE: Final = 0.25
"""Of the low mark: what summaries may take before they merge (DESIGN §7)."""

OVERVIEW_ROWS: Final = 24
"""Oldest goals that keep a line each once they are merged into one."""

Owner = tuple[MissionId | None, GoalId | None]


@dataclass(slots=True)
class Group:
    """Messages that one fold replaces."""

    owners: list[Owner]
    entries: list[ViewEntry] = field(default_factory=list)
    is_overview: bool = False
    head_tokens: int | None = None

    @property
    def seqs(self) -> tuple[Seq, ...]:
        """Every record that it stands for, in order."""
        return tuple(sorted({seq for entry in self.entries for seq in entry.seqs}))


class Grouping:
    """Puts what is folded into groups: one a goal, merged where their summaries take too much.

    Args:
        tree: The goals.
        log: What was said.
        elsewhere: Goals of which the view keeps messages.
        count: Tokens of a text.
    """

    def __init__(
        self,
        tree: GoalTree,
        log: Log[LoggedMessage],
        elsewhere: frozenset[GoalId],
        count: Callable[[str], int],
    ) -> None:
        self._tree = tree
        self._log = log
        self._elsewhere = elsewhere
        self._count = count
        self._paths = {goal.id: tree.path_to(goal.id) for goal in tree.walk()}

    def by_goal(self, entries: Iterable[ViewEntry]) -> list[Group]:
        """Return one group for each goal, earlier folds with what they already hold."""
        groups: list[Group] = []
        of_owner: dict[Owner, Group] = {}
        for entry in entries:
            owners = self._owners(entry)
            home = next((of_owner[owner] for owner in owners if owner in of_owner), None)
            if home is None:
                home = Group([])
                groups.append(home)
            home.entries.append(entry)
            for owner in owners:
                if owner not in of_owner:
                    home.owners.append(owner)
                    of_owner[owner] = home
        return groups

    def bounded(self, groups: list[Group], limit_tokens: int) -> list[Group]:
        """Return the groups merged until their summaries fit: into root goals, then the oldest into one."""
        if self._total(groups) <= limit_tokens:
            return groups
        groups = self._by_root(groups)
        if self._total(groups) <= limit_tokens:
            return groups
        closed = [group for group in groups if not self._is_open(group)]
        n_merged = 2
        while n_merged <= len(closed):
            merged = _union(closed[:n_merged], is_overview=True)
            gone = {id(group) for group in closed[:n_merged]}
            rest = [group for group in groups if id(group) not in gone]
            if n_merged == len(closed) or self._total([merged, *rest]) <= limit_tokens:
                return [merged, *rest]
            n_merged = min(len(closed), max(n_merged + 1, int(n_merged * 1.5)))
        return groups

    def under(self, groups: Iterable[Group], goals: Sequence[GoalId]) -> list[Group]:
        """Return one group for each of these goals with everything below it; the others as they are."""
        merged: dict[object, list[Group]] = {}
        for group in groups:
            path = [goal.id for _, i in group.owners if i in self._paths for goal in self._paths[i]]
            home = next((goal_id for goal_id in path if goal_id in goals), None)
            merged.setdefault(home or id(group), []).append(group)
        return [_union(part) if len(part) > 1 else part[0] for part in merged.values()]

    def _by_root(self, groups: Iterable[Group]) -> list[Group]:
        merged: dict[object, list[Group]] = {}
        for group in groups:
            root = self._root(group.owners[0])
            merged.setdefault(id(group) if self._is_open(group) else root, []).append(group)
        return [_union(part) if len(part) > 1 else part[0] for part in merged.values()]

    def _root(self, owner: Owner) -> object:
        path = self._paths.get(owner[1]) if owner[1] else None
        return path[0].id if path else owner

    def _is_open(self, group: Group) -> bool:
        """Whether it belongs to what is being worked on."""
        for mission, goal_id in group.owners:
            path = self._paths.get(goal_id) if goal_id else None
            if (path and path[0].is_open) or (not path and mission == self._tree.mission):
                return True
        return False

    def _total(self, groups: Iterable[Group]) -> int:
        return sum(self.head_tokens(group) for group in groups)

    def head_tokens(self, group: Group) -> int:
        """Return what a group's text takes without pins."""
        if group.head_tokens is None:
            group.head_tokens = self._count(self.text(group, ()))
        return group.head_tokens

    def _owners(self, entry: ViewEntry) -> list[Owner]:
        owners: dict[Owner, None] = {}
        for seq in entry.seqs:
            said = message_at(self._log, seq)
            if said is not None:
                owners[(said.mission_id, said.message.goal_id)] = None
        return list(owners) or [(self._tree.mission, entry.message.goal_id)]

    def goal_of(self, group: Group) -> GoalId | None:
        """Return the goal under which a group is recorded: the one that holds the others."""
        ids = [goal_id for _, goal_id in group.owners if goal_id in self._paths]
        if not ids or group.is_overview:
            return ids[-1] if ids else None
        shared = [{goal.id for goal in self._paths[goal_id]} for goal_id in ids]
        common = set.intersection(*shared)
        path = [goal.id for goal in self._paths[ids[0]] if goal.id in common]
        return path[-1] if path else ids[0]

    def text(self, group: Group, pinned: Sequence[PinnedLines]) -> str:
        """Return a group's fold text."""
        goal_id = self.goal_of(group)
        goal = self._tree.find(goal_id) if goal_id else None
        if group.is_overview or (goal is not None and len(self._roots(group)) > 1):
            return self._overview(group, pinned)
        messages = self._messages(group)
        if goal is None:
            mission = next((m for m in self._tree.missions if m.id == group.owners[0][0]), None)
            return mission_fold_text(mission, messages, pinned)
        held = {owner[1] for owner in group.owners}
        below = {part.id for part in goal.walk()}
        return fold_text(goal, messages, pinned, elsewhere=frozenset(below - held) | (self._elsewhere - held))

    def _roots(self, group: Group) -> Mapping[object, None]:
        return dict.fromkeys(self._root(owner) for owner in group.owners)

    def _overview(self, group: Group, pinned: Sequence[PinnedLines]) -> str:
        goals = [
            goal
            for root in self._roots(group)
            if isinstance(root, str) and (goal := self._tree.find(GoalId(root)))
        ]
        rows = [overview_row(goal) for goal in goals[-OVERVIEW_ROWS:]]
        return overview_text(rows, len(goals) - len(rows), pinned)

    def _messages(self, group: Group) -> list[Message]:
        found = (message_at(self._log, seq) for seq in group.seqs)
        return [said.message for said in found if said is not None]


def _union(groups: Sequence[Group], *, is_overview: bool = False) -> Group:
    owners = list(dict.fromkeys(owner for group in groups for owner in group.owners))
    entries = [entry for group in groups for entry in group.entries]
    return Group(owners, entries, is_overview or any(group.is_overview for group in groups))


__all__ = ["SUMMARY_SHARE", "Group", "Grouping", "Owner"]
