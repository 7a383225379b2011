"""Takes the keys that tori was given out of whatever is about to be recorded: words of users and models too.

Must not change a record that holds none; results were redacted before they came here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from tori_tui.domain.events import MessageAdded, Record
from tori_tui.permission.redaction import SHORTEST_SECRET_CHARS
from tori_tui.trace.codec import decode, encode
from tori_tui.trace.errors import BadLine


class Keyless:
    """Looks at each record as the line that it becomes.

    Args:
        secrets: Name → value of the keys that tori itself was given.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        known = {
            json.dumps(value.strip(), ensure_ascii=False)[1:-1].encode(): f"[redacted {name}]".encode()
            for name, value in secrets.items()
            if len(value.strip()) >= SHORTEST_SECRET_CHARS
        }
        # A key that contains another one goes first.
        self._known = tuple(sorted(known.items(), key=lambda item: -len(item[0])))

    def __call__(self, record: Record) -> Record:
        """Return the record without keys."""
        event = record.event
        if isinstance(event, MessageAdded) and event.message.role == "tool":
            return record
        line = encode(record) if self._known else b""
        if not any(key in line for key, _ in self._known):
            return record
        for key, words in self._known:
            line = line.replace(key, words)
        try:
            # Where a "key" is a word of the format itself, such as `assistant`, it is no secret.
            return decode(line) or record
        except BadLine:
            return record


__all__ = ["Keyless"]
