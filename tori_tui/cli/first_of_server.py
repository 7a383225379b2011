"""The model of a server that was configured without one: the first that it lists, by its own name.

Must not be loaded where a model is named; nobody else is asked then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tori_tui.config import LoadedSettings, Settings
from tori_tui.config.translate import provider_settings
from tori_tui.domain.errors import ToriError
from tori_tui.providers.listing import ModelServer
from tori_tui.providers.registry import endpoint_for

CHAT = "openai-chat"


def with_first_of_server(loaded: LoadedSettings, environ: Mapping[str, str]) -> LoadedSettings:
    """Return the configuration with the server's first model; as it was where the server does not tell.

    What is wrong with the server, the first request says.
    """
    try:
        first = first_of_server(loaded.settings, environ)
    except ToriError:
        return loaded
    return replace(loaded, settings=replace(loaded.settings, model=first)) if first else loaded


def first_of_server(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the first model that the configured server lists; empty if it lists none. Takes up to seconds.

    Raises:
        ToriError: There is no server, or it does not answer.
    """
    endpoint = endpoint_for(CHAT, provider_settings(settings, CHAT), environ)
    return next(iter(ModelServer(CHAT, endpoint).models()), "")


__all__ = ["first_of_server", "with_first_of_server"]
