from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.domain.messages import Message
from tori_tui.domain.value import Value, often_made


@often_made
class Often(Value):
    name: str
    sizes: list[int] = field(default_factory=list)
    level: int = 1
    note: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Seldom(Value):
    name: str
    sizes: list[int] = field(default_factory=list)
    level: int = 1
    note: str = field(default="", kw_only=True)


@pytest.mark.parametrize(
    ("given", "named"),
    [(("a",), {}), (("a", [1], 2), {}), (("a",), {"level": 3, "note": "b"}), ((), {"name": "a"})],
)
def test_what_is_made_often_holds_what_a_dataclass_would_hold(
    given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    often, seldom = Often(*given, **named), Seldom(*given, **named)
    assert [getattr(often, f.name) for f in fields(Often)] == [
        getattr(seldom, f.name) for f in fields(Seldom)
    ]
    assert repr(often) == repr(seldom).replace("Seldom", "Often")


@pytest.mark.parametrize(
    ("given", "named"),
    [((), {}), (("a", [], 1, "b"), {}), (("a",), {"unknown": 1}), (("a",), {"name": "b"})],
)
def test_it_takes_no_other_arguments(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Often(*given, **named)


def test_it_is_frozen_and_has_no_room_for_more() -> None:
    made = Often("a")
    for name in ("name", "level"):
        with pytest.raises(FrozenInstanceError):
            setattr(made, name, made.level)
    assert not hasattr(made, "__dict__")


def test_each_gets_a_default_of_its_own() -> None:
    assert Often("a").sizes is not Often("a").sizes


def test_what_is_given_by_name_only_does_not_count_for_equality() -> None:
    assert Often("a", note="b") == Often("a", note="c")
    assert Often("a") != Often("b")
    assert Often("a") != Seldom("a")


def test_it_can_be_changed_in_a_copy_and_carried_elsewhere() -> None:
    made = Often("a", [1], note="b")
    assert replace(made, name="c", note="d") == Often("c", [1])
    assert copy.deepcopy(made) == made
    message = Message(MAIN_CONTEXT, None, "user", "text")
    assert pickle.loads(pickle.dumps(message)) == message
