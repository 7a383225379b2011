from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.config.saving import save_rules
from tori_tui.permission.command_class import classify_command
from tori_tui.permission.rules import exact_rule, literal_text, matches_command, parse_rule, rule_text

WRITTEN = [
    "",
    'model = "a/b"\n',
    'model = "a/b"',
    "[permissions]\n",
    "[permissions]\nallow = []\n",
    '[permissions]\nallow = ["bash(make)"] # mine\ndeny = ["bash(rm *)"]\n',
    '[permissions]\nask = ["x"]\n\n[limits]\nturns = 5\n',
    "# a comment\n[permissions] # theirs\nallow = [\n  'a', # b\n]\n[models.\"allow = [\"]\nturns=5\n",
    "﻿[limits]\nturns = 5\n",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_rule_is_added_and_nothing_else_changes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "new" / "config.toml"
    if text:
        path.parent.mkdir()
        path.write_text(text)
    before = tomllib.loads(text.removeprefix("﻿"))
    assert save_rules(path, [r"bash(rm \*.pyc)", 'bash(echo "a\nb")']) == ""
    after = tomllib.loads(path.read_text())
    assert after["permissions"].pop("allow")[:2] == [r"bash(rm \*.pyc)", 'bash(echo "a\nb")']
    permissions = before.get("permissions", {})
    permissions.pop("allow", None)
    assert {**before, "permissions": permissions} == after
    assert all(part in path.read_text() for part in text.split() if part.startswith("#"))


def test_a_rule_that_stands_there_is_not_added_again(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    for _ in range(2):
        assert save_rules(path, ["bash(make)"]) == ""
    assert path.read_text().count("bash(make)") == 1
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "permissions = { allow = [] }\n",
        "permissions.allow = ['a']\n",
        "not toml [",
        "[permissions]\nallow = 5\n",
    ],
)
def test_what_is_not_understood_stays_and_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    told = save_rules(path, ["bash(make)"])
    assert "could not be saved" in told
    assert "bash(make)" in told
    assert path.read_text() == text


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "could not be saved" in save_rules(tmp_path / "file" / "config.toml", ["a"])


@given(st.text(max_size=40))
def test_an_exact_rule_allows_its_command_and_survives_being_written(command: str) -> None:
    rule = exact_rule("bash", command)
    assert literal_text(rule.pattern) == command
    again = parse_rule("allow", rule_text(rule))
    if command.strip() == command and command:
        assert literal_text(again.pattern) == command


@pytest.mark.parametrize("command", ["rm *.pyc", "ls; rm a?", "echo 'a b'", r"grep \* f"])
def test_an_exact_rule_allows_nothing_else(command: str) -> None:
    rule = exact_rule("bash", command)
    assert matches_command(rule, classify_command(command), command)
    for other in ("rm a.pyc", "rm x", f"{command} && make", f"{command}; rm b", "rm -rf x"):
        assert not matches_command(rule, classify_command(other), other)
