"""Named scripts for servers that run as a process of their own."""

from __future__ import annotations

from tests.wire.answers import WireCall, WireReply, by_history, in_order

hello = by_history(WireReply("Hello."))
"""Answers once, without a call."""

look_and_tell = by_history(
    WireReply("I look.", (WireCall("glob_files", {"pattern": "*"}),)),
    WireReply("That is all there is."),
)
"""One call, then an answer."""

slow = in_order(*(WireReply("word " * 50, piece_delay_s=0.1),) * 20)
"""Drips a text; for interrupts."""

__all__ = ["hello", "look_and_tell", "slow"]
