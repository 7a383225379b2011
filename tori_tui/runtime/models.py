"""Finds the provider of a model once and keeps it, with the SDK loaded beside the first other work.

Must not know any vendor; what it is given makes providers.
"""

from __future__ import annotations

from collections.abc import Callable

from tori_tui.domain.request import ModelProfile
from tori_tui.providers.base import Provider

MakeModel = Callable[[str], tuple[ModelProfile, Provider]]


class LoadedModels:
    """Providers by model name; each is made at its first use and closed with the session."""

    def __init__(self, make: MakeModel) -> None:
        self._make = make
        self._loaded: dict[str, tuple[ModelProfile, Provider]] = {}

    async def ready(self, name: str) -> tuple[ModelProfile, Provider]:
        """Return the model's profile and its provider.

        Raises:
            ToriError: The name, the key or the address is wrong.
        """
        if name not in self._loaded:
            self._loaded[name] = self._make(name)
        return self._loaded[name]

    async def close(self) -> None:
        """Close every provider."""
        for _, provider in self._loaded.values():
            await provider.close()
        self._loaded.clear()


__all__ = ["LoadedModels", "MakeModel"]
