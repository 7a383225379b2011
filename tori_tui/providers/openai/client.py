"""Opens the openai SDK: the only place that imports it.

Must not be called in the event loop's own thread; the import takes most of a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tori_tui.providers.json_values import mapping_of, mappings_of
from tori_tui.providers.sdk_client import Sdk, SdkClient, http_options
from tori_tui.providers.settings import Endpoint

NO_KEY: Final = "none"
"""Sent to servers that want no key; the SDK insists on one."""


def open_openai(endpoint: Endpoint, key: str) -> Sdk:
    """Return the SDK with a client for an address, its own retries off.

    Raises:
        ProviderError: The CA file cannot be used.
    """
    import openai

    headers: Mapping[str, str] = dict(endpoint.headers)
    client = openai.AsyncOpenAI(
        api_key=key or NO_KEY,
        base_url=endpoint.base_url,
        default_headers=headers,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(**http_options(endpoint)),
    )
    return Sdk(client, openai.AsyncStream, openai.OpenAIError)


async def model_names(client: SdkClient) -> tuple[str, ...]:
    """Return the models that a server lists.

    Raises:
        ProviderError: The server cannot be asked.
    """
    listed = mapping_of(await client.get_json("/models"))
    return tuple(str(item["id"]) for item in mappings_of(listed.get("data")) if item.get("id"))


__all__ = ["model_names", "open_openai"]
