from __future__ import annotations

import json

import pytest

from tori_tui.workspace.edits import EditRefused
from tori_tui.workspace.notebooks import edit_notebook, notebook_text

IMAGE = "iVBORw0KGgo" * 30_000


def notebook(indent: int | None = 1, ending: str = "\n", ensure_ascii: bool = False) -> bytes:
    cells = [
        {"cell_type": "markdown", "id": "a1", "metadata": {}, "source": ["# Títle\n", "text"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": "b2",
            "metadata": {},
            "outputs": [
                {"data": {"image/png": IMAGE, "text/plain": ["<Figure>"]}, "output_type": "display_data"},
                {"name": "stdout", "output_type": "stream", "text": ["line\n"] * 1_000},
            ],
            "source": ["print(1)\n", "print(2)"],
        },
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    separators = (",", ": ") if indent is not None else (", ", ": ")
    text = json.dumps(document, indent=indent, ensure_ascii=ensure_ascii, separators=separators)
    return text.encode() + ending.encode()


@pytest.mark.parametrize("indent", [1, 2, 4, None])
@pytest.mark.parametrize("ending", ["\n", ""])
@pytest.mark.parametrize("ensure_ascii", [False, True])
def test_an_edit_of_a_cell_leaves_valid_json_and_all_else_alone(
    indent: int | None, ending: str, ensure_ascii: bool
) -> None:
    before = notebook(indent, ending, ensure_ascii)
    after = edit_notebook(before, "print(1)", 'print("a\\nb")\nprint("é")').data
    expected = json.loads(before)
    expected["cells"][1]["source"] = ['print("a\\nb")\n', 'print("é")\n', "print(2)"]
    assert json.loads(after) == expected
    assert after.endswith(b"}" + ending.encode())
    assert before.split(b"print(1)")[0] == after[: before.index(b"print(1)")]
    assert after.endswith(before.split(b"print(2)")[1])


def test_a_text_in_several_cells_is_refused() -> None:
    data = notebook().replace(b'"text"', b'"print(1)"')
    with pytest.raises(EditRefused, match="2 cells: 1, 2"):
        edit_notebook(data, "print(1)", "x")
    assert edit_notebook(data, "print(1)", "x", replace_all=True).n_replaced == 2


def test_metadata_can_be_edited_as_text_if_it_stays_valid() -> None:
    after = edit_notebook(notebook(), '"nbformat_minor": 5', '"nbformat_minor": 4').data
    assert json.loads(after)["nbformat_minor"] == 4
    with pytest.raises(EditRefused, match="valid JSON"):
        edit_notebook(notebook(), '"nbformat_minor": 5', '"nbformat_minor": ')


def test_a_layout_that_could_not_be_kept_is_refused() -> None:
    data = notebook().replace(b'"nbformat": 4', b'"nbformat":   4')
    with pytest.raises(EditRefused, match="laid out"):
        edit_notebook(data, "print(1)", "x")


def test_outputs_are_trimmed() -> None:
    text = notebook_text(notebook())
    assert text is not None
    assert len(text) < 1_500
    assert "print(1)\nprint(2)" in text
    assert "[image/png, 330,000 characters]" in text
    assert "more characters]" in text


@pytest.mark.parametrize("data", [b"", b"[1]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_notebook_is_no_notebook(data: bytes) -> None:
    assert notebook_text(data) is None
