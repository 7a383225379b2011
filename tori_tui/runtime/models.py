"""Finds the provider of a model once and keeps it, with the SDK loaded beside the first other work.

Must not know any vendor; what it is given makes providers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tori_tui.domain.errors import ToriError
from tori_tui.domain.request import ModelProfile
from tori_tui.providers.base import Provider
from tori_tui.providers.retry import Fallback

MakeModel = Callable[[str], tuple[ModelProfile, Provider]]


class LoadedModels:
    """Providers by model name; each is made at its first use and closed with the session.

    Args:
        make: Makes profile and provider of a model.
        fallback_names: Models to use, in order, when the session's own stays busy.
    """

    def __init__(self, make: MakeModel, fallback_names: Sequence[str] = ()) -> None:
        self._make = make
        self._fallback_names = tuple(fallback_names)
        self._loaded: dict[str, tuple[ModelProfile, Provider]] = {}

    async def ready(self, name: str) -> tuple[ModelProfile, Provider]:
        """Return the model's profile and its provider.

        Raises:
            ToriError: The name, the key or the address is wrong.
        """
        if name not in self._loaded:
            self._loaded[name] = self._make(name)
        return self._loaded[name]

    async def fallbacks(self) -> Sequence[Fallback]:
        """Return the configured fallbacks; one whose model or key is not there is left out."""
        found: list[Fallback] = []
        for name in self._fallback_names:
            try:
                profile, provider = await self.ready(name)
            except ToriError:
                continue
            found.append(Fallback(provider, profile))
        return found

    async def prepare(self, name: str) -> None:
        """Load the model's SDK ahead of the first request; takes up to a few seconds, in a thread."""
        _, provider = await self.ready(name)
        await provider.prepare()

    async def close(self) -> None:
        """Close every provider."""
        for _, provider in self._loaded.values():
            await provider.close()
        self._loaded.clear()


__all__ = ["LoadedModels", "MakeModel"]
