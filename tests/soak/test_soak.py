from __future__ import annotations

import os
import re
import subprocess
import sys

SECONDS = os.environ.get("SOAK_SECONDS", "15")
SEED = os.environ.get("SOAK_SEED", "20261130")


def test_nothing_is_lost_to_faults_interrupts_and_kills() -> None:
    # In a process of its own: what other tests left in this one may reap a child that got an old number.
    command = [sys.executable, "-m", "tests.soak", SECONDS, SEED]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "WRONG" not in told.stdout, told.stdout
    found = re.search(r"(\d+) missions, .* (\d+) requests\nmemory .* over (\d+) missions", told.stdout)
    assert found is not None, told.stderr
    n_missions, n_requests, n_steady = map(int, found.groups())
    assert n_missions >= n_steady >= 1
    assert n_requests > n_missions
