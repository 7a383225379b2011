"""From a model's profile to the provider that speaks to it.

The environment comes in as a mapping. Must not import an SDK; each provider does at its first
request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tori_tui.domain.errors import UsageError
from tori_tui.domain.request import ModelProfile
from tori_tui.providers.base import Provider
from tori_tui.providers.keys import KEY_VARIABLES, KeySource, find_key
from tori_tui.providers.settings import (
    IDLE_TIMEOUT_S,
    LOCAL_IDLE_TIMEOUT_S,
    Endpoint,
    ProviderSettings,
    checked_url,
    is_local_url,
)

PLACES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "anthropic": ("anthropic.messages", "MessagesProvider"),
        "openai": ("openai.responses", "ResponsesProvider"),
        "openai-chat": ("openai.chat", "ChatProvider"),
        "replay": ("replay.provider", "ReplayProvider"),
    }
)
"""Module and class of each adapter, below this package."""

OPENAI_URL: Final = "https://api.openai.com/v1"
ANTHROPIC_URL: Final = "https://api.anthropic.com"

ANTHROPIC_DEFAULT: Final = "anthropic/claude-sonnet-5-5"
"""The vendor's middle model for agents (its model overview, 2026-11)."""

OPENAI_DEFAULT: Final = "openai/gpt-6.1-sol"
"""The vendor's middle model for agents (its model list, 2026-11)."""

FIRST_OF_SERVER: Final = "openai-chat/"
"""No name: the first model that the server lists."""

NO_SETTINGS: Final = ProviderSettings()

DEMO_HINT: Final = "tori demo shows a whole run without any key."


def make_provider(
    profile: ModelProfile,
    settings: ProviderSettings = NO_SETTINGS,
    *,
    environ: Mapping[str, str],
    replay_delay_s: float = 0.0,
) -> Provider:
    """Return the provider for a model; nothing is imported or connected yet.

    Args:
        profile: From `profile_for`.
        settings: The provider's table in the configuration.
        environ: The environment; explicit settings win over it.
        replay_delay_s: Pause between the pieces of recorded replies.

    Raises:
        UsageError: No key and no server of one's own, or recorded replies that cannot be read.
    """
    if profile.provider == "replay":
        recorded: Provider = _class_of("replay")(Path(profile.model), delay_s=replay_delay_s)
        return recorded
    if profile.provider not in PLACES:
        raise UsageError(
            f"The provider {profile.provider!r} of the model {profile.name!r} is not known.",
            "Write anthropic/NAME, openai/NAME, openai-chat/NAME (any compatible server) or replay/PATH.",
        )
    endpoint = endpoint_for(profile.provider, settings, environ)
    provider: Provider = _class_of(profile.provider)(endpoint)
    return provider


def _class_of(provider: str) -> Callable[..., Provider]:
    """Import the one adapter that is used: the others would make each start slower."""
    module, name = PLACES[provider]
    found: Callable[..., Provider] = getattr(import_module(f"tori_tui.providers.{module}"), name)
    return found


def endpoint_for(provider: str, settings: ProviderSettings, environ: Mapping[str, str]) -> Endpoint:
    """Return where a provider's requests go and with which key.

    Raises:
        UsageError: No key and no server of one's own, or no address of one.
    """
    variable, usual_url = (
        ("ANTHROPIC_BASE_URL", ANTHROPIC_URL) if provider == "anthropic" else ("OPENAI_BASE_URL", OPENAI_URL)
    )
    own_url = settings.base_url or environ.get(variable, "").strip()
    key = find_key(provider, settings, environ)
    if key.origin == "none" and not own_url:
        raise UsageError(
            f"No key: set {KEY_VARIABLES[provider][0]} (or {variable} for a server of your own).", DEMO_HINT
        )
    source = f"providers.{provider}.base_url" if settings.base_url else variable
    return _endpoint(checked_url(own_url or usual_url, source), key, settings, environ)


def default_model(environ: Mapping[str, str]) -> str:
    """Return the model to use when none is configured, by the keys that are set.

    Anthropic's before OpenAI's. A base URL that is not OpenAI's means a compatible server:
    `openai-chat/` without a name is the first model that it lists.

    Raises:
        UsageError: No key and no base URL is set.
    """
    if any(environ.get(variable, "").strip() for variable in KEY_VARIABLES["anthropic"]):
        return ANTHROPIC_DEFAULT
    base_url = environ.get("OPENAI_BASE_URL", "").strip()
    if base_url and base_url.rstrip("/") != OPENAI_URL:
        return FIRST_OF_SERVER
    if environ.get("OPENAI_API_KEY", "").strip():
        return OPENAI_DEFAULT
    raise UsageError(
        "No model: set ANTHROPIC_API_KEY or OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your own).",
        DEMO_HINT,
    )


def is_unnamed(model: str | None, environ: Mapping[str, str]) -> bool:
    """Say whether a server's first model is meant, whose name nobody knows yet."""
    try:
        return (model or default_model(environ)) == FIRST_OF_SERVER
    except UsageError:
        return False


def _endpoint(
    base_url: str, key: KeySource, settings: ProviderSettings, environ: Mapping[str, str]
) -> Endpoint:
    idle_timeout_s = settings.idle_timeout_s
    if idle_timeout_s is None:
        idle_timeout_s = LOCAL_IDLE_TIMEOUT_S if is_local_url(base_url) else IDLE_TIMEOUT_S
    return Endpoint(
        base_url,
        key.read,
        settings.headers,
        settings.ca_file,
        idle_timeout_s,
        settings.gulp_s,
        is_bearer=key.is_token,
        proxy_variable=_proxy_variable(base_url, environ),
    )


def _proxy_variable(base_url: str, environ: Mapping[str, str]) -> str:
    scheme = base_url.partition(":")[0]
    names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    return next((name for name in names if environ.get(name)), "")


__all__ = ["default_model", "endpoint_for", "is_unnamed", "make_provider"]
