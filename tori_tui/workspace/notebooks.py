"""Jupyter notebooks: their cells as text, and edits of a cell that leave all other bytes alone.

Must not run anything, nor rewrite a file whose layout it could not reproduce byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from tori_tui.workspace.edits import EditRefused, EditResult, replace_text

SUFFIX: Final = ".ipynb"

OUTPUT_LIMIT_CHARS: Final = 1_000
"""What is shown of one output of a cell."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a program writes a notebook."""

    indent: int | None
    ensure_ascii: bool
    separators: tuple[str, str]
    ending: bytes = b""

    def write(self, document: object) -> bytes:
        """Return the document's bytes."""
        text = json.dumps(
            document, indent=self.indent, ensure_ascii=self.ensure_ascii, separators=self.separators
        )
        return text.encode("utf-8", "surrogatepass") + self.ending


LAYOUTS: Final = tuple(
    Layout(indent, ensure_ascii, separators)
    for indent in (1, 2, 4, None)
    for ensure_ascii in (False, True)
    for separators in ((",", ": "), (", ", ": "), (",", ":"))
)
"""Those that are tried; the first is Jupyter's own."""


def is_valid(data: bytes) -> bool:
    """Say whether bytes can be a notebook at all: a JSON object."""
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


def edit_notebook(data: bytes, old: str, new: str, replace_all: bool = False) -> EditResult:
    """Return the notebook with `old` replaced in its cells' sources, all other bytes as they were.

    Where no cell holds `old`, the file's text is edited as any other, if it stays valid JSON.

    Raises:
        EditRefused: `old` fits no place or several, or the result would be broken.
    """
    cells = _cells(data)
    sources = [_joined(cell.get("source")) for cell in cells]
    holding = [index for index, source in enumerate(sources) if old and old in source]
    if not holding:
        return _edited_as_text(data, old, new, replace_all)
    if len(holding) > 1 and not replace_all:
        numbers = ", ".join(str(index + 1) for index in holding)
        raise EditRefused(
            f"`old` is in {len(holding)} cells: {numbers}.",
            "Add lines around it until only one fits, or set replace_all.",
        )
    document = json.loads(data)
    layout = _layout_of(data, document)
    n_replaced = 0
    for index in holding:
        result = replace_text(sources[index].encode(), old, new, replace_all)
        n_replaced += result.n_replaced
        cell = document["cells"][index]
        text = result.data.decode()
        cell["source"] = text if isinstance(cell["source"], str) else text.splitlines(keepends=True)
    changed = layout.write(document)
    return EditResult(changed, n_replaced, _first_difference(data, changed))


def notebook_text(data: bytes) -> str | None:
    """Return the cells with their outputs, long and binary ones trimmed; None if it is no notebook."""
    if not is_valid(data):
        return None
    parts = []
    for number, cell in enumerate(_cells(data), 1):
        parts.append(f"# [cell {number}, {cell.get('cell_type', 'unknown')}]")
        parts.append(_joined(cell.get("source")))
        outputs = cell.get("outputs")
        parts += [_output_text(output) for output in outputs] if isinstance(outputs, list) else []
    return "\n".join(parts)


def _cells(data: bytes) -> list[Mapping[str, object]]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return []
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return []
    return cells


def _joined(source: object) -> str:
    if isinstance(source, str):
        return source
    return "".join(map(str, source)) if isinstance(source, list) else ""


def _edited_as_text(data: bytes, old: str, new: str, replace_all: bool) -> EditResult:
    result = replace_text(data, old, new, replace_all)
    if is_valid(data) and not is_valid(result.data):
        raise EditRefused(
            "The notebook would no longer be valid JSON.",
            "Give `old` as it stands in a cell's source, without JSON quoting.",
        )
    return replace(result, note="")


def _layout_of(data: bytes, document: object) -> Layout:
    """Return how this notebook is written, found by writing it unchanged.

    Raises:
        EditRefused: No layout gives the same bytes, so that an edit would change other places too.
    """
    ending = b"\n" if data.endswith(b"\n") else b""
    for layout in (replace(known, ending=ending) for known in LAYOUTS):
        if layout.write(document) == data:
            return layout
    raise EditRefused(
        "This notebook is laid out in a way that an edit could not keep.",
        "Give `old` and `new` as they stand in the file, JSON quoting included, or change it by a script.",
    )


def _first_difference(before: bytes, after: bytes) -> int:
    pairs: Iterable[tuple[bytes, bytes]] = zip(before.split(b"\n"), after.split(b"\n"), strict=False)
    return next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 1)


def _output_text(output: object) -> str:
    if not isinstance(output, dict):
        return ""
    data = output.get("data")
    texts = [_joined(output.get("text")), _joined(output.get("traceback"))]
    if isinstance(data, dict):
        texts += [
            _joined(value) if kind.startswith("text/") else f"[{kind}, {len(_joined(value)):,} characters]"
            for kind, value in data.items()
            if kind != "text/html" or "text/plain" not in data
        ]
    text = "\n".join(filter(None, texts))
    left = len(text) - OUTPUT_LIMIT_CHARS
    shown = text if left <= 0 else f"{text[:OUTPUT_LIMIT_CHARS]}… [{left:,} more characters]"
    return f"# [output]\n{shown}"


__all__ = ["SUFFIX", "edit_notebook", "is_valid", "notebook_text"]
