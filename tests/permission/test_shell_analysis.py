from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.permission.command_table import ASKED, DANGEROUS, HIDDEN, READS, lines
from tori_tui.permission.command_class import classify_command
from tori_tui.permission.policy import PermissionQuestion, Verdict, decide

READS_LINES, ASKED_LINES, DANGEROUS_LINES = lines(READS), [*lines(ASKED), *HIDDEN], lines(DANGEROUS)

LONGEST_ANALYSIS_S = 0.5
"""The promise is 50 ms on a quiet machine; this only catches what grows without bound."""


def decided(mode: str, command: str) -> Verdict:
    question = PermissionQuestion("bash", "execute", root="/home/me/project", command=command)
    match mode:
        case "ask":
            return decide("ask", question)
        case "plan":
            return decide("plan", question)
        case _:
            return decide("auto", question)


@pytest.mark.parametrize("command", READS_LINES)
def test_a_reading_command_runs_free(command: str) -> None:
    assert classify_command(command).reason == ""
    assert decided("ask", command) == Verdict("allow")
    assert decided("plan", command) == Verdict("allow")


@pytest.mark.parametrize("command", ASKED_LINES)
def test_a_command_that_may_do_more_is_asked(command: str) -> None:
    verdict = decided("ask", command)
    assert verdict.decision == "ask"
    assert verdict.reason
    assert decided("plan", command).decision in ("deny", "ask")


@pytest.mark.parametrize("command", DANGEROUS_LINES)
def test_a_dangerous_command_is_asked_in_every_mode(command: str) -> None:
    assert classify_command(command).danger
    assert decided("auto", command).decision == "ask"
    assert decided("plan", command).decision == "deny"


def test_the_table_is_large() -> None:
    assert len(set(READS_LINES)) >= 150
    assert len({*READS_LINES, *ASKED_LINES, *DANGEROUS_LINES}) >= 500


@pytest.mark.parametrize(
    "command",
    [
        "(" * 5_000 + "ls" + ")" * 5_000,
        "$(" * 3_000 + "ls" + ")" * 3_000,
        "{ " * 4_000 + "ls" + "; }" * 4_000,
        "ls;" * 5_000,
        "ls|" * 5_000 + "ls",
        "echo " + "$x" * 8_000,
        "echo " + "'" * 15_999,
        "a=" * 8_000,
        "for a in 1 2 3 4 5 6; do " * 300 + "ls $a" + "; done" * 300,
        "for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do echo $a $b $a $b; done; done;" * 30,
        "echo " + "{a,b}" * 3_000,
        "cat " + "<<A " * 1_000,
        "sed " + "'s/" + "a" * 8_000 + "'",
        "sed '" + "/[" * 240 + "p'",
        "awk '" + "print" * 90 + "' x",
        "[[ " + "! " * 7_000 + "-f x ]]",
        "case x in " + "a|" * 7_000 + "b) ls;; esac",
        "bash -c 'bash -c \"bash -c ls\"'",
        "x" * 1_000_000,
        "ls\n" * 300_000,
    ],
    ids=range(20),
)
def test_hostile_text_takes_no_time_and_is_not_free_for_it(command: str) -> None:
    classify_command("ls")
    began_s = time.perf_counter()
    classify_command(command)
    assert time.perf_counter() - began_s < LONGEST_ANALYSIS_S


@given(st.text(max_size=60) | st.text(alphabet="lsrm x'\"\\$`;|&<>(){}[]*?~#!=-/.\n\tEOF0@:", max_size=60))
def test_no_text_breaks_the_analysis(command: str) -> None:
    found = classify_command(command)
    assert not found.reason.startswith("it cannot be looked through (")
    assert found.is_reading is (found.reason == "")


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat a.py b.py", ("a.py", "b.py")),
        ("cd src && cat a.py", ("src", "src/a.py")),
        ("cd a; cat x", ("a", "a/x")),
        ("(cd a && cat x) && cat y", ("a", "a/x", "y")),
        ("cat < a.py", ("a.py",)),
        ("grep -n /etc/x a.py", ("a.py",)),
        ("grep -e x a.py", ("a.py",)),
        ("git show HEAD:a.py", ("HEAD:a.py", "a.py")),
        ("for f in a.py b.py; do cat $f; done", ("a.py", "b.py")),
        ("find src tests -name x", ("src", "tests")),
        ("bash -c 'cat a.py'", ("a.py",)),
    ],
)
def test_what_a_reading_command_opens_is_known(command: str, paths: tuple[str, ...]) -> None:
    found = classify_command(command)
    assert found.reason == ""
    assert set(paths) <= set(found.paths)


def test_recursive_searches_name_their_folders() -> None:
    assert classify_command("grep -rn foo src lib").folders == ("src", "lib")
    assert classify_command("cd a && grep -r foo").folders == ("a/.",)
    assert classify_command("grep -n foo a.py").folders == ()


def test_every_simple_command_is_found() -> None:
    found = classify_command("cd src && FOO=1 make | tee log; timeout 5 sh -c 'rm x; ls'")
    forms = [form for one in found.commands for form in one.forms]
    for words in (("cd", "src"), ("make",), ("tee", "log"), ("rm", "x"), ("ls",)):
        assert words in forms
