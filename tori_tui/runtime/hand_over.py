"""What one agent is told when it takes over from another: the mission, the task, the result; never more.

Pure. Must not let anything of another context's messages through but the summary of its goal.
"""

from __future__ import annotations

from typing import Final, Literal

from tori_tui.domain.context_events import FactAuthor
from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import ContextId
from tori_tui.domain.messages import Content
from tori_tui.domain.plan_text import goal_title, one_line
from tori_tui.domain.state import SessionState

By = FactAuthor
Action = Literal["opened", "switched"]

TITLE_LIMIT_CHARS: Final = 200


def knows_mission(state: SessionState) -> bool:
    """Whether anything of the present mission was said in the active context."""
    for entry in reversed(state.live_log):
        if entry.mission_id != state.tree.mission:
            return False
        if entry.message.context == state.active_context:
            return True
    return False


def mission_content(state: SessionState) -> Content:
    """Return the mission in the user's words, with what he showed."""
    mission = state.tree.current_mission
    text = mission.text if mission is not None else ""
    said = (
        entry.message.content
        for entry in reversed(state.live_log)
        if mission is not None and entry.mission_id == mission.id and entry.message.origin == "user"
        if entry.message.text == text
    )
    return next(said, text)


def left_context(state: SessionState) -> ContextId | None:
    """Return the context in which something was said last before the newest switch."""
    before = (e.message.context for e in reversed(state.live_log) if e.seq < state.switched_at)
    left = next(before, None)
    return None if left == state.active_context else left


def lent_text(goal: Goal) -> str:
    """Say which goal an agent is to work on."""
    return (
        f"Goal {goal_title(goal, TITLE_LIMIT_CHARS)} was given to you. Work on it alone. End it with "
        "goal(done=your result) or goal(abandon=reason): of your work the others see only that summary."
    )


def result_text(state: SessionState, source: ContextId) -> str:
    """Say what came of the goal that a context was lent to; empty if it was lent to none or goes on."""
    opened = state.contexts.get(source)
    goal = state.tree.find(opened.goal_id) if opened and opened.goal_id else None
    if opened is None or goal is None:
        return ""
    title = goal_title(goal, TITLE_LIMIT_CHARS)
    if goal.is_open:
        return f"Goal {title}: the agent {opened.agent} worked on it and left it open."
    ended = "was done" if goal.status == "completed" else "was given up"
    said = _inert(goal.summary or "without a summary")
    head = f"Goal {title} {ended} by the agent {opened.agent}. Its result:"
    return f'{head}\n<result goal="{goal.id}">\n{said}\n</result>'


def approved_text(state: SessionState, planner: str) -> str:
    """Say that the user wants the plan carried out."""
    upcoming = state.tree.current or state.tree.next_pending()
    first = f" Begin with goal {upcoming.id}." if upcoming else ""
    return (
        f"The agent {planner} made this plan and the user approved it. Carry it out: focus each goal, "
        f"do it, verify it.{first}"
    )


def switched_text(state: SessionState) -> str:
    """Say that the user wants this agent to go on."""
    return (
        f"The user switched to you, the agent {one_line(state.agent)}. The plan shows where the session "
        "stands; what other agents said is not shown. Go on with the mission as your rules say."
    )


def _inert(text: str) -> str:
    """Text of an agent must not look like the end of its result."""
    return text.replace("</result", "< /result").replace("<result", "< result")


__all__ = [
    "Action",
    "By",
    "approved_text",
    "knows_mission",
    "left_context",
    "lent_text",
    "mission_content",
    "result_text",
    "switched_text",
]
