"""From a model's profile to the provider that speaks to it.

The only place of the layer that reads the environment's variables, handed in as a mapping. Must
not import an SDK; each provider does at its first request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import UsageError
from tori_tui.domain.request import ModelProfile
from tori_tui.providers.anthropic.messages import MessagesProvider
from tori_tui.providers.base import Provider
from tori_tui.providers.openai.chat import ChatProvider
from tori_tui.providers.openai.responses import ResponsesProvider
from tori_tui.providers.replay.provider import ReplayProvider
from tori_tui.providers.settings import (
    IDLE_TIMEOUT_S,
    LOCAL_IDLE_TIMEOUT_S,
    Endpoint,
    ProviderSettings,
    is_local_url,
)

OPENAI_URL: Final = "https://api.openai.com/v1"

ANTHROPIC_URL: Final = "https://api.anthropic.com"

NO_SETTINGS: Final = ProviderSettings()


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
    match profile.provider:
        case "replay":
            return ReplayProvider(Path(profile.model), delay_s=replay_delay_s)
        case "openai-chat":
            return ChatProvider(_openai_endpoint(settings, environ))
        case "openai":
            return ResponsesProvider(_openai_endpoint(settings, environ))
        case "anthropic":
            return MessagesProvider(_anthropic_endpoint(settings, environ))
        case _:
            raise UsageError(
                f"The provider {profile.provider!r} of the model {profile.name!r} is not known.",
                "Write openai-chat/NAME (any compatible server) or replay/PATH.",
            )


def default_model(environ: Mapping[str, str]) -> str:
    """Return the model to use when none is configured, by the keys that are set.

    `openai-chat/` without a name is the first model that the server lists.

    Raises:
        UsageError: No key and no base URL is set.
    """
    if environ.get("OPENAI_API_KEY") or environ.get("OPENAI_BASE_URL"):
        return "openai-chat/"
    raise UsageError(
        "No model: set ANTHROPIC_API_KEY or OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your own).",
        "tori demo shows a whole run without any key.",
    )


def _openai_endpoint(settings: ProviderSettings, environ: Mapping[str, str]) -> Endpoint:
    own_url = settings.base_url or environ.get("OPENAI_BASE_URL", "")
    key = environ.get("OPENAI_API_KEY", "")
    if not key and not own_url:
        raise UsageError(
            "No key: set OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your own).",
            "tori demo shows a whole run without any key.",
        )
    return _endpoint(own_url or OPENAI_URL, key, settings)


def _anthropic_endpoint(settings: ProviderSettings, environ: Mapping[str, str]) -> Endpoint:
    own_url = settings.base_url or environ.get("ANTHROPIC_BASE_URL", "")
    key, token = environ.get("ANTHROPIC_API_KEY", ""), environ.get("ANTHROPIC_AUTH_TOKEN", "")
    if not key and not token and not own_url:
        raise UsageError("No key: set ANTHROPIC_API_KEY.", "tori demo shows a whole run without any key.")
    endpoint = _endpoint(own_url or ANTHROPIC_URL, key or token, settings)
    return replace(endpoint, is_bearer=not key and bool(token))


def _endpoint(base_url: str, key: str, settings: ProviderSettings) -> Endpoint:
    idle_timeout_s = settings.idle_timeout_s
    if idle_timeout_s is None:
        idle_timeout_s = LOCAL_IDLE_TIMEOUT_S if is_local_url(base_url) else IDLE_TIMEOUT_S
    return Endpoint(base_url.rstrip("/"), key, settings.headers, settings.ca_file, idle_timeout_s)


__all__ = ["default_model", "make_provider"]
