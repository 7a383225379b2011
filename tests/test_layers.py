from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tori_tui"
SOURCES = sorted(p for p in PACKAGE.rglob("*.py") if "demo/project" not in p.as_posix())

HEAVY = ("textual", "rich", "openai", "anthropic", "httpx2", "msgspec", "tiktoken", "pydantic", "asyncio")

FILE_LIMIT_LINES = 500
FUNCTION_LIMIT_LINES = 60


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_the_contracts_on_layers_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        f"sys.argv = ['tori', *{arguments!r}]\n"
        "from tori_tui.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code in (0, None), end.code"
    )
    loaded = modules_after(code)
    assert "tori_tui.cli.main" in loaded
    assert not loaded & set(HEAVY)


def test_importing_the_package_does_nothing() -> None:
    loaded = modules_after("before = set(sys.modules)\nimport tori_tui")
    assert not {name for name in loaded if name.startswith("tori_tui.")}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= FILE_LIMIT_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LIMIT_LINES, f"{node.name} has {length} lines"


LAZY_PLACES = ("cli/", "providers/")
"""Commands, and the places that load an SDK when it is needed."""


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_stand_at_the_top_except_where_laziness_pays(path: Path) -> None:
    if path.relative_to(PACKAGE).as_posix().startswith(LAZY_PLACES):
        return
    inner = [
        f"line {node.lineno}"
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert not inner
