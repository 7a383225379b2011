"""What of earlier calls is still valid, as one text: for models that see only their last call whole.

Must not judge results by meaning: a later same call replaces an earlier one, a change of a file ends what
was read of it, and the newest that has room stays word for word.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.plan_text import one_line

SAID_LIMIT: Final = 5
SAID_LIMIT_CHARS: Final = 200
ANSWER_LIMIT_CHARS: Final = 800
ARGUMENTS_LIMIT_CHARS: Final = 120
FAILURE_LIMIT_CHARS: Final = 2_000
FACTS_LIMIT: Final = 30

SESSION_TOOLS: Final = frozenset({"goal", "ask_user", "abort"})
"""Their results stand in the plan or in the user's words already."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call and its result."""

    call: ToolCall
    result: Message

    @property
    def title(self) -> str:
        """The call in one line."""
        return f"{self.call.name} {one_line(_arguments(self.call), ARGUMENTS_LIMIT_CHARS)}"

    @property
    def key(self) -> str:
        """Equal for equal calls."""
        return f"{self.call.name} {json.dumps(self.call.arguments, sort_keys=True, default=str)}"

    @property
    def has_failed(self) -> bool:
        """Whether the call or the command in it failed."""
        exit_code = self.result.details.get("exit_code")
        return self.result.is_error or (isinstance(exit_code, int) and exit_code != 0)

    @property
    def outcome(self) -> str:
        """How it ended, in a word or two."""
        exit_code = self.result.details.get("exit_code")
        if isinstance(exit_code, int):
            return f"exit {exit_code}"
        return "failed" if self.result.is_error else "done"

    @property
    def changed_paths(self) -> tuple[str, ...]:
        """The files that it changed."""
        paths = self.result.details.get("changed_paths")
        return tuple(map(str, paths)) if isinstance(paths, (list, tuple)) else ()


def earlier_text(
    folds: Sequence[str],
    said: Sequence[str],
    answers: Sequence[str],
    earlier: Sequence[Exchange],
    limit_tokens: int,
) -> str:
    """Return what is known before the last call; empty where that is nothing.

    Args:
        folds: Texts that stand for finished work, whole.
        said: What the model said beside its calls.
        answers: What it answered to earlier prompts.
        earlier: Its calls but the last one, in order.
        limit_tokens: What results may take word for word.
    """
    known = [part for part in earlier if part.call.name not in SESSION_TOOLS]
    valid = _still_valid(known)
    pinned = _pinned(valid, limit_tokens)
    failure = next((part for part in reversed(earlier) if part.has_failed), None)
    parts = [
        *folds,
        *_listed("Answered before:", [one_line(text, ANSWER_LIMIT_CHARS) for text in answers]),
        *_listed("Noted:", [one_line(text, SAID_LIMIT_CHARS) for text in said[-SAID_LIMIT:]]),
        *_listed("Still valid:", [f"{part.title} ({part.outcome})" for part in valid[-FACTS_LIMIT:]]),
        *_word_for_word(part for part in pinned if part is not failure),
    ]
    if failure is not None:
        mended = " and has succeeded since" if _has_succeeded_after(failure, earlier) else ""
        parts.append(
            f"Last failure: {failure.title} ({failure.outcome}{mended})\n{_tail(failure.result.text)}"
        )
    told = {id(part) for part in (*pinned, failure)}
    n_left_out = sum(id(part) not in told for part in known)
    if n_left_out:
        parts.append(f"Folded away: {n_left_out} earlier results; `recall` gives them back.")
    return "\n\n".join(parts)


def _still_valid(earlier: Sequence[Exchange]) -> list[Exchange]:
    """Return what no later call repeated and no later change has ended."""
    valid: list[Exchange] = []
    repeated: set[str] = set()
    changed: set[str] = set()
    for part in reversed(earlier):
        path = part.result.details.get("path")
        is_stale = part.key in repeated or (not part.changed_paths and path in changed)
        if not is_stale:
            valid.append(part)
        repeated.add(part.key)
        changed.update(part.changed_paths)
    return valid[::-1]


def _pinned(valid: Sequence[Exchange], limit_tokens: int) -> list[Exchange]:
    """Return the newest results that have room, in order."""
    taken: list[Exchange] = []
    room = limit_tokens
    for part in reversed(valid):
        tokens = estimate_tokens(part.result.text)
        if tokens <= room:
            room -= tokens
            taken.append(part)
    return taken[::-1]


def _has_succeeded_after(failure: Exchange, earlier: Sequence[Exchange]) -> bool:
    """Whether the same call was made again after it, which then went well: the failure is the last one."""
    later = earlier[earlier.index(failure) + 1 :]
    return any(part.key == failure.key for part in later)


def _listed(title: str, rows: Sequence[str]) -> Iterator[str]:
    shown = [f"- {row}" for row in rows if row]
    if shown:
        yield "\n".join([title, *shown])


def _word_for_word(pinned: Iterator[Exchange]) -> Iterator[str]:
    for part in pinned:
        yield f"Result of {part.title}:\n{part.result.text}"


def _tail(text: str) -> str:
    if len(text) <= FAILURE_LIMIT_CHARS:
        return text
    return f"[… {len(text) - FAILURE_LIMIT_CHARS} characters left out …]\n{text[-FAILURE_LIMIT_CHARS:]}"


def _arguments(call: ToolCall) -> str:
    if len(call.arguments) == 1:
        (only,) = call.arguments.values()
        return str(only)
    return call.arguments_raw or json.dumps(call.arguments, ensure_ascii=False, default=str)


__all__ = ["Exchange", "earlier_text"]
