from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.bugfix import ANSWER, FIXED, RUN_TESTS, make_repository
from tests.e2e.commands import tori
from tests.wire.answers import Answer, WireReply, WireRequest
from tests.wire.server import WireServer
from tori_tui.domain.state import SessionState
from tori_tui.trace.store import JsonlTraceStore

Step = Mapping[str, object]


def call(name: str, **arguments: object) -> Step:
    return {"action": "continue", "tool_call": {"name": name, "arguments": arguments}}


STEPS: Final[tuple[tuple[Step, ...], ...]] = (
    (call("goal", add=f"Mend the failing test [check: {RUN_TESTS}]", focus="1"),),
    (call("glob_files", pattern="**/*.py"),),
    (call("grep_files", pattern="def add"),),
    (call("read_file", path="calc/ops.py"), call("read_file", path="tests/test_ops.py")),
    (call("edit_file", path="calc/ops.py", old="a - b", new="a + b"),),
    (call("bash", command=RUN_TESTS),),
    ({"action": "done", "goal_check": ANSWER},),
)


def strict(*steps: Step) -> str:
    return "\n".join(json.dumps(step) for step in steps)


def fenced(*steps: Step) -> str:
    return "\n".join(f"```json\n{json.dumps(step, indent=2)}\n```" for step in steps)


def bare(*steps: Step) -> str:
    return "\n".join(json.dumps(step.get("tool_call", step)) for step in steps)


def tagged(*steps: Step) -> str:
    return "\n".join(
        f"<tool_call>\n{json.dumps(step.get('tool_call', step))}\n</tool_call>" for step in steps
    )


def with_preamble(*steps: Step) -> str:
    return "Now I do the next thing, {carefully}.\n\n" + strict(*steps)


def arguments_as_text(*steps: Step) -> str:
    def flat(step: Step) -> Step:
        inner = step.get("tool_call")
        if not isinstance(inner, dict):
            return step
        return {**step, "tool_call": {**inner, "arguments": json.dumps(inner["arguments"])}}

    return strict(*map(flat, steps))


def python_literals(*steps: Step) -> str:
    return "\n".join(repr(step) for step in steps)


def trailing_commas(*steps: Step) -> str:
    return strict(*steps).replace("}", ",}")


def unclosed(*steps: Step) -> str:
    return strict(*steps)[:-1]


STYLES: Final = (
    strict,
    fenced,
    bare,
    tagged,
    with_preamble,
    arguments_as_text,
    python_literals,
    trailing_commas,
    unclosed,
)


def in_style(style: Callable[..., str]) -> Callable[[WireRequest], Answer]:
    def script(request: WireRequest) -> Answer:
        return WireReply(style(*STEPS[min(request.number, len(STEPS)) - 1]))

    return script


async def run(root: Path, server: WireServer, protocol: str) -> tuple[int, str, str]:
    (root.parent / "config" / "tori").mkdir(parents=True, exist_ok=True)
    (root.parent / "config" / "tori" / "config.toml").write_text(f'tool_protocol = "{protocol}"\n')
    return await tori(
        *("run", "fix the failing test", "--mode", "auto", "--model", "openai-chat/m"),
        cwd=root,
        url=server.openai_url,
        XDG_CONFIG_HOME=str(root.parent / "config"),
        XDG_STATE_HOME=str(root.parent / "state"),
    )


def state_of(root: Path) -> SessionState:
    (trace,) = [d for d in (root / ".trace").iterdir() if d.is_dir()]
    with JsonlTraceStore.open(trace, read_only=True) as store:
        return store.load()


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
async def test_text_alone_mends_the_bug_in_strict_json(tmp_path: Path, style: Callable[..., str]) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(in_style(style)) as server:
        code, out, err = await run(root, server, "json")
    assert (code, out.strip()) == (0, ANSWER), err
    assert (root / "calc" / "ops.py").read_text() == FIXED
    assert server.violations == []
    assert len(server.requests) == len(STEPS)
    for request in server.requests:
        assert "tools" not in request.body
        assert "## Current Plan" in request.system_texts[0]
        assert request.user_texts[0].startswith("fix the failing test")
        assert "strict JSON only" in request.user_texts[-1]
    assert "Result of bash:" in server.requests[6].user_texts[-1]
    assert "def double" in json.dumps(server.requests[5].body)
    goal = state_of(root).tree.goals[0]
    assert (goal.status, goal.summary) == ("completed", ANSWER)


async def test_calls_as_text_work_in_native_mode_and_change_the_protocol(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(in_style(tagged)) as server:
        code, out, err = await run(root, server, "auto")
        assert (code, out.strip()) == (0, ANSWER), err
        assert ["tools" in request.body for request in server.requests] == [True] * 3 + [False] * 4
        assert "writes its calls as text" in err
        again = make_repository(tmp_path / "again")
        code, out, err = await run(again, server, "auto")
    assert all("tools" not in request.body for request in server.requests[7:])
    assert server.violations == []


async def test_a_bad_reply_gets_one_correction_that_does_not_stay(tmp_path: Path) -> None:
    bad = {
        2: '{"action": "continue", "tool_call": {"name": "glob_files", "arguments": {}}}',
        5: "I am sorry.",
    }

    def script(request: WireRequest) -> Answer:
        if request.number in bad:
            return WireReply(bad[request.number])
        return WireReply(strict(*STEPS[request.number - 1 - sum(n < request.number for n in bad)]))

    root = make_repository(tmp_path / "project")
    async with WireServer(script) as server:
        code, out, err = await run(root, server, "json")
    assert (code, out.strip()) == (0, ANSWER), err
    assert "`pattern` is missing" in server.requests[2].user_texts[-1]
    assert "no JSON object" in server.requests[5].user_texts[-1]
    for request in server.requests[3:5] + server.requests[6:]:
        assert "not understood" not in json.dumps(request.body)
        assert "sorry" not in json.dumps(request.body)
    assert server.violations == []
    view = state_of(root).view(state_of(root).active_context)
    assert not any("not understood" in entry.message.text for entry in view.entries)


async def test_a_model_that_never_writes_json_ends_the_run_with_its_words(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(lambda _: WireReply("The sum subtracts.")) as server:
        code, out, err = await run(root, server, "json")
    assert (code, out.strip()) == (0, "The sum subtracts."), err
    assert len(server.requests) == 3
    assert server.violations == []


async def test_a_native_model_that_writes_a_wrong_call_as_text_is_corrected_too(tmp_path: Path) -> None:
    bad = '<tool_call>{"name": "read_file", "arguments": {"file": "calc/ops.py"}}</tool_call>'

    def script(request: WireRequest) -> Answer:
        return WireReply(bad) if request.number == 1 else WireReply("It subtracts.")

    root = make_repository(tmp_path / "project")
    async with WireServer(script) as server:
        code, out, err = await run(root, server, "native")
    assert (code, out.strip()) == (0, "It subtracts."), err
    assert "there is no parameter `file`" in server.requests[1].user_texts[-1]
    assert all("tools" in request.body for request in server.requests)
    assert server.violations == []
