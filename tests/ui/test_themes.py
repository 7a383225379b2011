from __future__ import annotations

import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from tori_tui.ui.actions import ACTIONS, SCOPE_TITLES, bindings_of
from tori_tui.ui.themes import ThemeInvalid, ThemeSpec, load_theme, theme_directories, theme_names

DIRECTORIES = theme_directories({"HOME": "/nonexistent"})

INKS = (
    "foreground",
    "muted",
    "accent",
    "user",
    "success",
    "warning",
    "error",
    "thinking",
    "code",
    "added",
    "removed",
)
GROUNDS = ("background", "surface", "panel", "code_background")
"""Any ink may stand on any of these: plain, in a list over the panes, under the cursor, in a block."""

READ_ON = {"added_background": "added", "removed_background": "removed", "selection": "foreground"}

OF_FILES = ("dark", "ember", "forest", "light", "paper", "sky", "contrast")
"""All but the terminal's own colours, which nobody can measure."""

ENOUGH, HIGH = 4.5, 7.0


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def contrast(ink: str, ground: str) -> float:
    lighter, darker = sorted((luminance(ink), luminance(ground)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def user_themes(tmp_path: Path) -> tuple[Path, tuple[Path, ...]]:
    directories = theme_directories({"XDG_CONFIG_HOME": str(tmp_path)})
    directories[0].mkdir(parents=True)
    return directories[0], directories


def test_every_theme_of_the_package_can_be_read() -> None:
    assert set(theme_names(DIRECTORIES)) == {*OF_FILES, "ansi"}
    for name in theme_names(DIRECTORIES):
        assert load_theme(name, DIRECTORIES).name == name


@pytest.mark.parametrize("name", OF_FILES)
def test_text_can_be_read_on_its_ground(name: str) -> None:
    theme = load_theme(name, DIRECTORIES)
    colors, enough = theme.colors, HIGH if name == "contrast" else ENOUGH
    for ground in GROUNDS:
        for ink in INKS:
            assert contrast(getattr(colors, ink), getattr(colors, ground)) >= enough, (ink, ground)
    for ground, ink in READ_ON.items():
        assert contrast(getattr(colors, ink), getattr(colors, ground)) >= enough, (ink, ground)
    for field in fields(theme.syntax):
        for color in (colors.code_background, colors.background):
            assert contrast(getattr(theme.syntax, field.name), color) >= enough, field.name


@pytest.mark.parametrize("name", OF_FILES)
def test_a_theme_says_truly_whether_it_is_dark(name: str) -> None:
    theme = load_theme(name, DIRECTORIES)
    assert theme.is_dark == (luminance(theme.colors.background) < luminance(theme.colors.foreground))


def test_a_theme_of_the_user_wins_over_one_of_the_same_name(tmp_path: Path) -> None:
    folder, directories = user_themes(tmp_path)
    text = (DIRECTORIES[1] / "dark.toml").read_text().replace("#14171c", "#000000")
    (folder / "dark.toml").write_text(text)
    assert load_theme("dark", directories).colors.background == "#000000"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('accent = "#82aaff"', 'acent = "#82aaff"', "did you mean 'accent'"),
        ('accent = "#82aaff"', 'accent = "bluish"', "colors.accent is 'bluish'"),
        ('accent = "#82aaff"\n', "", "colors.accent is missing"),
        ("[syntax]", "[syntacs]", "unknown key 'syntacs'"),
        ("dark = true", 'dark = "yes"', "dark is 'yes'"),
        ("[colors]", "[colors", "cannot be read"),
    ],
)
def test_a_wrong_theme_is_told_with_file_and_key(tmp_path: Path, old: str, new: str, told: str) -> None:
    folder, directories = user_themes(tmp_path)
    path = folder / "mine.toml"
    shutil.copy(DIRECTORIES[1] / "dark.toml", path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ThemeInvalid) as caught:
        load_theme("mine", directories)
    assert str(path) in str(caught.value)
    assert told in str(caught.value)


def test_an_unknown_theme_names_those_there_are() -> None:
    with pytest.raises(ThemeInvalid, match="ansi, contrast, dark"):
        load_theme("solar", DIRECTORIES)


def test_a_theme_is_a_value() -> None:
    theme: ThemeSpec = load_theme("dark", DIRECTORIES)
    assert theme == load_theme("dark", DIRECTORIES)


@pytest.mark.parametrize("scope", SCOPE_TITLES)
def test_no_key_means_two_things_in_one_scope(scope: str) -> None:
    keys = [key for action in ACTIONS if action.scope == scope for key in action.keys]
    assert len(keys) == len(set(keys))


def test_every_slash_word_is_unique() -> None:
    words = [action.slash for action in ACTIONS if action.slash]
    assert len(words) == len(set(words))
    assert bindings_of("session")
