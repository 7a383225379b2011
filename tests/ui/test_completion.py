from __future__ import annotations

from pathlib import Path

import pytest

from tests.domain.test_routing import tree
from tori_tui.cli.app_session import paths_like
from tori_tui.ui.completion import completions
from tori_tui.ui.outside import Outside


def completed(draft: str) -> tuple[str, ...]:
    paths = {"mo": ("models/",), "models/u": ("models/user.py",), "": ("app.py", "models/")}
    return completions(draft, tree(), Outside(paths=lambda start: paths.get(start, ())))


@pytest.mark.parametrize(
    ("draft", "offered"),
    [
        ("/pl", ("/plan ",)),
        ("/qu", ("/quit ",)),
        ("/plan re", ("/plan rename ",)),
        ("/plan ed", ("/plan edit",)),
        ("/mode a", ("/mode ask", "/mode auto")),
        ("look at @mo", ("look at @models/",)),
        ("look at @models/u", ("look at @models/user.py",)),
        ("@", ("@app.py", "@models/")),
        ("mail me@mo", ()),
        ("@mo and more", ()),
        ("plain", ()),
        ("/tmp/file", ()),
        ("/plan add 1", ()),
    ],
)
def test_tab_offers_what_a_word_is_the_beginning_of(draft: str, offered: tuple[str, ...]) -> None:
    assert completed(draft) == offered


def test_goals_stand_behind_the_commands_that_take_one() -> None:
    ids = [goal.id for root in tree().mission_goals for goal in root.walk()]
    for command in ("retry", "rewind", "plan drop", "plan focus"):
        assert completed(f"/{command} ") == tuple(f"/{command} {goal}" for goal in ids)


def test_paths_are_those_of_the_folder_hidden_ones_only_where_asked(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    for name in ("models/user.py", "main.py", ".env"):
        (tmp_path / name).touch()
    assert paths_like(tmp_path, "m") == ("main.py", "models/")
    assert paths_like(tmp_path, "models/") == ("models/user.py",)
    assert paths_like(tmp_path, ".e") == (".env",)
    assert paths_like(tmp_path, "") == ("main.py", "models/")
    assert paths_like(tmp_path, "gone/x") == ()
