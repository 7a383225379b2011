"""Reads the configuration, says where each value comes from, and names the place of every error.

Must not read the keys of providers (their SDKs' variables do that).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, cast, get_args, get_origin, get_type_hints

import msgspec

from tori_tui.config.places import leaves, line_of
from tori_tui.config.settings import Settings, all_keys, named_table
from tori_tui.domain.errors import UsageError
from tori_tui.domain.events import Mode
from tori_tui.domain.spelling import likest
from tori_tui.permission.folder_trust import CONFIG_NAME, FolderTrust, OwnFiles, own_files
from tori_tui.permission.rules import Effect, parse_rule

CONFIG_LIMIT_BYTES: Final = 1_000_000
"""A larger file is no configuration; it is refused instead of read."""

NEAREST_CUTOFF: Final = 0.5
"""How alike a valid key must be to be named as the one that was meant (difflib's ratio)."""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The configuration with its history."""

    settings: Settings
    sources: Mapping[str, str]
    """For each key that was set: the flag, the variable or the file and line."""
    notices: tuple[str, ...] = ()
    """What the user should be told once."""


def load_settings(
    environ: Mapping[str, str],
    cwd: Path,
    *,
    model: str | None = None,
    mode: str | None = None,
    sandbox: bool = False,
) -> LoadedSettings:
    """Read the configuration of the user, the environment and the command line; the last one wins.

    Args:
        environ: The environment.
        cwd: Where tori works; the configuration of its folder counts where the user trusts it, else it is
            named, not read.
        model: The flag `--model`.
        mode: The flag `--mode`.
        sandbox: The flag `--sandbox`.

    Raises:
        UsageError: A value or a file is wrong; names file, line and key.
    """
    path = user_config_path(environ)
    table, sources = _table(path, _text(path, _read(path)))
    own = own_files(cwd)
    notices = _untrusted_notices(own, environ)
    if own is not None and not notices and CONFIG_NAME in own.files:
        path = own.folder / CONFIG_NAME
        # The very bytes that the trust was bound to; the file may have changed since.
        folder_table, folder_sources = _table(path, _text(path, own.files[CONFIG_NAME]))
        table = merged(table, folder_table)
        sources |= folder_sources
    for key, variable, flag in (("model", "TORI_MODEL", model), ("mode", "TORI_MODE", mode)):
        value, source = (flag, f"--{key}") if flag else (environ.get(variable), variable)
        if value:
            table[key] = value
            sources[key] = source
    if sandbox:
        table["sandbox"] = {**cast("dict[str, object]", table.get("sandbox", {})), "enabled": True}
        sources["sandbox.enabled"] = "--sandbox"
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise _wrong_mode(table, sources) from error
    return LoadedSettings(settings, MappingProxyType(sources), notices)


def user_config_path(environ: Mapping[str, str]) -> Path:
    """Return where the user's configuration lies, whether it exists or not."""
    base = environ.get("XDG_CONFIG_HOME", "")
    # The XDG rules: a relative path is to be ignored.
    folder = Path(base) if base.startswith("/") else _home(environ) / ".config"
    return folder / "tori" / "config.toml"


def user_state_dir(environ: Mapping[str, str]) -> Path:
    """Return where tori keeps what outlives a session."""
    base = environ.get("XDG_STATE_HOME") or str(_home(environ) / ".local" / "state")
    return Path(base) / "tori"


def merged(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    """Return two tables as one: the values of `above` win, but permission rules add up.

    So a folder that forbids nothing does not take back what the user forbade.
    """
    both = dict(below)
    for key, value in above.items():
        under = both.get(key)
        if key == "permissions" and isinstance(under, dict) and isinstance(value, dict):
            both[key] = {name: [*under.get(name, ()), *value.get(name, ())] for name in {**under, **value}}
        elif isinstance(under, dict) and isinstance(value, dict):
            both[key] = merged(under, value)
        else:
            both[key] = value
    return both


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def _table(path: Path, text: str) -> tuple[dict[str, object], dict[str, str]]:
    """Return what a file sets, every value checked, and where it sets it."""
    table = _parsed(path, text)
    _check(table, Settings, (), path, text)
    _check_rules(table, path, text)
    return table, {".".join(key): f"{path}:{line_of(text, key)}" for key in leaves(table)}


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UsageError(f"{path} is not a regular file.", "Put a file there, or remove it.")
        with path.open("rb") as file:
            data = file.read(CONFIG_LIMIT_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except IsADirectoryError as error:
        raise UsageError(f"{path} is a directory.", "Put a file of that name there, or remove it.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", "Mend its permissions.") from error
    return data


def _text(path: Path, data: bytes) -> str:
    if len(data) > CONFIG_LIMIT_BYTES:
        raise UsageError(f"{path} has more than {CONFIG_LIMIT_BYTES:,} bytes.", "Is it a configuration?")
    try:
        # Some editors put a byte order mark first; it says nothing here.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: this line is not UTF-8.", "Save the file as UTF-8.") from error


def _parsed(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).partition(" (at ")
        line = place.removeprefix("line ").partition(",")[0]
        where = f"{path}:{line}" if line.isdecimal() else f"{path}:{text.count(chr(10)) + 1}"
        raise UsageError(f"{where}: {reason}.", f"Line: {_shown_line(text, where)}") from error


def _shown_line(text: str, where: str) -> str:
    lines = text.splitlines() or [""]
    number = int(where.rpartition(":")[2])
    return repr(lines[min(number, len(lines)) - 1][:120])


def _check_rules(table: Mapping[str, object], path: Path, text: str) -> None:
    """Refuse rules of a wrong form before anything is asked of a model."""
    permissions = cast("dict[str, list[str]]", table.get("permissions", {}))
    for effect, rules in permissions.items():
        for rule in rules:
            try:
                parse_rule(cast("Effect", effect), rule)
            except UsageError as error:
                line = line_of(text, ("permissions", effect))
                raise UsageError(f"{path}:{line}: {error.message}", error.hint) from error


def _check(table: Mapping[str, object], shape: type, above: tuple[str, ...], path: Path, text: str) -> None:
    """Refuse keys that do not exist and values of the wrong kind, one by one, each by its full name."""
    hints = get_type_hints(shape, include_extras=True)
    for key, value in table.items():
        place = (*above, key)
        if key not in hints:
            raise _unknown_key(place, path, text)
        hint = hints[key]
        if isinstance(value, dict) and is_dataclass(hint):
            _check(value, cast("type", hint), place, path, text)
        elif isinstance(value, dict) and (named := named_table(hint)):
            for name, inner in value.items():
                _check_value(inner, named, (*place, name), path, text)
        else:
            _check_value(value, hint, place, path, text)


def _check_value(value: object, hint: object, place: tuple[str, ...], path: Path, text: str) -> None:
    if isinstance(value, dict) and is_dataclass(hint):
        _check(value, cast("type", hint), place, path, text)
        return
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError as error:
        reason = _in_words(str(error).partition(" - at `")[0])
        choices = f"; it may be {', '.join(map(str, get_args(hint)))}" if get_origin(hint) is Literal else ""
        raise UsageError(
            f"{path}:{line_of(text, place)}: the value of {'.'.join(place)!r} is wrong: {reason}.",
            f"It is {value!r}{choices}.",
        ) from error


def _unknown_key(place: tuple[str, ...], path: Path, text: str) -> UsageError:
    key = ".".join(place)
    candidates = [valid.replace("NAME", place[1]) if len(place) > 2 else valid for valid in all_keys()]
    # The last word alone finds a key that stands in the wrong table.
    words = {valid.rpartition(".")[2]: valid for valid in reversed(candidates)}
    near_word = likest(place[-1], words, NEAREST_CUTOFF)
    # An exact word in another table beats a similar spelling.
    near = likest(key, candidates, NEAREST_CUTOFF) or words.get(near_word, "")
    meant = words.get(place[-1], near)
    hint = f"Did you mean {meant!r}?" if meant else "`README.md` lists every key."
    return UsageError(f"{path}:{line_of(text, place)}: there is no key {key!r}.", hint)


def _in_words(reason: str) -> str:
    words = {"`int`": "a whole number", "`str`": "a text", "`float`": "a number", "`bool`": "true or false"}
    words |= {"`array`": "a list", "`object`": "a table"}
    reason = reason.replace(" | null", "")
    for name, word in words.items():
        reason = reason.replace(name, word)
    return reason[:1].lower() + reason[1:]


def _wrong_mode(table: Mapping[str, object], sources: Mapping[str, str]) -> UsageError:
    return UsageError(
        f"{sources['mode']} is {table['mode']!r}.", f"It may be {', '.join(map(str, get_args(Mode)))}."
    )


def _untrusted_notices(own: OwnFiles | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Name a folder's own files that do not count."""
    if own is None or FolderTrust(user_state_dir(environ)).answer(own) == "yes":
        return ()
    if own.unreadable:
        return (f"{own.folder / own.unreadable} cannot be read whole, so nothing in {own.folder} counts.",)
    names = ", ".join(sorted(own.files))
    return (f"{own.folder} is not read ({names}): a folder's own files count only once you trust them.",)


__all__ = ["LoadedSettings", "load_settings", "merged", "user_config_path", "user_state_dir"]
