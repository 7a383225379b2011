"""The messages of a strict-JSON request as the inspector shows them.

Must not say anything of the system prompt, whose texts were recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from tori_tui.context.messages import request_messages
from tori_tui.context.plan import plan_block
from tori_tui.context.strict_json import TRIGGER, Rounds, strict_json
from tori_tui.context.tokens import estimate_message
from tori_tui.domain.events import Section, TurnFinished
from tori_tui.domain.ids import Seq
from tori_tui.domain.inspection import SentPart
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ModelProfile, ModelRequest
from tori_tui.domain.state import SessionState

TITLE_LIMIT_CHARS: Final = 60


def is_strict_json(sections: Sequence[Section]) -> bool:
    """Whether a request was sent in strict JSON; only there the run's state is told."""
    return any(section.name == "run" for section in sections)


def strict_parts(state: SessionState, turn: TurnFinished, window_tokens: int) -> list[SentPart]:
    """Return the messages, each with the row of the protocol that it fills."""
    provider, _, model = turn.model.partition("/")
    profile = ModelProfile(turn.model, provider, model, model, window_tokens, 0)
    entries = state.view(turn.context).entries
    mission = state.tree.current_mission
    native = ModelRequest(
        turn.context,
        profile,
        (),
        request_messages(entries, turn.context, mission.text if mission else "", window_tokens),
    )
    request = strict_json(native, plan=plan_block(state.tree), tree=state.tree, rounds=Rounds(turn.number))
    seqs = {entry.message.text: entry.seqs for entry in entries if entry.message.is_users_word}
    others = tuple(seq for entry in entries if not entry.message.is_users_word for seq in entry.seqs)
    return list(_parts(request.messages, seqs, others))


def _parts(
    messages: Sequence[Message], words: dict[str, tuple[Seq, ...]], others: tuple[Seq, ...]
) -> Iterator[SentPart]:
    has_known = False
    for message in messages:
        text = message.text
        if message.is_users_word:
            name, rule, seqs = "words", "user's words: never cut", words.get(text, ())
        elif text == TRIGGER:
            name, rule, seqs = "trigger", "strict JSON: asks for the next action", ()
        elif message.role == "assistant" and not has_known and not text.startswith("{"):
            has_known = True
            name, rule, seqs = "known", "strict JSON: folds, facts still valid, pins, last failure", others
        elif message.role == "assistant":
            name, rule, seqs = "call", "strict JSON: the latest call", others[-2:-1]
        else:
            name, rule, seqs = "result", "strict JSON: what came of it", others[-1:]
        digest = hashlib.sha256(f"{message.role} {text}".encode("utf-8", "surrogatepass")).hexdigest()
        title = one_line(text, TITLE_LIMIT_CHARS)
        yield SentPart(name, title, estimate_message(message), rule, seqs, digest=digest, text=text)


__all__ = ["is_strict_json", "strict_parts"]
