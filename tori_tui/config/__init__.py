"""The configuration: keys, defaults, where values come from, errors that name file, line and key."""

from __future__ import annotations

from tori_tui.config.load import LoadedSettings, load_settings, user_config_path, user_state_dir
from tori_tui.config.settings import (
    ContextSettings,
    ExploreSettings,
    FeedbackSettings,
    LimitSettings,
    MemorySettings,
    ModelSettings,
    PermissionSettings,
    ProviderSettings,
    SandboxSettings,
    Settings,
    all_keys,
)

__all__ = [
    "ContextSettings",
    "ExploreSettings",
    "FeedbackSettings",
    "LimitSettings",
    "LoadedSettings",
    "MemorySettings",
    "ModelSettings",
    "PermissionSettings",
    "ProviderSettings",
    "SandboxSettings",
    "Settings",
    "all_keys",
    "load_settings",
    "user_config_path",
    "user_state_dir",
]
