"""What the panes of a session need of the world outside: functions that are handed in.

Must not do any of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tori_tui.domain.context_events import EffortChoice
from tori_tui.domain.errors import ToriError
from tori_tui.domain.inspection import ContextPage
from tori_tui.domain.request import Effort
from tori_tui.ui.file_port import FilePort

FindPage = Callable[[int], ContextPage | None]
"""Given the number of the first record to leave out; runs in a thread."""


def no_page(before: int) -> ContextPage | None:
    """Find nothing."""
    return None


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that the user may switch to."""

    name: str
    window_tokens: int = 0
    """0 where it is not known."""
    input_usd: float | None = None
    """For a million tokens, as `output_usd`; None where the price is not known."""
    output_usd: float | None = None
    is_configured: bool = False
    is_listed: bool = False
    """A server says that it has it."""


class NobodyListens(ToriError):
    """No server runs where one was looked for."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A server that can be asked for its models."""

    name: str
    """As the user knows it: host and port."""
    ask: Callable[[], Sequence[ModelChoice]]
    """Takes up to a few seconds, so it is called in a thread. Raises `ToriError`."""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class TalkPorts:
    """Where what is shown beside the conversation comes from."""

    context: FindPage = no_page
    models: Callable[[], Sequence[ModelChoice]] = tuple
    """The models to choose from."""
    model_sources: Callable[[], Sequence[ModelSource]] = tuple
    """The servers to ask for further models."""
    switch_model: Callable[[str], None] = lambda name: None
    files: FilePort = field(default_factory=FilePort)
    """What blocks name and what was saved."""
    efforts: Callable[[str], Sequence[Effort]] = lambda model: ()
    """How much a model can be told to think, from the least on; empty where it cannot, or nobody knows."""
    switch_effort: Callable[[EffortChoice], None] = lambda effort: None


__all__ = ["FindPage", "ModelChoice", "ModelSource", "NobodyListens", "TalkPorts", "no_page"]
