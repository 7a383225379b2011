from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rich.cells import cell_len

from tests.cli.kit import TORI
from tori_tui.cli.called_as import program
from tori_tui.cli.columns import aligned, cut, wrapped
from tori_tui.cli.doctor_report import indented

ROWS = [
    ("TRACE", "STATUS", "MISSION"),
    ("20261130-181417-abcd", "interrupted", "mend the login and write a test for it, also on Windows"),
    ("20261130-181418-abcd", "done", "为登录写一个测试，也在视窗系统上写一个，然后检查所有的端点是否正确"),
]


def test_rows_are_cut_at_the_width_and_their_text_goes_below_where_that_is_little() -> None:
    wide, narrow = cut(ROWS, 80), cut(ROWS, 60)
    assert len(wide) == 3
    assert wide[1].endswith("write a test for it, also…")
    assert len(narrow) == 6
    assert narrow[3] == "  mend the login and write a test for it, also on Windows"
    assert max(map(cell_len, wide)) <= 80
    assert max(map(cell_len, narrow)) <= 60


def test_columns_begin_below_each_other_behind_wide_letters() -> None:
    rows = [("GOAL", "FACT"), ("登录", "one"), ("Log in", "two")]
    assert aligned(rows) == ["GOAL    FACT", "登录    one", "Log in  two"]


def test_what_is_read_in_full_goes_on_below_itself() -> None:
    wide, narrow, tiny = (wrapped(ROWS, width) for width in (80, 60, 20))
    assert wide[1:3] == [
        "20261130-181417-abcd  interrupted  mend the login and write a test for it, also",
        f"{'':35}on Windows",
    ]
    assert narrow[2:4] == [
        "20261130-181417-abcd  interrupted",
        "  mend the login and write a test for it, also on Windows",
    ]
    for lines, width in ((wide, 80), (narrow, 60), (tiny, 20)):
        assert max(map(cell_len, lines)) <= width
        text = "".join(line.strip() for line in lines)
        assert ROWS[2][-1] in text
        assert ROWS[1][-1].replace(" ", "") in text.replace(" ", "")


def test_long_lines_of_the_report_break_between_words() -> None:
    line = "file: /home/somebody/.config/tori/config.toml (not there)"
    assert indented(line, None) == [f"  {line}"]
    assert indented(line, 50) == ["  file: /home/somebody/.config/tori/config.toml", "    (not there)"]


def test_a_command_is_told_as_it_was_called(tmp_path: Path) -> None:
    tori = tmp_path / "my bin" / "tori"
    tori.parent.mkdir()
    tori.write_text("#!/bin/sh\n")
    tori.chmod(0o755)
    assert program(str(tori), {"PATH": str(tori.parent)}) == "tori"
    assert program(str(tori), {"PATH": "/nowhere"}) == f"'{tori}'"
    assert program("-c", {"PATH": "/nowhere"}).endswith(" -m tori_tui")


def test_how_to_go_on_works_where_it_is_told(tmp_path: Path) -> None:
    told = "import sys; from pathlib import Path; from tori_tui.cli.called_as import resume_command; "
    script = told + "print(resume_command(Path(sys.argv[1])))"
    trace = tmp_path / "project" / ".trace" / "t1"
    trace.mkdir(parents=True)

    def printed(directory: Path, cwd: Path) -> str:
        command = (sys.executable, "-c", script, str(directory))
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout

    assert printed(trace, tmp_path / "project").endswith(" -m tori_tui resume t1\n")
    away = printed(trace, tmp_path)
    assert away.startswith(f"cd {tmp_path / 'project'} && ")
    assert printed(tmp_path / "elsewhere" / "t1", tmp_path).endswith(
        f" resume {tmp_path / 'elsewhere' / 't1'}\n"
    )
    assert TORI[0] in away
