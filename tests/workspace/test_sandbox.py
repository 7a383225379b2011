from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from tests.fakes.processes import pids_of
from tests.workspace.sandbox_kit import KEY, PYTHON, World, world_of
from tori_tui.workspace.sandbox.choice import Backend, open_sandbox
from tori_tui.workspace.sandbox.confinement import SandboxRefused, SandboxTerms
from tori_tui.workspace.sandbox.hidden import hidden_paths

BACKENDS: tuple[Backend, ...] = ("bubblewrap", "landlock")

pytestmark = pytest.mark.needs("bwrap")


@pytest.fixture(params=[*BACKENDS, "bubblewrap, ahead"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    backend, _, is_ahead = request.param.partition(", ")
    with world_of(backend, tmp_path, is_ahead=bool(is_ahead)) as made:
        yield made


@dataclass(frozen=True)
class Attack:
    name: str
    command: str
    succeeded: Callable[[World, str], bool]
    """Told from outside, whatever the command says of itself."""
    held_by: Literal["both", "bubblewrap"] = "both"


def exists(name: str) -> Callable[[World, str], bool]:
    return lambda world, output: os.path.lexists(world.base / name)


def says(word: str) -> Callable[[World, str], bool]:
    return lambda world, output: word in output


def connect(family: str, target: str) -> str:
    code = f"import socket; s=socket.socket(socket.{family}); s.connect({target}); print('CONNECTED')"
    return f'{PYTHON} -I -S -c "{code}"'


def changed(name: str, before: str) -> Callable[[World, str], bool]:
    return lambda world, output: (world.base / name).read_text() != before


ATTACKS = (
    Attack("write outside", "echo x > ../PWN", exists("PWN")),
    Attack("write into the home", 'echo x > "$HOME/PWN"', exists("home/PWN")),
    Attack("append outside", 'echo x >> "$HOME/notes.txt"', changed("home/notes.txt", "a note")),
    Attack(
        "truncate outside",
        f"{PYTHON} -I -S -c \"import os; os.truncate(os.environ['HOME']+'/notes.txt', 0)\"",
        changed("home/notes.txt", "a note"),
    ),
    Attack(
        "delete outside",
        'rm -f "$HOME/notes.txt"',
        lambda world, output: not (world.home / "notes.txt").exists(),
    ),
    Attack("rename outside", 'mv "$HOME/notes.txt" "$HOME/moved"', exists("home/moved")),
    Attack("make a folder outside", "mkdir ../PWN", exists("PWN")),
    Attack("write through a link", "ln -s ../PWN link && echo x > link", exists("PWN")),
    Attack("write through a folder's link", 'ln -s "$HOME" link; echo x > link/PWN', exists("home/PWN")),
    Attack(
        "link a file in", 'ln "$HOME/notes.txt" hard && echo x > hard', changed("home/notes.txt", "a note")
    ),
    Attack(
        "change rights outside",
        'chmod 777 "$HOME/notes.txt"',
        lambda world, output: (world.home / "notes.txt").stat().st_mode & 0o777 == 0o777,
        "bubblewrap",
    ),
    Attack(
        "write into the system",
        "echo x > /etc/PWN-tori || echo x > /usr/PWN-tori",
        lambda world, output: Path("/etc/PWN-tori").exists() or Path("/usr/PWN-tori").exists(),
    ),
    Attack(
        "write the kernel's settings", "echo x > /proc/sys/kernel/domainname && echo CHANGED", says("CHANGED")
    ),
    Attack("read a private key", 'cat "$HOME/.ssh/id_rsa"', says(KEY)),
    Attack("read a private key through a link", 'ln -s "$HOME/.ssh" k; cat k/id_rsa', says(KEY)),
    Attack("read credentials", 'cat "$HOME/.aws/credentials" "$HOME/.netrc"', says(KEY)),
    Attack("read the passwords", "cat /etc/shadow", says("root:")),
    Attack("read a key through another process", 'cat "/proc/$VICTIM/root$HOME/.ssh/id_rsa"', says(KEY)),
    Attack(
        "read a key through the parent",
        'cat "/proc/$PPID/root$HOME/.ssh/id_rsa" "/proc/1/root$HOME/.ssh/id_rsa"',
        says(KEY),
    ),
    Attack("write through another process", 'echo x > "/proc/$VICTIM/root$HOME/PWN"', exists("home/PWN")),
    Attack(
        "write through another process's folder",
        "echo x > /proc/$VICTIM/cwd/PWN-tori",
        lambda world, output: Path("PWN-tori").exists(),
    ),
    Attack(
        "read another process's environment",
        "tr '\\0' '\\n' < /proc/$VICTIM/environ | grep PATH=",
        says("PATH="),
    ),
    Attack(
        "connect to a server here",
        connect("AF_INET", "('127.0.0.1',int(__import__('os').environ['PORT']))"),
        says("CONNECTED"),
    ),
    Attack("connect by bash", "exec 3<>/dev/tcp/127.0.0.1/$PORT && echo CONNECTED", says("CONNECTED")),
    Attack(
        "listen",
        f"{PYTHON} -I -S -c \"import socket; socket.create_server(('0.0.0.0', 0)); print('LISTENS')\"",
        lambda world, output: "LISTENS" in output and world.sandbox.name != "bubblewrap",
    ),
    Attack(
        "send by UDP",
        f'{PYTHON} -I -S -c "import socket; s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); '
        "s.connect(('192.0.2.1', 9)); print('SENT')\"",
        says("SENT"),
        "bubblewrap",
    ),
    Attack("speak to docker", connect("AF_UNIX", "'$HOME/docker.sock'"), says("CONNECTED"), "bubblewrap"),
    Attack(
        "speak to the agent of ssh", connect("AF_UNIX", "'$HOME/agent.sock'"), says("CONNECTED"), "bubblewrap"
    ),
    Attack("learn of the agents", 'echo "socket $SSH_AUTH_SOCK$DOCKER_HOST"', says(".sock")),
    Attack("end another process", "kill -9 $VICTIM", lambda world, output: world.victim.poll() is not None),
    Attack("stop another process", "kill -STOP $VICTIM && echo STOPPED", says("STOPPED")),
    Attack("see another process", "test -d /proc/$VICTIM && echo SEEN", says("SEEN"), "bubblewrap"),
    Attack(
        "write a hook",
        "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
        exists("tree/.git/hooks/pre-commit"),
        "bubblewrap",
    ),
    Attack(
        "change git's settings",
        "git config core.pager ./x; echo x >> .git/config",
        lambda world, output: (
            "pager" in (world.root / ".git/config").read_text()
            or (world.root / ".git/config").read_text().endswith("x\n")
        ),
        "bubblewrap",
    ),
    Attack(
        "put a new hooks folder there",
        "mv .git/hooks .git/h; mkdir .git/hooks; echo x > .git/hooks/pre-commit",
        exists("tree/.git/hooks/pre-commit"),
        "bubblewrap",
    ),
    Attack(
        "put a new repository there",
        "mv .git old && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        exists("tree/.git/hooks/pre-commit"),
        "bubblewrap",
    ),
    Attack(
        "unmount the protection",
        "umount .git/hooks; umount -l .git; mount -o remount,rw,bind .git/hooks; "
        "echo x > .git/hooks/pre-commit",
        exists("tree/.git/hooks/pre-commit"),
        "bubblewrap",
    ),
    Attack(
        "make the system writable",
        "mount -o remount,rw / ; mount -o remount,rw,bind / ; echo x > ../PWN",
        exists("PWN"),
    ),
    Attack(
        "leave by a namespace",
        "unshare -rm sh -c 'mount -o remount,rw,bind / ; echo x > ../PWN'",
        exists("PWN"),
    ),
    Attack(
        "write the configuration of tori",
        "echo x > .tori/config.toml",
        exists("tree/.tori/config.toml"),
        "bubblewrap",
    ),
    Attack("change the trace", "echo x > .trace/kept", changed("tree/.trace/kept", "kept"), "bubblewrap"),
    Attack(
        "swap the trace",
        "mv .trace t; mkdir .trace; echo x > .trace/kept",
        changed("tree/.trace/kept", "kept"),
        "bubblewrap",
    ),
    Attack(
        "write a hook of a repository within",
        "mkdir -p lib/own/.git/hooks; echo x > lib/own/.git/hooks/pre-commit; "
        "cd lib/own && git config core.fsmonitor ./x",
        lambda world, output: (
            exists("tree/lib/own/.git/hooks/pre-commit")(world, output)
            or "fsmonitor" in (world.root / "lib/own/.git/config").read_text()
        ),
        "bubblewrap",
    ),
    Attack(
        "put another repository in the place of one within",
        "mv lib/own/.git lib/own/g; mv lib/own lib/o; mv lib l; "
        "mkdir -p lib/own/.git/hooks; echo x > lib/own/.git/hooks/pre-commit",
        exists("tree/lib/own/.git/hooks/pre-commit"),
        "bubblewrap",
    ),
    Attack(
        "lead a work tree within elsewhere",
        "rm -f linked/.git; echo gitdir: ../evil > linked/.git",
        changed("tree/linked/.git", "gitdir: ../lib/own/.git\n"),
        "bubblewrap",
    ),
    Attack(
        "make a device", "mknod disk b 8 0 && dd if=disk of=copy bs=512 count=1 && echo READ", says("READ")
    ),
    Attack(
        "leave a process behind",
        f"({PYTHON} -I -S -c 'import os,time; os.setsid(); time.sleep(600)' &) ; sleep 0.2",
        lambda world, output: (
            "time.sleep(600)"
            in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        ),
    ),
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_an_attack_is_refused_or_not_claimed(world: World, attack: Attack) -> None:
    if attack.held_by == "bubblewrap" and world.sandbox.name != "bubblewrap":
        return
    _, output = await world.run(attack.command)
    assert not attack.succeeded(world, output), output


async def test_ordinary_work_goes_on_inside(world: World) -> None:
    result, output = await world.run(
        "echo x > new.txt && mkdir -p a/b && mv new.txt a/b && cat a/b/new.txt && rm -r a && "
        'echo t > "$(mktemp)" && git add app.py && git -c user.name=n -c user.email=e@x commit -qm m && '
        f"{PYTHON} -c 'import json, ssl' && ls / > /dev/null && cat /etc/hostname > /dev/null; echo code $?"
    )
    assert "code 0" in output
    assert result.exit_code == 0


async def test_exit_code_and_signal_come_through(world: World) -> None:
    assert (await world.run("exit 7"))[0].exit_code == 7
    assert (await world.run("kill -9 $$"))[0].exit_code == 128 + signal.SIGKILL


def test_no_command_runs_in_it_if_tori_is_killed_before_the_gate_opens(world: World) -> None:
    backend = "bubblewrap" if world.sandbox.name == "bubblewrap" else "landlock"
    program = f"""
import asyncio, os, signal, time
from pathlib import Path
from tests.workspace.processes_kit import Shell
from tori_tui.workspace.sandbox.choice import open_sandbox
from tori_tui.workspace.sandbox.confinement import SandboxTerms
root = Path({str(world.root)!r})
sandbox = open_sandbox(SandboxTerms(root, {world.environ!r}), {backend!r})
def die():
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(Shell(root).run("touch ran # 91.375", on_started=die, confinement=sandbox.confine(root)))
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=30)
    time.sleep(0.2)
    assert ended.returncode == -signal.SIGKILL
    assert not (world.root / "ran").exists()
    assert pids_of("touch ran # 91.375") == []


async def test_tori_itself_stays_free(world: World) -> None:
    await world.run("true")
    (world.base / "still").write_text("writable")
    assert (world.home / ".ssh" / "id_rsa").read_text() == KEY


async def test_a_redirect_of_git_that_a_command_made_is_taken_back(tmp_path: Path) -> None:
    with world_of("bubblewrap", tmp_path) as world:
        await world.run("echo ../evil > .git/commondir; echo x > .git/config.worktree")
        told = world.sandbox.mend()
        assert len(told) == 2
        assert not (world.root / ".git" / "commondir").exists()
        assert world.sandbox.mend() == ()


async def test_what_is_stopped_may_save_its_work_first(world: World) -> None:
    saving = (
        "import signal, sys, time\n"
        "def save(*_):\n"
        "    time.sleep(0.3)\n"
        "    open('saved', 'w').write('all')\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGTERM, save)\n"
        "open('begun', 'w')\n"
        "time.sleep(60)\n"
    )
    (world.root / "saving.py").write_text(saving)
    result, _ = await world.run(f"{PYTHON} -I -S saving.py; echo after", timeout_s=1.5)
    assert result.end == "timed_out"
    assert (world.root / "begun").exists()
    assert (world.root / "saved").read_text() == "all"


async def test_what_a_command_leaves_running_is_stopped_and_named(world: World) -> None:
    result, _ = await world.run("sleep 600 & echo done")
    assert result.stopped == ("sleep",)


async def test_a_repository_that_comes_later_is_found(tmp_path: Path) -> None:
    with world_of("bubblewrap", tmp_path) as world:
        await world.run("mkdir late && git init -q late/repo")
        await asyncio.sleep(0.3)
        await world.run(
            "echo x > late/repo/.git/hooks/pre-commit; git -C late/repo status && echo y > late/new"
        )
        assert not (world.root / "late/repo/.git/hooks/pre-commit").exists()
        assert (world.root / "late/new").exists()


async def test_what_landlock_cannot_keep_is_told(tmp_path: Path) -> None:
    with world_of("landlock", tmp_path) as world:
        await world.run("echo x > app.py; git add app.py")
        assert world.sandbox.mend() == ()
        await world.run("echo x > lib/own/.git/hooks/pre-commit; git config core.pager ./x")
        (told,) = world.sandbox.mend()
        assert ".git/config" in told
        assert "lib/own/.git/hooks/pre-commit" in told
        assert world.sandbox.mend() == ()


async def test_the_network_can_be_left_on(tmp_path: Path) -> None:
    for backend in BACKENDS:
        with world_of(backend, tmp_path / backend, network=True) as world:
            _, output = await world.run("exec 3<>/dev/tcp/127.0.0.1/$PORT && echo CONNECTED")
            assert "CONNECTED" in output
            assert "network on" in world.sandbox.holds


def test_what_is_held_is_said(world: World) -> None:
    said = world.sandbox.holds
    assert str(world.root) in said
    assert "Not held" in said
    assert (".git/hooks" in said.partition("Not held")[0]) is (world.sandbox.name == "bubblewrap")


def test_without_a_backend_it_is_refused(tmp_path: Path) -> None:
    terms = SandboxTerms(tmp_path, {"PATH": str(tmp_path), "HOME": "/nowhere"})
    with pytest.raises(SandboxRefused, match="bwrap is not installed"):
        open_sandbox(terms, "bubblewrap")


def test_a_program_of_the_work_tree_is_never_taken_for_the_sandbox(tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    with pytest.raises(SandboxRefused, match="not installed"):
        open_sandbox(SandboxTerms(tmp_path, {"PATH": str(tmp_path), "HOME": "/nowhere"}), "bubblewrap")


def test_one_that_does_not_work_is_refused_with_its_own_words(tmp_path: Path) -> None:
    programs, tree = tmp_path / "bin", tmp_path / "tree"
    programs.mkdir()
    tree.mkdir()
    fake = programs / "bwrap"
    fake.write_text("#!/bin/sh\necho 'no permissions here' >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(SandboxRefused, match="no permissions here"):
        open_sandbox(SandboxTerms(tree, {"PATH": str(programs), "HOME": "/nowhere"}), "bubblewrap")


@pytest.mark.parametrize("root", ["/", "/home/me"])
def test_the_whole_machine_and_a_whole_home_are_no_work_tree(root: str) -> None:
    with pytest.raises(SandboxRefused, match="everything writable"):
        open_sandbox(SandboxTerms(Path(root), {"PATH": "/usr/bin", "HOME": "/home/me"}))


def test_a_git_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    with world_of("bubblewrap", tmp_path) as world:
        (world.root / ".git").rename(world.base / "git")
        (world.root / ".git").symlink_to("../git")
        with pytest.raises(SandboxRefused, match="link"):
            world.sandbox.confine(world.root)


def test_a_hidden_folder_never_holds_the_work_tree(tmp_path: Path) -> None:
    tree = tmp_path / ".config" / "tori" / "project"
    tree.mkdir(parents=True)
    (tmp_path / ".ssh").mkdir()
    hidden = hidden_paths(SandboxTerms(tree, {"HOME": str(tmp_path)}))
    assert tmp_path / ".ssh" in hidden
    assert not [path for path in hidden if tree.is_relative_to(path)]
