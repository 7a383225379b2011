from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.provider import ScriptedProvider, ScriptedReply, Turn
from tests.fakes.session import driven, reply, scripted
from tests.faults.tools_kit import bench_in, shell_in
from tests.tools.file_bench import FileBench
from tests.ui.apps import Stage
from tests.ui.fakes import answered, call, mission, result, said
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.request import ModelRequest
from tori_tui.providers.errors import ProviderError
from tori_tui.tools.grep_files import GrepFilesTool
from tori_tui.workspace.search import Search

PNG_SIGN = b"\x89PNG\r\n\x1a\n"

LOOKS_LIKE_PNG = PNG_SIGN + b"\0\0\0\rIHDR" + b"rubbish" * 20 + b"\0\0\0\0IEND\xae\x42\x60\x82"
"""Begins and ends as an image does; only who decodes it finds out that it is none."""


def without_ripgrep(bench: FileBench, limit_s: float = 20.0) -> FileBench:
    bench.grep_tool = GrepFilesTool(bench.workspace, Search(None, limit_s))
    return bench


@pytest.mark.parametrize("command", ["grep -R x .", "grep x pipe other", "cat pipe"])
async def test_a_search_that_meets_a_pipe_ends_at_its_limit_and_leaves_no_process(
    tmp_path: Path, command: str
) -> None:
    async with shell_in(tmp_path) as shell:
        os.mkfifo(shell.root / "pipe")
        (shell.root / "other").write_text("x\n")
        begun = time.monotonic()
        output = await shell.run(command, timeout_s=1)
        assert time.monotonic() - begun < 4
        assert output.is_error == ("timed out" in output.text)
        assert shell.living == []
    bench = FileBench(shell.root)
    found = await bench.grep_tool.run({"pattern": "x"}, bench.scope)
    assert found.text == "other\n1:x"


async def test_a_line_of_ten_megabytes_is_cut_by_every_tool_and_stops_no_frame(tmp_path: Path) -> None:
    line = b"x" * 5_000_000 + b"needle" + b"x" * 5_000_000
    async with shell_in(tmp_path) as shell:
        (shell.root / "m.min.js").write_bytes(line)
        bench = FileBench(shell.root)
        outputs = [
            await bench.grep_tool.run({"pattern": "needle"}, bench.scope),
            await bench.read_tool.run({"path": "m.min.js"}, bench.scope),
            await shell.run("cat m.min.js"),
        ]
        assert sum(map(len, shell.scope.shown)) < 1_000_000
    for output in outputs:
        assert not output.is_error
        assert len(output.text) < 60_000
    stage = Stage()
    async with stage.app.run_test(size=(120, 40)) as pilot:
        while stage.bridge.session is None or stage.app._talk is None:
            await pilot.pause(0.01)
        begun_s = time.process_time()
        stage.session.emit(mission("m"), said("m"))
        # Also what no tool let through whole must not stop the screen: it cuts for itself.
        for number, text in enumerate([*(output.text for output in outputs), line.decode()]):
            stage.session.emit(answered("", call(str(number), "bash", command="cat m.min.js")))
            stage.session.emit(result(str(number), text))
        await pilot.press("f6", "ctrl+o", "p", "ctrl+o")
        await pilot.pause()
        assert time.process_time() - begun_s < 1
        assert "needle" not in stage.screen.input.text


@pytest.mark.parametrize("has_ripgrep", [True, False])
def test_a_match_in_a_long_line_is_shown_with_what_is_around_it_and_what_is_left_out(
    tmp_path: Path, has_ripgrep: bool
) -> None:
    bench = bench_in(tmp_path, f_txt=b"a" * 2_497 + b"needle" + b"b" * 2_497 + b"\n")
    if not has_ripgrep:
        without_ripgrep(bench)
    text = bench.grep("needle").text.removeprefix("f.txt\n1:")
    assert "aaaneedlebbb" in text
    assert len(text) < 1_000
    left_out = [int(number.replace(",", "")) for number in re.findall(r"\[([\d,]+) more\]", text)]
    assert len(left_out) == 2
    assert sum(left_out) + text.count("a") + text.count("b") + len("needle") == 5_000


@pytest.mark.parametrize("has_repository", [True, False])
def test_ignore_rules_hold_alike_for_names_and_content_with_and_without_ripgrep(
    tmp_path: Path, has_repository: bool
) -> None:
    bench = bench_in(tmp_path)
    files = {
        ".gitignore": "secret/\n*.log\n!keep.log\n",
        "secret/k.txt": "NEEDLE\n",
        "a.log": "NEEDLE\n",
        "keep.log": "NEEDLE\n",
        "sub/.gitignore": "*.tmp\n",
        "sub/x.tmp": "NEEDLE\n",
        "sub/seen.txt": "NEEDLE\n",
    }
    for name, text in files.items():
        (bench.root / name).parent.mkdir(exist_ok=True)
        (bench.root / name).write_text(text)
    if has_repository:
        (bench.root / ".git").mkdir()
    # The rules count without a repository too: a copy of a project has the same secrets.
    listed = [name for name in bench.glob("*").text.splitlines() if not name.endswith(".gitignore")]
    found = bench.grep("NEEDLE").text
    assert listed == ["keep.log", "sub/seen.txt"]
    assert found == "keep.log\n1:NEEDLE\nsub/seen.txt\n1:NEEDLE"
    assert without_ripgrep(bench).grep("NEEDLE").text == found


async def test_what_is_no_image_is_never_sent_as_one_and_a_refused_image_is_left_out(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "c.png").write_bytes(PNG_SIGN + bytes(range(256)) * 8)
    (root / "f.jpg").write_text("<html>\n")
    (root / "z.png").touch()
    (root / "d.png").write_bytes(LOOKS_LIKE_PNG)
    names = ("c.png", "f.jpg", "z.png", "d.png")
    reads = ScriptedReply("", tuple(scripted("read_file", {"path": name}) for name in names))

    def picky(text: str) -> Callable[[ModelRequest], Turn]:
        def turn(request: ModelRequest) -> Turn:
            if images_in(request):
                return ProviderError("Could not process image", fault="bad_request", status=400)
            return reply(text)

        return turn

    provider = ScriptedProvider([reads, picky("one"), picky("I see none."), picky("Hi.")])
    async with driven(provider, root) as driver:
        state = await driver.run("look")
        assert state.status == "done"
        assert (await driver.run("hi")).status == "done"
        told = driver.session.state.log[-1].message.text
    sent = [images_in(request) for request in provider.requests]
    # Refused once, it is not offered again; and nothing else was ever taken for an image.
    assert [len(images) for images in sent] == [0, 1, 0, 0]
    assert told == "Hi."
    results = [entry.message for entry in state.log if entry.message.role == "tool"]
    assert "2,056 bytes; it cannot be shown" in results[0].text
    assert results[1].text == "1\t<html>"
    assert "empty" in results[2].text
    last = provider.requests[-1]
    assert "refused" in str([message.content for message in last.messages])


def images_in(request: ModelRequest) -> list[ContentPart]:
    return [
        part
        for message in request.messages
        if not isinstance(message.content, str)
        for part in message.content
        if part.type == "image"
    ]


def test_what_is_no_text_is_named_in_one_line_and_never_shown(tmp_path: Path) -> None:
    bench = bench_in(
        tmp_path,
        a_so=b"\x7fELF\x02\x01" + bytes(range(256)) * 10,
        x_pdf=b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n\x00\x01stream\n",
        u_txt="plain words\n".encode("utf-16-le"),
        n_txt=b"text\n" * 1_800 + b"\x00" + b"text\n" * 10,
        m_txt="\ufeffwith a mark\n".encode("utf-16-le"),
    )
    for name in ("a.so", "x.pdf", "u.txt", "n.txt"):
        output = bench.read(name)
        size = (bench.root / name).stat().st_size
        assert output.is_error
        assert f"{size:,} bytes" in output.text
        assert len(output.text.splitlines()) == 1
        assert output.text.isprintable()
    assert bench.read("m.txt").text == "1\twith a mark"


async def test_a_regex_that_never_ends_is_stopped_and_a_broken_one_is_told(tmp_path: Path) -> None:
    bench = bench_in(tmp_path, t_txt=b"a" * 40 + b"!\n", e_txt=b"take -e or --files\n", o_txt=b"a -- b\n")
    without_ripgrep(bench, limit_s=0.5)
    begun = time.monotonic()
    stopped = await bench.grep_tool.run({"pattern": "(a+)+$"}, bench.scope)
    assert time.monotonic() - begun < 4
    assert stopped.is_error
    assert "time limit" in stopped.text
    without_ripgrep(bench)
    searching = asyncio.create_task(bench.grep_tool.run({"pattern": "(a+)+$"}, bench.scope))
    await asyncio.sleep(0.3)
    begun = time.monotonic()
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    assert time.monotonic() - begun < 1
    for tool in (bench.grep_tool, GrepFilesTool(bench.workspace, Search.on_path())):
        for pattern in ("(", ""):
            output = await tool.run({"pattern": pattern}, bench.scope)
            assert output.is_error
            assert "Traceback" not in output.text
        for pattern in ("-e", "--files"):
            assert (await tool.run({"pattern": pattern}, bench.scope)).text == ("e.txt\n1:take -e or --files")
