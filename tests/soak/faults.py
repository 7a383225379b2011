"""What goes wrong between tori and a model, one kind after the other."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tests.wire.answers import (
    Answer,
    Ending,
    RawAnswer,
    Script,
    WireCall,
    WireRefusal,
    WireReply,
    WireRequest,
    WireUsage,
)

EVERY = 3
"""One reply of so many is broken."""

ENDINGS: tuple[Ending, ...] = ("close", "reset", "hold")

AT_ONCE = {"retry-after": "0"}

WRONG_USAGE = WireUsage(input=4_000_000, output=0, cached=9_000_000)


def faulty(script: Script, rng: random.Random) -> Script:
    """Return a script of which every third answer is broken in a random way."""

    def answer(request: WireRequest) -> Answer:
        right = script(request)
        if request.number % EVERY or not isinstance(right, WireReply):
            return right
        return rng.choice(FAULTS)(right, rng)

    return answer


def _busy(_: WireReply, __: random.Random) -> Answer:
    return WireRefusal(429, {"error": {"message": "slow down", "type": "rate_limit_error"}}, AT_ONCE)


def _fault_of_the_server(_: WireReply, rng: random.Random) -> Answer:
    return WireRefusal(rng.choice((500, 502, 529)), "<html>upstream failed</html>", AT_ONCE)


def _cut(right: WireReply, rng: random.Random) -> Answer:
    return replace(right, cut_after=rng.randrange(4), ending=rng.choice(ENDINGS))


def _garbage(_: WireReply, rng: random.Random) -> Answer:
    return RawAnswer((rng.randbytes(300), b"\n\ndata: {not json\n\n", b"\x00\xff" * 40))


def _a_page(_: WireReply, __: random.Random) -> Answer:
    return RawAnswer((b"<html><body>Please log in</body></html>",), content_type="text/html")


def _wrong_usage(right: WireReply, __: random.Random) -> Answer:
    return replace(right, usage=WRONG_USAGE)


def _slow_drip(right: WireReply, __: random.Random) -> Answer:
    return replace(right, piece_chars=3, piece_delay_s=0.004)


def _broken_call(_: WireReply, rng: random.Random) -> Answer:
    calls = (
        WireCall("read_file", '{"path": "calc/op'),
        WireCall("reed_file", {"path": "calc/ops.py"}),
        WireCall("edit_file", {"path": 7, "old": None}),
        WireCall("read_file", {"path": "../../../etc/passwd"}),
        WireCall("bash", {"command": "sleep 30 & echo left behind"}),
        WireCall("read_file", {"path": "calc/\ud800.py"}),
    )
    return WireReply("Let me see.", tuple(rng.sample(calls, k=rng.randint(1, 3))))


FAULTS: tuple[Callable[[WireReply, random.Random], Answer], ...] = (
    *(_busy, _fault_of_the_server, _cut, _garbage),
    *(_a_page, _wrong_usage, _slow_drip, _broken_call),
)

__all__ = ["EVERY", "FAULTS", "faulty"]
