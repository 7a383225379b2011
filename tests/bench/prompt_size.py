"""The size of a session's first request: system prompt, tools and a one-line mission.

Counted with o200k where a tokenizer with its data is installed (`pip install bpe-openai`), else with
tori's own estimate, and it says which. Must not be part of the product.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from tests.bench.figures import Figure
from tests.fakes.provider import ScriptedProvider, ScriptedReply
from tests.fakes.session import driven
from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.request import ModelRequest


def measure() -> list[Figure]:
    """Build the first request of a real session and count it."""
    count, name = _counter()
    request = asyncio.run(_first_request())
    system = "\n\n".join(block.text for block in request.system) + "\n\n" + (request.late_system or "")
    tools = json.dumps([asdict(tool) for tool in request.tools], ensure_ascii=False, separators=(",", ":"))
    words = "".join(message.text for message in request.messages)
    parts = {"system": count(system), "tools": count(tools), "mission": count(words)}
    note = f"{name}: " + ", ".join(f"{key} {value}" for key, value in parts.items())
    return [Figure("first request, tokens", sum(parts.values()), "", 2_500, note)]


async def _first_request() -> ModelRequest:
    provider = ScriptedProvider([ScriptedReply("Done.")])
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        async with driven(provider, work) as driver:
            await driver.run("fix the failing test")
    return provider.requests[0]


def _counter() -> tuple[Callable[[str], int], str]:
    try:
        tokenizer = importlib.import_module("bpe_openai").get_encoding("o200k_base")
    except ImportError:
        return estimate_tokens, "estimated"
    return lambda text: len(tokenizer.encode(text)), "o200k"


__all__ = ["measure"]
