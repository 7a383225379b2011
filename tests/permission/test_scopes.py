from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from tests.fakes.provider import Script, ScriptedReply
from tests.fakes.session import ENDED, MODEL, WITHOUT_CLASSIFIER, driven, reply, scripted
from tori_tui.bootstrap import SessionOptions
from tori_tui.config import SandboxSettings
from tori_tui.domain.commands import DecideApproval, SubmitPrompt
from tori_tui.domain.events import ApprovalChanged, RunStatusChanged
from tori_tui.runtime.bus import Published
from tori_tui.workspace.sandbox.confinement import SandboxRefused

COMMAND = "echo x >> log"

Scope = Literal["once", "goal", "session", "always"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    return tree


def bash(command: str = COMMAND) -> ScriptedReply:
    return ScriptedReply("", (scripted("bash", {"command": command}),))


def config_of(tree: Path) -> Path:
    return tree.parent / f"{tree.name}-home" / "config" / "tori" / "config.toml"


async def questions_of(tree: Path, script: list[Script], scope: Scope) -> list[ApprovalChanged]:
    """Run a script in mode `ask`, allow whatever is asked with one scope, and return the questions."""
    questions: list[ApprovalChanged] = []
    options = SessionOptions(cwd=tree, model=MODEL, mode="ask", has_user=True)
    async with driven(script, tree, options=options) as driver:
        driver.session.send(SubmitPrompt("go"))
        while True:
            item = await driver.next()
            match item.record.event if isinstance(item, Published) else None:
                case ApprovalChanged(state="asked") as question:
                    questions.append(question)
                    driver.session.send(DecideApproval(question.approval_id, allow=True, scope=scope))
                case RunStatusChanged(status=status) if status in ENDED:
                    return questions


@pytest.mark.parametrize(("scope", "n_questions"), [("once", 3), ("session", 1), ("always", 1)])
async def test_an_answer_holds_as_long_as_it_says(tree: Path, scope: Scope, n_questions: int) -> None:
    questions = await questions_of(tree, [bash(), bash(), bash(), reply("done")], scope)
    assert len(questions) == n_questions
    assert questions[0].rules == (f"bash({COMMAND})",)
    assert (tree / "log").read_text() == "x\n" * 3


async def test_a_grant_for_a_goal_ends_with_it(tree: Path) -> None:
    script: list[Script] = [
        reply(goal={"add": "one, two", "focus": "1"}),
        bash(),
        bash(),
        reply(goal={"done": "made", "focus": "2"}),
        bash(),
        bash(),
        reply(goal={"done": "made"}),
        reply("done"),
    ]
    assert len(await questions_of(tree, script, "goal")) == 2


async def test_without_a_goal_a_grant_for_it_holds_once(tree: Path) -> None:
    assert len(await questions_of(tree, [bash(), bash(), reply("done")], "goal")) == 2


async def test_a_grant_allows_exactly_what_was_shown(tree: Path) -> None:
    (tree / "a.pyc").write_text("")
    script: list[Script] = [
        bash("rm -f *.pyc"),
        bash("rm -f b"),
        bash("rm -f *.pyc && rm -f c"),
        bash("rm  -f *.pyc"),
        reply("done"),
    ]
    questions = await questions_of(tree, script, "session")
    assert [question.rules for question in questions] == [
        (r"bash(rm -f \*.pyc)",),
        ("bash(rm -f b)",),
        (r"bash(rm -f \*.pyc && rm -f c)",),
    ]


async def test_always_is_written_to_the_users_configuration(tree: Path) -> None:
    await questions_of(tree, [bash("rm -f *.pyc"), reply("done")], "always")
    saved = tomllib.loads(config_of(tree).read_text())
    assert saved == {"permissions": {"allow": [r"bash(rm -f \*.pyc)"]}}
    assert not (tree / ".tori").exists()


async def test_edits_of_several_paths_make_a_rule_each(tree: Path) -> None:
    script: list[Script] = [
        ScriptedReply("", (scripted("write_file", {"path": "a*.txt", "content": "x"}),)),
        ScriptedReply("", (scripted("write_file", {"path": "ab.txt", "content": "x"}),)),
        reply("done"),
    ]
    questions = await questions_of(tree, script, "session")
    assert [question.rules for question in questions] == [(r"write_file(a\*.txt)",), ("write_file(ab.txt)",)]


@pytest.mark.needs("bwrap")
async def test_a_session_in_a_sandbox_confines_its_commands_and_says_so(tree: Path) -> None:
    settings = replace(WITHOUT_CLASSIFIER, sandbox=SandboxSettings(enabled=True))
    script: list[Script] = [
        bash('above=$(dirname "$PWD"); echo x > "$above/PWN"; echo y > inside'),
        reply("done"),
    ]
    async with driven(script, tree, settings=settings) as driver:
        assert driver.session.sandbox.split(":")[0] in ("bubblewrap", "Landlock")
        assert str(tree) in driver.session.sandbox
        await driver.run("go")
    assert not (tree.parent / "PWN").exists()
    assert (tree / "inside").read_text() == "y\n"


async def test_a_sandbox_that_cannot_be_had_opens_no_session(tree: Path) -> None:
    settings = replace(WITHOUT_CLASSIFIER, sandbox=SandboxSettings(enabled=True))
    root = SessionOptions(cwd=Path("/"), model=MODEL, mode="auto", trace_dir=tree / "traces")
    with pytest.raises(SandboxRefused, match="everything writable"):
        async with driven([reply("never")], tree, settings=settings, options=root):
            pass
