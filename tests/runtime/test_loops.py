from __future__ import annotations

import pytest

from tests.fakes.messages import assistant, call, result, state_of, user
from tori_tui.domain.events import CheckpointSaved, DurableEvent
from tori_tui.domain.ids import Seq
from tori_tui.domain.messages import Message
from tori_tui.runtime.loops import count_repeats


def rounds(name: str, n: int, text: str = "same", first: int = 0, **arguments: object) -> list[Message]:
    messages = []
    for i in range(first, first + n):
        messages.append(assistant("", call(f"{name}{i}", name, **arguments)))
        messages.append(result(f"{name}{i}", name, text))
    return messages


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_same_call_with_the_same_result_counts(n: int) -> None:
    state = state_of(user("go"), *rounds("bash", n, command="true"))
    assert count_repeats(state, call("x", "bash", command="true")) == n


def test_other_arguments_do_not_count() -> None:
    state = state_of(user("go"), *rounds("bash", 3, command="true"))
    assert count_repeats(state, call("x", "bash", command="false")) == 0


def test_another_result_ends_the_count() -> None:
    state = state_of(user("go"), *rounds("bash", 3, "old"), *rounds("bash", 2, "new", first=3))
    assert count_repeats(state, call("x", "bash")) == 2


def test_a_change_of_the_work_tree_between_ends_the_count() -> None:
    wrote = [
        assistant("", call("w", "edit_file", path="a")),
        result("w", "edit_file", "ok", details={"changed_paths": ["a"]}),
    ]
    state = state_of(user("go"), *rounds("bash", 4), *wrote, *rounds("bash", 1, first=4))
    assert count_repeats(state, call("x", "bash")) == 1


def test_the_users_word_ends_the_count() -> None:
    state = state_of(user("go"), *rounds("bash", 4), user("again, please"), *rounds("bash", 1, first=4))
    assert count_repeats(state, call("x", "bash")) == 1


def test_polling_a_job_is_no_circle() -> None:
    state = state_of(user("go"), *rounds("bash_output", 9))
    assert count_repeats(state, call("x", "bash_output")) == 0


def test_a_change_by_another_shell_command_between_ends_the_count_and_its_own_does_not() -> None:
    # Records: 1 the word, then two a round; the result of round n stands at 2n + 1.
    own: list[DurableEvent | Message] = [
        *rounds("bash", 2),
        CheckpointSaved("t1", "turn", by="agent", at_seq=Seq(5)),
        *rounds("bash", 2, first=2),
    ]
    assert count_repeats(state_of(user("go"), *own), call("x", "bash")) == 4
    mended = [assistant("", call("s", "bash", command="sed")), result("s", "bash", "")]
    other: list[DurableEvent | Message] = [
        *rounds("bash", 2),
        *mended,
        CheckpointSaved("t1", "turn", by="agent", at_seq=Seq(7)),
        *rounds("bash", 2, first=2),
    ]
    assert count_repeats(state_of(user("go"), *other), call("x", "bash")) == 2
