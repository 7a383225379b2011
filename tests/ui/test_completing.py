from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.test_routing import tree
from tori_tui.domain.own_commands import OwnCommand
from tori_tui.ui.completing import (
    Names,
    Token,
    argument_offer,
    command_offer,
    goal_offer,
    token_before,
)
from tori_tui.ui.slash import SLASH_HELP


@pytest.mark.parametrize(
    ("line", "token"),
    [
        ("@", Token("file", "", 0, 1)),
        ("see @app/lo", Token("file", "app/lo", 4, 11)),
        ("看@文", Token("file", "文", 1, 3)),
        ("看＠文", Token("file", "文", 1, 3)),
        ("(#2'.1", Token("goal", "2'.1", 1, 6)),
        ("＃2", Token("goal", "2", 0, 2)),
        ("/re", Token("command", "re", 0, 3)),
        ("/", Token("command", "", 0, 1)),
        ("/mode pl", Token("argument", "pl", 6, 8, "mode")),
        ("", None),
        ("plain", None),
        ("me@example.org", None),
        ("a#b", None),
        ("@file and more", None),
        ("/nothing more", None),
    ],
)
def test_the_word_before_the_cursor_is_found(line: str, token: Token | None) -> None:
    assert token_before(line, len(line), is_whole=True) == token


def test_only_a_text_of_one_line_is_a_command() -> None:
    assert token_before("/re", 3, is_whole=False) is None


def test_letters_behind_the_cursor_do_not_count() -> None:
    assert token_before("@app and", 2, is_whole=True) == Token("file", "a", 0, 2)


def shown(word: str) -> list[str]:
    return [s.insert for s in command_offer(Token("command", word, 0, len(word) + 1)).suggestions]


def test_commands_that_begin_with_the_word_come_first() -> None:
    assert shown("re")[:6] == ["/redo", "/remember", "/rename", "/replan", "/resume", "/retry"]
    assert shown("plan")[:2] == ["/plan", "/replan"]
    assert shown("rwd")[0] == "/rewind"
    assert shown("take the last") == ["/undo"]
    assert shown("xyzzy") == []


def test_every_command_of_the_help_is_offered_with_form_and_meaning() -> None:
    offered = {s.insert[1:]: s for s in command_offer(Token("command", "", 0, 1)).suggestions}
    assert set(SLASH_HELP) | {"help", "quit", "theme"} <= set(offered)
    assert offered["now"].shown == "/now TEXT"
    assert offered["now"].hint == "joins the current work at the model's next turn"
    assert offered["now"].goes_on
    assert not offered["undo"].goes_on


def test_arguments_are_modes_agents_and_goals() -> None:
    def arguments(command: str, word: str) -> list[str]:
        token = Token("argument", word, len(command) + 2, len(command) + 2 + len(word), command)
        offer = argument_offer(token, tree(), lambda: ("build", "plan", "review"))
        assert offer.note == SLASH_HELP[command]
        return [s.insert for s in offer.suggestions]

    assert arguments("mode", "") == ["plan", "ask", "edit", "auto"]
    assert arguments("mode", "a") == ["ask", "auto"]
    assert arguments("agent", "re") == ["review"]
    assert arguments("agent", "close b") == ["close build"]
    assert arguments("retry", "1")[0] == "1"
    assert arguments("retry", "1 more words") == []
    assert arguments("now", "anything") == []
    assert arguments("plan", "re") == ["rename"]
    assert arguments("plan", "ed") == ["edit"]
    assert arguments("plan", "drop 1")[0] == "drop 1"
    assert arguments("plan", "add 1") == []


def test_goals_are_found_by_id_and_by_words() -> None:
    goals = [goal for root in tree().mission_goals for goal in root.walk()]
    by_id = goal_offer(Token("goal", goals[0].id, 0, 2), tree()).suggestions
    assert by_id[0].insert == f"#{goals[0].id}"
    word = goals[-1].description.split()[-1]
    assert any(
        s.insert == f"#{goals[-1].id}" for s in goal_offer(Token("goal", word, 0, 2), tree()).suggestions
    )


FILES = ("README.md", "app/login.py", "app/models/user.py", "tests/test_login.py", "tests/test_user.py")


def test_folders_are_found_with_their_files() -> None:
    names = Names.of_files(FILES)
    assert names.like("") == ("app/", "tests/", "README.md")
    assert names.like("login.py") == ("app/login.py", "tests/test_login.py")
    assert names.like("user")[0] == "app/models/user.py"
    assert names.like("models")[0] == "app/models/"
    assert names.like("tsu") == ("tests/test_user.py",)
    assert names.like("READ") == ("README.md",)
    assert names.like("zzz") == ()


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), max_size=20), st.text(max_size=6))
def test_what_is_found_holds_the_letters_in_order(files: list[str], word: str) -> None:
    for path in Names.of_files(files).like(word):
        letters = iter(path.lower())
        assert all(letter in letters for letter in word.lower())


def test_a_hundred_thousand_names_are_ranked_in_time() -> None:
    names = Names.of_files(f"src/package{n % 300}/module_{n}.py" for n in range(100_000))
    begun_s = time.perf_counter()
    assert "src/package99/module_99999.py" in names.like("mod99999")
    assert time.perf_counter() - begun_s < 2.0


def test_commands_of_the_users_own_are_offered_and_toris_go_over_them() -> None:
    own = (OwnCommand("tidy", "put things in order", "Tidy up."), OwnCommand("undo", "another", "x"))
    offer = command_offer(Token("command", "tid", 0, 4), own)
    assert [(s.insert, s.shown, s.hint, s.goes_on) for s in offer.suggestions] == [
        ("/tidy", "/tidy …", "put things in order", True)
    ]
    (undo,) = command_offer(Token("command", "undo", 0, 5), own).suggestions
    assert undo.hint == "take the last rewind back"
    assert command_offer(Token("command", "order", 0, 6), own).suggestions[0].insert == "/tidy"
