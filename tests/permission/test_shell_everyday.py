from __future__ import annotations

from tests.permission.everyday import EVERYDAY
from tori_tui.permission.policy import PermissionQuestion, decide


def test_at_least_ninety_of_a_hundred_everyday_commands_are_free() -> None:
    asked = [
        command
        for command in EVERYDAY
        if decide("ask", PermissionQuestion("bash", "execute", "/home/me/p", command=command)).decision
        != "allow"
    ]
    assert len(EVERYDAY) >= 100
    assert (len(EVERYDAY) - len(asked)) / len(EVERYDAY) >= 0.9, asked
