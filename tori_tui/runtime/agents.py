"""The agents of a session: tori's own first, then the user's, read when one is wanted.

Must not read a file itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tori_tui.context.agents import built_in_agents
from tori_tui.domain.agents import Agent, Agents


class AgentFiles(Protocol):
    """Where the user's own agents come from."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the files that are there."""
        ...

    def read(self, name: str) -> Agent | None:
        """Return an agent, or None without such a file.

        Raises:
            ToriError: The file is wrong.
        """
        ...

    def unread(self, name: str) -> Path | None:
        """Return the file of an agent that does not count because its folder is not trusted."""
        ...


class KnownAgents:
    """The built-in agents and those of the user's files.

    Args:
        files: Where the user's own come from.
        redact: Takes keys out of their rules.
    """

    def __init__(self, files: AgentFiles, redact: Callable[[str], str] = str) -> None:
        self._built_in = {agent.name: agent for agent in built_in_agents()}
        self._files = files
        self._redact = redact
        self._read: dict[str, Agent] = {}

    def find(self, name: str) -> Agent | None:
        """See `Agents.find`. A file is read once: an agent stays the same all through a session."""
        if name in self._built_in:
            return self._built_in[name]
        if name not in self._read and (agent := self._files.read(name)) is not None:
            rules, about = self._redact(agent.prompt), self._redact(agent.description)
            self._read[name] = replace(agent, prompt=rules, description=about)
        return self._read.get(name)

    def names(self) -> tuple[str, ...]:
        """See `Agents.names`."""
        return (*self._built_in, *(name for name in self._files.names() if name not in self._built_in))

    def hint(self, name: str) -> str:
        """See `Agents.hint`."""
        unread = self._files.unread(name)
        if unread is not None:
            return f"{unread} is not read: a folder's own agents count only once you trust the folder."
        known = ", ".join(self.names())
        return f"There is no agent {name!r}. Agents: {known}." if name else f"Agents: {known}."


if TYPE_CHECKING:
    _: Callable[[AgentFiles], Agents] = KnownAgents

__all__ = ["AgentFiles", "KnownAgents"]
