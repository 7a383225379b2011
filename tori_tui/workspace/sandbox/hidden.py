"""What no confined command may see: keys, and the sockets of those who act for others.

Must not hide the work tree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tori_tui.workspace.sandbox.confinement import SandboxTerms

_HOME_SECRETS: Final = """
.ssh .gnupg .aws .azure .kube .docker .password-store .mozilla .1password .config/gcloud .config/gh
.config/glab-cli .config/op .config/tori .config/hub .config/google-chrome .config/chromium
.config/Code/User/globalStorage .local/share/keyrings .local/state/tori .netrc _netrc
.git-credentials .config/git/credentials .npmrc .pypirc .pgpass .my.cnf .vault-token
.cargo/credentials .cargo/credentials.toml .gem/credentials .terraform.d/credentials.tfrc.json
.bash_history .zsh_history .python_history .lesshst .claude .codex .gemini
"""

HOME_SECRETS: Final = tuple(_HOME_SECRETS.split())
"""Below the home; folders and files that hold keys by custom, and histories into which keys are typed."""

SYSTEM_SECRETS: Final = ("/etc/shadow", "/etc/ssl/private")
"""Only root could read them; a container often runs as root."""

SOCKET_VARIABLES: Final = ("SSH_AUTH_SOCK", "DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS", "GPG_AGENT_INFO")
"""They name the sockets of agents; they are taken away, and what they name is hidden."""

TORI_FOLDERS: Final = (("XDG_CONFIG_HOME", "tori"), ("XDG_STATE_HOME", "tori"))

_SOCKET_PATH: Final = re.compile(r"(?:^|unix:(?://)?(?:path=)?)(/[^,;:]*)")


def hidden_paths(terms: SandboxTerms) -> tuple[Path, ...]:
    """Return what is there and has to be hidden, outermost first; nothing that holds the work tree."""
    return tuple(path for path in hideable_paths(terms) if path.exists())


def hideable_paths(terms: SandboxTerms) -> tuple[Path, ...]:
    """Return what would have to be hidden if it were there."""
    found: list[Path] = []
    for path in sorted(set(_candidates(terms))):
        if any(path.is_relative_to(other) for other in found):
            continue
        if not any(kept.is_relative_to(path) for kept in (terms.root, *terms.writable)):
            found.append(path)
    return tuple(found)


def _candidates(terms: SandboxTerms) -> Iterator[Path]:
    yield from (_real(terms.home / name) for name in HOME_SECRETS)
    if os.geteuid() == 0:
        yield from map(Path, SYSTEM_SECRETS)
    for variable, name in TORI_FOLDERS:
        if (base := terms.environ.get(variable, "")).startswith("/"):
            yield _real(Path(base) / name)
    for variable in SOCKET_VARIABLES:
        if match := _SOCKET_PATH.search(terms.environ.get(variable, "")):
            yield _real(Path(match[1]))


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except OSError:
        return path


__all__ = ["SOCKET_VARIABLES", "hidden_paths", "hideable_paths"]
