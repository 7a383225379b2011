"""An agent: who works in a context, with which words, tools, mode, model and limits.

Must not read a file; the built-in ones stand in `context`, the user's own come through `config`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from tori_tui.domain.events import Mode
from tori_tui.domain.goals import Budget

BUILD: Final = "build"
"""The agent of the main context, with which every session begins."""

SESSION_TOOLS: Final = frozenset(
    {"goal", "ask_user", "abort", "recall", "session_memory_set", "session_memory_get"}
)
"""Tools that touch nothing but the session."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One identity. A context belongs to exactly one."""

    name: str
    description: str
    prompt: str
    """Its rules, the first block of its system prompt."""
    tools: tuple[str, ...] = ()
    """Tools on files and processes that it has; empty is all. Those that only touch the session it has
    always."""
    mode: Mode | Literal[""] = ""
    """The most that it may do, whatever the user's mode; empty is the user's."""
    model: str = ""
    """Empty is the session's."""
    limits: Budget = field(default_factory=Budget)
    """What it may take from a switch to it to the next one, within the limits of the run."""
    ending: Literal["mission", "plan", "answer"] = "mission"
    """What its reply without calls is: a claim that the mission is done, an offer of its goals, an answer."""

    def has_tool(self, name: str) -> bool:
        """Whether it may call a tool."""
        return not self.tools or name in self.tools or name in SESSION_TOOLS


class Agents(Protocol):
    """The agents that there are."""

    def find(self, name: str) -> Agent | None:
        """Return an agent, or None where there is none of that name.

        Raises:
            ToriError: Its file is wrong; names file, line and key.
        """
        ...

    def names(self) -> tuple[str, ...]:
        """Return the names: the built-in ones first, then the user's own."""
        ...

    def hint(self, name: str) -> str:
        """Say why a name may not be found, and which ones are."""
        ...


__all__ = ["BUILD", "SESSION_TOOLS", "Agent", "Agents"]
