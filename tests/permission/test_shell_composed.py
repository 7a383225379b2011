from __future__ import annotations

import os
import random
from typing import Final

import pytest

from tests.permission.composing import SAFE, UNSAFE, WRAPS, composed
from tori_tui.permission.policy import PermissionQuestion, decide

COMPOSITIONS: Final = int(os.environ.get("TORI_COMPOSITIONS", "3000"))
"""20,000 of them take about twenty seconds: TORI_COMPOSITIONS=20000."""


def is_free(command: str) -> bool:
    question = PermissionQuestion("bash", "execute", root="/home/me/project", command=command)
    return decide("ask", question).decision == "allow"


@pytest.mark.parametrize("unsafe", UNSAFE)
def test_an_unsafe_part_is_asked_through_every_construct(unsafe: str) -> None:
    source = random.Random(unsafe)
    assert not is_free(unsafe)
    assert [text for wrap in WRAPS if is_free(text := wrap(source, unsafe, SAFE))] == []


def test_no_composition_with_an_unsafe_part_is_free() -> None:
    source = random.Random(20)
    texts = (composed(source, is_unsafe=True) for _ in range(COMPOSITIONS))
    assert [text for text in texts if is_free(text)] == []


def test_most_compositions_of_safe_parts_are_free() -> None:
    source = random.Random(21)
    free = [is_free(composed(source, is_unsafe=False, depth=2)) for _ in range(500)]
    assert sum(free) > 0.6 * len(free)
