"""Random stories of several lives on one trace, most of which end in a kill."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fakes.processes import pids_of
from tests.fakes.session import records_of
from tests.runtime.lives import REPLIES, STEPS, Life, Story, journal_of, live, traces_in
from tori_tui.domain.events import CommentReceived, CommentRouted, MessageAdded, Record
from tori_tui.domain.state import SessionState, reduce, reduce_all

N_STORIES = int(os.environ.get("LIVES", "10"))
"""With another number they are other stories each time: LIVES=300 for a long look."""

IS_LONG = "LIVES" in os.environ
LIFE_LIMIT_S = 60

steps = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 12)), max_size=9).map(tuple)
replies = st.lists(st.sampled_from(REPLIES), min_size=2, max_size=9).map(tuple)
killed = st.one_of(
    st.builds(Life, steps, replies, st.just("record"), st.integers(1, 90), st.booleans()),
    st.builds(Life, steps, replies, st.just("task"), st.integers(20, 900), st.booleans()),
    st.builds(Life, steps, replies),
)
stories = st.builds(
    lambda lives, last, mode, profile, salt: Story((*lives, last), mode, profile, salt),
    st.lists(killed, min_size=1, max_size=3),
    st.builds(Life, steps, replies),
    st.sampled_from(("auto", "auto", "ask")),
    st.sampled_from(("balanced", "now")),
    st.integers(0, 10_000),
)

servers = multiprocessing.get_context("forkserver")
servers.set_forkserver_preload(["tests.runtime.lives"])


@pytest.mark.timeout(60 + 12 * N_STORIES)
@settings(
    max_examples=N_STORIES,
    derandomize=not IS_LONG,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(story=stories)
def test_whatever_is_said_and_killed_each_word_counts_once_and_replay_is_live(story: Story) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        root.mkdir()
        (root / "a.txt").write_text("begin\nend\n")
        for number in range(len(story.lives)):
            live_one(root, story, number)
        assert pids_of("sleep", root) == []
        judge(root, story)


def live_one(root: Path, story: Story, number: int) -> None:
    """Live one life in a process of its own; what was recorded before stays, byte for byte."""
    before = {trace: (trace / "messages.jsonl").read_bytes() for trace in traces_in(root)}
    process = servers.Process(target=live, args=(root, story, number))
    process.start()
    process.join(LIFE_LIMIT_S)
    if process.is_alive():
        process.kill()
        raise AssertionError(f"life {number} did not end: {story}")
    life = story.lives[number]
    assert process.exitcode in (0, -signal.SIGKILL), (process.exitcode, notes(root, number, "violation"))
    wrong = notes(root, number, "violation")
    assert wrong == [], wrong
    for trace, old in before.items():
        whole, newline, _ = old.rpartition(b"\n")
        assert (trace / "messages.jsonl").read_bytes().startswith(whole + newline)
    if process.exitcode and life.is_torn:
        for trace in traces_in(root):
            with (trace / "messages.jsonl").open("ab") as file:
                file.write(b'{"v":1,"seq":9999,"ts":"2026-01-01T00:00:00.0')


def notes(root: Path, number: int, kind: str) -> list[object]:
    path = journal_of(root, number)
    lines = path.read_text().splitlines() if path.exists() else []
    return [value for name, value in map(json.loads, lines) if name == kind]


def judge(root: Path, story: Story) -> None:
    traces = traces_in(root)
    assert len(traces) == 1
    records = records_of(traces[0])
    state = reduce_all(records)
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    one_by_one = SessionState()
    for record in records:
        one_by_one = reduce(one_by_one, record)
    assert one_by_one == state
    for number in range(len(story.lives)):
        assert {*notes(root, number, "seen")} <= {record.seq for record in records}
    judge_calls(records, state)
    judge_words(root, story, records, state)


def judge_calls(records: list[Record], state: SessionState) -> None:
    messages = [record.event.message for record in records if isinstance(record.event, MessageAdded)]
    asked = [c.id for message in messages if not message.interrupted for c in message.tool_calls]
    answered = [message.tool_call_id for message in messages if message.tool_call_id is not None]
    assert len(set(asked)) == len(asked)
    assert sorted(answered) == sorted(asked)
    assert dict(state.open_calls) == {}
    assert state.status not in ("running", "waiting")


def judge_words(root: Path, story: Story, records: list[Record], state: SessionState) -> None:
    events = [record.event for record in records]
    received = [event for event in events if isinstance(event, CommentReceived)]
    routed = [event.comment_id for event in events if isinstance(event, CommentRouted)]
    said = [event.message for event in events if isinstance(event, MessageAdded)]
    comments = [message.comment_id for message in said if message.comment_id is not None]
    assert dict(state.comments) == {}
    assert comments == routed == [comment.comment_id for comment in received]
    words = Counter(message.text for message in said if message.is_users_word)
    for number in range(len(story.lives)):
        was_killed = not notes(root, number, "ended")
        for text in notes(root, number, "said"):
            assert words[str(text)] <= 1, text
            assert was_killed or words[str(text)] == 1 or str(text).startswith("mission"), text
