"""What is known of each model: window, limits, prices, features.

Must not ask the network; unknown models get a visible default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tori_tui.domain.errors import UsageError
from tori_tui.domain.request import Effort, ModelProfile

PROVIDERS: Final = ("anthropic", "openai", "openai-chat", "replay")

DEFAULT_WINDOW_TOKENS: Final = 128_000

DEFAULT_OUTPUT_LIMIT_TOKENS: Final = 8_192


@dataclass(frozen=True, slots=True)
class ModelOverrides:
    """A model's table in the configuration, `[models."NAME"]`; None leaves a value as it is."""

    window_tokens: int | None = None
    output_limit_tokens: int | None = None
    late_system: bool | None = None
    native_tools: bool | None = None
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
    if provider not in PROVIDERS or not slash:
        raise UsageError(
            f"The model {name!r} names no provider.",
            "Write anthropic/NAME, openai/NAME, openai-chat/NAME (any compatible server) or replay/PATH.",
        )
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
    is_free = provider == "replay"
    return ModelProfile(
        name=name,
        provider=provider,
        model=model,
        family=model,
        window_tokens=DEFAULT_WINDOW_TOKENS,
        output_limit_tokens=DEFAULT_OUTPUT_LIMIT_TOKENS,
        is_known=is_free,
        late_system=provider in ("openai", "openai-chat", "replay"),
        input_usd_per_mtok=0.0 if is_free else None,
        output_usd_per_mtok=0.0 if is_free else None,
    )


__all__ = ["PROVIDERS", "ModelOverrides", "profile_for", "split_name"]
