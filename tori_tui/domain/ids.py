"""Identifiers, one type each, so that no signature takes a bare `str` for two things.

Must not hold any logic beyond the form of an id.
"""

from __future__ import annotations

from typing import NewType

TraceId = NewType("TraceId", str)
MissionId = NewType("MissionId", str)
GoalId = NewType("GoalId", str)
ContextId = NewType("ContextId", str)
CallId = NewType("CallId", str)
CommentId = NewType("CommentId", str)
ApprovalId = NewType("ApprovalId", str)
QuestionId = NewType("QuestionId", str)
BranchId = NewType("BranchId", str)
FactId = NewType("FactId", str)

Seq = NewType("Seq", int)
"""Number of a durable record in its trace; the first is 1, the next one more."""

NEVER = Seq(0)
"""Before the first record."""

MAIN_CONTEXT = ContextId("main")

__all__ = [
    "MAIN_CONTEXT",
    "NEVER",
    "ApprovalId",
    "BranchId",
    "CallId",
    "CommentId",
    "ContextId",
    "FactId",
    "GoalId",
    "MissionId",
    "QuestionId",
    "Seq",
    "TraceId",
]
