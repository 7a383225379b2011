"""What every test may rely on: programs named, nothing of the user's own configuration."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# A machine that is busy with something else must turn no test red: speed is measured by `make bench`.
# The same examples each time: what is new today is looked for by hand, with HYPOTHESIS_PROFILE=random.
settings.register_profile(
    "tori", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None
)
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "tori"))
# Where an example takes seconds: a failure is told as it was found.
settings.register_profile(
    "processes",
    settings(),
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, by name, what needs a program that is not here; `.ci/run` fails on any such skip."""
    for item in items:
        for mark in item.iter_markers("needs"):
            for program in mark.args:
                if shutil.which(program) is None:
                    item.add_marker(pytest.mark.skip(reason=f"needs the program {program}: make system"))


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home of its own and no keys, so that no test reads or writes the user's."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "TORI_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Tester")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "tester@example.com")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Tester")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "tester@example.com")
    return home
