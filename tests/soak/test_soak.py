from __future__ import annotations

import os

import pytest

from tests.soak.__main__ import soak

SECONDS = float(os.environ.get("SOAK_SECONDS", "15"))
SEED = int(os.environ.get("SOAK_SEED", "20261130"))


@pytest.mark.asyncio
async def test_nothing_is_lost_to_faults_interrupts_and_kills() -> None:
    found, sizes = await soak(SECONDS, SEED)
    assert found.wrong == []
    assert found.n_missions >= len(sizes) >= 1
    assert found.n_requests > found.n_missions
