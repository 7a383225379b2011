"""Short ways to ask the view engine in tests."""

from __future__ import annotations

from typing import Final

from tori_tui.context.due import Sizes
from tori_tui.context.engine import ViewEngine
from tori_tui.context.marks import input_limit, marks_for
from tori_tui.domain.events import MessagesFolded
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.domain.request import ModelProfile
from tori_tui.domain.state import SessionState

LARGE: Final = ModelProfile("openai-chat/m", "openai-chat", "m", "m", 200_000, 8_000)


def sizes(
    profile: str = "balanced", window_tokens: int = 200_000, *, fixed_tokens: int = 0, is_cold: bool = False
) -> Sizes:
    limit = input_limit(LARGE, window_tokens)
    return Sizes(profile, marks_for(profile, LARGE, window_tokens), limit, fixed_tokens, is_cold)


def due(
    state: SessionState, profile: str = "balanced", window_tokens: int = 200_000
) -> MessagesFolded | None:
    return ViewEngine().due(state, MAIN_CONTEXT, sizes(profile, window_tokens))


__all__ = ["LARGE", "due", "sizes"]
