"""What `tori doctor` prints: plain lines that can be pasted into a report.

Must not show a key, nor run the command that gives one.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from textwrap import wrap
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from tori_tui import __version__
from tori_tui.cli import streams
from tori_tui.cli.first_of_server import CHAT, first_of_server
from tori_tui.cli.traces import working_directory
from tori_tui.config import LoadedSettings, Settings, load_settings, user_config_path
from tori_tui.config.surroundings import real_surroundings
from tori_tui.config.translate import provider_settings
from tori_tui.domain.errors import ToriError
from tori_tui.providers.keys import describe_keys
from tori_tui.providers.registry import default_model, is_unnamed
from tori_tui.render.safe_text import safe_text
from tori_tui.trace.catalog import trace_root_for
from tori_tui.workspace.checkpoint_disk import CAP_BYTES, disk_use_bytes

LIBRARIES: Final = ("openai", "anthropic", "textual", "rich", "typer", "msgspec")
PROGRAMS: Final = ("git", "rg", "bwrap", "tmux")
PROVIDERS: Final = ("anthropic", "openai", "openai-chat")
TERMINAL_VARIABLES: Final = ("TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_ALL", "TMUX", "SSH_TTY")


def print_report(cwd: Path | None) -> None:
    """Print everything; a broken configuration is told and the rest still shown."""
    here = working_directory(cwd)
    sections = (
        ("tori", _versions()),
        ("programs", _programs()),
        ("configuration", _configuration(here)),
        ("terminal", _terminal()),
    )
    width = streams.terminal_width()
    for title, lines in sections:
        streams.write_out(f"{title}\n")
        for line in lines:
            for part in indented(safe_text(line), width):
                streams.write_out(f"{part}\n")


def indented(line: str, width: int | None) -> list[str]:
    """Return a line below its title, broken between words where a terminal would break it within one."""
    if width is None:
        return [f"  {line}"]
    return wrap(
        line,
        width,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _versions() -> Iterator[str]:
    yield f"tori {__version__}, Python {platform.python_version()}, {platform.system()} {platform.release()}"
    yield f"installed in {Path(__file__).resolve().parents[1]}"
    yield ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)


def _programs() -> Iterator[str]:
    for program in PROGRAMS:
        yield f"{program}: {shutil.which(program) or 'not found'}"


def _configuration(here: Path) -> Iterator[str]:
    path = user_config_path(os.environ)
    yield f"file: {path}{'' if path.exists() else ' (not there)'}"
    root, is_fallback = trace_root_for(here)
    yield f"traces: {root}{' (the work tree cannot be written)' if is_fallback else ''}"
    used_mb = disk_use_bytes(real_surroundings(os.environ).state_dir) / 1e6
    yield f"checkpoints of all work trees: {used_mb:.1f} MB, at most {CAP_BYTES / 1e6:.0f} MB"
    try:
        loaded = load_settings(os.environ, here)
    except ToriError as error:
        yield from str(error).splitlines()
        return
    yield from loaded.notices
    for key, source in sorted(loaded.sources.items()):
        yield f"{key}: from {source}"
    yield f"model: {_model(loaded, os.environ)}"
    yield from _server(loaded.settings, os.environ)
    yield f"mode: {loaded.settings.mode}"
    tables = {name: provider_settings(loaded.settings, name) for name in PROVIDERS}
    for key_source in describe_keys(tables, os.environ):
        yield f"key of {key_source}"


def _server(settings: Settings, environ: Mapping[str, str]) -> Iterator[str]:
    """Tell the address of the user's own server and, where no model is named, which one it lists first."""
    table = provider_settings(settings, CHAT)
    address = (table.base_url or environ.get("OPENAI_BASE_URL", "").strip()).rstrip("/")
    if not address:
        return
    yield f"server: {without_secrets(address)}"
    if not is_unnamed(settings.model, environ) or table.key_command:
        return
    try:
        yield f"its first model: {first_of_server(settings, environ) or 'none is listed'}"
    except ToriError as error:
        yield f"its first model: not known. {error.message.replace(address, without_secrets(address))}"


def without_secrets(address: str) -> str:
    """Return an address without what may be a key: user, password, query."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _model(loaded: LoadedSettings, environ: Mapping[str, str]) -> str:
    if loaded.settings.model:
        return loaded.settings.model
    try:
        why = "the server's first" if is_unnamed(None, environ) else "by the keys that are set"
        return f"{default_model(environ)} ({why})"
    except ToriError as error:
        return f"none. {error.message}"


def _terminal() -> Iterator[str]:
    yield f"stdin {_kind(0)}, stdout {_kind(1)}, stderr {_kind(2)}, encoding {sys.stdout.encoding}"
    size = shutil.get_terminal_size()
    yield f"{size.columns}x{size.lines}"
    for name in TERMINAL_VARIABLES:
        if name in os.environ:
            yield f"{name}={os.environ[name]}"


def _kind(descriptor: int) -> str:
    try:
        return "terminal" if os.isatty(descriptor) else "no terminal"
    except OSError:
        return "closed"


__all__ = ["indented", "print_report"]
