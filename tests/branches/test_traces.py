from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.branches.kit import READ, Cast, direction_of, explores, repository, until
from tests.e2e.commands import tori
from tests.fakes.messages import assistant, call, result, state_of, user
from tests.fakes.processes import pids_of
from tests.fakes.session import driven, reply
from tests.wire.answers import Answer, WireCall, WireReply, WireRequest, by_history
from tests.wire.server import WireServer
from tori_tui.domain.events import DurableEvent, Fold, MessageAdded, MessagesFolded
from tori_tui.domain.ids import MAIN_CONTEXT, Seq
from tori_tui.domain.state import reduce_all
from tori_tui.runtime.branches.seed import inherited_records, shown_messages

LONG = "a line that is long enough to be numbered\n" * 20


def view_and_copy(*events: DurableEvent) -> tuple[Sequence[object], Sequence[object]]:
    view = state_of(*events).view(MAIN_CONTEXT)
    copied = reduce_all(inherited_records(view, datetime(2026, 1, 1, tzinfo=UTC)))
    return shown_messages(view), shown_messages(copied.view(MAIN_CONTEXT))


def test_an_inherited_view_shows_the_same_texts_under_the_same_numbers() -> None:
    said = [
        MessageAdded(user("look")),
        MessageAdded(assistant("", call("a", "read_file"), goal="1")),
        MessageAdded(result("a", "read_file", LONG, goal="1")),
        MessageAdded(assistant("", call("b", "bash"), goal="1")),
        MessageAdded(result("b", "bash", LONG + "b", goal="1")),
        MessageAdded(assistant("", call("c", "bash"), goal="2")),
        MessageAdded(result("c", "bash", "short", goal="2")),
    ]
    folds = MessagesFolded(
        MAIN_CONTEXT,
        "batch",
        (Fold((Seq(2), Seq(3)), "<folded goal>"), Fold((Seq(5),), "[unchanged since #3]", is_result=True)),
    )
    for events in (said, [*said, folds]):
        shown, copied = view_and_copy(*events)
        assert copied == shown
        assert len(shown) >= 6


def test_records_of_an_inherited_view_belong_to_no_goal() -> None:
    state = state_of(MessageAdded(user("x")), MessageAdded(assistant("y", goal="1")))
    copied = reduce_all(inherited_records(state.view(MAIN_CONTEXT), datetime(2026, 1, 1, tzinfo=UTC)))
    assert [entry.message.goal_id for entry in copied.log] == [None, None]
    assert [entry.mission_id for entry in copied.log] == [None, None]


async def test_a_branch_is_shown_inside_its_session_and_by_itself(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    cast = Cast([explores("alpha way"), reply("Done.")], {"alpha": [READ, reply("Alpha found it.")]})
    async with driven(cast, root) as driver:
        await driver.run("explore")
        name = driver.session.directory.name
    code, out, _ = await tori("show", cwd=root)
    assert code == 0
    assert "⑂ 1 finished · 2 turns  alpha way" in out
    for trace in (f"{name}/branches/1", f"{name[:-2]}/branches/1/", f".trace/{name}/branches/1"):
        code, out, err = await tori("show", trace, "--unfold", cwd=root)
        assert (code, err) == (0, "")
        assert out.startswith("Mission: alpha way\n")
        assert "Alpha found it." in out
    code, _, err = await tori("show", f"{name}/branches/7", cwd=root)
    assert code != 0
    assert "There are: 1." in err
    code, out, _ = await tori("context", f"{name}/branches/1", cwd=root)
    assert code == 0


async def test_what_a_killed_branch_left_running_is_stopped_at_the_next_start(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})

    def answer(request: WireRequest) -> Answer:
        if not direction_of(request):
            wanted = {"branches": ["alpha"], "mode": "implement", "background": "none"}
            return WireReply("Done.") if request.results else WireReply("", (WireCall("explore", wanted),))
        return by_history(WireReply("", (WireCall("bash", {"command": "sleep 96.5"}),)), WireReply("A."))(
            request
        )

    async with WireServer(answer) as server:
        environ = {**os.environ, "OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "k"}
        environ |= {"TORI_MODEL": "openai-chat/m", "XDG_STATE_HOME": str(tmp_path / "state")}
        arguments = [sys.executable, "-m", "tori_tui"]
        process = await asyncio.create_subprocess_exec(
            *arguments, "run", "go", "--mode", "auto", cwd=root, env=environ, stderr=subprocess.DEVNULL
        )
        await until(lambda: bool(pids_of("96.5")), 20)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        # The second mission is a new one: nothing of the old call is gone on with.
        code, out, err = await tori(
            *("run", "something else", "--resume", "", "--mode", "auto", "--model", "openai-chat/m"),
            cwd=root,
            url=server.openai_url,
            XDG_STATE_HOME=str(tmp_path / "state"),
        )
        told = server.requests[-1].results
    assert (code, out) == (0, "Done.\n"), err
    assert pids_of("96.5") == []
    assert len(told) == 1
    assert "Cut off: tori was stopped and started again." in told[0]
    assert list((tmp_path / "state" / "tori").glob("copies/*")) == []


NOT_LOADED = (
    "tori_tui.bootstrap.branches",
    "tori_tui.runtime.branches.exploring",
    "tori_tui.workspace.copies",
    "tori_tui.workspace.adopt",
)

SCRIPT = """
import sys
from tori_tui.cli.main import main
try:
    main()
finally:
    print("\\n".join(sys.modules), file=sys.stderr)
"""


async def test_a_run_without_branches_loads_nothing_of_them(tmp_path: Path) -> None:
    script = by_history(WireReply("", (WireCall("glob_files", {"pattern": "*"}),)), WireReply("Done."))
    async with WireServer(script) as server:
        environ = {**os.environ, "OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "k"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SCRIPT, "run", "look", "--mode", "auto", "--model", "openai-chat/m"),
            cwd=tmp_path,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        _, err = await process.communicate()
    loaded = err.decode().split()
    assert "tori_tui.bootstrap.acting" in loaded
    assert [name for name in NOT_LOADED if name in loaded] == []
