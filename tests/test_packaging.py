from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def build(kind: str, source: Path, target: Path) -> Path:
    subprocess.run(
        (sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)),
        cwd=source,
        check=True,
        capture_output=True,
    )
    return next(target.iterdir())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


def contents(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_the_wheel_carries_everything_that_is_not_code(wheel: Path) -> None:
    names = contents(wheel)
    ours = (path for path in (ROOT / "tori_tui").rglob("*") if path.is_file())
    data = {
        path.relative_to(ROOT).as_posix()
        for path in ours
        if path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
    }
    themes = {f"tori_tui/themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")}
    assert len(themes) >= 3
    assert data | themes <= names
    assert "tori_tui/demo/project/test_till.py" in names
    assert not any("__pycache__" in name or name.startswith("tests/") for name in names)


@pytest.mark.slow
def test_the_wheel_of_the_source_distribution_is_the_same(wheel: Path, tmp_path: Path) -> None:
    archive = build("sdist", ROOT, tmp_path / "sdist")
    subprocess.run(("tar", "-xzf", archive, "-C", tmp_path), check=True)
    unpacked = next(path for path in tmp_path.iterdir() if path.name.startswith("tori_tui-"))
    assert contents(build("wheel", unpacked, tmp_path / "again")) == contents(wheel)


@pytest.mark.slow
def test_the_installed_wheel_plays_the_demo_from_anywhere(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    # The dependencies are borrowed from here: a path in a .pth brings no editable package along.
    site = Path(
        subprocess.run(
            (python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    subprocess.run(
        (
            *(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"),
            *("--no-deps", "--no-index", "--disable-pip-version-check", "--ignore-installed", str(wheel)),
        ),
        check=True,
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environ["TMPDIR"] = str(elsewhere)
    where = subprocess.run(
        (python, "-c", "import tori_tui; print(tori_tui.__file__)"),
        cwd=elsewhere,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert where.startswith(str(site))
    done = subprocess.run(
        (place / "bin" / "tori", "demo", "--plain"),
        cwd=elsewhere,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Progress: " in done.stdout
