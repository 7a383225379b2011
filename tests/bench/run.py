"""`make bench`: runs every bench, or those named on the command line, and prints one table.

Must not print anything else on standard output; a figure over its bar makes the exit code 1.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from tests.bench import (
    app_long,
    checkpoints,
    classifier_wait,
    explore,
    first_request,
    help_start,
    prompt_size,
    sandbox_speed,
    stream_speed,
    trace_speed,
    turns,
    turns_with_checkpoints,
    ui_screen,
)
from tests.bench.figures import Figure, table

BENCHES: Final[Mapping[str, Callable[[], Sequence[Figure]]]] = MappingProxyType(
    {
        "help": help_start.measure,
        "first-request": first_request.measure,
        "prompt-size": prompt_size.measure,
        "turns": turns.measure,
        "checkpoints": checkpoints.measure,
        "explore": explore.measure,
        "classifier": classifier_wait.measure,
        "turns-with-checkpoints": turns_with_checkpoints.measure,
        "sandbox": sandbox_speed.measure,
        "streams": stream_speed.measure,
        "trace": trace_speed.measure,
        **ui_screen.ROWS,
        **app_long.ROWS,
    }
)


def main(names: Sequence[str]) -> int:
    """Run benches and return the exit code."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        sys.stderr.write(f"There is no bench {unknown[0]!r}; there are {', '.join(BENCHES)}.\n")
        return 2
    figures: list[Figure] = []
    has_failed = False
    for name, measure in BENCHES.items():
        if names and name not in names:
            continue
        sys.stderr.write(f"{name} …\n")
        try:
            figures += measure()
        except Exception:
            has_failed = True
            sys.stderr.write(f"{name} failed:\n{traceback.format_exc()}")
    sys.stdout.write(table(figures) + "\n")
    return 1 if has_failed or not all(figure.is_within for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
