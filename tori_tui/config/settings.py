"""The keys of the configuration and their defaults, as frozen values.

Must not read a file or the environment; `load` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Literal, cast, get_args, get_origin, get_type_hints

import msgspec

from tori_tui.domain.events import Mode
from tori_tui.domain.request import Effort

_Count = Annotated[int, msgspec.Meta(gt=0)]
_Positive = Annotated[float, msgspec.Meta(gt=0)]
_Price = Annotated[float, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """`[context]`: what the model sees."""

    profile: Literal["small", "economy", "balanced", "rich", "now", "never", "local"] = "balanced"
    """How soon finished work is folded."""
    window_tokens: _Count | None = None
    """The model's window, where the catalogue does not know it or is wrong."""
    plan_placement: Literal["auto", "late", "leading", "live"] = "auto"
    """Where in a request the plan stands."""


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """`[limits]`: where a run stops; a limit that is left out does not hold."""

    turns: _Count = 200
    """Model requests of one run."""
    tokens: _Count | None = None
    """Tokens of one run, input and output."""
    cost_usd: _Positive | None = None
    """Money of one run; needs a model of known price."""
    seconds: _Positive | None = None
    """Wall time of one run."""


@dataclass(frozen=True, slots=True)
class ExploreSettings:
    """`[explore]`: sub-agents on branches."""

    max_parallel: _Count = 4
    """Branches at work at once; 1 is one after the other."""
    branches: _Count = 8
    """Most branches of one call."""
    turns: _Count = 40
    """Most turns of one branch."""
    cost_usd: _Positive | None = None
    """Most money of one branch; needs a model of known price."""
    disk_mb: _Count = 2_000
    """Most disk of all copies of the work tree at once."""
    link: tuple[str, ...] = ()
    """Folders that branches share by a link, such as `node_modules`."""


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """`[sandbox]`: what the system keeps commands from doing."""

    enabled: bool = False
    """Run commands in a sandbox; without one on this machine, refuse."""
    backend: Literal["auto", "bubblewrap", "landlock"] = "auto"
    """Which one; `auto` prefers bubblewrap, which holds more."""
    network: bool = False
    """Let commands use the network."""
    writable: tuple[str, ...] = ()
    """Further folders that commands may write, such as `~/.cache`."""


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """`[providers.NAME]`: how a provider is reached."""

    base_url: str | None = None
    """Its address, in place of the SDK's own variable."""
    headers: dict[str, str] = field(default_factory=dict)
    """Sent with every request."""
    ca_file: str | None = None
    """Certificates to trust, PEM."""
    key_command: str | None = None
    """A command that prints the key."""
    idle_timeout_s: _Positive | None = None
    """How long a stream may be silent; 120, of local servers 600, if left out."""


@dataclass(frozen=True, slots=True)
class FeedbackSettings:
    """`[feedback]`: how comments find their place in the plan."""

    classifier: Literal["auto", "on", "off"] = "auto"
    """Whether a light model call sorts comments."""
    model: str | None = None
    """The model of that call; the session's own if left out."""


@dataclass(frozen=True, slots=True)
class UiSettings:
    """`[ui]`: how the app is worked with."""

    vim: bool = False
    """Vim's keys in the input: Esc for normal mode, i for insert mode."""


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """`[memory]`: what is remembered across sessions."""

    url: str = "sqlite"
    """`sqlite`, `memory` or `redis://HOST:PORT/N`."""


@dataclass(frozen=True, slots=True)
class PermissionSettings:
    """`[permissions]`: rules per tool and pattern; deny goes over ask, ask over allow."""

    allow: tuple[str, ...] = ()
    """Calls that run without a question."""
    ask: tuple[str, ...] = ()
    """Calls that are always asked."""
    deny: tuple[str, ...] = ()
    """Calls that never run."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`[models."NAME"]`: what the catalogue does not know of a model."""

    window_tokens: _Count | None = None
    """Its context window."""
    output_limit_tokens: _Count | None = None
    """Most tokens of one reply."""
    input_usd_per_mtok: _Price | None = None
    """Price of a million input tokens."""
    output_usd_per_mtok: _Price | None = None
    """Price of a million output tokens."""
    cached_usd_per_mtok: _Price | None = None
    """Price of a million input tokens read from the cache."""
    cache_write_usd_per_mtok: _Price | None = None
    """Price of a million input tokens written to the cache."""
    late_system: bool | None = None
    """Takes a system message after the history."""
    native_tools: bool | None = None
    """Takes tools by the API."""
    tool_role: bool | None = None
    """Without tools, still takes a call's result in the role `tool`."""
    vision: bool | None = None
    """Takes images."""
    efforts: tuple[Effort, ...] | None = None
    """Reasoning efforts it takes."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every key of the configuration."""

    model: str | None = None
    """`PROVIDER/NAME`; the first provider with a key if left out."""
    mode: Mode = "ask"
    """What runs without a question: `plan`, `ask`, `edit` or `auto`."""
    theme: str = "auto"
    """Colours of the app; `auto` goes by the terminal's background."""
    notify: Literal["auto", "bell", "off"] = "auto"
    """How you are called when a run ends or asks while you look elsewhere; `auto`: as the terminal can."""
    tool_protocol: Literal["auto", "native", "json"] = "auto"
    """How tools are offered to the model."""
    fallback_models: tuple[str, ...] = ()
    """Models to go on with when the first one's provider keeps failing."""
    context: ContextSettings = field(default_factory=ContextSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    explore: ExploreSettings = field(default_factory=ExploreSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    providers: dict[str, ProviderSettings] = field(default_factory=dict)
    feedback: FeedbackSettings = field(default_factory=FeedbackSettings)
    ui: UiSettings = field(default_factory=UiSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    permissions: PermissionSettings = field(default_factory=PermissionSettings)
    models: dict[str, ModelSettings] = field(default_factory=dict)


def all_keys() -> tuple[str, ...]:
    """Return every key in dotted form, in order; `NAME` stands for a name of the user's choice."""
    return tuple(_keys_of(Settings, ""))


def _keys_of(shape: type, above: str) -> Iterator[str]:
    hints = get_type_hints(shape)
    for part in fields(shape):
        hint, key = hints[part.name], above + part.name
        if is_dataclass(hint):
            yield from _keys_of(cast("type", hint), f"{key}.")
        elif named := named_table(hint):
            yield from _keys_of(named, f"{key}.NAME.")
        else:
            yield key


def named_table(hint: object) -> type | None:
    """Return the shape of the tables under names of the user's choice, or None for anything else."""
    is_table = get_origin(hint) is dict and is_dataclass(get_args(hint)[1])
    return cast("type", get_args(hint)[1]) if is_table else None


__all__ = [
    "ContextSettings",
    "ExploreSettings",
    "FeedbackSettings",
    "LimitSettings",
    "MemorySettings",
    "ModelSettings",
    "PermissionSettings",
    "ProviderSettings",
    "SandboxSettings",
    "Settings",
    "UiSettings",
    "all_keys",
    "named_table",
]
