from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.tools.condense.without_noise import RECOGNISERS, condensed

OUTPUTS: Final = Path(__file__).with_name("outputs")
RECORDED: Final = sorted(path.stem for path in OUTPUTS.glob("*.txt"))


def recorded(name: str) -> str:
    return (OUTPUTS / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_output_keeps_its_failures_and_summary(name: str) -> None:
    found = condensed("make test", recorded(name))
    assert found is not None
    expected = OUTPUTS / f"{name}.condensed"
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_text(found.text + "\n")
    assert found.text + "\n" == expected.read_text()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("pytest", ["E       AssertionError: assert {'a': 1} == {'a': 2}", "E       RuntimeError: no db"]),
        ("pytest_verbose", ["1 failed, 151 passed", "FAILED test_a.py::test_bad"]),
        ("unittest_verbose", ["KeyError: 'x'", "AssertionError: 1 != 2", "FAILED (failures=3, errors=1"]),
        ("jest_verbose", ["● bad › fails", '+   "a": 1,', "Tests:       1 failed", "hi there"]),
        ("vitest", ["AssertionError: expected { a: 1 }", "1 failed", "v/a.test.mjs:3:35"]),
        ("go_verbose", ["sub_test.go:9: Sub(3, 2) = 5", "--- FAIL: TestSub", "FAIL\texample.com/calc/sub"]),
        ("go_build", ["undefined: missing", "[build failed]"]),
        ("cargo_test", ["left: 3", "right: 4", "test result: FAILED", "src/lib.rs:6:18"]),
        ("cargo_build", ["error[E0308]: mismatched types", "^^^ expected `i32`", "could not compile"]),
        ("tsc_pretty", ["src/a.ts:1:7 - error TS2322", "Found 2 errors"]),
        ("eslint", ["'foo' is not defined", "3 problems (1 error, 2 warnings)", "src2/a.js"]),
        ("gcc", ["a.c:4:42: error: ‘missing’ undeclared"]),
        ("make_clang", ["b.cpp:7:10: error", "note: declared here", "Error 1", "return missing;"]),
        ("ruff", ["F401 [*] `os` imported but unused\n --> bad.py:1:8", "Found 4 errors."]),
        ("mypy_pretty", ["bad.py:3: error", "Found 3 errors in 1 file"]),
    ],
)
def test_what_tells_of_a_failure_is_there(name: str, kept: Sequence[str]) -> None:
    found = condensed("make", recorded(name))
    assert found is not None
    assert [text for text in kept if text not in found.text] == []
    assert len(found.text) < len(recorded(name))


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("pytest", ["rootdir", "[ 40%]", "UserWarning"]),
        ("pytest_verbose", ["PASSED"]),
        ("unittest_verbose", ["... ok", "With a docstring", "'later'"]),
        ("jest_verbose", ["PASS ", "✓"]),
        ("vitest", ["✓"]),
        ("go_verbose", ["=== RUN", "--- PASS", "adding", "no test files", "ok  \t"]),
        ("cargo_test", ["... ok", "/rustc/", "Compiling"]),
        ("cargo_build", ["unused variable"]),
        ("tsc_pretty", ["const x"]),
        ("eslint", ["never used", "b.js"]),
        ("gcc", ["warning"]),
        ("make_clang", ["unused variable", "[ 12%]", "Entering"]),
        ("ruff", ["help:", "import os, sys"]),
    ],
)
def test_what_went_well_is_not(name: str, gone: Sequence[str]) -> None:
    found = condensed("make", recorded(name))
    assert found is not None
    assert [text for text in gone if text in found.text] == []


@pytest.mark.parametrize(
    "command", ["cat log.txt", "cd x && tail -50 log.txt", "git log -p | head -100", "grep -rn FAIL . | sort"]
)
def test_what_is_only_read_from_a_file_stays_as_it_is(command: str) -> None:
    assert condensed(command, recorded("pytest_verbose")) is None


@pytest.mark.parametrize(
    "text",
    [
        "hello\nworld\n" * 20,
        "....\n....\n....\n",
        "test_a.py ....\ntest_b.py ....\ntest_c.py ....\n",
        "PASS a\nPASS b\nPASS c\nPASS d\n",
        "src/a.c:3: TODO error: none\n" * 10,
        "   Compiling the report\n" * 10,
    ],
)
def test_what_no_tool_is_sure_to_have_written_stays_as_it_is(text: str) -> None:
    assert condensed("./run", text) is None


def test_two_tools_in_one_output_are_both_taken_out() -> None:
    both = recorded("ruff") + recorded("pytest_verbose")
    found = condensed("ruff check; pytest -v", both)
    assert found is not None
    assert found.tools == ("pytest", "ruff")
    assert "Found 4 errors." in found.text
    assert "1 failed, 151 passed" in found.text


def test_what_a_program_prints_between_tests_stays() -> None:
    text = (
        "test_a.py .    [ 50%]\nDEBUG left\n.      [100%]\nmine\nrootdir: x\nrootdir: y\n2 passed in 0.10s\n"
    )
    found = condensed("pytest -s", text)
    assert found is not None
    assert found.text == "DEBUG left\nmine\n2 passed in 0.10s"


@given(
    st.lists(
        st.sampled_from([line for name in RECORDED for line in recorded(name).splitlines()]), max_size=60
    )
)
def test_every_line_that_is_shown_was_printed_and_in_that_order(lines: list[str]) -> None:
    found = condensed("make", "\n".join(lines))
    if found is None:
        return
    rest = iter(lines)
    assert all(line in rest for line in found.text.splitlines())


FAILURES: Final = re.compile(r"error:|^E  |^FAILED |--- FAIL|panicked|✕|AssertionError|Error: ")


@given(st.lists(st.sampled_from(RECORDED), min_size=1, max_size=3))
def test_no_line_that_says_failure_is_ever_left_out(names: list[str]) -> None:
    whole = "".join(map(recorded, names))
    found = condensed("make", whole)
    assert found is not None
    for line in whole.splitlines():
        if FAILURES.search(line):
            assert line in found.text


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.stdout


TESTS: Final = (
    "import unittest\nclass T(unittest.TestCase):\n"
    + "".join(f"    def test_{n}(self): pass\n" for n in range(20))
    + "    def test_red(self): self.assertEqual(1, 2)\n"
)


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ((sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_it.py"), "pytest"),
        ((sys.executable, "-m", "unittest", "-v", "test_it"), "unittest"),
    ],
)
def test_the_runners_on_this_machine_are_recognised(
    tmp_path: Path, command: Sequence[str], tool: str
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    whole = run(tmp_path, *command)
    found = condensed(" ".join(command), whole)
    assert found is not None
    assert found.tools == (tool,)
    assert "AssertionError: 1 != 2" in found.text
    assert "test_3" not in found.text
    assert found.text.splitlines()[-1] == whole.strip().splitlines()[-1]


@pytest.mark.needs("gcc")
def test_the_compiler_on_this_machine_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int f(void) { int a; int b; }\nint g(void) { return missing; }\n")
    found = condensed("gcc -c a.c", run(tmp_path, "gcc", "-Wall", "-c", "a.c"))
    assert found is not None
    assert "missing" in found.text
    assert "unused" not in found.text


def test_the_linter_on_this_machine_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os\nimport sys\n")
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or "ruff"
    found = condensed("ruff check", run(tmp_path, ruff, "check", "--no-cache", "--isolated", "a.py"))
    assert found is not None
    assert found.text.count("F401") == 2
    assert "|" not in found.text


def test_every_recogniser_has_a_recorded_output() -> None:
    used = {tool for name in RECORDED if (found := condensed("make", recorded(name))) for tool in found.tools}
    assert used == {recogniser.name for recogniser in RECOGNISERS}
