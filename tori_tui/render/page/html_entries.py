"""Scenes and what happened in them as HTML that folds without any script.

Must not write a word of others unescaped.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from types import MappingProxyType
from typing import Final, assert_never
from urllib.parse import quote

from tori_tui.domain.branches import Branch, branches_of_call
from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import GoalId, Seq
from tori_tui.domain.messages import ContentPart
from tori_tui.render.amounts import counted, shown_cost, shown_duration, shown_tokens
from tori_tui.render.branch import branch_line
from tori_tui.render.page.entries import (
    Account,
    Called,
    Entry,
    Folded,
    Noted,
    RunEnded,
    Scene,
    Thought,
    Words,
)
from tori_tui.render.page.html_text import cut_output, diff_html, markdown_html, pre
from tori_tui.render.safe_text import one_line
from tori_tui.render.wording import diff_of, facts_of, title_of

FOLDED_FROM: Final = 60
"""Of a session that tells more than this, ended goals come folded; a shorter one is read at once."""

OPEN_DIFF_LINES: Final = 60
"""A diff of at most that many lines is in sight without unfolding."""

MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {"pending": "○", "in_progress": "▶", "completed": "✓", "abandoned": "✗"}
)

_CALL_MARKS: Final[Mapping[str, str]] = MappingProxyType({"done": "✓", "failed": "✗", "denied": "⊘"})

_SPEAKERS: Final[Mapping[str, str]] = MappingProxyType({"user": "You", "comment": "You, meanwhile"})

_IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")


class SceneWriter:
    """Writes one account; that of a branch is written by another one, inside its call.

    Args:
        account: What is told.
        prefix: What the page's ids of this account begin with.
    """

    def __init__(self, account: Account, prefix: str = "") -> None:
        self._account = account
        self._state = account.state
        self._prefix = prefix
        self._is_folded = account.n_entries > FOLDED_FROM
        self._outcomes = outcomes_after(account)
        self._begun: set[GoalId] = set()
        self._placed: set[Seq] = set()

    def scenes(self) -> Iterator[str]:
        """Yield every scene; what a rewind took back stands together, folded."""
        numbered = enumerate(self._account.scenes)
        for is_lost, group in groupby(numbered, key=lambda pair: pair[1].is_lost):
            pairs = list(group)
            if is_lost:
                n_entries = sum(len(scene.entries) for _, scene in pairs)
                what = f"Taken back by a rewind: {counted(n_entries, 'entry').replace('entrys', 'entries')}"
                yield f'<details class="lost"><summary>↶ {what}</summary>'
            for index, scene in pairs:
                yield from self._scene(scene, self._outcomes.get(index, ()))
            if is_lost:
                yield "</details>"

    def goal_address(self, goal_id: GoalId) -> str:
        """Return the id in the page under which a goal's first scene stands."""
        return f"{self._prefix}goal-{goal_id}"

    @property
    def told_goals(self) -> frozenset[GoalId]:
        """The goals that have a scene to go to."""
        return frozenset(scene.goal_id for scene in self._account.scenes if scene.goal_id is not None)

    def _scene(self, scene: Scene, outcomes: Sequence[Goal]) -> Iterator[str]:
        goal = self._state.tree.find(scene.goal_id) if scene.goal_id is not None else None
        if scene.goal_id is None or goal is None:
            yield '<section class="scene own">'
            yield from self._entries(scene)
            yield "</section>"
            return
        is_first = goal.id not in self._begun
        self._begun.add(goal.id)
        address = f' id="{escape(self.goal_address(goal.id))}"' if is_first else ""
        is_open = " open" if goal.is_open or not self._is_folded else ""
        again = "" if is_first else '<span class="again">goes on</span>'
        facts = goal_facts(self._account, goal) if goal in outcomes else ""
        yield f'<details class="scene goal {goal.status}"{address}{is_open}><summary>'
        yield f'<span class="mark">{MARKS[goal.status]}</span><b>{escape(goal.id)}</b>'
        yield f'<span class="title">{escape(goal.description)}</span>{again}'
        yield f'<span class="facts">{escape(facts)}</span></summary>'
        yield from self._entries(scene)
        yield "</details>"
        for ended in outcomes:
            yield from goal_outcome(ended, is_named=ended is not goal)

    def _entries(self, scene: Scene) -> Iterator[str]:
        for entry in scene.entries:
            yield from self._entry(entry)

    def _entry(self, entry: Entry) -> Iterator[str]:
        match entry:
            case Words():
                yield from self._words(entry)
            case Thought():
                yield f'<details class="e thought">{self._head("Thinking", entry)}'
                yield f"{markdown_html(entry.text)}</details>"
            case Called():
                yield from self._called(entry)
            case Folded():
                what = f"{counted(entry.n_messages, 'message')} left the model's view: {entry.reason}"
                yield f'<details class="e fold">{self._head(what, entry)}'
                yield f"{pre(entry.text)}</details>"
            case Noted():
                hint = f'<span class="hint">{escape(entry.hint)}</span>' if entry.hint else ""
                yield f'<p class="e note {entry.level}">{escape(entry.text)}{hint}</p>'
            case RunEnded():
                reason = f" · {entry.reason}" if entry.reason else ""
                yield f'<p class="e run {escape(entry.status)}"><span>{escape(entry.status + reason)}'
                yield f"{self._at(entry)}</span></p>"
            case _:
                assert_never(entry)

    def _words(self, words: Words) -> Iterator[str]:
        who = _SPEAKERS.get(words.by, "")
        by = "model" if words.by == "model" else "user"
        yield f'<article class="e {by}">'
        if who:
            fate = f'<span class="facts">{escape(words.fate)}</span>' if words.fate else ""
            yield f'<header><span class="who">{who}</span>{fate}{self._at(words)}</header>'
            yield f'<div class="said">{escape(words.text.strip())}</div>'
        else:
            yield f'<div class="text">{self._at(words)}{markdown_html(words.text)}</div>'
        if words.is_cut_off:
            yield '<p class="facts">cut off here</p>'
        yield f"{images_html(words.images)}</article>"

    def _called(self, called: Called) -> Iterator[str]:
        diff = diff_of(called)
        is_open = " open" if diff and called.state != "denied" and diff.count("\n") <= OPEN_DIFF_LINES else ""
        title = title_of(called)
        tool, _, subject = title.partition(" ") if title.startswith(called.name) else (called.name, "", title)
        facts = "  ".join(part for part in (facts_of(called), called.answer) if part)
        exit_code = called.details.get("exit_code")
        state = "failed" if isinstance(exit_code, int) and exit_code else called.state
        plan = " plan-call" if called.name == "goal" else ""
        yield f'<details class="e call {state}{plan}"{is_open}><summary>'
        yield f'<span class="mark">{_CALL_MARKS.get(state, "…")}</span>'
        yield f'<span class="line"><b>{escape(tool)}</b> <code>{escape(subject)}</code></span>'
        yield f'<span class="facts">{escape(facts)}</span>'
        yield f"{self._at(called)}</summary>"
        if diff:
            yield diff_html(diff)
        else:
            yield pre(asked_text(called), "asked")
        if not diff or called.state != "done":
            yield pre(cut_output(called.output, called.full), "output")
        yield f"{images_html(called.images)}</details>"
        for branch in branches_of_call(self._state.branches, called.call_id):
            yield from self._branch(branch)

    def _branch(self, branch: Branch) -> Iterator[str]:
        told = self._account.branches.get(branch.id)
        address = escape(f"{self._prefix}branch-{branch.id}")
        line = branch_line(branch, is_lost=self._state.past.is_lost(branch.seq))
        yield f'<details class="e branch" id="{address}">{self._head(line)}'
        if branch.end is not None and (end := branch.end.conclusion or branch.end.reason):
            yield f'<div class="text">{markdown_html(end)}</div>'
        if told is not None:
            yield from SceneWriter(told, f"{self._prefix}{branch.id}-").scenes()
        yield "</details>"

    def _head(self, line: str, entry: Entry | None = None) -> str:
        at = self._at(entry) if entry is not None else ""
        return f'<summary><span class="line">{escape(line)}</span>{at}</summary>'

    def _at(self, entry: Entry) -> str:
        """Return when it happened, as a link to the first thing that its record tells."""
        address = f"{self._prefix}r{entry.seq}"
        place = "" if entry.seq in self._placed else f' id="{address}"'
        self._placed.add(entry.seq)
        shown = f'<time datetime="{entry.at.isoformat()}">{entry.at:%H:%M:%S}</time>'
        return f'<a class="at"{place} href="#{address}">{shown}</a>'


def outcomes_after(account: Account) -> Mapping[int, Sequence[Goal]]:
    """Return, by the index of a scene, the goals of which it is the last, those inside first."""
    last = {scene.goal_id: index for index, scene in enumerate(account.scenes) if not scene.is_lost}
    found: dict[int, list[Goal]] = defaultdict(list)
    for goal in reversed(tuple(account.state.tree.walk())):
        indexes = [last[part.id] for part in goal.walk() if part.id in last]
        if indexes:
            found[max(indexes)].append(goal)
    return found


def goal_facts(account: Account, goal: Goal) -> str:
    """Return what a goal took, its children included."""
    stats = account.state.stats_of(goal.id)
    facts = (
        counted(stats.calls, "call") if stats.calls else "",
        shown_duration(stats.duration_s) if stats.duration_s >= 0.05 else "",
        f"{shown_tokens(stats.usage.total_tokens)} tokens" if stats.usage.total_tokens else "",
        shown_cost(stats.cost_usd, is_partial=account.state.has_unpriced_turns),
    )
    return " · ".join(fact for fact in facts if fact)


def goal_outcome(goal: Goal, *, is_named: bool) -> Iterator[str]:
    """Yield what a goal came to; it stays in sight when its work is folded."""
    lines = []
    name = f"<b>{escape(goal.id)}</b> {escape(one_line(goal.description))}<br>" if is_named else ""
    if goal.summary:
        label = "given up: " if goal.status == "abandoned" else "→ "
        lines.append(f"<p>{name}{label}{escape(goal.summary.strip())}</p>")
    if goal.superseded_by:
        lines.append(f"<p>goes on as {escape(goal.superseded_by)}</p>")
    if goal.evidence is not None:
        colour = "green" if goal.evidence.exit_code == 0 else "red"
        told = (
            f"check <code>{escape(one_line(goal.evidence.command))}</code> → exit {goal.evidence.exit_code}"
        )
        tail = pre(goal.evidence.tail.strip("\n"), "output")
        evidence = f"<details><summary>{told}</summary>{tail}</details>" if tail else told
        lines.append(f'<div class="check {colour}">{evidence}</div>')
    if lines:
        yield f'<div class="outcome {goal.status}">{"".join(lines)}</div>'


def asked_text(called: Called) -> str:
    """Return what a call asked for where its title does not say it all."""
    if called.arguments_raw is not None:
        return called.arguments_raw
    arguments = called.arguments
    if called.name == "bash":
        return str(arguments.get("command", ""))
    texts = [value for value in arguments.values() if isinstance(value, str)]
    if len(texts) == len(arguments) == 1 and "\n" not in texts[0]:
        return "" if texts[0] in title_of(called) else texts[0]
    return "\n".join(f"{key}: {_value(value)}" for key, value in arguments.items())


def _value(value: object) -> str:
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    return json.dumps(value, ensure_ascii=False, default=str)


def images_html(images: Sequence[ContentPart]) -> str:
    """Return pictures that the page carries itself."""
    return "".join(
        f'<img alt="" src="data:{part.media_type};base64,{escape(part.data)}">'
        for part in images
        if part.media_type in _IMAGE_TYPES and _BASE64.fullmatch(part.data)
    )


def address_of(place: str) -> str:
    """Return a link to a place in the page."""
    return "#" + quote(place, safe="")


__all__ = ["MARKS", "SceneWriter", "address_of", "asked_text", "goal_facts", "outcomes_after"]
