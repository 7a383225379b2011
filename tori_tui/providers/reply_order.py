"""The pieces of an earlier reply in the order in which the model wrote them.

A message keeps its text, its calls and its provider parts apart; a part remembers how much text
stood before it (`at`) and which call follows it. Must not know a protocol's fields.
"""

from __future__ import annotations

from collections.abc import Iterator

from tori_tui.domain.messages import ProviderPart, ToolCall
from tori_tui.providers.history import ModelEntry
from tori_tui.providers.json_values import number_of

AT = "at"
"""Key of a part's data: characters of text before it."""

Piece = str | ProviderPart | ToolCall


def in_order(entry: ModelEntry, provider: str, family: str) -> Iterator[Piece]:
    """Yield text pieces, the parts that may return to this provider and family, and calls.

    A part whose call is gone, or that nothing follows, does not return.
    """
    message = entry.message
    call_ids = {call.id for call in message.tool_calls}
    parts = [
        part
        for part in message.provider_parts
        if (part.provider, part.family) == (provider, family)
        and (part.call_id is None or part.call_id in call_ids)
    ]
    text, position = entry.text, 0
    late: list[ProviderPart] = []
    for part in parts:
        at = number_of(part.data.get(AT))
        if at >= len(text):
            late.append(part)
            continue
        if (before := text[position:at]).strip():
            yield before
            position = at
        yield part
    if (rest := text[position:]).strip():
        yield rest
    for original, call in zip(message.tool_calls, entry.calls, strict=True):
        yield from (part for part in late if part.call_id == original.id)
        late = [part for part in late if part.call_id != original.id]
        yield call


__all__ = ["AT", "Piece", "in_order"]
