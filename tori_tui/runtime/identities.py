"""Who works in the active context, found at its first need: most sessions never leave the default agent.

Must not switch anything; the context manager, which this loads when there is something to do, does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tori_tui.context.system_prompt import SystemParts
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.runtime.recorder import Recorder

if TYPE_CHECKING:
    from tori_tui.domain.agents import Agent
    from tori_tui.runtime.context_manager import ContextManager

DEFAULT_AGENT = "build"


class Identity(NamedTuple):
    """What a request of one context begins with."""

    system: SystemParts
    tools: tuple[ToolSpec, ...]


class Identities:
    """The agents of one session, with the context manager behind them.

    Args:
        load: Makes the context manager; called once, at the first need.
        tools: What the default agent is offered.
    """

    def __init__(
        self, recorder: Recorder, load: Callable[[], ContextManager], tools: Sequence[ToolSpec]
    ) -> None:
        self._recorder = recorder
        self._load = load
        self.tools = tuple(tools)
        self._manager: ContextManager | None = None
        self._shared: Mapping[str, str] = {}
        """What other processes see of the session's memory."""

    @property
    def manager(self) -> ContextManager:
        """The context manager."""
        if self._manager is None:
            self._manager = self._load()
        return self._manager

    @property
    def agent(self) -> Agent | None:
        """The agent that works; None for the default one."""
        name = self._recorder.state.agent
        return None if name == DEFAULT_AGENT else self.manager.agent_of(name)

    def identity(self, default: SystemParts) -> Identity:
        """Return whose rules and tools the active context has, and what it is told.

        Args:
            default: The fixed parts of the default agent's prompt.
        """
        state = self._recorder.state
        if state.agent == DEFAULT_AGENT and not state.told_memory.get(state.active_context):
            return Identity(default, self.tools)
        return Identity(self.manager.system_parts(default), self.offered())

    def offered(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the agent has."""
        return tuple(tool for tool in self.tools if self.has_tool(tool.name))

    def has_tool(self, name: str) -> bool:
        """Whether the agent may call a tool of that name, if there is one."""
        agent = self.agent
        return agent is None or agent.has_tool(name)

    async def settle(self) -> None:
        """At a safe point: let the agent work that user or plan wants, and tell it what it must know."""
        if self._has_wishes or _is_unsettled(self._recorder.state):
            await self.manager.settle()
        await self.share_memory()

    async def follow_wishes(self) -> None:
        """Switch to the agent that the user wants, without a word to it: his next one is for it."""
        if self._has_wishes:
            await self.manager.follow_wishes()

    async def share_memory(self) -> None:
        """Let other processes see what the session remembers, once it has changed."""
        memory = self._recorder.state.memory
        if memory != self._shared:
            self._shared = memory
            await self.manager.share_memory()

    async def say_mission(self) -> None:
        """Let the active context know the mission before more words on it."""
        if self._recorder.state.switched_at:
            await self.manager.say_mission()

    @property
    def _has_wishes(self) -> bool:
        return self._manager is not None and self._manager.has_wishes


def _is_unsettled(state: SessionState) -> bool:
    if state.lent_to is not None or state.tree.asking_goals:
        return True
    return bool(state.switched_at) and not has_spoken(state)


def has_spoken(state: SessionState) -> bool:
    """Whether anything was said in the active context since the switch to it."""
    entries = state.view(state.active_context).entries
    return len(entries) > 0 and entries[-1].seqs[-1] > state.switched_at


__all__ = ["Identities", "Identity", "has_spoken"]
