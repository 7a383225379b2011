"""The light question beside a run: where in the plan do these comments fall?

Pure: builds the request and reads the reply. Must not act on a verdict; `domain.routing` decides again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, get_args

from tori_tui.context.plan import plan_block
from tori_tui.domain.events import CommentReceived
from tori_tui.domain.goals import GoalTree
from tori_tui.domain.ids import ContextId, GoalId
from tori_tui.domain.messages import Message
from tori_tui.domain.request import ModelProfile, ModelRequest, SystemBlock
from tori_tui.domain.routing import INJECTION, Impact, Verdict

CONTEXT: Final = ContextId("feedback")

OUTPUT_LIMIT_TOKENS: Final = 400
"""About 40 tokens a verdict for a batch of comments, with room for a model that thinks a little."""

REMARK_LIMIT_CHARS: Final = 1_000
"""With a plan of 400 tokens and the rules this keeps a question of several comments near 1,500 tokens."""

MOST_REMARKS: Final = 8

_ARRAY: Final = re.compile(r"\[.*\]", re.DOTALL)
_OBJECT: Final = re.compile(r"\{[^{}]*\}", re.DOTALL)


@cache
def classifier_rules() -> str:
    """Return the classifier's system prompt."""
    return (Path(__file__).with_name("prompts") / "classify.md").read_text("utf-8").strip()


def classify_request(
    tree: GoalTree, comments: Sequence[CommentReceived], profile: ModelProfile
) -> ModelRequest:
    """Return the request that asks about the comments, at the model's lowest effort."""
    remarks = "\n".join(
        f"{number}. {json.dumps(comment.text[:REMARK_LIMIT_CHARS], ensure_ascii=False)}"
        for number, comment in enumerate(comments[:MOST_REMARKS], 1)
    )
    words = f"{plan_block(tree)}\n\n## Remarks\n{remarks}"
    return ModelRequest(
        context=CONTEXT,
        profile=profile,
        system=(SystemBlock("classifier", classifier_rules()),),
        messages=(Message(CONTEXT, None, "user", words, origin="runner"),),
        max_output_tokens=OUTPUT_LIMIT_TOKENS,
        effort=profile.efforts[0] if profile.efforts else "",
    )


def read_verdicts(reply: str, n_comments: int) -> tuple[Verdict, ...]:
    """Return a verdict for each comment; plain injection where the reply has none that can be read."""
    verdicts = [INJECTION] * n_comments
    for position, raw in enumerate(_objects(reply)):
        number = raw.get("remark", position + 1)
        verdict = _verdict(raw)
        if verdict is not None and isinstance(number, int) and 1 <= number <= n_comments:
            verdicts[number - 1] = verdict
    return tuple(verdicts)


def _objects(reply: str) -> list[dict[str, object]]:
    found = _ARRAY.search(reply)
    for text in (found.group() if found else "", f"[{','.join(_OBJECT.findall(reply))}]"):
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            continue
        objects = [value for value in values if isinstance(value, dict)]
        if objects:
            return objects
    return []


def _verdict(raw: dict[str, object]) -> Verdict | None:
    impact = raw.get("impact")
    if impact not in get_args(Impact):
        return None
    goals = raw.get("goals")
    ids = tuple(GoalId(str(goal)) for goal in goals) if isinstance(goals, list) else ()
    confidence = raw.get("confidence", 1.0)
    sure = min(1.0, max(0.0, float(confidence))) if isinstance(confidence, (int, float)) else 1.0
    said: Impact = next(known for known in get_args(Impact) if known == impact)
    return Verdict(said, ids, raw.get("rejects") is True, sure)


__all__ = ["CONTEXT", "MOST_REMARKS", "classifier_rules", "classify_request", "read_verdicts"]
