from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from tests.fakes.scope import FakeScope
from tests.tools.file_bench import FileBench
from tori_tui.domain.events import FileIntent
from tori_tui.tools.base import ArgumentsInvalid, Tool
from tori_tui.tools.changes import uninterrupted
from tori_tui.workspace.files import digest
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.recovery import outcome_of


@pytest.fixture
def bench(tmp_path: Path) -> FileBench:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "app.py").write_bytes(b"def main():\n    return 1\n")
    return FileBench(root)


def names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if ".trace" not in path.parts}


def test_the_tools_fit_the_protocol(bench: FileBench) -> None:
    tools: list[Tool] = [bench.read_tool, bench.write_tool, bench.edit_tool]
    assert [tool.spec.name for tool in tools] == ["read_file", "write_file", "edit_file"]
    for tool in tools:
        json.dumps(tool.spec.parameters)


def test_an_edit_tells_details_for_the_screen(bench: FileBench) -> None:
    output = bench.edit("app.py", "return 1", "return 2")
    assert output.text == "Changed app.py (+1 −1).\nAt line 2."
    assert output.details == {
        "path": "app.py",
        "sha256": digest(b"def main():\n    return 2\n"),
        "before_sha256": digest(b"def main():\n    return 1\n"),
        "before_output": digest(b"def main():\n    return 1\n") + ".before",
        "added": 1,
        "removed": 1,
        "changed_paths": ["app.py"],
        "diff": "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n def main():\n-    return 1\n+    return 2",
    }


def test_the_bytes_before_are_kept_and_the_intent_is_written_down_first(bench: FileBench) -> None:
    path = bench.root / "app.py"
    seen: list[bytes] = []
    bench.scope.on_started = lambda: seen.append(path.read_bytes())
    before = path.read_bytes()
    bench.edit("app.py", "1", "2")
    intent = bench.scope.files[0]
    assert seen == [before]
    assert intent == FileIntent("app.py", digest(before), digest(path.read_bytes()), intent.before_output)
    assert intent.before_output is not None
    assert bench.outputs.path(intent.before_output).read_bytes() == before


def test_a_refused_call_starts_nothing(bench: FileBench) -> None:
    assert bench.edit("app.py", "nowhere", "x").is_error
    assert bench.write("../x", "x").is_error
    assert bench.scope.files == []


def test_a_new_file_is_created_with_its_folders(bench: FileBench) -> None:
    output = bench.write("src/deep/new.py", "x = 1\n")
    assert (bench.root / "src/deep/new.py").read_text() == "x = 1\n"
    assert output.text.startswith("Created src/deep/new.py (+1 −0).")
    assert bench.scope.files[0].before_sha256 is None
    assert bench.scope.files[0].before_output is None


def test_an_edit_with_an_empty_old_creates_a_missing_file_and_refuses_a_full_one(bench: FileBench) -> None:
    assert not bench.edit("new.txt", "", "tail\n").is_error
    assert (bench.root / "new.txt").read_text() == "tail\n"
    output = bench.edit("app.py", "", "tail\n")
    assert output.is_error
    assert "`old` is empty" in output.text
    assert "write_file" in output.text
    assert (bench.root / "app.py").read_bytes() == b"def main():\n    return 1\n"


def test_writing_over_a_file_that_was_never_read_is_refused(bench: FileBench) -> None:
    output = bench.write("app.py", "x")
    assert output.is_error
    assert "not read it" in output.text
    bench.read("app.py", limit=1)
    assert not bench.write("app.py", "x").is_error


def test_writing_over_an_empty_file_needs_no_reading(bench: FileBench) -> None:
    (bench.root / "empty").touch()
    assert not bench.write("empty", "x").is_error


def test_writing_what_is_there_already_writes_nothing(bench: FileBench) -> None:
    inode = (bench.root / "app.py").stat().st_ino
    output = bench.write("app.py", "def main():\n    return 1\n")
    assert not output.is_error
    assert "already" in output.text
    assert "changed_paths" not in output.details
    assert (bench.root / "app.py").stat().st_ino == inode


def test_a_write_over_an_outside_change_is_refused_until_it_is_read(bench: FileBench) -> None:
    bench.read("app.py")
    (bench.root / "app.py").write_bytes(b"user's\n")
    for _ in range(2):
        output = bench.write("app.py", "x")
        assert output.is_error
        assert "Read it again" in output.text
    assert (bench.root / "app.py").read_bytes() == b"user's\n"
    bench.read("app.py")
    assert not bench.write("app.py", "x").is_error


def test_an_edit_after_an_outside_change_is_refused_once_and_then_keeps_that_change(bench: FileBench) -> None:
    bench.read("app.py")
    (bench.root / "app.py").write_bytes(b"def main():\n    return 1\n\n# user's\n")
    refused = bench.edit("app.py", "return 1", "return 2")
    assert refused.is_error
    assert "Read it again" in refused.text
    assert not bench.edit("app.py", "return 1", "return 2").is_error
    assert (bench.root / "app.py").read_bytes() == b"def main():\n    return 2\n\n# user's\n"


@pytest.mark.parametrize("spelling", ["./app.py", "sub/../app.py", "link.py"])
def test_partial_reads_other_spellings_and_touch_make_nothing_stale(bench: FileBench, spelling: str) -> None:
    (bench.root / "sub").mkdir()
    (bench.root / "link.py").symlink_to("app.py")
    bench.read(spelling, offset=1, limit=1)
    os.utime(bench.root / "app.py", (1, 1))
    assert not bench.edit("app.py", "return 1", "return 2").is_error
    assert not bench.edit(str(bench.root / "app.py"), "return 2", "return 3").is_error
    assert not bench.write(spelling, "x").is_error


def test_a_resumed_session_knows_what_it_saw(bench: FileBench) -> None:
    output = bench.read("app.py")
    ledger = FileLedger()
    for details in (output.details, {}, {"path": 1, "sha256": None}):
        ledger.learn(details)
    assert ledger.has_seen("app.py")
    assert not ledger.is_stale("app.py", digest(b"def main():\n    return 1\n"))
    assert ledger.is_stale("app.py", digest(b"other"))


def test_a_whole_write_keeps_line_ends_mark_encoding_and_mode(bench: FileBench) -> None:
    cases = {
        "crlf.txt": (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        "bom.ps1": (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        "bom2.ps1": (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n"),
        "latin.txt": (b"caf\xe9\n", "thé\n", b"th\xe9\n"),
        "utf16.txt": ("\ufeffa\r\n".encode("utf-16-le"), "é\n", "\ufeffé\r\n".encode("utf-16-le")),
        "lf.txt": (b"a\n", "a\r\n", b"a\r\n"),
        "no_end.txt": (b"a", "b", b"b"),
        "binary.bin": (b"\x00\xff", "text é\n", "text é\n".encode()),
    }
    for name, (before, content, after) in cases.items():
        path = bench.root / name
        path.write_bytes(before)
        path.chmod(0o751)
        bench.read(name)
        assert not bench.write(name, content).is_error
        assert (name, path.read_bytes(), path.stat().st_mode & 0o777) == (name, after, 0o751)


def test_a_whole_write_that_the_encoding_cannot_hold_is_refused(bench: FileBench) -> None:
    (bench.root / "latin.txt").write_bytes(b"caf\xe9\n")
    bench.read("latin.txt")
    assert "'中'" in bench.write("latin.txt", "中").text
    assert (bench.root / "latin.txt").read_bytes() == b"caf\xe9\n"


def test_git_sees_one_changed_line_after_an_edit_of_a_crlf_file(bench: FileBench) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-c", "core.autocrlf=false", *arguments]
        return subprocess.run(command, cwd=bench.root, capture_output=True, text=True, check=True).stdout

    path = bench.root / "w.txt"
    path.write_bytes(b"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n")
    git("init", "-q")
    git("add", "w.txt")
    git("commit", "-qm", "x")
    bench.edit("w.txt", "three", "THREE")
    assert "1 insertion(+), 1 deletion(-)" in git("diff", "--stat")
    bench.write("w.txt", "one\ntwo\nthree\nfour\n5\n")
    assert "1 insertion(+), 1 deletion(-)" in git("diff", "--stat")


def test_links_stay_links_and_the_target_changes(bench: FileBench) -> None:
    root = bench.root
    (root / "canonical").mkdir()
    (root / "canonical/settings.py").write_text("a = 1\n")
    (root / "one.py").symlink_to("canonical/settings.py")
    (root / "two.py").symlink_to(root / "one.py")
    assert not bench.edit("two.py", "1", "2").is_error
    assert not bench.write("one.py", "a = 3\n").is_error
    assert (root / "canonical/settings.py").read_text() == "a = 3\n"
    assert (root / "one.py").is_symlink()
    assert (root / "two.py").is_symlink()
    assert bench.scope.files[0].path == "canonical/settings.py"


def test_links_in_a_circle_and_out_of_the_tree_are_refused(bench: FileBench) -> None:
    (bench.root / "a").symlink_to("b")
    (bench.root / "b").symlink_to("a")
    (bench.root / "out").symlink_to("../secret")
    for path in ("a", "out"):
        assert bench.edit(path, "x", "y").is_error
        assert bench.write(path, "y").is_error
    assert not (bench.root.parent / "secret").exists()


def test_a_hard_linked_file_gets_its_own_inode_and_the_model_is_told(bench: FileBench) -> None:
    os.link(bench.root / "app.py", bench.root / "other.py")
    output = bench.edit("app.py", "1", "2")
    assert "2 names (hard links)" in output.text
    assert (bench.root / "other.py").read_bytes() == b"def main():\n    return 1\n"


def test_several_matches_name_lines_and_the_file(bench: FileBench) -> None:
    (bench.root / "n.py").write_text("np.int\n" * 20)
    output = bench.edit("n.py", "np.int", "np.int_")
    assert output.is_error
    assert "n.py: `old` is there 20 times" in output.text
    done = bench.edit("n.py", "np.int", "np.int_", replace_all=True)
    assert "First at line 1, 20 in all." in done.text


def test_a_missing_file_names_those_that_may_be_meant(bench: FileBench) -> None:
    (bench.root / "src").mkdir()
    (bench.root / "src" / "user.py").touch()
    assert "src/user.py" in bench.edit("user.py", "a", "b").text
    assert "app.py" in bench.edit("ap.py", "a", "b").text


@pytest.mark.parametrize("kind", ["fifo", "folder", "read-only", "device"])
def test_what_is_no_writable_file_is_refused(bench: FileBench, kind: str) -> None:
    path = bench.root / "x"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/null")
    else:
        path.write_text("a")
        path.chmod(0o444)
        bench.read("x")
    for output in (bench.edit("x", "a", "b"), bench.write("x", "b")):
        assert output.is_error
        assert len(output.text) < 300


def test_a_notebook_stays_valid(bench: FileBench) -> None:
    cells = [{"cell_type": "code", "source": [f"print({n})"], "outputs": []} for n in (1, 2)]
    text = json.dumps({"cells": cells}, indent=1) + "\n"
    (bench.root / "n.ipynb").write_text(text)
    assert not bench.edit("n.ipynb", "print(1)", 'print("a\nb")').is_error
    assert json.loads((bench.root / "n.ipynb").read_text())["cells"][0]["source"] == ['print("a\n', 'b")']
    assert "JSON" in bench.write("n.ipynb", "not json").text


def test_the_preview_shows_the_diff_and_changes_nothing(bench: FileBench) -> None:
    arguments = {"path": "app.py", "old": "return 1", "new": "return 2"}
    preview = asyncio.run(bench.edit_tool.preview(arguments))
    assert preview.title == "edit_file app.py"
    assert "+    return 2" in preview.detail
    assert preview.paths == ("app.py",)
    assert "return 1" in (bench.root / "app.py").read_text()


def test_the_preview_refuses_what_cannot_be_done(bench: FileBench) -> None:
    with pytest.raises(ArgumentsInvalid, match="not in the file"):
        asyncio.run(bench.edit_tool.preview({"path": "app.py", "old": "xyz", "new": "b"}))
    with pytest.raises(ArgumentsInvalid, match="not read it"):
        asyncio.run(bench.write_tool.preview({"path": "app.py", "content": "b"}))


def test_a_file_that_changes_just_before_the_write_is_left_alone(bench: FileBench) -> None:
    path = bench.root / "app.py"

    def change() -> None:
        path.write_bytes(b"user's\n")

    bench.scope.on_started = change
    output = bench.edit("app.py", "1", "2")
    assert output.is_error
    assert path.read_bytes() == b"user's\n"


def test_no_room_for_the_bytes_before_changes_nothing(bench: FileBench) -> None:
    program = textwrap.dedent(f"""
        import asyncio, resource
        from pathlib import Path
        from tests.tools.file_bench import FileBench
        bench = FileBench(Path({str(bench.root)!r}))
        bench.read("app.py")
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        for output in (bench.edit("app.py", "1", "2"), bench.write("app.py", "x" * 5000)):
            print(output.is_error, output.text)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.count("True") == 2
    assert (bench.root / "app.py").read_bytes() == b"def main():\n    return 1\n"
    assert names(bench.root) == {"app.py"}


def test_the_outcome_after_a_crash_is_told_by_hashes(bench: FileBench) -> None:
    old, new = digest(b"def main():\n    return 1\n"), digest(b"new")
    edit = FileIntent("app.py", old, new)
    create = FileIntent("new.py", None, new)
    assert outcome_of(bench.root, [edit]) == "not_applied"
    assert outcome_of(bench.root, [create]) == "not_applied"
    (bench.root / "new.py").write_bytes(b"new")
    assert outcome_of(bench.root, [create]) == "done"
    assert outcome_of(bench.root, [edit, create]) == "changed"
    (bench.root / "app.py").write_bytes(b"user's")
    assert outcome_of(bench.root, [edit]) == "changed"
    (bench.root / "app.py").write_bytes(b"new")
    assert outcome_of(bench.root, [edit, create]) == "done"


async def test_a_cancelled_write_is_whole_when_the_cancel_is_over() -> None:
    gate, done = threading.Event(), threading.Event()

    def work() -> None:
        gate.wait(5)
        done.set()

    task = asyncio.create_task(uninterrupted(work))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.sleep(0.01)
    assert not task.done()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done.is_set()


async def test_a_cancel_before_the_intent_is_written_changes_nothing(bench: FileBench) -> None:
    task = asyncio.create_task(bench.edit_tool.run({"path": "app.py", "old": "1", "new": "2"}, FakeScope()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (bench.root / "app.py").read_bytes() == b"def main():\n    return 1\n"
