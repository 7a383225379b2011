"""The form and the meaning of each slash command, for help, completion and palette.

Must not import what the commands do: a replay shows help too, and waits for no command.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SLASH_HELP: Final[Mapping[str, str]] = MappingProxyType(
    {
        "now": "/now TEXT: joins the current work at the model's next turn",
        "later": "/later TEXT: for later; nothing is interrupted",
        "retry": "/retry ID [TEXT]: do that goal again",
        "replan": "/replan [TEXT]: stop and plan anew what is left",
        "plan": "/plan add | drop | rename | move | focus | done | check | budget | pin | unpin …, or edit",
        "rewind": "/rewind ID | turn:N [files | messages]: back to where that goal or turn began",
        "undo": "/undo: take the last rewind back",
        "redo": "/redo: do it again",
        "compact": "/compact: fold the conversation's older part now",
        "stop": "/stop [BRANCH]: stop one branch of explore; without a number everything",
        "rename": "/rename NAME: name this session",
        "model": "/model [NAME]: use another model from the next request on; alone: choose one",
        "effort": "/effort [low | medium | high | default …]: how much the model thinks; alone: choose",
        "agent": "/agent [NAME | close NAME]: let another agent work (Tab completes), or close its context",
        "remember": "/remember [KEY:] TEXT | forget KEY: tell every agent of the session; alone: show",
        "memory": "/memory [WORDS] | forget ID: what sessions learned of this project",
        "mode": "/mode plan | ask | edit | auto: what runs without a question",
        "export": "/export [html | md | svg] [FILE]: the session as a page to share",
    }
)
"""Each command with its form, for the help."""

__all__ = ["SLASH_HELP"]
