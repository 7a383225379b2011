"""What to do where there is no model: when that is so, the screen that helps, and the beginning it ends with.

Must not import the screen or a provider before they are needed, and must never hold a key.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.screen import Screen

from tori_tui.cli.app import AppOptions
from tori_tui.domain.errors import UsageError
from tori_tui.ui.messages import Beginning, SetupNeeded
from tori_tui.ui.themes import ThemeSpec

if TYPE_CHECKING:
    from tori_tui.config import LoadedSettings, Settings
    from tori_tui.providers.listing import ModelServer
    from tori_tui.ui.talk_ports import ModelSource


def refuse_without_model(settings: Settings) -> None:
    """Let the user choose where there is no model, or no key for it.

    Raises:
        SetupNeeded: It is so.
    """
    from tori_tui.config.translate import provider_settings
    from tori_tui.providers.catalogue import profile_for
    from tori_tui.providers.registry import PLACES, default_model, endpoint_for

    try:
        name = settings.model or default_model(os.environ)
        provider = profile_for(name).provider
        if provider in PLACES and provider != "replay":
            endpoint_for(provider, provider_settings(settings, provider), os.environ)
    except UsageError as error:
        raise SetupNeeded(error.message) from error


def welcome_screen(theme: ThemeSpec, reason: str) -> Screen[Beginning | None]:
    """Return the screen for who has no model yet."""
    from tori_tui.config import Settings, user_config_path
    from tori_tui.providers.listing import local_servers
    from tori_tui.ui.palette import palette_of
    from tori_tui.ui.screens.welcome import FirstSteps, WelcomeScreen

    path, home = str(user_config_path(os.environ)), os.environ.get("HOME", "")
    shown = f"~{path.removeprefix(home)}" if home and path.startswith(f"{home}/") else path

    def sources() -> tuple[ModelSource, ...]:
        return tuple(local_source(server, Settings()) for server in local_servers())

    return WelcomeScreen(palette_of(theme), FirstSteps(reason, shown, sources))


def local_source(server: ModelServer, settings: Settings) -> ModelSource:
    """Return a usual place of servers as the app asks it."""
    from tori_tui.cli.model_choices import source_of
    from tori_tui.providers.errors import ProviderError
    from tori_tui.ui.talk_ports import ModelChoice, NobodyListens

    source = source_of(server, settings)

    def ask() -> tuple[ModelChoice, ...]:
        try:
            return tuple(source.ask())
        except ProviderError as error:
            if error.fault == "connection":
                raise NobodyListens(error.message) from error
            raise

    return replace(source, ask=ask, base_url=server.endpoint.base_url)


def begun(options: AppOptions, beginning: Beginning) -> AppOptions:
    """Return the options of the app that the user begins with."""
    if beginning.is_demo:
        return replace(options, is_demo=True)
    return replace(options, model=beginning.model, base_url=beginning.base_url)


def with_server(loaded: LoadedSettings, model: str, base_url: str) -> LoadedSettings:
    """Return the configuration with a server that the user chose for this run, and how to keep it."""
    from tori_tui.config.settings import ProviderSettings

    settings = loaded.settings
    name = model.partition("/")[0]
    table = replace(settings.providers.get(name) or ProviderSettings(), base_url=base_url)
    notice = (
        f"{model} at {base_url}, for this run. For good, in config.toml (`tori doctor` says where): "
        f'model = "{model}" and, under [providers.{name}], base_url = "{base_url}".'
    )
    changed = replace(settings, model=model, providers={**settings.providers, name: table})
    return replace(loaded, settings=changed, notices=(*loaded.notices, notice))


__all__ = ["begun", "refuse_without_model", "welcome_screen", "with_server"]
