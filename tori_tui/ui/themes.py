"""Themes as files: read by name from the package and from the user's directory.

Must not draw anything; `palette` turns a theme into styles, the app into Textual's colours.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from textual.theme import Theme

from tori_tui.domain.errors import UsageError
from tori_tui.domain.spelling import likest

DARK: Final = "dark"
LIGHT: Final = "light"
AUTO: Final = "auto"

_HEX = re.compile(r"#[0-9a-fA-F]{6}")

ANSI_COLORS: Final = frozenset(
    f"{shade}{name}"
    for shade in ("", "bright_")
    for name in ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
) | {"default"}


class ThemeInvalid(UsageError):
    """A theme file that cannot be used; the message names file, key and value."""


@dataclass(frozen=True, slots=True)
class Colors:
    """What each colour of a theme is for. `#rrggbb`, or one of the terminal's own sixteen."""

    background: str
    surface: str
    """Raised ground: the input, bars."""
    panel: str
    """Ground of marked rows."""
    foreground: str
    muted: str
    border: str
    accent: str
    user: str
    success: str
    warning: str
    error: str
    thinking: str
    code: str
    code_background: str
    added: str
    added_background: str
    removed: str
    removed_background: str
    selection: str


@dataclass(frozen=True, slots=True)
class Syntax:
    """Colours of program text."""

    keyword: str
    string: str
    number: str
    comment: str
    function: str
    type: str
    operator: str


@dataclass(frozen=True, slots=True)
class ThemeSpec:
    """A theme as its file says it."""

    name: str
    is_dark: bool
    is_ansi: bool
    colors: Colors
    syntax: Syntax


def theme_directories(environ: Mapping[str, str] | None = None) -> tuple[Path, ...]:
    """Return where themes are looked for, the user's directory first."""
    environ = os.environ if environ is None else environ
    config = environ.get("XDG_CONFIG_HOME") or str(Path(environ.get("HOME", "~")).expanduser() / ".config")
    package = Path(__file__).resolve().parents[1]
    packaged = package / "themes"
    checkout = package.parent / "themes"
    return (Path(config) / "tori" / "themes", packaged if packaged.is_dir() else checkout)


def theme_names(directories: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the names that `load_theme` takes, sorted."""
    return tuple(sorted({path.stem for folder in directories for path in folder.glob("*.toml")}))


def load_theme(name: str, directories: tuple[Path, ...]) -> ThemeSpec:
    """Read a theme by name; the first directory that has it wins.

    Raises:
        ThemeInvalid: There is none of that name, or its file does not fit.
    """
    for folder in directories:
        path = folder / f"{name}.toml"
        if path.is_file():
            return _parsed(path, name)
    names = theme_names(directories)
    raise ThemeInvalid(
        f"there is no theme {name!r}", f"themes here: {', '.join(names)}{_nearest(name, names)}"
    )


def textual_theme(spec: ThemeSpec) -> Theme:
    """Return the theme as Textual takes it, with tori's own colours as CSS variables."""
    colors = spec.colors
    own = {f"tori-{name.replace('_', '-')}": _css(value) for name, value in _items(colors)}
    return Theme(
        name=f"tori-{spec.name}",
        primary=_css(colors.accent),
        secondary=_css(colors.user),
        accent=_css(colors.accent),
        warning=_css(colors.warning),
        error=_css(colors.error),
        success=_css(colors.success),
        foreground=_css(colors.foreground),
        background=_css(colors.background),
        surface=_css(colors.surface),
        panel=_css(colors.panel),
        dark=spec.is_dark,
        ansi=spec.is_ansi,
        variables={
            **own,
            "ansi-background": "ansi_black",
            "ansi-foreground": "ansi_white",
            "border": _css(colors.accent),
            "border-blurred": _css(colors.border),
            "scrollbar": _css(colors.border),
            "scrollbar-hover": _css(colors.muted),
            "scrollbar-active": _css(colors.accent),
            "scrollbar-background": _css(colors.background),
            "scrollbar-background-hover": _css(colors.background),
            "scrollbar-background-active": _css(colors.background),
            "scrollbar-corner-color": _css(colors.background),
            "screen-selection-background": _css(colors.selection),
            "screen-selection-foreground": _css(colors.foreground),
            "input-selection-background": _css(colors.selection),
            "input-selection-foreground": _css(colors.foreground),
            "input-cursor-background": _css(colors.foreground if not spec.is_ansi else "white"),
            "input-cursor-foreground": _css(colors.background if not spec.is_ansi else "black"),
        },
    )


def _items(group: Colors | Syntax) -> list[tuple[str, str]]:
    return [(field.name, str(getattr(group, field.name))) for field in fields(group)]


def _css(color: str) -> str:
    return color if color.startswith("#") else f"ansi_{color}"


def _parsed(path: Path, name: str) -> ThemeSpec:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ThemeInvalid(f"the theme {path} cannot be read: {error}", "mend or remove the file") from error
    unknown = set(data) - {"name", "dark", "ansi", "colors", "syntax"}
    if unknown:
        raise ThemeInvalid(f"{path}: unknown key {min(unknown)!r}", "known: name, dark, ansi, colors, syntax")
    for key in ("dark", "ansi"):
        if not isinstance(data.get(key, False), bool):
            raise ThemeInvalid(f"{path}: {key} is {data[key]!r}", "write true or false")
    colors = _group(path, data, "colors", [field.name for field in fields(Colors)])
    syntax = _group(path, data, "syntax", [field.name for field in fields(Syntax)])
    is_ansi = bool(data.get("ansi", False))
    return ThemeSpec(name, bool(data.get("dark", True)), is_ansi, Colors(**colors), Syntax(**syntax))


def _group(path: Path, data: Mapping[str, object], table: str, known: list[str]) -> dict[str, str]:
    group = data.get(table)
    if not isinstance(group, dict):
        raise ThemeInvalid(f"{path}: the table [{table}] is missing", f"it needs {', '.join(known)}")
    values: dict[str, str] = {}
    for key, value in group.items():
        if key not in known:
            raise ThemeInvalid(f"{path}: unknown key {table}.{key}", f"remove it{_nearest(key, known)}")
        if not isinstance(value, str) or not (_HEX.fullmatch(value) or value in ANSI_COLORS):
            raise ThemeInvalid(
                f"{path}: {table}.{key} is {value!r}", 'write "#rrggbb" or an ANSI name such as "bright_blue"'
            )
        values[key] = value
    missing = [key for key in known if key not in values]
    if missing:
        raise ThemeInvalid(
            f"{path}: {table}.{missing[0]} is missing", f"missing in all: {', '.join(missing)}"
        )
    return values


def _nearest(word: str, known: tuple[str, ...] | list[str]) -> str:
    near = likest(word, known)
    return f"; did you mean {near!r}?" if near else ""


__all__ = [
    "ANSI_COLORS",
    "AUTO",
    "DARK",
    "LIGHT",
    "Colors",
    "Syntax",
    "ThemeInvalid",
    "ThemeSpec",
    "load_theme",
    "textual_theme",
    "theme_directories",
    "theme_names",
]
