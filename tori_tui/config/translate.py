"""From settings to what each layer takes.

Must not open, connect or run anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType

from tori_tui.config.settings import ProviderSettings as ProviderTable
from tori_tui.config.settings import Settings
from tori_tui.config.surroundings import SessionOptions, Surroundings
from tori_tui.domain.errors import UsageError
from tori_tui.domain.request import ModelProfile
from tori_tui.permission.environment import is_key_name
from tori_tui.permission.rules import Rule, parse_rule
from tori_tui.providers.base import Provider
from tori_tui.providers.catalogue import ModelOverrides, profile_for
from tori_tui.providers.registry import make_provider
from tori_tui.providers.settings import ProviderSettings, is_local_url
from tori_tui.runtime.limits import Limits


def classifies(settings: Settings, profile: ModelProfile) -> bool:
    """Say whether comments are classified: not by a local server of one slot, for its cache's sake."""
    match settings.feedback.classifier:
        case "on":
            return True
        case "off":
            return False
        case "auto":
            return settings.feedback.model is not None or not profile.is_local


def check_limits(options: SessionOptions, profile: ModelProfile) -> None:
    """Refuse a limit on money with a model of unknown price.

    Raises:
        UsageError: It is so.
    """
    if options.max_cost_usd is None or profile.input_usd_per_mtok is not None:
        return
    raise UsageError(
        f"--max-cost needs a price, and that of {profile.name} is not known.",
        f'Set input_usd_per_mtok and output_usd_per_mtok under [models."{profile.name}"].',
    )


def make_model(name: str, settings: Settings, world: Surroundings) -> tuple[ModelProfile, Provider]:
    """Return the profile and the provider of a model; nothing is imported or connected yet.

    Raises:
        UsageError: The name, the key or the address is wrong.
    """
    if world.make_model is not None:
        return world.make_model(name)
    profile = model_profile(name, settings)
    wire = replace(provider_settings(settings, profile.provider), gulp_s=world.gulp_s)
    provider = make_provider(profile, wire, environ=world.environ, replay_delay_s=world.replay_delay_s)
    variable = "ANTHROPIC_BASE_URL" if profile.provider == "anthropic" else "OPENAI_BASE_URL"
    base_url = wire.base_url or world.environ.get(variable, "")
    return replace(profile, is_local=is_local_url(base_url)), provider


def model_profile(name: str, settings: Settings) -> ModelProfile:
    """Return what is known of a model, the configuration's word over the catalogue's.

    Raises:
        UsageError: The name is wrong.
    """
    own = settings.models.get(name)
    overrides = ModelOverrides(**asdict(own)) if own else ModelOverrides()
    if overrides.window_tokens is None:
        overrides = replace(overrides, window_tokens=settings.context.window_tokens)
    return profile_for(name, overrides)


def provider_settings(settings: Settings, provider: str) -> ProviderSettings:
    """Return a provider's table of the configuration as the providers take it."""
    table = settings.providers.get(provider) or ProviderTable()
    return ProviderSettings(
        base_url=table.base_url or "",
        headers=MappingProxyType(dict(table.headers)),
        ca_file=Path(table.ca_file).expanduser() if table.ca_file else None,
        key_command=table.key_command or "",
        idle_timeout_s=table.idle_timeout_s,
    )


def rules(settings: Settings) -> list[Rule]:
    """Return the user's permission rules.

    Raises:
        UsageError: One has another form.
    """
    written = settings.permissions
    return [
        *(parse_rule("deny", text) for text in written.deny),
        *(parse_rule("ask", text) for text in written.ask),
        *(parse_rule("allow", text) for text in written.allow),
    ]


def limits(settings: Settings, options: SessionOptions) -> Limits:
    """Return the limits of a run; flags go over the configuration."""
    configured = settings.limits
    return Limits(
        turns=options.max_turns or configured.turns,
        tokens=configured.tokens,
        cost_usd=options.max_cost_usd or configured.cost_usd,
        seconds=options.max_seconds or configured.seconds,
    )


def secret_values(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the keys that must appear in no trace, by the name that stands in their place."""
    return {name: value for name, value in environ.items() if is_key_name(name) and value}


__all__ = [
    "check_limits",
    "classifies",
    "limits",
    "make_model",
    "model_profile",
    "provider_settings",
    "rules",
    "secret_values",
]
