from __future__ import annotations

import random

import pytest
from textual.events import Key

from tests.fuzz.targets import TARGETS, ReadingDriver

N_INPUTS = 60


@pytest.mark.parametrize("name", TARGETS)
def test_no_rubbish_breaks(name: str) -> None:
    for seed in range(N_INPUTS):
        TARGETS[name](random.Random(seed))


def test_a_key_number_that_no_character_has_is_dropped_and_typing_goes_on() -> None:
    sequences = ("\x1b[99999999u", "\x1b[55296u", "\x1b[97;1;1114112u", "\x1b[99999999999u")
    for sequence in (*sequences, f"\x1b[<0;{'9' * 400};4M"):
        driver = ReadingDriver()
        driver.read(sequence)
        driver.read("a")
        assert [message.key for message in driver.taken if isinstance(message, Key)][-1:] == ["a"]
