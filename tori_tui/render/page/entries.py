"""What a page tells of a session, as frozen values: scenes, and in them what was said and done.

Must not know how a page writes any of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from tori_tui.domain.ids import BranchId, CallId, GoalId, MissionId, Seq
from tori_tui.domain.messages import ContentPart, JsonObject
from tori_tui.domain.state import SessionState

CallState = Literal["waiting", "asked", "running", "done", "failed", "denied", "interrupted"]


@dataclass(frozen=True, slots=True)
class Words:
    """Something that was said."""

    seq: Seq
    at: datetime
    by: Literal["user", "comment", "model"]
    text: str
    fate: str = ""
    """Of a comment: where it went."""
    images: tuple[ContentPart, ...] = ()
    is_cut_off: bool = False


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model thought aloud."""

    seq: Seq
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call with what came of it."""

    seq: Seq
    at: datetime
    call_id: CallId
    name: str
    arguments: JsonObject = field(default_factory=dict)
    arguments_raw: str | None = None
    state: CallState = "waiting"
    title: str = ""
    output: str = ""
    details: JsonObject = field(default_factory=dict)
    detail: str = ""
    duration_s: float | None = None
    full: str | None = None
    images: tuple[ContentPart, ...] = ()
    answer: str = ""
    """What the user said when he was asked for permission."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Finished work left the model's view; the text that stands for it."""

    seq: Seq
    at: datetime
    reason: str
    n_messages: int
    text: str


@dataclass(frozen=True, slots=True)
class Noted:
    """A word of tori's own: an error with what to do, or what the user changed."""

    seq: Seq
    at: datetime
    text: str
    level: Literal["info", "error"] = "info"
    hint: str = ""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run ended, and how."""

    seq: Seq
    at: datetime
    status: str
    reason: str = ""


Entry = Words | Thought | Called | Folded | Noted | RunEnded


@dataclass(frozen=True, slots=True)
class Scene:
    """What happened without a break for one goal, or for the mission itself."""

    mission_id: MissionId | None
    goal_id: GoalId | None
    is_lost: bool
    """A rewind took it back."""
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """A session as it is told: what it came to, what happened in order, and the same of its branches."""

    name: str
    """The trace's id."""
    state: SessionState
    scenes: tuple[Scene, ...]
    branches: Mapping[BranchId, Account] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def n_entries(self) -> int:
        """How many things it tells, its branches left out."""
        return sum(len(scene.entries) for scene in self.scenes)


__all__ = [
    "Account",
    "CallState",
    "Called",
    "Entry",
    "Folded",
    "Noted",
    "RunEnded",
    "Scene",
    "Thought",
    "Words",
]
