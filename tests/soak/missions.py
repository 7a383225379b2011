"""Missions of the real program against a faulty server: interrupted, killed and resumed at random."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.bugfix import FIXED, OPS, RUN_TESTS, SUMMARY, make_repository
from tests.fakes.processes import pids_of
from tests.soak.faults import faulty
from tests.wire.answers import Answer, Script, WireCall, WireReply, WireRequest
from tests.wire.server import WireServer
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.trace.projections import GOAL_NAME, goal_json
from tori_tui.trace.store import JsonlTraceStore

GOAL = "Mend the failing test"
MISSION = "Mend the failing test of calc. Größe: 你好 🙂"
MODELS = ("openai-chat/m", "openai/gpt-6.1-sol", "anthropic/claude-sonnet-5-5")
CONFIG = """
[feedback]
classifier = "off"

[providers.openai-chat]
idle_timeout_s = 1.5

[providers.openai]
idle_timeout_s = 1.5

[providers.anthropic]
idle_timeout_s = 1.5
"""

DISTURBED_LIVES = 4
"""Of a mission; in the lives after these nobody interrupts or kills."""

LIVES_LIMIT = 12
LIFE_LIMIT_S = 120

CLEAR_ENDS: Mapping[int, str] = {3: "stopped with goals open", 4: "a limit", 5: "the provider failed"}
"""Ends that are no success but say what happened; the mission is resumed."""


@dataclass
class Found:
    """What a soak came to."""

    n_missions: int = 0
    n_lives: int = 0
    n_kills: int = 0
    n_interrupts: int = 0
    n_requests: int = 0
    ends: dict[int, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def mend_what_is_there(work: Path) -> Script:
    """Return a model that goes by the plan and by the tree, so that no fault confuses it."""

    def answer(request: WireRequest) -> Answer:
        is_mended = (work / "calc" / "ops.py").read_text() != OPS
        goal = _OPEN_GOAL.search(_plan_of(request))
        if goal is None:
            add = f"{GOAL} [check: {RUN_TESTS}]"
            made = WireReply("First the plan.", (WireCall("goal", {"add": add}),))
            return WireReply("add subtracted; now it adds.") if is_mended else made
        if goal["state"] != "→":
            return WireReply("", (WireCall("goal", {"focus": goal["id"]}),))
        if is_mended:
            return WireReply("", (WireCall("goal", {"done": SUMMARY}),))
        if any("return a - b" in text for text in request.results[-4:]):
            edit = {"path": "calc/ops.py", "old": "a - b", "new": "a + b"}
            return WireReply("It subtracts.", (WireCall("edit_file", edit),))
        return WireReply("", (WireCall("read_file", {"path": "calc/ops.py"}),))

    return answer


_OPEN_GOAL = re.compile(r"\[(?P<state>[→ ])\] (?P<id>\d+'*)\. Mend")


def _plan_of(request: WireRequest) -> str:
    plans = [t for t in (*request.system_texts, *request.user_texts) if "## Current Plan" in t]
    return plans[-1].rpartition("## Current Plan")[2] if plans else ""


async def run_mission(rng: random.Random, found: Found) -> None:
    """Run one mission to its end and note whatever is not as it should be."""
    with tempfile.TemporaryDirectory(prefix="tori-soak-") as folder:
        home, work = Path(folder) / "home", Path(folder) / "work"
        (home / "config" / "tori").mkdir(parents=True)
        (home / "config" / "tori" / "config.toml").write_text(CONFIG)
        make_repository(work)
        async with WireServer(faulty(mend_what_is_there(work), rng)) as server:
            environ = {
                "OPENAI_BASE_URL": server.openai_url,
                "ANTHROPIC_BASE_URL": server.url,
                "OPENAI_API_KEY": "test-key",
                "ANTHROPIC_API_KEY": "test-key",
                "HOME": str(home),
                "XDG_CONFIG_HOME": str(home / "config"),
                "XDG_STATE_HOME": str(home / "state"),
            }
            wrong = await _lives(rng, found, work, environ)
            wrong += [f"invalid request: {violation}" for violation in server.violations]
        found.n_missions += 1
        found.n_requests += len(server.requests)
        wrong += _left_wrong(work)
        found.wrong += [f"mission {found.n_missions}: {what}" for what in wrong]


async def _lives(rng: random.Random, found: Found, work: Path, environ: Mapping[str, str]) -> list[str]:
    """Start the program again until the mission is done; return what was wrong."""
    model = rng.choice(MODELS)
    for life in range(LIVES_LIMIT):
        is_new = not _begun_traces(work)
        first = ["run", MISSION] if is_new else ["run", "--resume", ""]
        arguments = [*first, "--mode", "auto", "--model", model]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tori_tui", *arguments),
            cwd=work,
            env={**os.environ, **environ},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        disturbing = asyncio.create_task(_disturb(process, rng, found, life))
        try:
            async with asyncio.timeout(LIFE_LIMIT_S):
                _, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            return [f"a life took more than {LIFE_LIMIT_S} s"]
        finally:
            disturbing.cancel()
        code = process.returncode or 0
        found.n_lives += 1
        found.ends[code] = found.ends.get(code, 0) + 1
        if code == 0:
            return []
        # On a busy machine an interrupt may come before the interpreter can take it: nothing is said then.
        came_too_early = code == -signal.SIGINT and not errors
        if code not in (*CLEAR_ENDS, 130, -signal.SIGKILL) and not came_too_early:
            return [f"exit code {code}: {errors.decode(errors='replace')[-1_500:]}"]
    return [f"not done after {LIVES_LIMIT} lives"]


async def _disturb(process: asyncio.subprocess.Process, rng: random.Random, found: Found, life: int) -> None:
    if life >= DISTURBED_LIVES:
        return
    await asyncio.sleep(rng.uniform(0.3, 6.0))
    if rng.random() < 0.5:
        found.n_kills += 1
        process.kill()
    else:
        found.n_interrupts += 1
        process.send_signal(signal.SIGINT)


def _left_wrong(work: Path) -> list[str]:
    """Return what is not as it should be once the mission is over."""
    wrong: list[str] = []
    if (work / "calc" / "ops.py").read_text() != FIXED:
        wrong.append(f"calc/ops.py holds {(work / 'calc' / 'ops.py').read_text()!r}")
    if left := pids_of("", work):
        wrong.append(f"{len(left)} processes left in the work tree")
    traces = _begun_traces(work)
    if len(traces) != 1:
        wrong.append(f"{len(traces)} traces of one mission")
    for trace in traces:
        wrong += _trace_wrong(trace)
    return wrong


def _begun_traces(work: Path) -> list[Path]:
    """Return the traces in which anything was recorded; a kill may leave one without."""
    files = (work / ".trace").glob("*/messages.jsonl")
    return [file.parent for file in files if file.stat().st_size]


def _trace_wrong(trace: Path) -> list[str]:
    with JsonlTraceStore.open(trace, read_only=True) as store:
        records = list(store.records())
        faults = [fault.reason for fault in store.faults]
    state = reduce_all(records)
    wrong = [f"a record is broken: {reason}" for reason in faults]
    if [record.seq for record in records] != list(range(1, len(records) + 1)):
        wrong.append("the records have holes")
    if state.status != "done" or state.open_calls:
        wrong.append(f"the trace ends {state.status} with {len(state.open_calls)} open calls")
    goal_file = trace / GOAL_NAME
    told = json.loads(goal_file.read_text()) if goal_file.exists() else None
    if told != json.loads(json.dumps(goal_json(state.tree))):
        wrong.append("goal.json is not what the records come to")
    if (n_said := _times_said(state)) != 1:
        wrong.append(f"the mission was said {n_said} times")
    return wrong


def _times_said(state: SessionState) -> int:
    return sum(entry.message.text == MISSION for entry in state.log)


__all__ = ["Found", "run_mission"]
