from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.readme import README, with_parts

ROOT = README.parent


def test_what_is_made_from_the_program_is_up_to_date() -> None:
    text = README.read_text()
    assert text == with_parts(text), "write it anew: .venv/bin/python -m tests.readme"


def test_it_opens_with_the_two_commands() -> None:
    first_block = README.read_text().split("```")[1]
    assert re.findall(r"^make \w+", first_block, re.MULTILINE) == ["make demo", "make test"]


def test_every_task_named_in_the_documents_exists() -> None:
    listed = subprocess.run(("make", "help"), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tasks = set(re.findall(r"^make ([\w-]+)", listed, re.MULTILINE))
    assert {"demo", "test", "check", "dev", "bench", "snap", "system", "help"} <= tasks
    for name in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"`make ([a-z-]+)", (ROOT / name).read_text()))
        assert named <= tasks, name


def test_every_file_that_a_document_names_exists() -> None:
    for document in (README, ROOT / "CONTRIBUTING.md"):
        named = re.findall(r"`((?:tori_tui|tests|themes)/[\w./]+?)`", document.read_text())
        for path in named:
            if "NAME" not in path:
                assert (ROOT / Path(path)).exists(), f"{document.name} names {path}"
