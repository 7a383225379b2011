"""What is shown in words: titles and facts of calls, fates of comments, edits of the plan.

Must not style; everything returned is plain text; titles and lines are safe to show, the rest is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from tori_tui.domain.events import BranchChanged, CommentRouted, ContextChanged, MemoryChanged
from tori_tui.domain.ids import GoalId
from tori_tui.domain.messages import JsonObject, Message
from tori_tui.domain.plan_edits import (
    GoalAbandoned,
    GoalAdded,
    GoalBudgetSet,
    GoalCheckSet,
    GoalMoved,
    GoalPinned,
    GoalRenamed,
    PlanEdit,
)
from tori_tui.render.amounts import counted, shown_duration
from tori_tui.render.diff import count_lines
from tori_tui.render.safe_text import one_line

_SUBJECTS: Final = (
    "command",
    "path",
    "pattern",
    "query",
    "question",
    "reason",
    "goal",
    "key",
    "job",
    "branch",
)
"""Arguments that say best what a call is about, the best first."""

TITLE_LIMIT_CHARS: Final = 300


class ShownCall(Protocol):
    """What is known of a call that is shown, in the app or on a page."""

    @property
    def name(self) -> str:
        """The tool."""
        ...

    @property
    def arguments(self) -> JsonObject:
        """What the model asked for; empty where it was no JSON object."""
        ...

    @property
    def state(self) -> str:
        """How it stands, in one word."""
        ...

    @property
    def title(self) -> str:
        """The tool's own title, where it gave one."""
        ...

    @property
    def output(self) -> str:
        """What came of it."""
        ...

    @property
    def details(self) -> JsonObject:
        """The tool's typed facts."""
        ...

    @property
    def detail(self) -> str:
        """The whole command or diff, of a call that had to be asked for."""
        ...

    @property
    def duration_s(self) -> float | None:
        """How long it ran."""
        ...


def title_of(call: ShownCall) -> str:
    """Return a call's title on one line: the tool's own, else its name and main argument."""
    if call.title:
        return one_line(call.title, TITLE_LIMIT_CHARS)
    if call.name == "goal" and call.arguments:
        return f"goal {goal_call_in_words(call.arguments)}"
    subject = next((call.arguments[name] for name in _SUBJECTS if call.arguments.get(name)), "")
    return one_line(f"{call.name} {subject}".strip() or "call", TITLE_LIMIT_CHARS)


def goal_call_in_words(arguments: JsonObject) -> str:
    """Return what a `goal` call asks for."""
    words = []
    if done := arguments.get("done"):
        words.append(f"done: {done}")
    if abandon := arguments.get("abandon"):
        words.append(f"given up: {abandon}")
    if add := arguments.get("add"):
        added = add if isinstance(add, (list, tuple)) else str(add).strip().splitlines()
        words.append("+ " + ", ".join(str(item).strip() for item in added))
    if focus := arguments.get("focus"):
        words.append(f"→ {focus}")
    return one_line(" · ".join(words), TITLE_LIMIT_CHARS)


def facts_of(call: ShownCall) -> str:
    """Return a finished call's short facts: lines, change, exit code, time."""
    facts = []
    details = call.details
    if diff := diff_of(call):
        added, removed = count_lines(diff)
        facts.append(f"+{added} −{removed}")
    exit_code = details.get("exit_code")
    if isinstance(exit_code, int):
        facts.append(f"exit {exit_code}")
    elif not facts and call.state == "done" and call.name not in ("goal", "ask_user"):
        n_lines = call.output.count("\n") + (1 if call.output and not call.output.endswith("\n") else 0)
        if n_lines:
            facts.append(counted(n_lines, "line"))
    if call.state == "denied":
        facts.append("denied")
    elif call.state == "interrupted":
        facts.append("cut off")
    elif call.state == "failed" and not isinstance(exit_code, int):
        facts.append("failed")
    if call.duration_s is not None and call.duration_s >= 0.1:
        facts.append(shown_duration(call.duration_s))
    return "  ".join(facts)


def diff_of(call: ShownCall) -> str:
    """Return the diff of a call that changed a file, or that was asked with one; else empty."""
    diff = call.details.get("diff")
    if isinstance(diff, str) and diff:
        return diff
    is_command = call.name.startswith(("bash", "!"))
    return call.detail if not is_command and call.detail.startswith(("--- ", "diff ", "@@ ")) else ""


def thinking_of(message: Message) -> str:
    """Return the readable thinking that a provider's own parts hold, if they hold any."""
    texts = []
    for part in message.provider_parts:
        data = part.data
        for key in ("thinking", "reasoning_content", "reasoning"):
            if isinstance(text := data.get(key), str):
                texts.append(text)
        summary = data.get("summary")
        if isinstance(summary, (list, tuple)):
            items = (item.get("text") for item in summary if isinstance(item, Mapping))
            texts.extend(text for text in items if isinstance(text, str))
    return "\n\n".join(text for text in texts if text.strip())


def fate_in_words(event: CommentRouted, goal_id: GoalId | None) -> str:
    """Return where a comment went, with the goals that were opened for it or given up."""
    if event.is_withdrawn:
        return "taken back"
    goals = ", ".join(event.goal_ids)
    opened = ", ".join(edit.id for edit in event.edits if isinstance(edit, GoalAdded))
    match event.impact:
        case "future":
            if any(isinstance(edit, GoalAbandoned) for edit in event.edits):
                return f"→ goal {goals} dropped"
            named = goals or opened
            return f"→ goal {named}, later" if named else "→ plan, later"
        case "current":
            place = f"goal {goals or goal_id}" if goals or goal_id else "current work"
            return f"→ {place}, begun again" if event.cancels else f"→ {place}"
        case "past":
            return f"→ goal {goals} again, as {opened}" if opened else f"→ goal {goals} again"
        case "requirement_change":
            return "→ whole plan"


def context_in_words(event: ContextChanged) -> str:
    """Return which agent, model, mode or effort is in force now; empty where nothing is worth telling."""
    match event.action:
        case "switched":
            parts = (f"goal {event.goal_id}" if event.goal_id else "", event.model)
            return " · ".join([f"agent {event.agent}", *(part for part in parts if part)])
        case "configured":
            mode = f"mode {event.mode}" if event.mode else ""
            effort = f"effort {event.effort}" if event.effort else ""
            return " · ".join(part for part in (event.model, mode, effort) if part)
        case "opened":
            return ""
        case "closed":
            return f"agent {event.agent} closed"


def edits_in_words(edits: Iterable[PlanEdit]) -> str:
    """Return the user's own edits of the plan as one line; empty if none is worth telling."""
    words = []
    for edit in edits:
        match edit:
            case GoalAdded():
                words.append(f"+ {edit.id} {edit.description}")
            case GoalAbandoned():
                words.append(f"✗ {edit.id} {edit.reason}".rstrip())
            case GoalRenamed():
                words.append(f"{edit.id} is now: {edit.description}")
            case GoalMoved():
                words.append(f"{edit.id} moved")
            case GoalCheckSet():
                words.append(f"{edit.id} check: {edit.check or 'none'}")
            case GoalPinned():
                words.append(f"{edit.id} {'pinned' if edit.pinned else 'unpinned'}")
            case GoalBudgetSet():
                words.append(f"{edit.id} budget changed")
            case _:
                pass
    return one_line("plan  " + " · ".join(words), TITLE_LIMIT_CHARS) if words else ""


def memory_page(memory: Mapping[str, str]) -> str:
    """Return what the session remembers, a line each."""
    if not memory:
        return "Nothing is remembered in this session. /remember KEY: TEXT tells every agent of it."
    return "\n".join(f"{one_line(key)}: {one_line(text, TITLE_LIMIT_CHARS)}" for key, text in memory.items())


def memory_in_words(event: MemoryChanged) -> str:
    """Return what was remembered or forgotten, with how to take a fact back."""
    name = f"fact {event.key}" if event.layer == "project" else event.key
    if event.action == "forgotten":
        return one_line(f"forgotten  {name}", TITLE_LIMIT_CHARS)
    said = one_line(f"remembered  {name}: {event.text}", TITLE_LIMIT_CHARS)
    return f"{said}   (/memory forget {event.key})" if event.layer == "project" else said


def branch_in_words(event: BranchChanged) -> str:
    """Return what became of a branch; nothing for what only the goal tree shows."""
    if event.action == "adopted":
        return f"branch {event.branch_id}  adopted"
    if event.action != "ended":
        return ""
    diff = f" +{event.added} −{event.removed}" if event.patch else ""
    check = f" check {event.check}" if event.check else ""
    told = event.reason or event.conclusion
    return one_line(
        f"branch {event.branch_id}  {event.outcome}{check}{diff}  {told}".rstrip(), TITLE_LIMIT_CHARS
    )


__all__ = [
    "TITLE_LIMIT_CHARS",
    "ShownCall",
    "branch_in_words",
    "context_in_words",
    "diff_of",
    "edits_in_words",
    "facts_of",
    "fate_in_words",
    "goal_call_in_words",
    "memory_in_words",
    "memory_page",
    "thinking_of",
    "title_of",
]
