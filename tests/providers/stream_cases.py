"""Streams as servers really send them, byte by byte, and what they must come to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from tori_tui.providers.base import StopReason
from tori_tui.providers.errors import ProviderFault


@dataclass(frozen=True, slots=True)
class StreamCase:
    """A stream and the reply, or the fault, that it must come to."""

    name: str
    protocol: str
    stream: bytes
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments as JSON, or the raw text where it is none."""
    stop: StopReason = "end"
    fault: ProviderFault | None = None
    usage: tuple[int, int, int] | None = None
    """Input, output, cached."""
    thinking: str = ""
    returned: dict[str, object] = field(default_factory=dict)
    """What of a provider part must go back."""


def json_text(value: object) -> str:
    """Return JSON as servers write it; text stays as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
