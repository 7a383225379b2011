"""The models that the app offers: those of the configuration first, then those of the catalogue.

Must not ask a server itself: sources are asked later, in threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tori_tui.config import Settings
from tori_tui.config.translate import model_profile, provider_settings
from tori_tui.domain.errors import ToriError
from tori_tui.domain.request import Effort
from tori_tui.providers.catalogue import PROVIDERS, known_models
from tori_tui.providers.registry import default_model
from tori_tui.ui.talk_ports import ModelChoice, ModelSource

if TYPE_CHECKING:
    from tori_tui.providers.listing import ModelServer


def model_choices(settings: Settings) -> tuple[ModelChoice, ...]:
    """Return each model once, with what is known of it."""
    own = (settings.model or "", *settings.fallback_models, *settings.models)
    names = dict.fromkeys(filter(None, (*own, *known_models())))
    return tuple(_choices(tuple(names), frozenset(own), settings))


def first_model(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the model with which a new session begins; empty where there is none."""
    try:
        return settings.model or default_model(environ)
    except ToriError:
        return ""


def efforts_of(settings: Settings) -> Callable[[str], Sequence[Effort]]:
    """Return what tells how much a model can be told to think."""

    def efforts(model: str) -> Sequence[Effort]:
        try:
            return model_profile(model, settings).efforts
        except ToriError:
            return ()

    return efforts


def model_sources(settings: Settings, environ: Mapping[str, str]) -> tuple[ModelSource, ...]:
    """Return the configured servers, to be asked for their models."""
    from tori_tui.providers.listing import configured_servers

    tables = {name: provider_settings(settings, name) for name in PROVIDERS}
    return tuple(source_of(server, settings) for server in configured_servers(tables, environ))


def source_of(server: ModelServer, settings: Settings) -> ModelSource:
    """Return a server as the app asks it."""

    def ask() -> tuple[ModelChoice, ...]:
        names = server.models()
        return tuple(replace(c, is_listed=True) for c in _choices(names, frozenset(), settings))

    return ModelSource(f"{server.kind} {server.endpoint.host}".strip(), ask)


def _choices(names: tuple[str, ...], own: frozenset[str], settings: Settings) -> Iterator[ModelChoice]:
    for name in names:
        try:
            profile = model_profile(name, settings)
        except ToriError:
            continue  # told when it is used
        window = profile.window_tokens if profile.is_known or name in settings.models else 0
        prices = (profile.input_usd_per_mtok, profile.output_usd_per_mtok)
        yield ModelChoice(name, window, *prices, is_configured=name in own)


__all__ = ["efforts_of", "first_model", "model_choices", "model_sources", "source_of"]
