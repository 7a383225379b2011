"""A session as Markdown: the same story as the page, to be read as it is or drawn by any viewer.

Must not let a text of others end a fence, hide what follows, or load anything when it is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from markdown_it import MarkdownIt

from tori_tui.domain.branches import Branch, branches_of_call, branches_of_goal
from tori_tui.domain.goals import Goal, Mission
from tori_tui.render.amounts import counted
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
from tori_tui.render.page.html_entries import asked_text, goal_facts, outcomes_after
from tori_tui.render.page.html_page import page_facts, page_title
from tori_tui.render.page.html_text import is_for_parsing
from tori_tui.render.safe_text import one_line, safe_text
from tori_tui.render.wording import diff_of, facts_of, title_of

OUTPUT_LINES: Final = 40
"""Of a result; half from its beginning, half from its end. The HTML page has all of them."""

SHORTEST_FENCE: Final = 3

_STATUS: Final = {"pending": "[ ]", "in_progress": "[→]", "completed": "[✓]", "abandoned": "[✗]"}

_SPECIAL: Final = re.compile(r"[\\`*\[\]<]|&(?=#?\w+;)|(?<!\w)_|_(?!\w)|^[#>~|]", re.MULTILINE)

_MARKUP: Final = re.compile(r"<|!\[|&(?=#?\w+;)")
"""HTML, pictures and characters by number: what a viewer would draw instead of showing."""

_ENTITY: Final = re.compile(r"&#?\w+;")

_PARSER: Final = MarkdownIt("commonmark", {"html": True})

_DRAWN: Final = frozenset({"html_block", "html_inline", "image"})

_BEHIND: Final = "\n\nwhat follows"


def markdown_page(account: Account) -> str:
    """Return the Markdown. Nothing in it steers a screen."""
    return safe_text("\n".join(_Page(account).lines()).rstrip()) + "\n"


class _Page:
    """Writes one account; that of a branch is quoted inside its call."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._state = account.state
        self._outcomes = outcomes_after(account)

    def lines(self) -> Iterator[str]:
        yield f"# {words(page_title(self._account))}"
        yield ""
        yield words(" · ".join(page_facts(self._account)))
        yield ""
        yield "## Plan"
        yield ""
        for mission in self._state.tree.missions:
            yield from self._mission(mission)
        yield "## What happened"
        yield ""
        yield from self.scenes()
        yield "---"
        yield ""
        yield f"{words(self._account.name)} · exported by tori"

    def scenes(self) -> Iterator[str]:
        for index, scene in enumerate(self._account.scenes):
            yield from self._scene(scene, self._outcomes.get(index, ()))

    # ── the plan ──

    def _mission(self, mission: Mission) -> Iterator[str]:
        of_mission = frozenset(mission.goal_ids)
        goals = [goal for goal in self._state.tree.goals if goal.id in of_mission]
        yield f"**Mission**: {words(one_line(mission.text))}"
        yield ""
        for branch in branches_of_goal(self._state.branches, mission.id, None):
            yield f"- {words(self._line_of(branch))}"
        for goal in goals:
            yield from self._goal(goal, mission, "")
        yield ""

    def _goal(self, goal: Goal, mission: Mission, indent: str) -> Iterator[str]:
        facts = goal_facts(self._account, goal)
        behind = f" ({facts})" if facts else ""
        yield f"{indent}- {heading(goal)}{behind}"
        inner = f"{indent}  "
        if goal.summary:
            label = "given up: " if goal.status == "abandoned" else "→ "
            yield f"{inner}- {label}{words(one_line(goal.summary))}"
        if goal.evidence is not None:
            yield f"{inner}- check {code(goal.evidence.command)} → exit {goal.evidence.exit_code}"
        for branch in branches_of_goal(self._state.branches, mission.id, goal.id):
            yield f"{inner}- {words(self._line_of(branch))}"
        for child in goal.children:
            yield from self._goal(child, mission, inner)

    def _line_of(self, branch: Branch) -> str:
        return branch_line(branch, is_lost=self._state.past.is_lost(branch.seq))

    # ── what happened ──

    def _scene(self, scene: Scene, outcomes: Sequence[Goal]) -> Iterator[str]:
        goal = self._state.tree.find(scene.goal_id) if scene.goal_id is not None else None
        lost = " · taken back by a rewind" if scene.is_lost else ""
        if goal is not None:
            yield f"### {heading(goal)}{lost}"
            yield ""
        elif lost:
            yield "### Taken back by a rewind"
            yield ""
        for entry in scene.entries:
            yield "\n".join(self._entry(entry)).strip("\n")
            yield ""
        for ended in outcomes:
            if ended.summary:
                label = "Given up" if ended.status == "abandoned" else "Done"
                name = "" if ended is goal else f" {words(ended.id)}"
                yield f"**{label}{name}**: {words(one_line(ended.summary))}"
                yield ""

    def _entry(self, entry: Entry) -> Iterator[str]:
        match entry:
            case Words():
                yield from _words(entry)
            case Thought():
                yield from quoted(entry.text, "_Thinking_")
            case Called():
                yield from self._called(entry)
            case Folded():
                reason = words(one_line(entry.reason))
                yield f"_{counted(entry.n_messages, 'message')} left the model's view: {reason}_"
            case Noted():
                hint = f" {words(one_line(entry.hint))}" if entry.hint else ""
                mark = "**Error**: " if entry.level == "error" else ""
                yield f"{mark}{words(one_line(entry.text))}{hint}"
            case RunEnded():
                reason = f": {words(one_line(entry.reason))}" if entry.reason else ""
                yield f"**{words(entry.status)}**{reason}"
            case _:
                assert_never(entry)

    def _called(self, called: Called) -> Iterator[str]:
        facts = " · ".join(part for part in (facts_of(called), called.answer) if part)
        behind = f" — {words(one_line(facts))}" if facts else ""
        yield f"**{words(one_line(called.name))}** {code(_subject(called))}".rstrip() + behind
        if called.name == "goal" and called.state == "done":
            return  # the plan tells it
        yield ""
        diff = diff_of(called)
        if diff:
            yield from fenced(diff, "diff")
        elif "\n" in (asked := asked_text(called)):
            yield from fenced(asked)
        if not diff or called.state != "done":
            yield from fenced(shortened(called.output))
        for branch in branches_of_call(self._state.branches, called.call_id):
            yield from self._branch(branch)

    def _branch(self, branch: Branch) -> Iterator[str]:
        yield f"> **{words(self._line_of(branch))}**"
        yield ">"
        told = self._account.branches.get(branch.id)
        lines = "\n".join(_Page(told).scenes()) if told is not None else ""
        yield from (f"> {line}".rstrip() for line in lines.splitlines())
        yield ""


def _words(said: Words) -> Iterator[str]:
    if said.by == "model":
        text = said.text.strip()
        yield harmless(text) if is_for_parsing(text) else "\n".join(fenced(text))
    else:
        who = "You" if said.by == "user" else "You, meanwhile"
        fate = f" {words(one_line(said.fate))}" if said.fate else ""
        yield from quoted(said.text.strip(), f"**{who}**{fate}")
    if said.images:
        yield f"\n_{counted(len(said.images), 'image')}_"
    if said.is_cut_off:
        yield "\n_cut off here_"


def _subject(called: Called) -> str:
    title = title_of(called)
    return title.removeprefix(called.name).strip()


def heading(goal: Goal) -> str:
    """Return a goal's mark, number and text."""
    return f"{_STATUS[goal.status]} **{words(goal.id)}** {words(one_line(goal.description))}"


def words(text: str) -> str:
    """Return plain text in which Markdown finds nothing."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def code(text: str) -> str:
    """Return a text as a code span, whatever stands in it."""
    line = one_line(text)
    if not line:
        return ""
    ticks = "`" * (longest_run(line, "`") + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "text") -> Iterator[str]:
    """Yield a text in a fence that is longer than any in it."""
    if not text.strip():
        return
    fence = "`" * max(SHORTEST_FENCE, longest_run(text, "`") + 1)
    yield f"{fence}{language}"
    yield text.strip("\n")
    yield fence
    yield ""


def quoted(text: str, head: str) -> Iterator[str]:
    """Yield plain words as a quotation, each line for itself."""
    yield f"> {head}"
    yield ">"
    for line in text.splitlines():
        # Two spaces at the end keep the break.
        yield f"> {words(line.strip())}  " if line.strip() else ">"


def shortened(text: str) -> str:
    """Return a result with the middle of a long one left out and told."""
    lines = text.strip("\n").split("\n")
    if len(lines) <= OUTPUT_LINES + 1:
        return "\n".join(lines)
    half = OUTPUT_LINES // 2
    n_left_out = len(lines) - 2 * half
    return "\n".join([*lines[:half], f"… {n_left_out:,} lines left out …", *lines[-half:]])


def harmless(text: str) -> str:
    """Return Markdown of the model's with its last fence closed, and without HTML and pictures."""
    if _MARKUP.search(text) and (_ENTITY.search(text) or _is_drawn(text)):
        # Where a code span ends is for a parser to say, so what stands in one is escaped too.
        text = _MARKUP.sub(r"\\\g<0>", text)
    if "```" in text or "~~~" in text:
        last = _PARSER.parse(text + _BEHIND)[-1]
        if last.type == "fence":
            text = f"{text}\n{last.markup}"
    return text


def _is_drawn(text: str) -> bool:
    tokens = _PARSER.parse(text)
    return any(t.type in _DRAWN for token in tokens for t in (token, *(token.children or ())))


def longest_run(text: str, character: str) -> int:
    """Return the length of the longest run of a character."""
    return max(map(len, re.findall(f"{re.escape(character)}+", text)), default=0)


__all__ = ["code", "fenced", "harmless", "markdown_page"]
