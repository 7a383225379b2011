from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.messages import assistant, call, user
from tori_tui.context.tokens import TokenMeter, estimate_message, estimate_tokens
from tori_tui.domain.events import Section, TurnFinished
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.domain.messages import ContentPart, Message
from tori_tui.domain.usage import Usage

# (text, tokens as the o200k vocabulary counts them)
COUNTED = [
    ("他说，这个函数会返回一个列表，然后我们需要检查每一个元素是否满足条件。", 24),
    ("この関数はリストを返します。次に、すべての要素が条件を満たしているか。", 24),
    ("Die Prüfung schlägt fehl, weil die Größe der übergebenen Liste zu groß ist.", 18),
    ("The function returns a list, then each element is checked against the condition.", 14),
    ("def area(self) -> float:\n    return self.width * self.height\n", 14),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_estimate_is_near_a_real_count(text: str, tokens: int) -> None:
    assert 0.6 * tokens <= estimate_tokens(text) <= 1.6 * tokens


def test_only_an_empty_text_takes_nothing() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(" ") == 1


@given(st.text(), st.text())
def test_longer_text_never_takes_less(text: str, more: str) -> None:
    assert estimate_tokens(text + more) >= estimate_tokens(text)


def test_half_a_character_is_counted_and_not_refused() -> None:
    assert estimate_tokens("\ud800") == 1


def test_message_counts_its_calls_and_images() -> None:
    plain = estimate_message(user("hello"))
    with_image = Message(
        MAIN_CONTEXT, None, "user", (ContentPart("text", "hello"), ContentPart("image", data="x"))
    )
    asking = assistant("hello", call("c1", "bash", command="pytest -q"))
    assert estimate_message(asking) > plain
    assert estimate_message(with_image) > plain + 1_000


def test_meter_gives_the_same_count_for_the_same_message() -> None:
    meter = TokenMeter()
    message = user("hello world")
    assert meter.count_message(message) == meter.count_message(message) == estimate_message(message)


def test_meter_follows_what_the_provider_reports_for_each_model() -> None:
    meter = TokenMeter()
    meter.learn("a", 1_000, 1_300)
    assert meter.corrected(100, "a") == 130
    assert meter.corrected(100, "b") == 100
    meter.learn("a", 1_000, 1_000)
    assert 100 < meter.corrected(100, "a") < 130


def test_meter_ignores_reports_that_cannot_be() -> None:
    meter = TokenMeter()
    meter.learn("a", 10_000, 0)
    meter.learn("a", 100, 5_000)
    assert meter.correction("a") == 1
    meter.learn("a", 1_000, 900_000)
    assert meter.correction("a") == 2


def test_sections_are_corrected_and_each_turn_teaches_once() -> None:
    meter = TokenMeter()
    turn = TurnFinished(1, MAIN_CONTEXT, None, "a", "end", Usage(input_tokens=1_500))
    assert meter.corrected_sections([Section("rules", 1_000)], "a", 1) == (Section("rules", 1_000),)
    meter.observe(turn)
    assert meter.corrected_sections([Section("rules", 1_000)], "a", 2) == (Section("rules", 1_500),)
    meter.observe(turn)
    meter.observe(None)
    assert meter.correction("a") == 1.5
