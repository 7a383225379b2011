"""What the configuration says about one provider.

Must not read the environment; `registry` does and fills in what is not set here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from tori_tui.domain.errors import UsageError

IDLE_TIMEOUT_S: Final = 120.0

LOCAL_IDLE_TIMEOUT_S: Final = 600.0
"""A model on the user's own machine may think long over a long prompt before its first token."""

CONNECT_TIMEOUT_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """One provider's table in the configuration; everything may be left out."""

    base_url: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    ca_file: Path | None = None
    key_command: str = ""
    """A shell command that prints the key."""
    idle_timeout_s: float | None = None
    gulp_s: float = 0.0
    """See `Endpoint`."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go and with what; made by `registry`."""

    base_url: str
    read_key: Callable[[], str] = field(repr=False, default=lambda: "")
    """Gives the key, empty for none; may take long (a command), so it is called in a thread."""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    ca_file: Path | None = None
    idle_timeout_s: float = IDLE_TIMEOUT_S
    gulp_s: float = 0.0
    """Least time between two reads of an answer that comes faster than that: each read costs as much
    as to draw a line. 0 reads everything the moment it is there."""
    is_bearer: bool = False
    """Anthropic only: the key is a token for the Authorization header."""
    proxy_variable: str = ""
    """The environment variable that names a proxy for the address, to tell of it when it fails."""

    @property
    def host(self) -> str:
        """Host and port; thinking returns only to the one that sent it."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


def is_local_url(base_url: str) -> bool:
    """Say whether a server runs on this machine or in a private network."""
    host = ""
    try:
        host = (urlsplit(base_url).hostname or "").lower()
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".local", ".localhost", ".internal"))


def checked_url(base_url: str, source: str) -> str:
    """Return a base URL without the slash at its end.

    Args:
        base_url: As the user gave it.
        source: Where, for the error.

    Raises:
        UsageError: No request can go there.
    """
    try:
        parts = urlsplit(base_url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or any(letter.isspace() for letter in base_url):
        # What stands before an @ may be a password.
        raise UsageError(
            f"{source} is {base_url.rpartition('@')[2]!r}, which is no address of a server.",
            "Write it whole, for example http://localhost:8080/v1.",
        )
    return base_url.rstrip("/")


__all__ = [
    "CONNECT_TIMEOUT_S",
    "IDLE_TIMEOUT_S",
    "LOCAL_IDLE_TIMEOUT_S",
    "Endpoint",
    "ProviderSettings",
    "checked_url",
    "is_local_url",
]
