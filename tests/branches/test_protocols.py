from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.branches.kit import direction_of, repository
from tests.e2e.commands import tori
from tests.e2e.test_protocols import MODELS
from tests.wire.answers import Answer, WireCall, WireReply, WireRequest
from tests.wire.server import WireServer

READS = WireReply("I read.", (WireCall("read_file", {"path": "a.txt"}),), thinking="Hm.")
EXPLORES = WireReply("", (WireCall("explore", {"branches": ["alpha", "beta"]}),))


def answer(request: WireRequest) -> Answer:
    n_results = len(request.results)
    if direction_of(request):
        call = WireCall("grep_files", {"pattern": "line"})
        return WireReply("", (call,)) if n_results == 1 else WireReply("Found.")
    return (READS, EXPLORES, WireReply("Done."))[n_results]


@pytest.mark.parametrize("protocol", MODELS)
async def test_branches_that_inherit_the_view_keep_every_protocols_rules(
    tmp_path: Path, protocol: str
) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a line\n" * 200})
    async with WireServer(answer) as server:
        code, out, err = await tori(
            *("run", "explore", "--mode", "auto", "--model", MODELS[protocol]),
            cwd=root,
            url=server.url if protocol == "messages" else server.openai_url,
            ANTHROPIC_BASE_URL=server.url,
            ANTHROPIC_API_KEY="k",
            XDG_STATE_HOME=str(tmp_path / "state"),
        )
    assert (code, out) == (0, "Done.\n"), err
    assert server.violations == []
    asking, *_ = [r for r in server.requests if r.n_replies == 1 and not direction_of(r)]
    first = [r for r in server.requests if r.n_replies == 1 and direction_of(r)]
    assert len(first) == 2
    for request in first:
        assert shared(asking, request), (asking.body, request.body)


def shared(asking: WireRequest, request: WireRequest) -> bool:
    """Whether everything that was sent before the explore message is sent again, in the same order."""
    for name in ("tools", "instructions"):
        if asking.body.get(name) != request.body.get(name):
            return False
    before = json.dumps(unmarked(system(asking)) + unmarked(history(asking)))
    now = json.dumps(unmarked(system(request)) + unmarked(history(request)))
    return now.startswith(before.rstrip(']}"'))


def system(request: WireRequest) -> list[object]:
    found = request.body.get("system", [])
    return found if isinstance(found, list) else [found]


def history(request: WireRequest) -> list[object]:
    """Return the history without a plan behind it, which each request has anew."""
    items = list(request.items)
    while items and items[-1].get("role") in ("system", "developer"):
        items.pop()
    return list(items)


def unmarked(value: list[object]) -> list[object]:
    """Leave out the breakpoints of the cache, which are no part of what is cached."""
    return [without_marks(item) for item in value]


def without_marks(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: without_marks(item) for key, item in value.items() if key != "cache_control"}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


async def test_models_without_tool_calling_explore_too(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})

    def strict(request: WireRequest) -> Answer:
        texts = "\n".join(request.user_texts)
        if "You are branch" in texts:
            return WireReply(json.dumps({"action": "done", "goal_check": "Found."}))
        if "branch | outcome" in json.dumps(request.body):
            return WireReply(json.dumps({"action": "done", "goal_check": "Done."}))
        call = {"name": "explore", "arguments": {"branches": ["alpha"]}}
        return WireReply(json.dumps({"action": "continue", "tool_call": call}))

    config = tmp_path / "config" / "tori"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('tool_protocol = "json"\n')
    async with WireServer(strict) as server:
        code, out, err = await tori(
            *("run", "explore", "--mode", "auto", "--model", "openai-chat/m"),
            cwd=root,
            url=server.openai_url,
            XDG_CONFIG_HOME=str(tmp_path / "config"),
        )
    assert (code, out) == (0, "Done.\n"), err
    assert server.violations == []
