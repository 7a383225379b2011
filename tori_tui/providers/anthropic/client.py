"""Opens the anthropic SDK: the only place that imports it.

Must not be called in the event loop's own thread; the import takes more than a second.
"""

from __future__ import annotations

from typing import Final

from tori_tui.providers.sdk_client import Sdk, tls_context
from tori_tui.providers.settings import CONNECT_TIMEOUT_S, Endpoint

NO_KEY: Final = "none"
"""Sent to servers that want no key; the SDK insists on one."""


def open_anthropic(endpoint: Endpoint, key: str) -> Sdk:
    """Return the SDK with a client for an address, its own retries off.

    Raises:
        ProviderError: The CA file cannot be used.
    """
    import anthropic
    import httpx2

    http_client = None
    if endpoint.ca_file is not None:
        http_client = anthropic.DefaultAsyncHttpxClient(verify=tls_context(endpoint.ca_file))
    key = key or NO_KEY
    client = anthropic.AsyncAnthropic(
        api_key=None if endpoint.is_bearer else key,
        auth_token=key if endpoint.is_bearer else None,
        base_url=endpoint.base_url,
        default_headers=dict(endpoint.headers),
        timeout=httpx2.Timeout(endpoint.idle_timeout_s, connect=CONNECT_TIMEOUT_S),
        max_retries=0,
        http_client=http_client,
    )
    return Sdk(client, anthropic.AsyncStream, anthropic.AnthropicError)


__all__ = ["open_anthropic"]
