"""Opens the anthropic SDK: the only place that imports it.

Must not be called in the event loop's own thread; the import takes more than a second.
"""

from __future__ import annotations

from typing import Final

from tori_tui.providers.sdk_client import Sdk, http_options
from tori_tui.providers.settings import Endpoint

NO_KEY: Final = "none"
"""Sent to servers that want no key; the SDK insists on one."""


def open_anthropic(endpoint: Endpoint, key: str) -> Sdk:
    """Return the SDK with a client for an address, its own retries off.

    Raises:
        ProviderError: The CA file cannot be used.
    """
    import anthropic

    key = key or NO_KEY
    client = anthropic.AsyncAnthropic(
        api_key=None if endpoint.is_bearer else key,
        auth_token=key if endpoint.is_bearer else None,
        base_url=endpoint.base_url,
        default_headers=dict(endpoint.headers),
        max_retries=0,
        http_client=anthropic.DefaultAsyncHttpxClient(**http_options(endpoint)),
    )
    return Sdk(client, anthropic.AsyncStream, anthropic.AnthropicError)


__all__ = ["open_anthropic"]
