"""The styles in which lines are drawn, made from a theme.

Must not hold a colour of its own; every one comes from the theme's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    _TokenType,
)
from rich.style import Style

from tori_tui.ui.themes import Syntax, ThemeSpec


@dataclass(frozen=True, slots=True)
class Palette:
    """Styles by meaning: inks without a ground, so that they can stand on any, and a few grounds."""

    base: Style
    """Plain text on the plain ground."""
    strong: Style
    muted: Style
    border: Style
    accent: Style
    user: Style
    success: Style
    warning: Style
    error: Style
    thinking: Style
    heading: Style
    code: Style
    code_block: Style
    link: Style
    added: Style
    removed: Style
    hunk: Style
    marked: Style
    """A row under the cursor."""
    found: Style
    """A hit of a search."""
    panel: Style
    """Ground of the user's own words."""
    syntax: Mapping[_TokenType, Style]

    def of_token(self, token: _TokenType) -> Style | None:
        """Return the style of a kind of program text, or None where it is plain."""
        while token not in self.syntax and token.parent is not None:
            token = token.parent
        return self.syntax.get(token)


def palette_of(theme: ThemeSpec) -> Palette:
    """Return the styles of a theme."""
    colors = theme.colors
    base = Style(color=colors.foreground, bgcolor=colors.background)

    def ink(color: str, *, bold: bool = False, italic: bool = False) -> Style:
        return Style(color=color, bold=bold or None, italic=italic or None)

    def on(ground: str, color: str) -> Style:
        return Style(color=color, bgcolor=ground)

    return Palette(
        base=base,
        strong=ink(colors.foreground, bold=True),
        muted=ink(colors.muted),
        border=ink(colors.border),
        accent=ink(colors.accent),
        user=ink(colors.user, bold=True),
        success=ink(colors.success),
        warning=ink(colors.warning),
        error=ink(colors.error),
        thinking=ink(colors.thinking, italic=True),
        heading=ink(colors.accent, bold=True),
        code=ink(colors.code),
        code_block=on(colors.code_background, colors.foreground),
        link=Style(color=colors.accent, underline=True),
        added=on(colors.added_background, colors.added),
        removed=on(colors.removed_background, colors.removed),
        hunk=ink(colors.muted, italic=True),
        marked=_marked(theme),
        found=Style(reverse=True, bold=True) if theme.is_ansi else on(colors.warning, colors.background),
        panel=on(colors.surface, colors.foreground),
        syntax=_syntax_styles(theme.syntax),
    )


def _marked(theme: ThemeSpec) -> Style:
    """A colour of the terminal's own may be any: there a marked row is shown in reverse."""
    return Style(reverse=True) if theme.is_ansi else Style(bgcolor=theme.colors.panel)


def _syntax_styles(syntax: Syntax) -> Mapping[_TokenType, Style]:
    """Only inks: the ground is the block's, so that a piece can stand on any."""
    return {
        Keyword: Style(color=syntax.keyword),
        Keyword.Type: Style(color=syntax.type),
        Name.Builtin: Style(color=syntax.type),
        Name.Class: Style(color=syntax.type),
        Name.Exception: Style(color=syntax.type),
        Name.Function: Style(color=syntax.function),
        Name.Decorator: Style(color=syntax.function),
        Name.Tag: Style(color=syntax.keyword),
        Name.Attribute: Style(color=syntax.function),
        String: Style(color=syntax.string),
        Number: Style(color=syntax.number),
        Comment: Style(color=syntax.comment, italic=True),
        Operator: Style(color=syntax.operator),
        Operator.Word: Style(color=syntax.keyword),
        Punctuation: Style(color=syntax.operator),
        Generic.Deleted: Style(color=syntax.number),
        Generic.Inserted: Style(color=syntax.string),
        Generic.Heading: Style(color=syntax.function, bold=True),
    }


__all__ = ["Palette", "palette_of"]
