"""A session as one page that needs nothing but itself: no script to be read, and never the network.

Must not hold an address that a browser would load by itself.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from tori_tui.domain.branches import branches_of_goal
from tori_tui.domain.goals import Goal, Mission
from tori_tui.domain.ids import GoalId, MissionId
from tori_tui.render.amounts import counted, shown_cost, shown_duration, shown_tokens
from tori_tui.render.branch import branch_line
from tori_tui.render.page.entries import Account
from tori_tui.render.page.html_entries import MARKS, SceneWriter, address_of, goal_facts
from tori_tui.render.safe_text import one_line, safe_text

TITLE_LIMIT_CHARS: Final = 160

_THEMES: Final = (("auto", "◐"), ("light", "☀"), ("dark", "☾"))


def html_page(account: Account) -> str:
    """Return the page. Nothing in it steers a screen: such characters are replaced by visible ones."""
    return safe_text("\n".join(_Page(account).lines()))


def page_title(account: Account) -> str:
    """Return what a session is called: its name, or its first mission."""
    missions = account.state.tree.missions
    mission = missions[0].text if missions else "A session without a mission"
    return one_line(account.state.name or mission, TITLE_LIMIT_CHARS)


def page_facts(account: Account) -> tuple[str, ...]:
    """Return what a session was and what it took, most telling first."""
    state = account.state
    done, total = state.tree.progress()
    begun, ended = state.created_at, state.updated_at
    facts = (
        state.status,
        f"{done}/{counted(total, 'goal')}" if total else "",
        state.model.rpartition("/")[2],
        f"{begun:%Y-%m-%d %H:%M} UTC" if begun else "",
        shown_duration((ended - begun).total_seconds()) if begun and ended else "",
        counted(state.n_turns, "turn"),
        f"{shown_tokens(state.usage.total_tokens)} tokens",
        shown_cost(state.cost_usd, is_partial=state.has_unpriced_turns),
    )
    return tuple(one_line(fact) for fact in facts if fact)


@cache
def _own_text(name: str) -> str:
    return (files("tori_tui.render.page") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


class _Page:
    """Writes one account as a page."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._state = account.state
        self._writer = SceneWriter(account)
        self._told_goals = self._writer.told_goals

    def lines(self) -> Iterator[str]:
        style, script = _own_text("page.css"), _own_text("page.js")
        # Nothing may be loaded from anywhere; what stands here is known by its hash.
        policy = (
            f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )
        title = escape(page_title(self._account))
        yield '<!doctype html>\n<html lang="mul"><head><meta charset="utf-8">'
        yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
        yield '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">'
        yield '<meta http-equiv="x-dns-prefetch-control" content="off"><meta name="generator" content="tori">'
        yield f"<title>{title}</title><style>{style}</style></head><body>"
        yield from self._bar()
        yield '<div class="page">'
        yield from self._plan()
        yield f'<main id="top"><header class="head"><h1>{title}</h1><ul class="head-facts">'
        yield from (f"<li>{escape(fact)}</li>" for fact in page_facts(self._account))
        yield "</ul></header>"
        yield from self._writer.scenes()
        yield f"<footer>{escape(self._account.name)} · exported by tori</footer></main></div>"
        yield f"<script>{script}</script></body></html>\n"

    def _bar(self) -> Iterator[str]:
        yield '<nav class="bar"><a class="brand" href="#top">tori</a><div class="find scripted">'
        yield '<input id="q" type="search" placeholder="Search" aria-label="Search" autocomplete="off">'
        yield '<output id="hits" for="q"></output>'
        yield '<button id="prev" title="Previous (Shift+Enter)" aria-label="Previous">↑</button>'
        yield '<button id="next" title="Next (Enter)" aria-label="Next">↓</button></div>'
        yield '<button id="fold" class="scripted" aria-pressed="false">Unfold all</button>'
        yield '<fieldset class="theme"><legend>Theme</legend>'
        for name, mark in _THEMES:
            checked = " checked" if name == "auto" else ""
            yield f'<label title="{name}"><input type="radio" name="theme" id="theme-{name}"{checked}>'
            yield f'<span aria-hidden="true">{mark}</span><span class="sr">{name}</span></label>'
        yield "</fieldset></nav>"

    # ── the plan ──

    def _plan(self) -> Iterator[str]:
        done, total = self._state.tree.progress()
        shown = f"{done}/{total}" if total else ""
        yield f'<aside><details class="plan" open><summary>Plan<span class="facts">{shown}</span></summary>'
        for mission in self._state.tree.missions:
            yield from self._mission(mission)
        yield "</details></aside>"

    def _mission(self, mission: Mission) -> Iterator[str]:
        of_mission = frozenset(mission.goal_ids)
        goals = [goal for goal in self._state.tree.goals if goal.id in of_mission]
        if len(self._state.tree.missions) > 1 or not goals:
            yield f'<p class="mission">{escape(one_line(mission.text, TITLE_LIMIT_CHARS))}</p>'
        yield from self._branches(mission.id, None)
        yield from self._goals(goals, mission.id)

    def _goals(self, goals: list[Goal], mission_id: MissionId) -> Iterator[str]:
        if not goals:
            return
        yield "<ul>"
        for goal in goals:
            now = " now" if goal.id == self._state.tree.current_id else ""
            inner = (
                f'<span class="mark">{MARKS[goal.status]}</span><b>{escape(goal.id)}</b>'
                f'<span class="title">{escape(one_line(goal.description))}</span>'
                f'<span class="facts">{escape(goal_facts(self._account, goal))}</span>'
            )
            yield f'<li class="{goal.status}{now}">'
            if goal.id in self._told_goals:
                yield f'<a href="{address_of(self._writer.goal_address(goal.id))}">{inner}</a>'
            else:
                yield f"<span>{inner}</span>"
            yield from self._branches(mission_id, goal.id)
            yield from self._goals(list(goal.children), mission_id)
            yield "</li>"
        yield "</ul>"

    def _branches(self, mission_id: MissionId, goal_id: GoalId | None) -> Iterator[str]:
        branches = branches_of_goal(self._state.branches, mission_id, goal_id)
        if not branches:
            return
        yield '<ul class="branches">'
        for branch in branches:
            line = branch_line(branch, is_lost=self._state.past.is_lost(branch.seq))
            yield f'<li><a href="{address_of(f"branch-{branch.id}")}">{escape(line)}</a></li>'
        yield "</ul>"


__all__ = ["html_page", "page_facts", "page_title"]
