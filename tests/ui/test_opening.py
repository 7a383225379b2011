from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.ui.apps import Stage
from tests.ui.fakes import answered, call, mission, result, said
from tests.ui.test_pictures import SMALL, WIDE, Compare
from tests.ui.test_session_screen import RUNNING, live, ready, sent
from tori_tui.cli.file_port import file_port, find_file, read_text
from tori_tui.domain.commands import RewindTo
from tori_tui.domain.errors import UsageError
from tori_tui.domain.events import CheckpointSaved, DurableEvent, TurnFinished
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, Seq
from tori_tui.render.file_links import FileLink, links_in
from tori_tui.ui.editor import opened_in_editor
from tori_tui.ui.file_port import FilePort
from tori_tui.ui.screens.confirm import ConfirmScreen
from tori_tui.ui.screens.diff_page import DiffPage
from tori_tui.ui.screens.file_page import FilePage
from tori_tui.ui.screens.files import FilesScreen
from tori_tui.ui.transcript.blocks import AnswerBlock, CallBlock, CheckpointBlock
from tori_tui.ui.transcript.links import link_under, links_of

DIFF = "--- a/a.py\n+++ b/a.py\n@@ -8,2 +8,3 @@\n x\n+new\n y\n"
GREP = "src/app.py\n3:import os\n4-\n--\n12:os.getcwd()\ntests/测试.py\n7:os\n[first 100 matches: narrow]"


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("src/app.py:12: error", ["src/app.py:12"]),
        ("at app.py:12:5, and (lib/x.js:3)", ["app.py:12", "lib/x.js:3"]),
        ('  File "/usr/lib/python3/os.py", line 12, in f', ["/usr/lib/python3/os.py:12"]),
        ("edit `models/user.py` and ./run.sh.", ["models/user.py", "./run.sh"]),
        ("see https://example.org/a/b.html:80 and ssh://h/x.py", []),
        ("it took 12:30, 3.14 s, with v1.2", []),
        ("a.py(12) ~/notes.md:3 ../x/y.c:9", ["a.py:12", "~/notes.md:3", "../x/y.c:9"]),
        ("FAILED tests/test_a.py::test_b - x", ["tests/test_a.py"]),
        ("中文 src/登录.py:5里", ["src/登录.py:5"]),
    ],
)
def test_names_of_files_in_a_text(text: str, links: list[str]) -> None:
    assert [found.link.shown for found in links_in(text)] == links


def done(name: str, output: str, **arguments: object) -> CallBlock:
    return CallBlock(CallId("c"), name, arguments, state="done", output=output)


def test_each_hit_of_a_search_is_a_place_and_each_tool_names_its_file() -> None:
    assert [link.shown for link in links_of(done("grep_files", GREP))] == [
        *("src/app.py:3", "src/app.py:12", "tests/测试.py:7"),
    ]
    assert links_of(done("glob_files", "a.py\nb c.py")) == (FileLink("a.py"), FileLink("b c.py"))
    read = replace(done("read_file", "1\tx", path="a.py"), details={"first_line": 40})
    assert links_of(read) == (FileLink("a.py", 40),)
    assert links_of(replace(done("edit_file", "ok", path="a.py"), details={"diff": DIFF})) == (
        FileLink("a.py", 9),
    )
    assert links_of(AnswerBlock("in a.py:3 and a.py:3")) == (FileLink("a.py", 3),)


def test_a_character_of_a_drawn_line_leads_to_the_file_that_it_stands_for() -> None:
    rows = ["▾ grep_files os", *(f"  │ {line}  " for line in GREP.split("\n"))]
    block = done("grep_files", GREP)
    assert link_under(block, rows, 1, 6) == FileLink("src/app.py")
    assert link_under(block, rows, 2, 6) == FileLink("src/app.py", 3)
    assert link_under(block, rows, 5, 30) == FileLink("src/app.py", 12)
    assert link_under(block, rows, 7, 4) == FileLink("tests/测试.py", 7)
    assert link_under(block, rows, 4, 4) is None
    assert link_under(AnswerBlock(""), ["  see a.py:3 there"], 0, 8) == FileLink("a.py", 3)
    assert link_under(AnswerBlock(""), ["  see a.py:3 there"], 0, 3) is None


def test_only_regular_files_are_found_and_links_lead_where_they_lead(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "a.py").write_text("x")
    (root / "sub" / "b.py").write_text("y")
    (tmp_path / "out.txt").write_text("z")
    (root / "link").symlink_to(tmp_path / "out.txt")
    os.mkfifo(root / "pipe")
    inside = find_file(root, root / "sub", "a.py")
    assert inside is not None
    assert (inside.path, inside.is_inside) == (str(root / "a.py"), True)
    for name in ("link", "../../out.txt", str(tmp_path / "out.txt")):
        found = find_file(root, root / "sub", name)
        assert found is not None
        assert not found.is_inside
    for name in ("pipe", "sub", "none.py", "\0", "", "~nobody-here/x", "a" * 5_000):
        assert find_file(root, root, name) is None
    (root / "bin").write_bytes(b"a\0b")
    for name in ("bin", "gone"):
        with pytest.raises(UsageError):
            read_text(str(root / name))


@contextmanager
def tree(tmp_path: Path) -> Iterator[FilePort]:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("".join(f"line_{n} = {n}\n" for n in range(1, 200)))
    (tmp_path / "结果.txt").write_text("一行\n二行\n")
    yield file_port(tmp_path, tmp_path)


def searched(*rows: str) -> list[DurableEvent]:
    return [
        *RUNNING,
        answered("", call("c1", "grep_files", pattern="x")),
        result("c1", "\n".join(rows), name="grep_files"),
    ]


async def test_keys_open_one_place_at_once_and_let_choose_among_several(tmp_path: Path) -> None:
    with tree(tmp_path) as port:
        async with live(searched("src/app.py", "120:line_120", "gone.py", "3:x")) as (stage, pilot):
            stage.screen.talk_ports = replace(stage.screen.talk_ports, files=port)
            stage.screen.transcript.focus()
            await pilot.press("f")
            await pilot.pause(0.2)
            page = stage.app.screen
            assert isinstance(page, FilePage)
            assert any(line.startswith("▶120 line_120 = 120") for line in page.page.shown_text)
            await pilot.press("escape")
            stage.session.emit(answered("请看src/app.py:3处, 结果.txt:2 and /etc/passwd:1"))
            await pilot.pause(0.1)
            await pilot.press("f")
            await pilot.pause(0.2)
            assert isinstance(stage.app.screen, FilesScreen)
            await pilot.press("down", "down", "enter")
            await pilot.pause(0.2)
            assert isinstance(stage.app.screen, ConfirmScreen)
            await pilot.press("escape", "f")
            await pilot.pause(0.2)
            await pilot.press("down", "enter")
            await pilot.pause(0.2)
            chosen = stage.app.screen
            assert isinstance(chosen, FilePage)
            assert chosen.page.shown_text[1] == "▶2 二行"


async def test_a_click_opens_what_it_is_on(tmp_path: Path) -> None:
    with tree(tmp_path) as port:
        async with live([*RUNNING, answered("Look at src/app.py:7 now.")]) as (stage, pilot):
            stage.screen.talk_ports = replace(stage.screen.talk_ports, files=port)
            lines = stage.screen.transcript.shown_text
            row = next(y for y, line in enumerate(lines) if "src/app.py" in line)
            await pilot.click(stage.screen.transcript, offset=(5, row))
            await pilot.pause(0.1)
            assert stage.app.screen is stage.screen
            await pilot.click(stage.screen.transcript, offset=(15, row))
            await pilot.pause(0.2)
            assert isinstance(stage.app.screen, FilePage)


async def test_where_nothing_is_named_it_is_said(tmp_path: Path) -> None:
    async with live([mission("m"), said("no name here")]) as (stage, pilot):
        stage.screen.transcript.focus()
        await pilot.press("f")
        await pilot.pause(0.1)
        assert any("No file to open" in line for line in stage.screen.transcript.shown_text)


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [("vim", "+7 {path}"), ("hx", "{path}:7"), ("code", "--wait --goto {path}:7"), ("mine", "{path}")],
)
async def test_the_editor_is_told_the_line_in_its_own_way(
    tmp_path: Path, editor: str, arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / editor
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n')
    program.chmod(0o700)
    command = f"{program} --wait" if editor == "code" else str(program)
    async with live() as (stage, _):
        monkeypatch.setattr(type(stage.app), "suspend", lambda _: contextmanager(lambda: iter([None]))())
        await opened_in_editor(
            stage.screen.app, "/x/a.py", 7, {"EDITOR": command, "PATH": os.environ["PATH"]}
        )
    assert (tmp_path / "asked").read_text().strip() == arguments.format(path="/x/a.py")


def turn(number: int) -> TurnFinished:
    return TurnFinished(number, MAIN_CONTEXT, None, "replay/x", "calls")


def saved(tree: str, at_seq: int, turn: int) -> CheckpointSaved:
    return CheckpointSaved(tree, "turn", GoalId("2"), turn, "agent", Seq(at_seq))


WORK: list[DurableEvent] = [
    *RUNNING,
    saved("t0", 3, 0),
    turn(1),
    answered("I edit.", call("c1", "edit_file", path="a.py")),
    result("c1", "ok", name="edit_file"),
    saved("t1", 7, 1),
    turn(2),
    answered("And once more.", call("c2", "edit_file", path="a.py")),
    result("c2", "ok", name="edit_file"),
    saved("t2", 11, 2),
]

PORT = FilePort(
    count_changes=lambda pairs: [3 for _ in pairs],
    tree_diff=lambda before, after: DIFF if (before, after) == ("t0", "t1") else "",
)


async def test_a_checkpoint_says_how_much_changed_shows_it_and_can_be_gone_back_to() -> None:
    stage = Stage()
    async with stage.app.run_test(size=(120, 40)) as pilot:
        await ready(stage, pilot)
        stage.screen.talk_ports = replace(stage.screen.talk_ports, files=PORT)
        stage.session.emit(*WORK)
        await pilot.pause(0.2)
        transcript = stage.screen.transcript
        lines = [line for line in transcript.shown_text if "◇" in line]
        assert [line.strip("┄ ") for line in lines] == [
            *("◇ turn 1 · goal 2 · 3 files changed", "◇ turn 2 · goal 2 · 3 files changed"),
        ]
        transcript.focus()
        marked = next(key for key, block in stage.screen.story.blocks if isinstance(block, CheckpointBlock))
        transcript._view.marked = marked
        await pilot.press("d")
        await pilot.pause(0.1)
        assert isinstance(stage.app.screen, DiffPage)
        await pilot.press("escape", "u")
        await pilot.pause(0.1)
        assert isinstance(stage.app.screen, ConfirmScreen)
        await pilot.press("escape")
        assert sent(stage) == []
        await pilot.press("u", "enter")
        await pilot.pause(0.1)
        assert sent(stage) == [RewindTo(turn=2)]


@pytest.mark.parametrize(
    ("theme", "size", "what"),
    [
        ("dark", WIDE, "work"),
        ("light", SMALL, "work"),
        ("light", WIDE, "file"),
        ("dark", SMALL, "files"),
        ("dark", SMALL, "back"),
    ],
)
def test_how_it_looks(
    snap_compare: Compare, tmp_path: Path, theme: str, size: tuple[int, int], what: str
) -> None:
    stage = Stage(theme=theme)

    async def play(pilot: Pilot[None]) -> None:
        await ready(stage, pilot)
        with tree(tmp_path) as files:
            port = replace(files, count_changes=PORT.count_changes)
            stage.screen.talk_ports = replace(stage.screen.talk_ports, files=port)
            stage.session.emit(*WORK)
            await pilot.pause(0.2)
            stage.screen.transcript.focus()
            if what == "back":
                await pilot.press("home", "n", "n", "n", "n", "u")
            elif what in ("file", "files"):
                more = ", 结果.txt:2, /etc/hostname" if what == "files" else ""
                stage.session.emit(answered(f"See src/app.py:120{more}."))
                await pilot.pause(0.1)
                await pilot.press("f")
            await pilot.pause(0.3)

    assert snap_compare(stage.app, terminal_size=size, run_before=play)
