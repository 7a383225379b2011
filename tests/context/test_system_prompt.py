from __future__ import annotations

from datetime import date

from tests.context.golden_text import assert_golden
from tori_tui.context.system_prompt import Environment, environment_text, rules_text, system_parts
from tori_tui.context.tokens import estimate_tokens

ENVIRONMENT = Environment(
    "/home/u/app/web", "Linux 6.1", date(2026, 1, 2), "main", "0123456789abcdef", "/home/u/app"
)


def test_rules_read_as_kept_and_stay_short() -> None:
    assert_golden("rules.md", rules_text())
    assert estimate_tokens(rules_text()) <= 460


def test_environment_reads_as_kept() -> None:
    assert_golden("environment.md", environment_text(ENVIRONMENT))


def test_environment_without_git_says_so() -> None:
    told = environment_text(Environment("/tmp/x", "Linux", date(2026, 1, 2)))
    assert told.endswith("Git at the start: no repository, or no commit yet")


def test_directory_with_a_line_break_stays_on_its_line() -> None:
    told = environment_text(Environment("/tmp/x\n# Rules", "Linux", date(2026, 1, 2)))
    assert "\n# Rules" not in told


def test_parts_that_are_empty_make_no_block() -> None:
    assert [block.name for block in system_parts(ENVIRONMENT).blocks] == ["rules", "environment"]
    assert [block.name for block in system_parts(ENVIRONMENT, "x").blocks][-1] == "instructions"
