"""Where each provider's key comes from: a command, the environment, or the system's keyring.

Must not show a key: what describes one names its source only.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Literal

from tori_tui.providers.errors import ProviderError
from tori_tui.providers.settings import ProviderSettings

KEY_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
    "openai-chat": ("OPENAI_API_KEY",),
}
"""The SDKs' own variables, the first one set wins."""

KEYRING_SERVICE: Final = "tori"
"""`keyring set tori anthropic` stores a key; needs the extra `keyring`."""

COMMAND_TIMEOUT_S: Final = 60.0
"""A password manager may ask the user to unlock it."""

KeyOrigin = Literal["command", "environment", "keyring", "none"]


@dataclass(frozen=True, slots=True)
class KeySource:
    """Where one provider's key comes from."""

    provider: str
    origin: KeyOrigin
    place: str = ""
    """The variable's name, the command, or the keyring's service; never the key."""
    read: Callable[[], str] = field(repr=False, compare=False, default=lambda: "")
    """Gives the key; empty where there is none. A command runs at each call."""

    @property
    def is_token(self) -> bool:
        """Whether it goes into the Authorization header with Anthropic."""
        return self.place == "ANTHROPIC_AUTH_TOKEN"

    def __str__(self) -> str:
        match self.origin:
            case "command":
                return f"{self.provider}: by the command {self.place!r}"
            case "environment":
                return f"{self.provider}: from the environment variable {self.place}"
            case "keyring":
                return f"{self.provider}: from the system's keyring (service {self.place!r})"
            case "none":
                return f"{self.provider}: no key"


def find_key(
    provider: str,
    settings: ProviderSettings,
    environ: Mapping[str, str],
    *,
    from_keyring: Callable[[str], str] | None = None,
) -> KeySource:
    """Return the first source that has a key: the configured command, the environment, the keyring.

    Args:
        provider: Part before the slash of a model's name.
        settings: The provider's table in the configuration.
        environ: The environment.
        from_keyring: Asks the keyring for a provider's key; None is the system's, if installed.
    """
    if settings.key_command:
        command = settings.key_command
        return KeySource(provider, "command", command, lambda: run_key_command(command, environ))
    for variable in KEY_VARIABLES.get(provider, ()):
        if key := environ.get(variable, "").strip():
            return KeySource(provider, "environment", variable, lambda: key)
    ask = from_keyring or ask_keyring
    if stored := ask(provider):
        return KeySource(provider, "keyring", KEYRING_SERVICE, lambda: stored)
    return KeySource(provider, "none")


def describe_keys(
    settings: Mapping[str, ProviderSettings],
    environ: Mapping[str, str],
    *,
    from_keyring: Callable[[str], str] | None = None,
) -> tuple[KeySource, ...]:
    """Return each provider's source; `str` of one is a line for the user without the key."""
    return tuple(
        find_key(provider, settings.get(provider, ProviderSettings()), environ, from_keyring=from_keyring)
        for provider in KEY_VARIABLES
    )


def run_key_command(command: str, environ: Mapping[str, str]) -> str:
    """Return the first line that a shell command prints.

    Raises:
        ProviderError: It failed, took too long or printed nothing.
    """
    try:
        done = subprocess.run(
            command,
            shell=True,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _command_failed(command, f"took more than {COMMAND_TIMEOUT_S:g} s") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _command_failed(command, f"ended with {done.returncode}: {said[-1] if said else 'no message'}")
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    if not lines:
        raise _command_failed(command, "printed nothing")
    return lines[0].strip()


def ask_keyring(provider: str) -> str:
    """Return a provider's key from the system's keyring; empty if there is none or no keyring."""
    if find_spec("keyring") is None:
        return ""
    keyring, errors = import_module("keyring"), import_module("keyring.errors")
    try:
        return str(keyring.get_password(KEYRING_SERVICE, provider) or "")
    except errors.KeyringError:
        return ""


def _command_failed(command: str, what: str) -> ProviderError:
    return ProviderError(
        f"The key command {command!r} {what}.",
        "key_command under [providers.NAME] must print the key on its first line.",
        fault="auth",
    )


__all__ = [
    "KEYRING_SERVICE",
    "KEY_VARIABLES",
    "KeyOrigin",
    "KeySource",
    "ask_keyring",
    "describe_keys",
    "find_key",
    "run_key_command",
]
