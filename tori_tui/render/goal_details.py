"""All that is known of one goal, as labelled lines: what it took, its check, files, comments, branches.

Must not style a line; it says in which tone a line is meant. Texts of others are safe to show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from tori_tui.domain.branches import Branch, branches_of_goal
from tori_tui.domain.goal_comments import GoalComment
from tori_tui.domain.goal_stats import GoalStats
from tori_tui.domain.goals import Budget, Evidence, Goal, Mission
from tori_tui.domain.ids import GoalId
from tori_tui.domain.state import SessionState
from tori_tui.domain.usage import Usage
from tori_tui.render.amounts import counted, shown_cost, shown_duration, shown_tokens
from tori_tui.render.branch import branch_line
from tori_tui.render.safe_text import one_line, safe_text

Tone = Literal["plain", "strong", "muted", "good", "bad"]

FILES_SHOWN: Final = 40
"""More than a page; the diff has all."""

WORDS: Final = {
    "pending": "pending",
    "in_progress": "in progress",
    "completed": "done",
    "abandoned": "given up",
}

_FATES: Final = {
    "": "waits",
    "future": "for later",
    "current": "joined its work",
    "past": "reopened it",
    "requirement_change": "changed the plan",
}


@dataclass(frozen=True, slots=True)
class Detail:
    """One line, or one text of several lines."""

    label: str
    """At the left; empty where the line goes on with what is above."""
    text: str
    tone: Tone = "plain"
    is_verbatim: bool = False
    """Output of a program: its lines are not joined."""


def goal_details(state: SessionState, goal_id: GoalId | None, running_s: float = 0.0) -> Iterator[Detail]:
    """Yield the lines of a goal, its children's figures included; of the whole session without one.

    Args:
        state: The session.
        goal_id: The goal; None, or one that is not there, is the session.
        running_s: How long it has been worked on beyond what the state tells.
    """
    goal = state.tree.find(goal_id) if goal_id else None
    if goal is None:
        yield from _session(state)
        return
    yield from _standing(state, goal)
    yield from _spent(state.stats_of(goal.id), running_s)
    yield from _budget(goal.budget, state.stats_of(goal.id))
    yield from _check(goal.check, goal.evidence)
    if goal.summary:
        yield Detail("Reason" if goal.status == "abandoned" else "Result", safe_text(goal.summary))
    yield from _files(state.stats_of(goal.id).changed_paths)
    yield from _comments(state.goal_comments.get(goal.id, ()))
    yield from _branches(state, goal.id)
    for number, child in enumerate(goal.children):
        label = "" if number else "Goals below"
        yield Detail(label, f"{child.id} {one_line(child.description)}: {WORDS[child.status]}")


def title_of(state: SessionState, goal_id: GoalId | None) -> str:
    """Return what the details are about, as one line."""
    goal = state.tree.find(goal_id) if goal_id else None
    mission = state.tree.current_mission
    if goal is not None:
        return f"{goal.id} {one_line(goal.description)}"
    return one_line(mission.text) if mission else "Session"


def _standing(state: SessionState, goal: Goal) -> Iterator[Detail]:
    words = [WORDS[goal.status]]
    if goal.id == state.tree.current_id:
        words.append("worked on now" if state.status == "running" else "in focus")
    if goal.pinned:
        words.append("pinned: its work stays in view")
    if goal.superseded_by:
        words.append(f"done anew as {goal.superseded_by}")
    if goal.agent:
        words.append(f"by the agent {goal.agent}")
    yield Detail("State", ", ".join(words), "strong")
    above = state.tree.path_to(goal.id)[:-1]
    if above:
        yield Detail("Part of", " › ".join(f"{g.id} {one_line(g.description, 60)}" for g in above), "muted")


def _spent(stats: GoalStats, running_s: float) -> Iterator[Detail]:
    spent_s = stats.duration_s + running_s
    yield Detail("Time", f"{shown_duration(spent_s)} of model and tools{', going on' if running_s else ''}")
    yield Detail("Work", f"{counted(stats.turns, 'turn')}, {counted(stats.calls, 'call')}")
    yield from _paid(stats.usage, stats.cost_usd, is_partial=stats.has_unpriced_turns)


def _paid(usage: Usage, cost_usd: float, *, is_partial: bool) -> Iterator[Detail]:
    if not usage.total_tokens:
        return
    cached = f", {shown_tokens(usage.cached_tokens)} of it from the cache" if usage.cached_tokens else ""
    told = f"{shown_tokens(usage.input_tokens)} in{cached}; {shown_tokens(usage.output_tokens)} out"
    yield Detail("Tokens", told)
    unknown = "not known: the model has no price" if is_partial else "nothing"
    yield Detail("Cost", shown_cost(cost_usd, is_partial=is_partial) or unknown)


def _budget(budget: Budget | None, spent: GoalStats) -> Iterator[Detail]:
    if budget is None:
        return
    parts = []
    if budget.turns is not None:
        parts.append(f"{spent.turns} of {counted(budget.turns, 'turn')}")
    if budget.cost_usd is not None:
        parts.append(f"${spent.cost_usd:.2f} of ${budget.cost_usd:.2f}")
    if budget.seconds is not None:
        parts.append(f"{shown_duration(spent.duration_s)} of {shown_duration(budget.seconds)}")
    if parts:
        yield Detail("Budget", ", ".join(parts))


def _check(check: str | None, evidence: Evidence | None) -> Iterator[Detail]:
    if check:
        yield Detail("Check", safe_text(check))
    if evidence is None:
        if check:
            yield Detail("", "◇ not run yet", "muted")
        return
    is_green = evidence.exit_code == 0
    took = f" in {shown_duration(evidence.duration_s)}" if evidence.duration_s else ""
    what = "" if evidence.command == check else f": {one_line(evidence.command)}"
    mark = "◆ green" if is_green else "◇! red"
    told = f"{mark}, exit {evidence.exit_code}{took}{what}"
    yield Detail("" if check else "Check", told, "good" if is_green else "bad")
    if tail := safe_text(evidence.tail).strip("\n"):
        yield Detail("", tail, "muted", is_verbatim=True)


def _files(paths: tuple[str, ...]) -> Iterator[Detail]:
    for number, path in enumerate(paths[:FILES_SHOWN]):
        yield Detail("" if number else "Files", one_line(path))
    if len(paths) > FILES_SHOWN:
        yield Detail("", f"and {counted(len(paths) - FILES_SHOWN, 'more file')}", "muted")


def _comments(comments: tuple[GoalComment, ...]) -> Iterator[Detail]:
    for number, comment in enumerate(comments):
        fate = _FATES.get(comment.impact, comment.impact)
        yield Detail("" if number else "Comments", f"{safe_text(comment.text)}  → {fate}")


def _branches(state: SessionState, goal_id: GoalId | None) -> Iterator[Detail]:
    branches = branches_of_goal(state.branches, state.tree.mission, goal_id)
    for number, branch in enumerate(branches):
        line = branch_line(branch, is_lost=state.past.is_lost(branch.seq))
        yield Detail("" if number else "Branches", line)
        yield from _outcome(branch)


def _outcome(branch: Branch) -> Iterator[Detail]:
    end = branch.end
    if end is None:
        return
    took = f" after {shown_duration(end.duration_s)}" if end.duration_s else ""
    if end.reason:
        yield Detail("", f"{one_line(end.reason)}{took}", "muted")
    if end.conclusion:
        yield Detail("", safe_text(end.conclusion), "muted")
    if end.changed_paths:
        yield Detail("", ", ".join(one_line(path) for path in end.changed_paths[:FILES_SHOWN]), "muted")


def _session(state: SessionState) -> Iterator[Detail]:
    done, total = state.tree.progress()
    mission = state.tree.current_mission
    yield Detail("State", f"{state.status}{f': {one_line(state.reason)}' if state.reason else ''}", "strong")
    yield Detail("Goals", f"{done} of {total} done" if total else "no plan: straight to work")
    stats = sum(state.goal_stats.values(), GoalStats())
    yield Detail("Time", f"{shown_duration(stats.duration_s)} of model and tools, in the whole session")
    yield Detail("Work", f"{counted(state.n_turns, 'turn')}, {counted(stats.calls, 'call')}")
    yield from _paid(state.usage, state.cost_usd, is_partial=state.has_unpriced_turns)
    yield from _mission_check(mission)
    yield from _files(stats.changed_paths)
    yield from _branches(state, None)


def _mission_check(mission: Mission | None) -> Iterator[Detail]:
    if mission is not None and mission.check:
        yield Detail("Check", f"{one_line(mission.check)} (runs before the run may end)")


__all__ = ["Detail", "Tone", "goal_details", "title_of"]
