"""What is known of each model: window, limits, prices, features.

The data stands in `models.json`, made by `tests/providers/make_catalogue.py`. Must not ask the
network; unknown models get a visible default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from tori_tui.domain.errors import UsageError
from tori_tui.domain.request import Effort, ModelProfile

CATALOGUE_FILE: Final = Path(__file__).with_name("models.json")

PROVIDERS: Final = ("anthropic", "openai", "openai-chat", "replay")

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("anthropic",),
    "openai": ("openai",),
    "openai-chat": ("openai", "compatible"),
    "replay": (),
}
"""Parts of the catalogue that hold a provider's models."""

DEFAULT_WINDOW_TOKENS: Final = 128_000

DEFAULT_OUTPUT_LIMIT_TOKENS: Final = 8_192

EFFORTS: Final[tuple[Effort, ...]] = ("minimal", "low", "medium", "high", "max")

_DATE: Final = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


@dataclass(frozen=True, slots=True)
class ModelOverrides:
    """A model's table in the configuration, `[models."NAME"]`; None leaves a value as it is."""

    window_tokens: int | None = None
    output_limit_tokens: int | None = None
    late_system: bool | None = None
    native_tools: bool | None = None
    tool_role: bool | None = None
    vision: bool | None = None
    efforts: tuple[Effort, ...] | None = None
    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None
    cached_usd_per_mtok: float | None = None
    cache_write_usd_per_mtok: float | None = None


def split_name(name: str) -> tuple[str, str]:
    """Return provider and model of a name as the user writes it.

    Raises:
        UsageError: The name has no provider that tori knows.

    Example:
        >>> split_name("openai-chat/qwen/qwen3")
        ('openai-chat', 'qwen/qwen3')
    """
    provider, slash, model = name.partition("/")
    if provider not in PROVIDERS or not slash or not (model or provider == "openai-chat"):
        hint = "Write anthropic/NAME, openai/NAME, openai-chat/NAME (any compatible server) or replay/PATH."
        if name and provider not in PROVIDERS:
            hint = (
                f"On a server of your own (OPENAI_BASE_URL) write openai-chat/{name}, else anthropic/NAME, "
                "openai/NAME or replay/PATH."
            )
        raise UsageError(f"The model {name!r} names no provider and model that tori knows.", hint)
    return provider, model


def profile_for(name: str, overrides: ModelOverrides | None = None) -> ModelProfile:
    """Return what is known of a model.

    Args:
        name: `PROVIDER/NAME`; for `openai-chat` an empty NAME is the server's first model.
        overrides: From the configuration.

    Raises:
        UsageError: The name has no provider that tori knows.
    """
    provider, model = split_name(name)
    known = _known(provider, model)
    is_replay = provider == "replay"
    profile = ModelProfile(
        name=name,
        provider=provider,
        model=model,
        family=family_of(model),
        window_tokens=known.get("window", DEFAULT_WINDOW_TOKENS),
        output_limit_tokens=known.get("limit", DEFAULT_OUTPUT_LIMIT_TOKENS),
        is_known=bool(known) or is_replay,
        late_system=known.get("late", provider != "anthropic"),
        vision=known.get("vision", False),
        efforts=tuple(effort for effort in EFFORTS if effort in known.get("efforts", ())),
        input_usd_per_mtok=known.get("input", 0.0 if is_replay else None),
        output_usd_per_mtok=known.get("output", 0.0 if is_replay else None),
        cached_usd_per_mtok=known.get("cached"),
        cache_write_usd_per_mtok=known.get("written"),
    )
    return _overridden(profile, overrides) if overrides is not None else profile


def family_of(model: str) -> str:
    """Return the models' common name: without a date, in lower case.

    Example:
        >>> family_of("claude-sonnet-4-5-20250929"), family_of("gpt-5-2025-08-07")
        ('claude-sonnet-4-5', 'gpt-5')
    """
    return _DATE.sub("", model).lower()


def known_models() -> tuple[str, ...]:
    """Return the names of all models in the catalogue, as the user writes them, for a picker."""
    prefixes = {"anthropic": "anthropic", "openai": "openai", "compatible": "openai-chat"}
    sections = ((prefix, _catalogue()[section]) for section, prefix in prefixes.items())
    return tuple(f"{prefix}/{model}" for prefix, models in sections for model in models)


def _known(provider: str, model: str) -> Mapping[str, Any]:
    """Return a model's entry: under its own name, else under that without a date or a vendor."""
    for section in SECTIONS[provider]:
        models = _catalogue()[section]
        for name in (model, family_of(model), family_of(model.rpartition("/")[2])):
            if name in models:
                return models[name]
    return {}


@cache
def _catalogue() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    data: Mapping[str, Mapping[str, Mapping[str, Any]]] = json.loads(CATALOGUE_FILE.read_bytes())
    return data


def _overridden(profile: ModelProfile, overrides: ModelOverrides) -> ModelProfile:
    given = {name: value for name, value in asdict(overrides).items() if value is not None}
    changed = replace(profile, **given)
    return replace(changed, is_known=True) if "window_tokens" in given else changed


__all__ = [
    "CATALOGUE_FILE",
    "DEFAULT_OUTPUT_LIMIT_TOKENS",
    "DEFAULT_WINDOW_TOKENS",
    "PROVIDERS",
    "ModelOverrides",
    "family_of",
    "known_models",
    "profile_for",
    "split_name",
]
