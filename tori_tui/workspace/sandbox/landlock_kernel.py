"""The three system calls of Landlock, by ctypes.

Must not be imported before a sandbox is wanted: `ctypes` costs a start several milliseconds.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

# linux/landlock.h and the table of system calls that all architectures share.
CREATE_RULESET: Final = 444
ADD_RULE: Final = 445
RESTRICT_SELF: Final = 446
VERSION_ASKED: Final = 1
RULE_PATH_BENEATH: Final = 1
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAPBSET_DROP: Final = 24
HIGHEST_CAPABILITY: Final = 63
ROOT_CAPABILITIES: Final = frozenset({0, 1, 3})
"""CHOWN, DAC_OVERRIDE, FOWNER: what root needs in a tree of somebody else's. The others look into processes,
mount, or open by handle, past every rule."""

EXECUTE: Final = 1 << 0
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3
REFER: Final = 1 << 13
TRUNCATE: Final = 1 << 14
IOCTL_DEV: Final = 1 << 15
ABI_1_RIGHTS: Final = (1 << 13) - 1

READING: Final = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE: Final = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

NETWORK_TCP: Final = 0b11
SCOPE_ALL: Final = 0b11
"""Abstract Unix sockets and signals."""

REFER_ABI: Final = 2
TRUNCATE_ABI: Final = 3
TCP_ABI: Final = 4
IOCTL_ABI: Final = 5
SCOPE_ABI: Final = 6


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """Return the version that the kernel speaks; 0 where it has none."""
    return max(
        0, int(_libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION_ASKED)))
    )


def all_rights(version: int) -> int:
    """Return every right on files that a version knows."""
    rights = ABI_1_RIGHTS
    for since, right in ((REFER_ABI, REFER), (TRUNCATE_ABI, TRUNCATE), (IOCTL_ABI, IOCTL_DEV)):
        rights |= right if version >= since else 0
    return rights


def make_ruleset(version: int, *, cuts_network: bool) -> int:
    """Return the handle of a ruleset that forbids everything so far.

    Raises:
        OSError: The kernel refuses.
    """
    scoped = SCOPE_ALL if version >= SCOPE_ABI else 0
    network = NETWORK_TCP if cuts_network else 0
    attributes = _RulesetAttributes(all_rights(version), network, scoped)
    # An older kernel refuses a structure that is longer than its own, unless the rest is zero.
    return _checked(
        _libc.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(24), ctypes.c_uint32(0))
    )


def allow(ruleset: int, paths: Iterable[Path], rights: int) -> None:
    """Allow rights below some paths; those that are not there, or not ours to see, are left out.

    Raises:
        OSError: The kernel refuses.
    """
    for path in paths:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            is_folder = os.path.isdir(path)
            rule = _PathBeneath(rights if is_folder else rights & OF_A_FILE, handle)
            _checked(_libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0))
        finally:
            os.close(handle)


def restrict_self(ruleset: int) -> None:
    """Confine this thread and every process that it starts, for ever.

    Raises:
        OSError: The kernel refuses.
    """
    if os.geteuid() == 0:
        for capability in set(range(HIGHEST_CAPABILITY)) - ROOT_CAPABILITIES:
            # Those that this kernel does not know are refused, which is as good.
            _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    _checked(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(_libc.syscall(RESTRICT_SELF, ruleset, 0))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)


__all__ = [
    "READING",
    "READ_DIR",
    "SCOPE_ABI",
    "TCP_ABI",
    "abi",
    "all_rights",
    "allow",
    "make_ruleset",
    "restrict_self",
]
