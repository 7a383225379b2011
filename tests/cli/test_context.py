from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.kit import READ, TORI, Project, calls, says
from tests.context.golden_text import assert_golden


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = str(tmp_path_factory.mktemp("demo"))
    done = subprocess.run(
        (*TORI, "demo", "--plain"),
        cwd=folder,
        env={**os.environ, "TMPDIR": folder, "HOME": folder, "XDG_STATE_HOME": folder},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"^The session: (.+)$", done.stdout, re.M)
    assert found is not None
    return Path(found[1])


def context(trace: Path, *arguments: str) -> str:
    done = subprocess.run(
        (*TORI, "context", str(trace), *arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def masked(text: str) -> str:
    """Put marks where the temporary directory's name and the versions of tools change the figures."""
    lines = []
    for line in text.splitlines():
        row = re.sub(r"^([+-] )? *[\d,]+ +[\d.]+%", lambda found: f"{found[1] or ''}  tokens  share", line)
        row = re.sub(r"\breplay/\S+", "replay/replies.toml", row)
        if not re.match(r"[+-]? +tokens", row):
            row = re.sub(r"(?<![#\w.])[\d,]*\d{2,}\b", "N", row)
        lines.append(row)
    return "\n".join(line for line in lines if not line.startswith("Longest"))


def test_a_request_of_the_demo_is_shown_with_rule_and_records(demo: Path) -> None:
    assert_golden("context_turn_9.txt", masked(context(demo, "--turn", "9")))
    assert_golden("context_diff_6_9.txt", masked(context(demo, "--diff", "6", "9")))


def test_the_last_turn_is_shown_if_none_is_named(demo: Path) -> None:
    assert context(demo).startswith("Turn 12 ·")


def test_as_json_every_section_has_its_figures_and_they_add_up(demo: Path) -> None:
    shown = json.loads(context(demo, "--json", "--turn", "9"))
    (request,) = shown["requests"]
    sections = request["sections"]
    assert sum(section["tokens"] for section in sections) == request["tokens"]
    assert abs(sum(section["share"] for section in sections) - 1) < 0.01
    assert request["cacheable_tokens"] == sum(s["tokens"] for s in sections if s["is_cached"])
    for section in sections:
        assert section["rule"]
        assert section["seqs"] or section["name"] in ("rules", "environment", "tools", "plan")
    assert shown["totals"]["n_turns"] == 12
    assert shown["totals"]["rewrites"] == [[7, "goal 2.1 abandoned"]]
    assert len(json.loads(context(demo, "--json", "--diff", "6", "9"))["requests"]) == 2


def test_the_whole_prefix_counts_as_cached_but_for_a_rewrite(demo: Path) -> None:
    (before,) = json.loads(context(demo, "--json", "--turn", "6"))["requests"]
    (rewritten,) = json.loads(context(demo, "--json", "--turn", "7"))["requests"]
    (after,) = json.loads(context(demo, "--json", "--turn", "8"))["requests"]
    assert rewritten["rewrite"] == "goal 2.1 abandoned"
    assert [s["name"] for s in rewritten["sections"] if s["is_cached"]] == [
        *("rules", "environment", "tools", "words", "turn", "turn", "turn"),
    ]
    assert rewritten["cacheable_tokens"] < before["tokens"]
    assert [s["name"] for s in after["sections"] if not s["is_cached"]] == ["turn", "plan"]


@pytest.mark.parametrize("arguments", [["--turn", "99"], ["--diff", "1", "99"]])
def test_a_turn_that_is_not_there_is_told(demo: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        (*TORI, "context", str(demo), *arguments), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "There is no turn 99." in done.stderr
    assert "The turns are 1 to 12." in done.stderr


def test_a_strict_json_request_is_shown_row_by_row(tmp_path: Path) -> None:
    project = Project.make(tmp_path, READ + says('{"action": "done", "goal_check": "read it"}'))
    config = tmp_path / "config" / "tori"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('tool_protocol = "json"\n')
    project.environ["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    assert project.tori("run", "Look at it", "--mode", "auto").returncode == 0
    shown = json.loads(project.tori("context", "--json").stdout)["requests"][0]["sections"]
    assert [section["name"] for section in shown] == [
        *("rules", "tools", "environment", "run", "plan"),
        *("words", "call", "result", "trigger"),
    ]
    assert all(section["rule"] for section in shown)


def test_lines_that_are_sent_twice_are_named(tmp_path: Path) -> None:
    project = Project.make(tmp_path, calls("bash", '{"command": "cat b.txt"}') + says("Done."))
    lines = "\n".join(f"line {n} of a file that is sent along" for n in range(12))
    (project.root / "b.txt").write_text(lines)
    assert project.tori("run", f"This stands in b.txt:\n{lines}", "--mode", "auto").returncode == 0
    shown = project.tori("context").stdout.decode()
    assert re.search(r"^Twice: #\d+ shows 1\d lines of #2 again", shown, re.M), shown
