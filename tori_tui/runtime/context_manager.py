"""Opens, switches, closes and bridges the contexts of a session, each the home of one agent.

Must not run an agent; the runner takes turns in whichever context is active. Only at safe points.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from typing import Final

from tori_tui.context.session_context import session_context_text
from tori_tui.context.system_prompt import SystemParts
from tori_tui.domain.agents import BUILD, Agent, Agents
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import ContextChanged, MemoryChanged, MessageAdded, NoticeShown, PlanChanged
from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import MAIN_CONTEXT, ContextId, GoalId
from tori_tui.domain.messages import TOLD_AGAIN, Content, Message, Origin
from tori_tui.domain.plan_edits import GoalRenamed
from tori_tui.domain.session_memory import MEMO, stored_key, why_not_kept
from tori_tui.domain.state import SessionState
from tori_tui.memory.base import MemoryFailed
from tori_tui.memory.session_memory import SessionMemory
from tori_tui.permission.confidential import secret_in
from tori_tui.runtime import hand_over
from tori_tui.runtime.identities import has_spoken
from tori_tui.runtime.recorder import Recorder

MISSING: Final = "is not there any more; until you switch to another one it may only read"


class ContextManager:
    """The contexts of one session. All of them share its goal tree and its memory, and nothing else.

    Args:
        recorder: The session's.
        agents: The agents that there are.
        redact: Takes keys out of a text; what it changes is not remembered.
        shared: Where other processes see what the session remembers.
        ask_farewell: Lets the agent of a context say what is worth keeping before it is closed.
    """

    def __init__(
        self,
        recorder: Recorder,
        agents: Agents,
        *,
        redact: Callable[[str], str],
        shared: SessionMemory,
        ask_farewell: Callable[[ContextId, Agent], Awaitable[str]],
    ) -> None:
        self._recorder = recorder
        self._agents = agents
        self._redact = redact
        self._shared = shared
        self._ask_farewell = ask_farewell
        self._wishes: list[str] = []
        self._told: set[str] = set()

    @property
    def state(self) -> SessionState:
        """The session as it stands now."""
        return self._recorder.state

    @property
    def has_wishes(self) -> bool:
        """Whether the user wants another agent, which takes effect at the next safe point."""
        return bool(self._wishes)

    def want(self, name: str) -> None:
        """Keep the user's wish for another agent until the next safe point."""
        self._wishes.append(name)

    def agent_of(self, name: str) -> Agent:
        """Return an agent; in the place of one that is gone, one that may only read."""
        found = self._find(name)
        if found is not None:
            return found
        self._tell_once(f"The agent {name} {MISSING}.")
        build = self._agents.find(BUILD)
        prompt = build.prompt if build else ""
        return Agent(name, "", prompt, mode="plan", ending="answer")

    def system_parts(self, parts: SystemParts) -> SystemParts:
        """Return the fixed parts of the active context's prompt: its agent's rules, and what it is told."""
        state = self.state
        if state.agent != BUILD:
            parts = replace(parts, rules=self.agent_of(state.agent).prompt)
        told = state.told_memory.get(state.active_context, {})
        return replace(parts, session_context=session_context_text(told, state.agent))

    # ── contexts ──

    async def create_context(self, agent: Agent) -> ContextId:
        """Open the context of an agent, empty; the one it has, if it has one."""
        context = context_of(self.state, agent.name)
        if context != MAIN_CONTEXT and context not in self.state.contexts:
            await self._recorder.record(_changed(context, "opened", agent, agent.model))
        return context

    async def switch_context(self, context: ContextId, goal_id: GoalId | None = None) -> None:
        """Let the agent of an open context work from the next request on.

        Args:
            context: Which one.
            goal_id: The goal for which; when it has ended, the one that works now takes over again.
        """
        opened = self.state.contexts.get(context)
        agent = self.agent_of(opened.agent if opened else BUILD)
        model = (opened.model if opened else "") or agent.model
        switched = _changed(context, "switched", agent, model)
        await self._recorder.record(replace(switched, goal_id=goal_id))

    async def destroy_context(self, context: ContextId) -> None:
        """Close a context; its agent may first write down what is worth keeping, in its notebook."""
        opened = self.state.contexts.get(context)
        if context == MAIN_CONTEXT or opened is None:
            return
        if len(self.state.view(context).entries):
            memo = (await self._ask_farewell(context, self.agent_of(opened.agent))).strip()
            if memo:
                await self.remember(stored_key(MEMO, opened.agent), memo, by="agent")
        await self._recorder.record(ContextChanged(context, "closed", opened.agent))

    async def close_context_of(self, name: str) -> None:
        """Close the context of an agent; while it works the session first goes back to the default one."""
        context = context_of(self.state, name)
        if context == MAIN_CONTEXT or context not in self.state.contexts:
            self._tell(f"There is no open context of an agent {name!r} beside the main one.")
            return
        if context == self.state.active_context:
            await self.switch_context(MAIN_CONTEXT)
        await self.destroy_context(context)

    async def bridge(self, source: ContextId, target: ContextId) -> None:
        """Tell one context what came of another's work: the result of its goal, and nothing of how."""
        text = hand_over.result_text(self.state, source)
        if text:
            await self._say(target, text, "runner")

    # ── at safe points ──

    async def settle(self) -> None:
        """Follow the user's wishes, then the plan; tell an agent that was switched to what it must know."""
        await self.follow_wishes()
        await self._follow_plan()
        if self.state.switched_at and not has_spoken(self.state) and self.state.tree.mission is not None:
            await self._introduce()

    async def follow_wishes(self) -> None:
        """Switch to the agents that the user wanted, in order."""
        while self._wishes:
            await self._follow_wish(self._wishes.pop(0))

    async def say_mission(self) -> None:
        """Give the mission in the user's words to a context that has not heard it."""
        mission = self.state.tree.current_mission
        if mission is not None and not hand_over.knows_mission(self.state):
            message = self._message(self.state.active_context, hand_over.mission_content(self.state), "user")
            await self._recorder.record(MessageAdded(replace(message, details={TOLD_AGAIN: True})))

    async def approve(self) -> None:
        """Hand the plan that the user approved over to the default agent."""
        planner = self.state.agent
        await self.switch_context(MAIN_CONTEXT)
        await self.say_mission()
        await self._say(MAIN_CONTEXT, hand_over.approved_text(self.state, planner), "runner")

    async def remember(self, key: str, text: str, *, by: hand_over.By = "user") -> None:
        """Keep an entry of the session's memory, or remove it if the text is empty.

        Without a key it gets one: `note 1`. Each agent's own notebook has the key `memo`.
        """
        memory = self.state.memory
        key = stored_key(key, self.state.agent) or next(
            name for number in count(1) if (name := f"note {number}") not in memory
        )
        if not text:
            if key in self.state.memory:
                await self._recorder.record(MemoryChanged("session", "forgotten", key, by=by))
            else:
                self._tell(f"Nothing is remembered as {key!r}.")
            return
        why = why_not_kept(self.state.memory, key, text)
        if not why and (secret := secret_in(f"{key} {text}", self._redact)):
            why = f"It seems to hold {secret}. Say where that is kept, without its value."
        if why:
            self._tell(f"Not remembered. {why}")
            return
        await self._recorder.record(MemoryChanged("session", "set", key, text, by))

    async def share_memory(self) -> None:
        """Let other processes see what the session remembers now; without a store it goes on alone."""
        try:
            await self._shared.share(self.state.memory)
        except MemoryFailed as failure:
            self._tell_once(f"Other processes do not see this session's notes: {failure.message}")

    async def _follow_wish(self, name: str) -> None:
        try:
            agent = self._agents.find(name)
        except ToriError as error:
            self._tell(str(error))
            return
        if agent is None:
            self._tell(self._agents.hint(name))
            return
        goal = self.state.tree.find(self.state.lent_to) if self.state.lent_to else None
        if goal is None and agent.name == self.state.agent:
            self._tell(f"The agent {name} works already.")
            return
        if goal is not None and goal.is_open:
            # The user takes the goal out of the hands in which the plan had put it.
            edit = GoalRenamed(goal.id, goal.description.partition(" ")[2].strip() or goal.description[1:])
            await self._recorder.record(PlanChanged((edit,), "user"))
        await self.switch_context(await self.create_context(agent))

    async def _follow_plan(self) -> None:
        goal, agent = self._wanted_by_plan()
        if (goal.id if goal else None) == self.state.lent_to:
            return
        if goal is None or agent is None:
            await self.switch_context(self.state.home_context)
        else:
            await self.switch_context(await self.create_context(agent), goal.id)

    def _wanted_by_plan(self) -> tuple[Goal | None, Agent | None]:
        for goal in self.state.tree.asking_goals:
            if (agent := self._find(goal.agent)) is not None:
                return goal, agent
            self._tell_once(
                f"Goal {goal.id}: {self._agents.hint(goal.agent)} Agent {self.state.agent} does it."
            )
        return None, None

    async def _introduce(self) -> None:
        state = self.state
        await self.say_mission()
        goal = state.tree.find(state.lent_to) if state.lent_to else None
        source = hand_over.left_context(state)
        if goal is not None:
            await self._say(state.active_context, hand_over.lent_text(goal), "runner")
        elif source is not None and hand_over.result_text(state, source):
            await self.bridge(source, state.active_context)
        else:
            await self._say(state.active_context, hand_over.switched_text(state), "runner")

    async def _say(self, context: ContextId, text: str, origin: Origin) -> None:
        await self._recorder.record(MessageAdded(self._message(context, text, origin)))

    def _message(self, context: ContextId, content: Content, origin: Origin) -> Message:
        return Message(context, self.state.tree.current_id, "user", content, origin=origin)

    def _find(self, name: str) -> Agent | None:
        try:
            return self._agents.find(name)
        except ToriError as error:
            self._tell_once(str(error))
            return None

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)

    def _tell(self, text: str) -> None:
        self._recorder.announce(NoticeShown(text, "warning"))


def context_of(state: SessionState, agent: str) -> ContextId:
    """Return the context of an agent, open or not."""
    return MAIN_CONTEXT if agent == BUILD else ContextId(agent)


def _changed(context: ContextId, action: hand_over.Action, agent: Agent, model: str) -> ContextChanged:
    return ContextChanged(context, action, agent.name, model, agent.mode)


__all__ = ["ContextManager", "context_of"]
