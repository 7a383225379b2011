"""Which models a server offers, by `GET /models`: soon answered or given up, without an SDK.

Must not be called in the event loop's own thread, and must not follow a redirect: a key goes where it was
meant to go, or nowhere.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from io import BufferedIOBase
from typing import Final

from tori_tui.domain.errors import UsageError
from tori_tui.providers.http_failure import (
    failure_from_connection,
    failure_from_response,
    garbled,
    stalled,
)
from tori_tui.providers.json_values import mapping_of, mappings_of
from tori_tui.providers.registry import OPENAI_URL, endpoint_for
from tori_tui.providers.settings import Endpoint, ProviderSettings, is_local_url

TIMEOUT_S: Final = 3.0
"""Somebody looks at a list meanwhile."""

LOCAL_TIMEOUT_S: Final = 1.0
"""Of a port on this machine on which perhaps nobody listens."""

LIMIT_BYTES: Final = 4_000_000
"""The longest list known, a gateway's, has a tenth of that."""

PIECE_BYTES: Final = 65_536

ANTHROPIC_VERSION: Final = "2023-06-01"
"""The API's version header, as the SDK sends it."""

LOCAL_PORTS: Final[Mapping[int, str]] = {
    11434: "Ollama",
    1234: "LM Studio",
    8000: "vLLM",
    8080: "llama.cpp",
}
"""Where each listens by default, from its own documentation."""

NOT_FOR_TALK: Final = (
    *("embedding", "whisper", "tts", "dall-e", "moderation", "transcribe"),
    *("realtime", "audio", "image", "sora", "babbage", "davinci"),
)
"""In the names of OpenAI's models that hold no conversation."""


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server that can be asked for its models."""

    provider: str
    """The part before the slash of its models' names."""
    endpoint: Endpoint
    timeout_s: float = TIMEOUT_S
    kind: str = ""
    """What usually listens there; empty where the user configured the address."""

    def models(self) -> tuple[str, ...]:
        """Return the models' names, each with its provider in front.

        Raises:
            ProviderError: The server cannot be asked, takes too long, or answers something else.
        """
        names = listed_models(self.endpoint, self.provider, self.timeout_s)
        if self.endpoint.base_url == OPENAI_URL:
            names = tuple(name for name in names if not any(word in name for word in NOT_FOR_TALK))
        return tuple(f"{self.provider}/{name}" for name in names)


def configured_servers(
    tables: Mapping[str, ProviderSettings], environ: Mapping[str, str]
) -> tuple[ModelServer, ...]:
    """Return the servers for which there is a key or an address, each once.

    Args:
        tables: The providers' tables in the configuration, by name.
        environ: The environment.
    """
    found: dict[str, ModelServer] = {}
    for provider in ("anthropic", "openai", "openai-chat"):
        try:
            endpoint = endpoint_for(provider, tables.get(provider, ProviderSettings()), environ)
        except UsageError:
            continue
        is_own = bool(tables.get(provider, ProviderSettings()).base_url)
        # One address serves both of OpenAI's protocols: a server of one's own mostly speaks the older.
        if provider == "openai" and endpoint.base_url != OPENAI_URL and not is_own:
            continue
        if provider == "openai-chat" and endpoint.base_url == OPENAI_URL:
            continue
        found.setdefault(f"{provider} {endpoint.base_url}", ModelServer(provider, endpoint))
    return tuple(found.values())


def local_servers(ports: Mapping[int, str] = LOCAL_PORTS) -> tuple[ModelServer, ...]:
    """Return this machine's usual places of model servers; whether one listens, asking tells."""
    return tuple(
        ModelServer("openai-chat", Endpoint(f"http://127.0.0.1:{port}/v1"), LOCAL_TIMEOUT_S, kind)
        for port, kind in ports.items()
    )


def listed_models(endpoint: Endpoint, provider: str, timeout_s: float) -> tuple[str, ...]:
    """Return the names that a server lists, in its order.

    Raises:
        ProviderError: The server cannot be asked, takes too long, or answers something else.
    """
    key = endpoint.read_key()
    is_anthropic = provider == "anthropic"
    url = endpoint.base_url + ("/v1/models?limit=1000" if is_anthropic else "/models")
    headers = {"Accept": "application/json", **_key_headers(endpoint, key, is_anthropic), **endpoint.headers}
    body = _fetched(urllib.request.Request(url, headers=headers), endpoint, key, timeout_s)
    try:
        listed = mapping_of(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise garbled(body.decode("utf-8", "replace")) from error
    if "data" not in listed:
        raise garbled(body.decode("utf-8", "replace"))
    return tuple(dict.fromkeys(str(item["id"]) for item in mappings_of(listed["data"]) if item.get("id")))


def _key_headers(endpoint: Endpoint, key: str, is_anthropic: bool) -> Mapping[str, str]:
    version = {"anthropic-version": ANTHROPIC_VERSION} if is_anthropic else {}
    if not key:
        return version
    is_bearer = endpoint.is_bearer or not is_anthropic
    return {**version, **({"Authorization": f"Bearer {key}"} if is_bearer else {"x-api-key": key})}


def _opener(endpoint: Endpoint) -> urllib.request.OpenerDirector:
    """Return what opens addresses and takes a redirect for the answer that it is."""
    opener = urllib.request.OpenerDirector()
    proxies = urllib.request.ProxyHandler({} if is_local_url(endpoint.base_url) else None)
    for handler in (
        proxies,
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=_context(endpoint)),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _context(endpoint: Endpoint) -> ssl.SSLContext | None:
    if endpoint.ca_file is None or not endpoint.base_url.startswith("https:"):
        return None
    context = ssl.create_default_context()
    context.load_verify_locations(cafile=endpoint.ca_file)
    return context


def _fetched(request: urllib.request.Request, endpoint: Endpoint, key: str, timeout_s: float) -> bytes:
    try:
        with _opener(endpoint).open(request, timeout=timeout_s) as answer:
            return b"".join(_pieces(answer, timeout_s))
    except urllib.error.HTTPError as refused:
        body = refused.read(LIMIT_BYTES).decode("utf-8", "replace")
        headers = {name.lower(): value for name, value in refused.headers.items()}
        raise failure_from_response(refused.code, headers, body, secret=key) from refused
    except TimeoutError as error:
        raise stalled(timeout_s) from error
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(getattr(error, "reason", None), TimeoutError):
            raise stalled(timeout_s) from error
        variable = endpoint.proxy_variable
        raise failure_from_connection(
            error, endpoint.base_url, proxy_variable=variable, secret=key
        ) from error


def _pieces(answer: BufferedIOBase, timeout_s: float) -> Iterator[bytes]:
    """Yield the body; a server that drips it is given up as one that is silent."""
    until_s = time.monotonic() + timeout_s
    left = LIMIT_BYTES
    while left > 0 and (piece := answer.read1(min(PIECE_BYTES, left))):
        yield piece
        left -= len(piece)
        if time.monotonic() > until_s:
            raise TimeoutError


__all__ = ["LOCAL_PORTS", "ModelServer", "configured_servers", "listed_models", "local_servers"]
