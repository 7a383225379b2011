from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.workspace.processes_kit import Shell, eventually, marked_pids, sleepers
from tests.workspace.sandbox_kit import World, one_that_stands, shell_that_waits, waiting_pids, world_of
from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.jobs import Jobs
from tori_tui.workspace.process_table import all_pids, children_of, read_facts, read_variable
from tori_tui.workspace.processes import CommandResult, run_command
from tori_tui.workspace.sandbox.bubblewrap import Bubblewrap
from tori_tui.workspace.shell_ahead import ShellAhead
from tori_tui.workspace.waiting_shell import ShellTerms

pytestmark = pytest.mark.needs("bwrap")


class Commands:
    """Runs commands with a shell ahead, as the tool `bash` does."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.descendants = Descendants()
        self.ahead = ShellAhead(world.sandbox, self.descendants)
        self.folder = world.root / ".trace"
        self.env = {**world.environ}
        self.cwd = world.root
        self.started: list[int] = []
        self.text = ""
        self._n_outputs = 0

    async def run(self, command: str, timeout_s: float = 20) -> CommandResult:
        async def started(ref: ProcessRef) -> None:
            self.started.append(ref.pgid)

        self._n_outputs += 1
        path = self.folder / f"{self._n_outputs}.log"
        with CommandOutput.open(path) as output:
            result = await run_command(
                command,
                ShellTerms(self.cwd, dict(self.env), self.world.sandbox.confine(self.cwd)),
                call_id="call",
                output=output,
                timeout_s=timeout_s,
                descendants=self.descendants,
                on_started=started,
                ahead=self.ahead,
            )
            self.text = output.read(0, output.size_bytes).decode("utf-8", "replace")
        if output.path is not None:
            assert path.read_text("utf-8", "replace") == self.text
        return result

    async def one_waits(self) -> int:
        return await one_that_stands()


@pytest.fixture
def world() -> Iterator[World]:
    """Not in /tmp: what is there is hidden as a whole, and no key by its own mount."""
    cache = Path(pwd.getpwuid(os.geteuid()).pw_dir) / ".cache"
    cache.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=cache, prefix="tori-test-") as base,
        world_of("bubblewrap", Path(base)) as made,
    ):
        yield made


@pytest.fixture
async def commands(world: World) -> AsyncIterator[Commands]:
    made = Commands(world)
    yield made
    await made.ahead.close()
    assert waiting_pids() == []


async def test_the_next_command_gets_the_shell_that_waits(commands: Commands) -> None:
    await commands.run("echo first")
    assert waiting_pids() == []
    waiting = await commands.one_waits()
    result = await commands.run("echo second; echo err >&2; pwd; exit 3")
    assert commands.started[-1] == waiting
    assert commands.text == f"second\nerr\n{commands.cwd}\n"
    assert (result.end, result.exit_code, result.output_bytes) == ("exited", 3, len(commands.text))
    assert await commands.one_waits() != waiting


async def test_the_output_stands_under_its_name_and_alone(commands: Commands) -> None:
    await commands.run("true")
    await commands.one_waits()
    await commands.run("echo told")
    names = sorted(path.name for path in commands.folder.iterdir())
    assert names == ["1.log", "2.log", "kept"]
    assert (commands.folder / "2.log").read_text() == "told\n"
    assert (commands.folder / "2.log").stat().st_mode & 0o777 == 0o600


async def test_a_command_at_once_does_not_wait_for_one(commands: Commands) -> None:
    await commands.run("echo first")
    await commands.run("echo second")
    assert commands.text == "second\n"
    assert waiting_pids() == []


async def test_nothing_waits_while_a_command_runs(commands: Commands) -> None:
    await commands.run("true")
    await commands.run("sleep 0.3")
    assert len(waiting_pids()) == 0


def _replace_settings(world: World) -> None:
    new = world.root / ".git/config.new"
    new.write_bytes((world.root / ".git/config").read_bytes())
    new.replace(world.root / ".git/config")


def _link_settings_again(world: World) -> None:
    """The same file, inode and all, but its mount inside is gone."""
    settings, other = world.root / ".git/config", world.root / ".git/other"
    os.link(settings, other)
    settings.unlink()
    other.rename(settings)


def _make_hooks_again(world: World) -> None:
    (world.root / ".git/hooks").rmdir()
    (world.root / ".git/hooks").mkdir()


def _make_repository_again(world: World) -> None:
    shutil.rmtree(world.root / ".git")
    subprocess.run(["git", "init", "-q", str(world.root)], check=True)


def _replace_key(world: World) -> None:
    (world.home / ".netrc").unlink()
    (world.home / ".netrc").write_text("PRIVATE-KEY-MATERIAL")


def _add_keys(world: World) -> None:
    (world.home / ".gnupg").mkdir()
    (world.home / ".gnupg" / "ring").write_text("PRIVATE-KEY-MATERIAL")


def _replace_keys(world: World) -> None:
    shutil.rmtree(world.home / ".ssh")
    (world.home / ".ssh").mkdir()
    (world.home / ".ssh" / "id_rsa").write_text("PRIVATE-KEY-MATERIAL")


def _link_hooks(world: World) -> None:
    (world.root / "githooks").mkdir()
    (world.root / ".git/hooks").rmdir()
    (world.root / ".git/hooks").symlink_to("../githooks")


def _make_linked_hooks_again(world: World) -> None:
    """As git does with a tracked folder, from one branch to the other and back."""
    (world.root / "githooks").rmdir()
    (world.root / "githooks").mkdir()


def _lead_hooks_elsewhere(world: World) -> None:
    (world.root / "others").mkdir()
    (world.root / ".git/hooks").unlink()
    (world.root / ".git/hooks").symlink_to("../others")


def _link_key(world: World) -> None:
    """A plain file when the sandbox was opened."""
    (world.home / ".netrc").rename(world.home / "netrc")
    (world.home / ".netrc").symlink_to("netrc")


def _replace_linked_key(world: World) -> None:
    (world.home / "new").write_text("PRIVATE-KEY-MATERIAL")
    (world.home / "new").rename(world.home / "netrc")


def _make_trace_again(world: World) -> None:
    (world.root / ".trace").rename(world.base / "old")
    shutil.copytree(world.base / "old", world.root / ".trace")


def _make_tree_again(world: World) -> None:
    shutil.copytree(world.root, world.base / "copy", symlinks=True)
    shutil.rmtree(world.root)
    (world.base / "copy").rename(world.root)


def _kill_it(world: World) -> None:
    pid = waiting_pids()[0]
    os.kill(pid, signal.SIGKILL)
    while (facts := read_facts(pid)) is not None and not facts.has_ended:
        time.sleep(0.001)


SETTINGS = "git config core.pager ./x; echo x >> .git/config"
HOOK = "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit"
KEYS = 'cat "$HOME/.netrc" "$HOME/.gnupg/ring" "$HOME/.ssh/id_rsa"'
TRACE = "echo x > .trace/kept"

STALE: dict[str, tuple[Callable[[World], None], str]] = {
    "git's settings are replaced": (_replace_settings, SETTINGS),
    "git's settings are linked again": (_link_settings_again, SETTINGS),
    "the hooks are made again": (_make_hooks_again, HOOK),
    "the repository is made again": (_make_repository_again, f"{HOOK}; {SETTINGS}"),
    "a key is replaced": (_replace_key, KEYS),
    "a folder of keys comes": (_add_keys, KEYS),
    "a folder of keys is replaced": (_replace_keys, KEYS),
    "the trace is made again": (_make_trace_again, TRACE),
    "the tree is made again": (_make_tree_again, f"{HOOK}; {SETTINGS}; {TRACE}"),
    "it is killed": (_kill_it, f"{HOOK}; {SETTINGS}; {TRACE}; {KEYS}"),
}


LINKED: dict[str, tuple[Callable[[World], None], Callable[[World], None], str]] = {
    "linked hooks are made again": (_link_hooks, _make_linked_hooks_again, HOOK),
    "hooks are led elsewhere": (_link_hooks, _lead_hooks_elsewhere, HOOK),
    "a linked key is replaced": (_link_key, _replace_linked_key, KEYS),
}


def _protected(world: World) -> tuple[object, ...]:
    return (
        (world.root / ".git/config").read_bytes(),
        os.listdir(world.root / ".git/hooks"),
        (world.root / ".trace/kept").read_bytes(),
    )


@pytest.mark.parametrize("name", STALE)
async def test_one_in_an_older_world_is_not_taken(commands: Commands, name: str) -> None:
    change, attack = STALE[name]
    await _not_taken(commands, change, attack)


@pytest.mark.parametrize("name", LINKED)
async def test_one_whose_place_is_a_link_is_not_taken(commands: Commands, name: str) -> None:
    prepare, change, attack = LINKED[name]
    prepare(commands.world)
    await _not_taken(commands, change, attack)


async def _not_taken(commands: Commands, change: Callable[[World], None], attack: str) -> None:
    await commands.run("true")
    waiting = await commands.one_waits()
    change(commands.world)
    before = _protected(commands.world)
    await commands.run(f"echo begun; {attack}")
    assert commands.started[-1] != waiting
    assert "begun" in commands.text
    assert "PRIVATE-KEY-MATERIAL" not in commands.text
    assert _protected(commands.world) == before


async def test_one_with_another_environment_or_folder_is_not_taken(commands: Commands) -> None:
    await commands.run("true")
    waiting = await commands.one_waits()
    commands.env["ADDED"] = "seen"
    await commands.run("echo $ADDED")
    assert (commands.text, commands.started[-1] == waiting) == ("seen\n", False)
    waiting = await commands.one_waits()
    commands.cwd = commands.world.root / "src"
    await commands.run("pwd")
    assert (commands.text, commands.started[-1] == waiting) == (f"{commands.cwd}\n", False)


async def test_ordinary_changes_of_the_tree_keep_it(commands: Commands) -> None:
    root = commands.world.root
    await commands.run("true")
    waiting = await commands.one_waits()
    (root / "new.txt").write_text("new")
    (root / "app.py").unlink()
    (root / ".git" / "index.lock").touch()
    (root / ".git" / "index.lock").unlink()
    await commands.run("cat new.txt; ls app.py")
    assert commands.started[-1] == waiting
    assert commands.text.startswith("new")
    assert "No such file" in commands.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
async def test_one_from_before_a_mount_is_not_taken(commands: Commands, tmp_path: Path) -> None:
    await commands.run("true")
    waiting = await commands.one_waits()
    place = tmp_path / "mounted"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "tori-test", str(place)], check=False)
    if mounted.returncode:
        pytest.skip("kernel: no mount here")
    try:
        await commands.run(f"touch {place}/written")
        assert commands.started[-1] != waiting
        assert not (place / "written").exists()
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_what_is_mounted_again_outside_is_read_only_inside(world: World) -> None:
    """It may get all of its numbers back: then the list of mounts is the same to the byte."""
    place = world.home / "stick"
    place.mkdir()
    mount = f"mount -t tmpfs stick {place}"
    program = f"""
import asyncio, subprocess
from pathlib import Path
from tests.workspace.sandbox_kit import World
from tests.workspace.test_shell_ahead import Commands
from tori_tui.workspace.sandbox.choice import open_sandbox
from tori_tui.workspace.sandbox.confinement import SandboxTerms
root, environ = Path({str(world.root)!r}), {world.environ!r}
async def main():
    sandbox = open_sandbox(SandboxTerms(root, environ), "bubblewrap")
    commands = Commands(World(root.parent, 0, None, sandbox, environ))
    await commands.run("true")
    await commands.one_waits()
    subprocess.run({f"umount {place}; {mount}"!r}, shell=True, check=True)
    await commands.run("touch {place}/written")
    await commands.ahead.close()
asyncio.run(main())
assert not Path({str(place / "written")!r}).exists()
"""
    entered = ["unshare", "-m", "--propagation", "shared", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    if subprocess.run([*entered, "true"], check=False).returncode:
        pytest.skip("kernel: no mount here")
    ended = subprocess.run(
        [*entered, sys.executable, "-c", program], check=False, timeout=30, capture_output=True
    )
    assert ended.returncode == 0, ended.stderr.decode()


async def test_an_output_elsewhere_is_no_reason_to_lose_it(commands: Commands) -> None:
    """A file without a name cannot come to another disk."""
    await commands.run("true")
    waiting = await commands.one_waits()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        commands.folder = Path(other)
        await commands.run("echo told")
        assert (Path(other) / "2.log").read_text() == "told\n"
        assert commands.started[-1] != waiting


async def test_without_room_for_an_output_none_is_made(commands: Commands) -> None:
    commands.folder = Path("/dev/full")
    await commands.run("echo told")
    assert commands.text == "told\n"
    await asyncio.sleep(0.15)
    assert waiting_pids() == []


async def test_one_whose_places_were_swapped_while_it_was_made_is_not_taken(commands: Commands) -> None:
    settings, away = commands.world.root / ".tori", commands.world.root / "away"
    await commands.run("true")
    await eventually(lambda: len(waiting_pids()) == 1)
    settings.rename(away)
    settings.mkdir()
    await commands.one_waits()
    settings.rmdir()
    away.rename(settings)
    await commands.run("echo x > .tori/evil")
    assert not (settings / "evil").exists()


async def test_one_in_a_folder_that_was_made_again_is_not_taken(commands: Commands) -> None:
    commands.cwd = commands.world.root / "work"
    commands.cwd.mkdir()
    await commands.run("true")
    waiting = await commands.one_waits()
    commands.cwd.rmdir()
    commands.cwd.mkdir()
    await commands.run("touch made")
    assert commands.started[-1] != waiting
    assert (commands.cwd / "made").exists()


async def test_a_repository_that_comes_while_the_model_thinks_is_protected(commands: Commands) -> None:
    """The making of a shell ahead puts off no look for repositories within."""
    root = commands.world.root
    sandbox = commands.world.sandbox
    assert isinstance(sandbox, Bubblewrap)
    for n in range(500):
        (root / "many" / str(n)).mkdir(parents=True)
    sandbox.confine(commands.cwd)
    await eventually(lambda: time.monotonic() > sandbox._nested._next_s, 60)
    output = CommandOutput.open(commands.folder / "0.log")
    with output:
        waiting = await shell_that_waits(commands.ahead, ShellTerms(commands.cwd, commands.env), output)
    subprocess.run(["git", "init", "-q", str(root / "vendor" / "lib")], check=True)
    await commands.run("echo x > vendor/lib/.git/hooks/post-checkout; echo told")
    assert commands.started[-1] != waiting
    assert "told" in commands.text
    assert not (root / "vendor/lib/.git/hooks/post-checkout").exists()


async def test_a_file_system_is_not_in_use_for_longer_than_a_reply_takes(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tori_tui.workspace.shell_ahead.UNUSED_LIMIT_S", 0.2)
    await commands.run("true")
    waiting = await commands.one_waits()
    await eventually(lambda: read_facts(waiting) is None)
    await commands.run("echo told")
    assert commands.text == "told\n"


async def test_none_needs_a_handle_for_each_place(commands: Commands) -> None:
    for n in range(100):
        (commands.world.root / "many" / str(n) / ".git").mkdir(parents=True)
    await commands.run("true")
    n_handles = len(os.listdir("/proc/self/fd"))
    await eventually(lambda: len(waiting_pids()) == 1, 10)
    assert len(os.listdir("/proc/self/fd")) - n_handles < 8
    waiting = await commands.one_waits()
    await commands.run("echo x > many/7/.git/hooks; echo told")
    assert commands.started[-1] == waiting
    assert not (commands.world.root / "many/7/.git/hooks").exists()


async def test_it_is_no_part_of_a_command_that_runs_beside_it(commands: Commands) -> None:
    """A job runs while one waits: what it leaves is found, and the one that waits is left alone."""
    jobs = Jobs(commands.descendants)
    await commands.run("true")
    waiting = await commands.one_waits()
    seconds = "86.4021"
    with CommandOutput.open(None) as output:
        job = await jobs.start(
            f"(env -i setsid sleep {seconds} &); sleep 0.2",
            ShellTerms(commands.cwd, {"PATH": os.environ["PATH"]}),
            call_id="job",
            output=output,
            on_started=_nothing,
        )
        result = await job.task
    assert result.stopped == ("sleep",)
    assert sleepers(seconds) == []
    assert waiting_pids() == [waiting]
    await jobs.close()
    assert waiting_pids() == [waiting]


async def _nothing(ref: ProcessRef) -> None:
    return None


async def test_closing_leaves_nothing(commands: Commands) -> None:
    await commands.run("true")
    before = set(children_of(os.getpid()))
    n_handles = len(os.listdir("/proc/self/fd"))
    waiting = await commands.one_waits()
    assert len(os.listdir("/proc/self/fd")) > n_handles
    await commands.ahead.close()
    assert read_facts(waiting) is None
    assert set(children_of(os.getpid())) <= before
    assert len(os.listdir("/proc/self/fd")) <= n_handles
    await commands.run("echo still")
    await asyncio.sleep(0.15)
    assert waiting_pids() == []


async def test_one_that_is_not_taken_leaves_nothing(commands: Commands) -> None:
    before = set(children_of(os.getpid()))
    await commands.run("true")
    waiting = await commands.one_waits()
    commands.env["OTHER"] = "1"
    await commands.run("true")
    await eventually(lambda: read_facts(waiting) is None)
    await commands.ahead.close()
    assert set(children_of(os.getpid())) <= before


async def test_a_command_that_is_stopped_in_it_is_stopped_whole(commands: Commands) -> None:
    await commands.run("true")
    waiting = await commands.one_waits()
    result = await commands.run("setsid sleep 300 & sleep 300", timeout_s=0.3)
    assert commands.started[-1] == waiting
    assert result.end == "timed_out"
    assert marked_pids("call") == []


def test_none_outlives_tori(world: World) -> None:
    token = f"outlives-{os.getpid()}"
    program = f"""
import asyncio, os, signal
from pathlib import Path
from tests.workspace.sandbox_kit import shell_that_waits
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.sandbox.choice import open_sandbox
from tori_tui.workspace.sandbox.confinement import SandboxTerms
from tori_tui.workspace.shell_ahead import ShellAhead
from tori_tui.workspace.waiting_shell import ShellTerms
root = Path({str(world.root)!r})
environ = {{**{world.environ!r}, "TOKEN": {token!r}}}
async def main():
    ahead = ShellAhead(open_sandbox(SandboxTerms(root, environ), "bubblewrap"), Descendants())
    with CommandOutput.open(root / ".trace" / "1.log") as output:
        await shell_that_waits(ahead, ShellTerms(root, environ), output)
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=30)
    assert ended.returncode == -signal.SIGKILL
    limit_s = time.monotonic() + 2
    while [pid for pid in all_pids() if read_variable(pid, "TOKEN") == token]:
        assert time.monotonic() < limit_s
        time.sleep(0.02)
    assert sorted(path.name for path in (world.root / ".trace").iterdir()) == ["1.log", "kept"]


async def test_it_waits_only_where_there_is_a_world(tmp_path: Path) -> None:
    with world_of("landlock", tmp_path) as world:
        commands = Commands(world)
        await commands.run("echo told")
        await asyncio.sleep(0.15)
        assert commands.text == "told\n"
        assert waiting_pids() == []
        await commands.ahead.close()


async def test_one_that_waits_can_be_told_from_those_of_calls(commands: Commands) -> None:
    shell = Shell(commands.world.base, commands.descendants)
    terms = ShellTerms(commands.cwd, commands.env)
    with CommandOutput.open(commands.folder / "1.log") as output:
        waiting = await shell_that_waits(commands.ahead, terms, output)
        result = await shell.run("sleep 300 & echo done")
    assert result.stopped == ("sleep",)
    assert waiting_pids() == [waiting]
