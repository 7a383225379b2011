"""Commands that are asked about even in mode `auto`: they destroy for good, or reach beyond this machine.

Must not be taken for a fence: who wants to hide one from it can. It keeps accidents from happening.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from tori_tui.permission.protected_paths import HARMLESS_DEVICES, words
from tori_tui.permission.shell.words import UNKNOWN
from tori_tui.permission.shell.wrappers import INTERPRETERS

FETCHERS: Final = words("curl wget aria2c http https fetch ftp nc ncat netcat socat ssh lynx")
DECODERS: Final = words("base64 base32 xxd openssl gunzip zcat xz uudecode gpg rev tr")
SHELLS: Final = (INTERPRETERS - words("pwsh powershell")) | {"source", ".", "eval"}

OTHER_USER: Final = words("sudo doas su pkexec runuser")
DISKS: Final = words(
    "fdisk sfdisk cfdisk gdisk sgdisk parted wipefs mkswap swapoff blkdiscard hdparm cryptsetup lvremove "
    "vgremove pvremove zpool zfs badblocks"
)
SYSTEM: Final = words(
    "shutdown reboot halt poweroff telinit userdel usermod useradd groupdel passwd chpasswd visudo iptables "
    "ip6tables nft ufw insmod rmmod modprobe mount umount sysctl chroot kexec crontab at setcap nsenter"
)

SHOW_ALONE: Final = words("mount crontab iptables ip6tables sysctl")
"""Without further words they only show."""

PHRASES: Final[tuple[tuple[str, str], ...]] = (
    ("npm publish", "it publishes a package"),
    ("npm unpublish", "it takes a package back"),
    ("yarn publish", "it publishes a package"),
    ("pnpm publish", "it publishes a package"),
    ("cargo publish", "it publishes a package"),
    ("twine upload", "it publishes a package"),
    ("uv publish", "it publishes a package"),
    ("poetry publish", "it publishes a package"),
    ("gem push", "it publishes a package"),
    ("docker push", "it publishes an image"),
    ("gh release", "it changes a release"),
    ("gh repo delete", "it deletes a repository"),
    ("terraform destroy", "it destroys what runs elsewhere"),
    ("terraform apply", "it changes what runs elsewhere"),
    ("pulumi destroy", "it destroys what runs elsewhere"),
    ("kubectl delete", "it destroys what runs elsewhere"),
    ("kubectl drain", "it destroys what runs elsewhere"),
    ("helm uninstall", "it destroys what runs elsewhere"),
    ("helm delete", "it destroys what runs elsewhere"),
    ("aws s3 rb", "it destroys what is stored elsewhere"),
    ("aws s3 rm", "it destroys what is stored elsewhere"),
    ("docker system prune", "it deletes images and volumes of every project"),
    ("docker volume rm", "it deletes stored data"),
    ("docker volume prune", "it deletes stored data"),
    ("systemctl poweroff", "it stops the machine"),
    ("systemctl reboot", "it stops the machine"),
    ("systemctl halt", "it stops the machine"),
    ("dropdb", "it deletes a database"),
    ("git filter-branch", "it rewrites history"),
    ("git filter-repo", "it rewrites history"),
    ("git rebase", "it rewrites history"),
    ("git replace", "it rewrites history"),
    ("git update-ref", "it rewrites history"),
    ("git reflog expire", "it deletes what history can be restored from"),
    ("git reflog delete", "it deletes what history can be restored from"),
    ("git prune", "it deletes what history can be restored from"),
    ("git stash drop", "it deletes stashed work"),
    ("git stash clear", "it deletes stashed work"),
)
"""By the first words, options between them left out."""


def danger(command: Sequence[str], before: Sequence[str] = ()) -> str:
    """Say why a simple command is dangerous; empty where it is not.

    Args:
        command: Its words, `UNKNOWN` standing in those that only the running shell knows.
        before: The programs whose output it is piped.
    """
    name = command[0].rpartition("/")[2]
    rest = tuple(command[1:])
    if name in OTHER_USER:
        return "it runs as another user"
    if name.startswith("mkfs") or name in DISKS:
        return "it changes disks"
    if name in SYSTEM and not (name in SHOW_ALONE and rest in ((), ("-l",), ("-L",), ("-a",))):
        return "it changes the system"
    if name in SHELLS and (FETCHERS & set(before)):
        return "it runs what comes from the network"
    if name in SHELLS and (DECODERS & set(before)):
        return "it runs what was made unreadable"
    bare = " ".join([name, *(word for word in rest if not word.startswith("-"))]) + " "
    for phrase, why in PHRASES:
        if bare.startswith(phrase + " "):
            return why
    check = _CHECKS.get(name)
    return check(rest) if check is not None else ""


def dangerous_target(path: str) -> str:
    """Say why nothing may be written to a path by a redirection; empty where it is not dangerous."""
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return "it opens a connection"
    if (
        path.startswith("/dev/")
        and path not in HARMLESS_DEVICES
        and not path.startswith(("/dev/fd/", "/dev/shm/"))
    ):
        return "it writes to a device"
    return ""


def _has(rest: Sequence[str], letters: str, *names: str) -> bool:
    return any(
        (word.startswith("-") and not word.startswith("--") and set(letters) & set(word[1:]))
        or word.partition("=")[0] in names
        for word in rest
    )


def _is_vast(target: str) -> bool:
    """Say whether a path is the machine, the home, the whole tree, what is above it, or may be one."""
    if target.startswith(UNKNOWN):
        return True
    target = target.removeprefix("./") or "."
    if target.startswith("~"):
        return "/" not in target.rstrip("/*")
    flat = posixpath.normpath(target)
    if flat in ("/", ".", "*", ".*", ".git", "//") or flat.startswith(".."):
        return True
    return flat.startswith("/") and flat.count("/") <= 1 + flat.endswith("/*")


def _targets(rest: Sequence[str]) -> list[str]:
    return [word for word in rest if not word.startswith("-")]


def _rm(rest: Sequence[str]) -> str:
    if "--no-preserve-root" in rest:
        return "it deletes far too much"
    if not _has(rest, "rR", "--recursive"):
        return ""
    return "it deletes far too much" if any(map(_is_vast, _targets(rest))) else ""


def _chmod(rest: Sequence[str]) -> str:
    if not _has(rest, "R", "--recursive"):
        return ""
    return "it changes the rights of far too much" if any(map(_is_vast, _targets(rest)[1:])) else ""


def _dd(rest: Sequence[str]) -> str:
    return next((why for word in rest if word.startswith("of=") and (why := dangerous_target(word[3:]))), "")


def _to_device(rest: Sequence[str]) -> str:
    return next((why for word in rest if (why := dangerous_target(word))), "")


def _find(rest: Sequence[str]) -> str:
    first_test = next((at for at, word in enumerate(rest) if word.startswith("-")), len(rest))
    is_vast = any(_is_vast(word) and posixpath.normpath(word) != "." for word in rest[:first_test])
    deletes = "-delete" in rest or bool({"rm", "shred"} & set(rest))
    has_test = bool({"-name", "-iname", "-path", "-regex", "-type", "-empty", "-size", "-mtime"} & set(rest))
    return "it deletes far too much" if deletes and (is_vast or not has_test) else ""


def _kill(rest: Sequence[str]) -> str:
    """Tell `kill -9 -1` and `kill 1` from `kill -1 PID`, where the 1 is a signal."""
    operands = [word for word in rest if re.fullmatch(r"-?\d+", word)]
    is_signal_first = bool(rest) and rest[0].startswith("-") and len(operands) > 1
    targets = operands[1:] if is_signal_first else operands
    return "it ends every process" if {"-1", "1"} & set(targets) else ""


def _git(rest: Sequence[str]) -> str:
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in ("-C", "-c", "--git-dir", "--work-tree") else rest[1:]
    if not rest:
        return ""
    check = _GIT.get(rest[0])
    if check is not None:
        return check(rest[1:])
    bare = f"git {' '.join(_targets(rest))} "
    return next((why for phrase, why in PHRASES if bare.startswith(f"{phrase} ")), "")


def _push(rest: Sequence[str]) -> str:
    forced = _has(rest, "fd", "--force", "--force-with-lease", "--mirror", "--delete", "--prune")
    refs = any(word.startswith(("+", ":")) for word in _targets(rest))
    return "it overwrites or deletes what others have" if forced or refs else ""


def _reset(rest: Sequence[str]) -> str:
    return "it throws changes away" if {"--hard", "--merge", "--keep"} & set(rest) else ""


def _clean(rest: Sequence[str]) -> str:
    is_dry = _has(rest, "n", "--dry-run")
    return "it deletes files that git does not know" if _has(rest, "f", "--force") and not is_dry else ""


def _checkout(rest: Sequence[str]) -> str:
    is_all = any(
        posixpath.normpath(word) in (".", "*", ":") or word.startswith(":/") for word in _targets(rest)
    )
    return "it throws changes away" if _has(rest, "f", "--force") or is_all else ""


def _restore(rest: Sequence[str]) -> str:
    is_staged = "--staged" in rest or "-S" in rest
    return "" if is_staged and "--worktree" not in rest else _checkout(rest)


def _switch(rest: Sequence[str]) -> str:
    return "it throws changes away" if _has(rest, "fC", "--force", "--discard-changes") else ""


def _branch(rest: Sequence[str]) -> str:
    return "it deletes or moves a branch whatever it holds" if _has(rest, "DMCf", "--force") else ""


def _commit(rest: Sequence[str]) -> str:
    return "it rewrites history" if "--amend" in rest else ""


def _docker(rest: Sequence[str]) -> str:
    mounts = any(re.match(r"(?:--volume=|-v)?/:|type=bind,(?:src|source)=/,", word) for word in rest)
    return "it gives a container the whole machine" if "--privileged" in rest or mounts else ""


def _netcat(rest: Sequence[str]) -> str:
    return "it gives a shell to another machine" if _has(rest, "ec", "--exec", "--sh-exec") else ""


def _init(rest: Sequence[str]) -> str:
    return "it stops the machine" if rest and rest[0] in "06" else ""


_Check = Callable[[Sequence[str]], str]

_GIT: Final[Mapping[str, _Check]] = MappingProxyType(
    {
        "push": _push, "reset": _reset, "clean": _clean, "checkout": _checkout, "restore": _restore,
        "switch": _switch, "branch": _branch, "commit": _commit,
    }
)  # fmt: skip

_CHECKS: Final[Mapping[str, _Check]] = MappingProxyType(
    {
        "rm": _rm, "chmod": _chmod, "chown": _chmod, "chgrp": _chmod, "dd": _dd, "shred": _to_device,
        "cp": _to_device, "tee": _to_device, "find": _find, "kill": _kill, "git": _git, "docker": _docker,
        "podman": _docker, "nc": _netcat, "ncat": _netcat, "netcat": _netcat, "init": _init,
    }
)  # fmt: skip

DANGER_NAMES: Final = (
    OTHER_USER
    | DISKS
    | SYSTEM
    | (SHELLS - {"."})
    | {"mkfs"}
    | set(_CHECKS)
    | {phrase.split()[0] for phrase, _ in PHRASES}
)
"""Programs of which one use or another is dangerous."""

__all__ = ["DANGER_NAMES", "danger", "dangerous_target"]
