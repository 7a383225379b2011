from __future__ import annotations

import pytest

from tori_tui.permission.environment import child_environment


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "MISTRAL_API_KEY", "groq_api_key"]
)
def test_provider_variables_are_taken_out(name: str) -> None:
    assert name not in child_environment({name: "value-of-it", "HOME": "/h"})


def test_configured_key_variables_are_taken_out() -> None:
    assert "CORP_SECRET" not in child_environment({"CORP_SECRET": "x"}, ["CORP_SECRET"])


def test_a_copy_of_a_key_under_another_name_is_taken_out() -> None:
    base = {"OPENAI_API_KEY": "sk-1234567890", "MY_COPY": "sk-1234567890", "OTHER": "kept"}
    assert set(child_environment(base)) & set(base) == {"OTHER"}


def test_a_short_key_takes_nothing_else_along() -> None:
    assert child_environment({"X_API_KEY": "1", "DEBUG": "1"})["DEBUG"] == "1"


def test_the_users_own_environment_stays() -> None:
    base = {"PATH": "/bin", "GITHUB_TOKEN": "t", "VIRTUAL_ENV": "/v", "LANG": "de_DE.UTF-8"}
    assert child_environment(base).items() >= base.items()


def test_nothing_asks_or_pages() -> None:
    told = child_environment({"PAGER": "less", "TERM": "xterm-256color"})
    assert told["CI"] == "1"
    assert (told["PAGER"], told["GIT_PAGER"], told["TERM"]) == ("cat", "cat", "dumb")
    assert told["GIT_TERMINAL_PROMPT"] == "0"


def test_a_folder_is_the_one_that_the_policy_sees() -> None:
    assert "CDPATH" not in child_environment({"CDPATH": "/etc", "PATH": "/bin"})
