from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tori_tui.ui.palette import palette_of
from tori_tui.ui.themes import load_theme, theme_directories
from tori_tui.ui.transcript.blocks import AnswerBlock
from tori_tui.ui.transcript.growing import GrowingLines
from tori_tui.ui.transcript.layout import block_lines
from tori_tui.ui.transcript.markdown import markdown_lines, pieces_of

PALETTE = palette_of(load_theme("dark", theme_directories({"HOME": "/nonexistent"})))

LINES = (
    *("# Head", "text **bold**", "", "- item", "  - below", "1. one", "```python", "x = 1", "```", "> quote"),
    *("| a | b |", "|---|---|", "| 1 | 2 |", "    code", "中文 😀", "[/red] \x1b[31m", "***", "~~~", "a\tb"),
)

MARKDOWN = st.lists(st.sampled_from(LINES), max_size=30).map("\n".join)


def plain(text: str, width: int = 40) -> list[str]:
    return [line.plain.rstrip() for line in markdown_lines(text, width, PALETTE)]


@given(MARKDOWN)
def test_pieces_joined_are_the_text(text: str) -> None:
    assert "".join(pieces_of(text)) == text


@given(MARKDOWN, MARKDOWN)
def test_every_piece_but_the_last_stays_when_the_text_grows(text: str, more: str) -> None:
    before, after = pieces_of(text), pieces_of(text + "\n" + more)
    assert after[: max(0, len(before) - 1)] == before[:-1]


@given(MARKDOWN, st.integers(12, 60))
def test_no_line_is_wider_than_the_width(text: str, width: int) -> None:
    lines = block_lines(AnswerBlock(text), width, PALETTE, is_unfolded=False)
    assert all(cell_len(line.plain) <= width for line in lines)


@given(MARKDOWN)
def test_a_text_that_grew_looks_as_if_it_had_come_at_once(text: str) -> None:
    growing = GrowingLines(50, PALETTE)
    for end in range(0, len(text), 7):
        growing.strips(text[:end])
    grown = [strip.text.rstrip() for strip in growing.strips(text)]
    whole = [line.plain.rstrip() for line in block_lines(AnswerBlock(text), 50, PALETTE, is_unfolded=False)]
    assert [line for line in grown if line] == [line for line in whole if line]


def test_a_long_open_code_block_is_settled_without_losing_a_line() -> None:
    text = "```python\n" + "".join(f"line_{n} = {n}\n" for n in range(400))
    growing = GrowingLines(60, PALETTE)
    for end in range(0, len(text), 100):
        growing.strips(text[:end])
    shown = [strip.text.strip() for strip in growing.strips(text + "```\nend\n")]
    assert [line for line in shown if line.startswith("line_")] == [f"line_{n} = {n}" for n in range(400)]
    assert shown[-1] == "end"


def test_what_a_model_writes_most() -> None:
    text = "# Head\n\nSome **bold** `code`\nnext\n\n- a\n- b\n  - c\n\n3. three\n4. four\n\n> said"
    assert plain(text) == [
        *("Head", "", "Some bold code", "next", "", "• a", "• b", "  • c", ""),
        *("3. three", "4. four", "", "▎ said"),
    ]


def test_a_table_is_fitted_to_the_width() -> None:
    text = "| name | meaning |\n|---|---|\n| a | a long text that does not fit at all |"
    lines = plain(text, 24)
    assert lines[0].startswith("name │ meaning")
    assert "".join(line.partition("│")[2].strip() + " " for line in lines[2:]).split() == (
        ["a", "long", "text", "that", "does", "not", "fit", "at", "all"]
    )


def test_html_and_markup_are_text() -> None:
    assert plain("<b>x</b> [/red] [bold]y[/bold]") == ["<b>x</b> [/red] [bold]y[/bold]"]


def test_a_link_names_its_target() -> None:
    assert plain("[here](https://example.com/a)", 60) == ["here (https://example.com/a)"]


HOSTILE = (
    *("[", "![", "](", "[a](", "*", "**a", "*a **b ", "a**", "`", "`a", "~~a ", "<", "<![CDATA[", "&", "\\"),
    *("> ", ">\n", "- ", "|", "|a|b|\n|-|-|\n", "[x]: y\n", "a\n===\n", "# a\n", "- a\n", "1. ", "_", "中"),
)


def test_no_text_takes_long() -> None:
    for piece in HOSTILE:
        paragraph = piece * (900 // len(piece)) + "\n\n"
        for text in (piece * (8_000 // len(piece)), paragraph * 8):
            began_s = time.process_time()
            assert block_lines(AnswerBlock(text), 80, PALETTE, is_unfolded=False)
            assert time.process_time() - began_s < 0.5, piece


def test_nested_lists_and_wide_tables_take_no_time_and_lose_nothing() -> None:
    nested = "".join("  " * depth + f"- item{depth}\n" for depth in range(40))
    table = "|".join(f"c{n}" for n in range(3_000)) + "\n" + "|".join("-" * 3_000) + "\n"
    began_s = time.process_time()
    shown = " ".join(plain(nested, 200) + plain(table))
    assert time.process_time() - began_s < 2
    assert all(f"item{depth}" in shown for depth in range(40))
    assert all(f"c{n}" in shown for n in range(3_000))


def test_a_code_block_full_of_brackets_is_code() -> None:
    text = "so:\n```json\n" + "[[1, 2], [3, 4]],\n" * 500 + "```\nthus **all**"
    lines = plain(text)
    assert lines[0] == "so:"
    assert "```" not in "".join(lines)
    assert lines[-1] == "thus all"


def test_a_long_list_of_short_marks_is_a_list() -> None:
    lines = plain("".join(f"- `name_{n}` and **more**\n" for n in range(400)), 60)
    assert lines[-1] == "• name_399 and more"
