"""Which of the two encodings a model's requests take, and what its replies mean in it.

Must not talk to a model nor record anything; a turn does.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from tori_tui.context.build import BuiltRequest
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.request import ModelProfile
from tori_tui.domain.state import SessionState
from tori_tui.memory.model_facts import TextCallers
from tori_tui.providers.fold import Reply
from tori_tui.runtime.understood import Understood

if TYPE_CHECKING:
    from tori_tui.runtime.written_calls import WrittenCalls

ToolProtocol = Literal["auto", "native", "json"]

TEXT_REPLIES_LIMIT: Final = 3
"""Replies in a row with calls as text after which a model is asked for strict JSON."""


class Encoding:
    """The encodings of one session.

    Args:
        setting: What the user wants; `auto` goes by the model and by what it does.
        text_callers: The models that were found to write calls as text.
        written: Loads, at its first use, what reads and writes calls as text.
    """

    def __init__(
        self, setting: ToolProtocol, text_callers: TextCallers, written: Callable[[], WrittenCalls]
    ) -> None:
        self._setting = setting
        self._text_callers = text_callers
        self._written = written
        self._n_text_replies = 0
        self._was_json = False

    def is_json(self, profile: ModelProfile) -> bool:
        """Whether the model is asked for strict JSON."""
        if self._setting != "auto":
            return self._setting == "json"
        return not profile.native_tools or self._text_callers.has(profile.name)

    def encode(self, built: BuiltRequest, state: SessionState) -> BuiltRequest:
        """Return the request in the encoding of its model."""
        is_json = self.is_json(built.request.profile)
        has_changed, self._was_json = is_json != self._was_json, is_json
        if is_json:
            return self._written().encode(built, state)
        return replace(built, rewrite=built.rewrite or "native calls") if has_changed else built

    def understand(
        self, reply: Reply, profile: ModelProfile, tree: GoalTree, used: Container[str]
    ) -> Understood:
        """Return what a reply asks for; native calls in it always count as they are."""
        if reply.tool_calls:
            self._n_text_replies = 0
            return Understood(reply)
        if self.is_json(profile):
            return self._written().in_json(reply, tree, used)
        understood = self._written().in_text(reply, tree, used)
        if not understood.reply.tool_calls:
            return understood
        self._n_text_replies += 1
        return replace(understood, notice=self._notice(profile))

    def _notice(self, profile: ModelProfile) -> str:
        if self._setting != "auto" or self._n_text_replies < TEXT_REPLIES_LIMIT:
            return ""
        self._text_callers.add(profile.name)
        return (
            f"{profile.name} writes its calls as text: from now on it is asked for strict JSON. "
            'Set tool_protocol = "native" if that is wrong.'
        )


__all__ = ["TEXT_REPLIES_LIMIT", "Encoding", "ToolProtocol"]
