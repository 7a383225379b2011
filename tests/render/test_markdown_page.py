from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.render.sessions import Told, everything
from tori_tui.render.page.account import account_of
from tori_tui.render.page.markdown_page import code, fenced, harmless, markdown_page

GOLDEN = Path(__file__).with_name("everything.md")
"""Written by `python -m tests.render.test_markdown_page`; read it after each change."""

DRAWN = {"html_block", "html_inline", "image"}

marked = st.text(alphabet="`~<>![]()&#x;\\ \nab-*_>\t1.") | st.text()


def drawn(text: str) -> set[str]:
    tokens = MarkdownIt("commonmark", {"html": True}).parse(text)
    return {t.type for token in tokens for t in (token, *(token.children or ()))} & DRAWN


def test_a_session_with_everything_reads_as_it_did() -> None:
    assert markdown_page(everything()) == GOLDEN.read_text()


def test_nothing_in_it_is_drawn_as_html_or_loaded_as_a_picture() -> None:
    assert not drawn(markdown_page(everything()))


@given(marked)
def test_a_fence_holds_whatever_stands_in_it(text: str) -> None:
    tokens = MarkdownIt().parse("\n".join((*fenced(text), "behind")))
    assert [token.type for token in tokens][-3:] == ["paragraph_open", "inline", "paragraph_close"]
    assert tokens[-2].content == "behind"


@given(marked)
def test_a_models_answer_draws_nothing_and_swallows_nothing(text: str) -> None:
    page = f"{harmless(text)}\n\n# behind"
    assert not drawn(page)
    assert MarkdownIt().parse(page)[-2].content.endswith("behind")


@given(marked)
def test_a_whole_page_draws_nothing_whatever_was_said(text: str) -> None:
    told = Told(text)
    told.model(text)
    told.call(text, {"command": text}, text)
    assert not drawn(markdown_page(account_of("t", told.records)))


@pytest.mark.parametrize(("text", "shown"), [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", "")])
def test_program_text_in_a_line_stands_between_enough_ticks(text: str, shown: str) -> None:
    assert code(text) == shown


def test_a_long_result_is_cut_in_the_middle_and_says_so() -> None:
    told = Told("m")
    told.call("bash", {"command": "seq 100"}, "".join(f"{number}\n" for number in range(1, 101)))
    page = markdown_page(account_of("t", told.records))
    assert "20\n… 60 lines left out …\n81\n" in page


if __name__ == "__main__":
    GOLDEN.write_text(markdown_page(everything()))
