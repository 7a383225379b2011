"""A provider of any protocol in front of a scripted server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.providers.requests import profile
from tests.wire.answers import Script
from tests.wire.server import WireServer
from tori_tui.providers.base import Provider
from tori_tui.providers.registry import make_provider
from tori_tui.providers.settings import ProviderSettings

PROTOCOLS = ("openai-chat", "openai", "anthropic")


@asynccontextmanager
async def serving(
    protocol: str, script: Script, *, idle_timeout_s: float = 5.0, is_strict: bool = True
) -> AsyncIterator[tuple[WireServer, Provider]]:
    async with WireServer(script, is_strict=is_strict) as server:
        provider = provider_at(protocol, server, idle_timeout_s=idle_timeout_s)
        try:
            yield server, provider
        finally:
            await provider.close()


def provider_at(protocol: str, server: WireServer, *, idle_timeout_s: float = 5.0) -> Provider:
    url = server.url if protocol == "anthropic" else server.openai_url
    settings = ProviderSettings(base_url=url, idle_timeout_s=idle_timeout_s)
    return make_provider(profile(protocol), settings, environ={})
