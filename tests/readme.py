"""The parts of README.md that are made from the program: `python -m tests.readme` writes them anew.

Must not hold any text that the program or its code does not say itself.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Final, Literal, cast, get_args, get_origin, get_type_hints

from tori_tui.cli.exit_codes import MEANINGS
from tori_tui.cli.main import make_app
from tori_tui.config import Settings
from tori_tui.config.settings import named_table

README: Final = Path(__file__).parents[1] / "README.md"

_WORDS: Final[Mapping[object, str]] = MappingProxyType(
    {str: "text", int: "whole number", float: "number", bool: "true or false"}
)


def exit_code_table() -> str:
    """Return the exit codes as a Markdown table."""
    return _rows(("code", "meaning"), [(str(code), meaning) for code, meaning in MEANINGS.items()])


def key_table() -> str:
    """Return every configuration key as a Markdown table."""
    return _rows(("key", "value", "default", "meaning"), _keys(Settings, ""))


def help_texts() -> str:
    """Return what the commands say of themselves."""
    return "```text\n" + "\n\n".join(_help(name) for name in _commands()) + "\n```"


PARTS: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {"exit codes": exit_code_table, "configuration": key_table, "help": help_texts}
)


def with_parts(text: str) -> str:
    """Return a README in which each marked part is what the program says now."""
    for name, make in PARTS.items():
        begin, end = f"<!-- made: {name} -->", f"<!-- end: {name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        pieces = pattern.split(text)
        if len(pieces) != 2:
            raise ValueError(f"README.md must hold {begin} once, and holds it {len(pieces) - 1} times.")
        text = f"{begin}\n{make()}\n{end}".join(pieces)
    return text


def _commands() -> list[str]:
    app = make_app()
    commands = [info.name for info in app.registered_commands if not info.hidden]
    groups = [info.name for info in app.registered_groups]
    return [name for name in (*commands, *groups) if name]


def _rows(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _keys(shape: type, above: str) -> list[tuple[str, ...]]:
    hints = get_type_hints(shape)
    docs = _field_docs(shape)
    rows: list[tuple[str, ...]] = []
    for part in fields(shape):
        hint, key = hints[part.name], above + part.name
        if is_dataclass(hint):
            rows += _keys(cast("type", hint), f"{key}.")
        elif named := named_table(hint):
            rows += _keys(named, f"{key}.NAME.")
        else:
            rows.append((f"`{key}`", _words(hint), _default(part), docs[part.name]))
    return rows


def _field_docs(shape: type) -> dict[str, str]:
    """Return the text that stands below each field of a dataclass."""
    body = cast("ast.ClassDef", ast.parse(inspect.getsource(shape)).body[0]).body
    return {
        cast("ast.Name", field.target).id: inspect.cleandoc(str(doc.value.value))
        for field, doc in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(doc, ast.Expr)
        and isinstance(doc.value, ast.Constant)
    }


def _words(hint: object) -> str:
    if hint in _WORDS:
        return _WORDS[hint]
    if get_origin(hint) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(hint) if choice)
    if get_origin(hint) is tuple:
        return f"list of {_words(get_args(hint)[0])}"
    if get_origin(hint) is dict:
        return "table of text"
    if isinstance(hint, UnionType):
        return _words(next(part for part in get_args(hint) if part is not type(None)))
    return _words(get_args(hint)[0])


def _default(part: Field[object]) -> str:
    value = part.default if part.default_factory is MISSING else part.default_factory()
    if value in (None, (), {}):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _help(name: str) -> str:
    environ = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    command = (sys.executable, "-c", "from tori_tui.cli.main import main; main()", name, "--help")
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return done.stdout.rstrip()


if __name__ == "__main__":
    README.write_text(with_parts(README.read_text()))
