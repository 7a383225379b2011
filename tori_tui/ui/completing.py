"""What can be offered for the word before the cursor: commands, their arguments, goals and files.

Pure. Must not look at a disk; the names of files come in.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, get_args

from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.events import Mode
from tori_tui.domain.goals import Goal, GoalTree
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.domain.plan_command import PLAN_WORDS
from tori_tui.render.safe_text import one_line
from tori_tui.ui.actions import ACTIONS
from tori_tui.ui.slash import SLASH_HELP

OFFERED_LIMIT: Final = 50

PIECE_PATHS: Final = 1_000
"""Ranked in one go: a millisecond or two."""

SEARCHED_LIMIT_CHARS: Final = 2_000
"""Of an earlier message: 500 of them take some milliseconds at each key."""

PREVIEW_LINES: Final = 4
PREVIEW_LIMIT_CHARS: Final = 1_000

TokenKind = Literal["file", "goal", "command", "argument", "history"]

_SIGNS: Final[dict[str, TokenKind]] = {"@": "file", "＠": "file", "#": "goal", "＃": "goal"}
"""The wide ones are what an input method for Chinese or Japanese types."""

_MARKED: Final = re.compile(r"(?<![A-Za-z0-9_.@#/])([@＠#＃])([^\s@＠#＃]*)$")
"""A sign and a word up to the cursor; not in the middle of an address or a name."""


@dataclass(frozen=True, slots=True)
class Token:
    """The word that is being written."""

    kind: TokenKind
    word: str
    """Without its sign."""
    start: int
    """The column of its sign, or of its first letter."""
    end: int
    command: str = ""
    """Of an argument: the command in front of it."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing that can stand in the word's place."""

    insert: str
    shown: str
    hint: str = ""
    goes_on: bool = False
    """More is written behind it: no space follows, and the next word is offered at once."""
    preview: str = ""
    """The beginning of a text of several lines, shown while this is marked."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What is offered for a word."""

    token: Token
    suggestions: tuple[Suggestion, ...] = ()
    note: str = ""

    @property
    def is_eager(self) -> bool:
        """Whether Enter takes the first one before the user chose one."""
        return self.token.kind != "argument" or bool(self.token.word)


def token_before(line: str, column: int, *, is_whole: bool) -> Token | None:
    """Return the word before the cursor that something can be offered for.

    Args:
        line: The line of the cursor.
        column: Where the cursor stands.
        is_whole: The line is the whole text, so that it may be a command.
    """
    before = line[:column]
    if is_whole and before.startswith("/"):
        command, space, rest = before[1:].partition(" ")
        if not space:
            return Token("command", command, 0, column)
        if command in SLASH_HELP:
            return Token("argument", rest, len(command) + 2, column, command)
    marked = _MARKED.search(before)
    if marked is None:
        return None
    return Token(_SIGNS[marked[1]], marked[2], marked.start(), column)


def command_offer(token: Token, own: Iterable[OwnCommand] = ()) -> Offer:
    """Offer the commands that the word may mean: those that begin with it first, tori's over others."""
    word = token.word.lower()
    forms = {command.name: (f"/{command.name} …", one_line(command.meaning, 100)) for command in own}
    forms |= _COMMANDS
    found = [(rank, name) for name in forms if (rank := _likeness(name, forms[name][1], word)) is not None]
    suggestions = []
    for _, name in sorted(found):
        form, meaning = forms[name]
        suggestions.append(Suggestion(f"/{name}", form, meaning, goes_on=" " in form))
    return Offer(token, tuple(suggestions))


def argument_offer(token: Token, tree: GoalTree, agents: Callable[[], Sequence[str]]) -> Offer:
    """Offer what may stand behind a command; where anything may, only its form is told."""
    usage = SLASH_HELP[token.command]
    words: Iterable[Suggestion] = ()
    match token.command:
        case "mode":
            words = (Suggestion(mode, mode) for mode in get_args(Mode) if mode.startswith(token.word))
        case "effort":
            efforts = filter(None, get_args(EffortChoice))
            words = (Suggestion(effort, effort) for effort in efforts if effort.startswith(token.word))
        case "agent":
            start = token.word.removeprefix("close ")
            lead = token.word.removesuffix(start)
            words = (Suggestion(lead + name, name) for name in agents() if name.startswith(start))
        case "plan" if " " not in token.word:
            verbs = (*PLAN_WORDS, "edit")
            words = (
                Suggestion(verb, verb, goes_on=verb != "edit")
                for verb in verbs
                if verb.startswith(token.word)
            )
        case "plan" | "retry" | "rewind":
            words = _goals_behind(token, tree)
        case _:
            pass
    return Offer(token, tuple(words), usage)


def goal_offer(token: Token, tree: GoalTree) -> Offer:
    """Offer goals by their id or by words of theirs."""
    return Offer(token, tuple(_goals(tree, token.word)))


def file_offer(token: Token, found: Iterable[str], note: str = "") -> Offer:
    """Offer files and folders that were found."""
    suggestions = (Suggestion(_mention(path), path, goes_on=path.endswith("/")) for path in found)
    return Offer(token, tuple(suggestions), note)


def history_offer(query: str, past: Sequence[str]) -> Offer:
    """Offer earlier messages, the newest first: those with the query's words, then with its letters in order.

    Args:
        query: What is looked for.
        past: All of them, oldest first.
    """
    words = query.lower().split()
    letters = _in_order("".join(words))
    by_words: dict[str, None] = {}
    by_letters: dict[str, None] = {}
    for text in reversed(past):
        low = text[:SEARCHED_LIMIT_CHARS].lower()
        if all(word in low for word in words):
            by_words[text] = None
        elif len(by_letters) < OFFERED_LIMIT and letters.match(low):
            by_letters[text] = None
        if len(by_words) == OFFERED_LIMIT:
            break
    found = [*by_words, *(text for text in by_letters if text not in by_words)][:OFFERED_LIMIT]
    note = "" if found else "nothing like that was written before" if past else "nothing was written before"
    return Offer(Token("history", query, 0, len(query)), tuple(map(_earlier, found)), note)


def _earlier(text: str) -> Suggestion:
    n_more = text.count("\n")
    hint = f"+{n_more:,} {'line' if n_more == 1 else 'lines'}" if n_more else ""
    preview = "\n".join(text[:PREVIEW_LIMIT_CHARS].split("\n")[:PREVIEW_LINES]) if n_more else ""
    return Suggestion(text, one_line(text.lstrip().split("\n", 1)[0], 200), hint, preview=preview)


@dataclass(frozen=True, slots=True)
class Names:
    """Paths as they are looked through: files and the folders above them, each once."""

    paths: tuple[str, ...] = ()
    lowered: tuple[str, ...] = ()

    @classmethod
    def of_files(cls, files: Iterable[str]) -> Names:
        """Return files with their folders, which end with `/`."""
        paths: dict[str, None] = {}
        for file in files:
            folder = file
            above = []
            while (folder := folder.rpartition("/")[0]) and f"{folder}/" not in paths:
                above.append(f"{folder}/")
            paths.update(dict.fromkeys([*reversed(above), file]))
        return cls(tuple(paths), tuple(path.lower() for path in paths))

    def like(
        self, word: str, limit: int = OFFERED_LIMIT, pause: Callable[[], None] = lambda: None
    ) -> tuple[str, ...]:
        """Return the paths that hold the word's letters in order, the likest first.

        Args:
            word: As it is written so far.
            limit: Most paths.
            pause: Called after each thousand, so that a thread lets others go first.
        """
        letters = word.lower()
        if not letters:
            top = (path for path in self.paths if "/" not in path[:-1])
            return tuple(heapq.nsmallest(limit, top, key=lambda path: (not path.endswith("/"), path)))
        holds = _in_order(letters).match
        found: list[tuple[int, int, str]] = []
        for start in range(0, len(self.paths), PIECE_PATHS):
            piece = slice(start, start + PIECE_PATHS)
            ranked = (
                (_rank(low, letters), len(low), path)
                for path, low in zip(self.paths[piece], self.lowered[piece], strict=True)
                if holds(low)
            )
            found = heapq.nsmallest(limit, chain(found, ranked))
            pause()
        return tuple(path for *_, path in found)


def _in_order(letters: str) -> re.Pattern[str]:
    """Return a pattern that never goes back: the time is that of one walk over the text."""
    return re.compile("".join(f"[^{re.escape(c)}]*{re.escape(c)}" for c in letters), re.DOTALL)


def _rank(path: str, letters: str) -> int:
    name = path.removesuffix("/").rpartition("/")[2]
    if letters in (name, path):
        return 0
    if name.startswith(letters) or path.startswith(letters):
        return 1
    if letters in name:
        return 2
    if letters in path:
        return 3
    return 4 if _in_order(letters).match(name) else 5


def _likeness(name: str, meaning: str, word: str) -> int | None:
    """Return how far a command is from what was typed; None where it cannot be meant."""
    if name.startswith(word):
        return 0
    if word in name:
        return 1
    if _in_order(word).match(name):
        return 2
    return 3 if len(word) > 2 and word in meaning.lower() else None


def _goals(tree: GoalTree, word: str) -> Iterator[Suggestion]:
    letters = word.lower()
    holds = _in_order(letters).match
    goals: list[Goal] = [goal for root in tree.mission_goals for goal in root.walk()]
    ranked: list[tuple[int, int, Goal]] = []
    for place, goal in enumerate(goals):
        text = goal.description.lower()
        if goal.id == word:
            ranked.append((0, place, goal))
        elif goal.id.startswith(word):
            ranked.append((1, place, goal))
        elif letters in text:
            ranked.append((2, place, goal))
        elif holds(text):
            ranked.append((3, place, goal))
    for _, _, goal in sorted(ranked, key=lambda entry: entry[:2])[:OFFERED_LIMIT]:
        yield Suggestion(f"#{goal.id}", goal.id, one_line(goal.description, 200))


def _goals_behind(token: Token, tree: GoalTree) -> Iterator[Suggestion]:
    """Yield the goals that may stand first behind a command or, of the plan's, behind its verb."""
    verb, blank, word = token.word.rpartition(" ")
    if token.command == "plan":
        if verb not in PLAN_WORDS or verb == "add":
            return
    elif blank:
        return
    for goal in _goals(tree, word):
        yield Suggestion(f"{verb}{blank}{goal.shown}", goal.shown, goal.hint)


def _mention(path: str) -> str:
    return f'@"{path}"' if " " in path else f"@{path}"


def _commands() -> dict[str, tuple[str, str]]:
    """Return each command's form and meaning: those of the help, then the actions that have one."""
    told = {name: text.partition(": ")[::2] for name, text in SLASH_HELP.items()}
    forms = {name: (form, meaning) for name, (form, meaning) in told.items()}
    for action in ACTIONS:
        if action.slash and action.slash not in forms:
            forms[action.slash] = (f"/{action.slash}", action.title)
    return forms


_COMMANDS: Final = _commands()


__all__ = [
    "Names",
    "Offer",
    "Suggestion",
    "Token",
    "argument_offer",
    "command_offer",
    "file_offer",
    "goal_offer",
    "history_offer",
    "token_before",
]
