"""The models that the app offers: those of the configuration first, then those of the catalogue.

Must not ask a server.
"""

from __future__ import annotations

from collections.abc import Iterator

from tori_tui.config import Settings
from tori_tui.config.translate import model_profile
from tori_tui.domain.errors import ToriError
from tori_tui.providers.catalogue import known_models
from tori_tui.ui.talk_ports import ModelChoice


def model_choices(settings: Settings) -> tuple[ModelChoice, ...]:
    """Return each model once, with what is known of it."""
    own = (settings.model or "", *settings.fallback_models, *settings.models)
    names = dict.fromkeys(filter(None, (*own, *known_models())))
    return tuple(_choices(tuple(names), frozenset(own), settings))


def _choices(names: tuple[str, ...], own: frozenset[str], settings: Settings) -> Iterator[ModelChoice]:
    for name in names:
        try:
            profile = model_profile(name, settings)
        except ToriError:
            continue  # told when it is used
        window = profile.window_tokens if profile.is_known or name in settings.models else 0
        prices = (profile.input_usd_per_mtok, profile.output_usd_per_mtok)
        yield ModelChoice(name, window, *prices, is_configured=name in own)


__all__ = ["model_choices"]
