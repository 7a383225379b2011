from __future__ import annotations

import os
from pathlib import Path

import pytest

from tori_tui.config import LoadedSettings, Settings, all_keys, load_settings, user_config_path
from tori_tui.domain.errors import UsageError


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "xdg" / "tori" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def load(config_file: Path, *, cwd: Path | None = None, **environ: str) -> LoadedSettings:
    environ = {"XDG_CONFIG_HOME": str(config_file.parents[1]), **environ}
    return load_settings(environ, cwd or config_file.parent)


def refused(config_file: Path, text: str) -> str:
    config_file.write_text(text)
    with pytest.raises(UsageError) as caught:
        load(config_file)
    return str(caught.value)


def test_without_any_file_every_key_has_its_default(config_file: Path) -> None:
    loaded = load(config_file)
    assert loaded.settings == Settings()
    assert dict(loaded.sources) == {}
    assert loaded.notices == ()
    settings = loaded.settings
    assert (settings.mode, settings.theme, settings.tool_protocol) == ("ask", "auto", "auto")
    assert (settings.context.profile, settings.context.plan_placement) == ("balanced", "auto")
    assert (settings.limits.turns, settings.limits.tokens, settings.limits.cost_usd) == (200, None, None)
    assert (settings.explore.max_parallel, settings.explore.branches, settings.explore.turns) == (4, 8, 40)
    assert (settings.memory.url, settings.feedback.classifier) == ("sqlite", "auto")


def test_every_kind_of_key_is_read(config_file: Path) -> None:
    config_file.write_text(
        'model = "openai-chat/a"\nfallback_models = ["b/c"]\n'
        '[context]\nprofile = "now"\n[limits]\nturns = 5\ncost_usd = 1\n'
        '[providers.local]\nbase_url = "http://localhost:1/v1"\nheaders = { X = "y" }\nidle_timeout_s = 600\n'
        '[models."openai-chat/a"]\nwindow_tokens = 32000\nefforts = ["low"]\n'
        '[permissions]\nallow = ["bash(ls *)"]\n'
    )
    settings = load(config_file).settings
    assert settings.model == "openai-chat/a"
    assert settings.fallback_models == ("b/c",)
    assert settings.context.profile == "now"
    assert (settings.limits.turns, settings.limits.cost_usd) == (5, 1.0)
    assert settings.providers["local"].headers == {"X": "y"}
    assert settings.models["openai-chat/a"].window_tokens == 32_000
    assert settings.permissions.allow == ("bash(ls *)",)


def test_a_flag_goes_over_the_environment_and_that_over_the_file(config_file: Path) -> None:
    config_file.write_text('model = "a/file"\nmode = "plan"\ntheme = "dark"\n')
    environ = {"XDG_CONFIG_HOME": str(config_file.parents[1]), "TORI_MODEL": "a/env", "TORI_MODE": "edit"}
    loaded = load_settings(environ, config_file.parent, model="a/flag")
    assert (loaded.settings.model, loaded.settings.mode) == ("a/flag", "edit")
    assert dict(loaded.sources) == {
        "model": "--model",
        "mode": "TORI_MODE",
        "theme": f"{config_file}:3",
    }


def test_an_empty_variable_counts_as_not_set(config_file: Path) -> None:
    loaded = load(config_file, TORI_MODE="", TORI_MODEL="")
    assert "mode" not in loaded.sources
    assert loaded.settings.model is None


def test_a_wrong_mode_in_the_environment_names_the_variable_and_the_choices(config_file: Path) -> None:
    with pytest.raises(UsageError, match=r"TORI_MODE is 'yolo'.\nIt may be plan, ask, edit, auto."):
        load(config_file, TORI_MODE="yolo")


def test_a_rule_of_another_form_is_told_with_its_line(config_file: Path) -> None:
    message = refused(config_file, '[permissions]\nask = ["bash(rm *)"]\nallow = ["read_file", "bash("]\n')
    assert message.startswith(f"{config_file}:3: 'bash(' is no permission rule.\nWrite TOOL")


def test_an_unknown_key_names_file_line_key_and_the_nearest_valid_one(config_file: Path) -> None:
    message = refused(config_file, 'theme = "dark"\nmodell = "a/b"\n')
    assert message == f"{config_file}:2: there is no key 'modell'.\nDid you mean 'model'?"
    assert "Did you mean 'model'?" in refused(config_file, 'modle = "a/b"\n')


@pytest.mark.parametrize(
    ("text", "line", "key", "meant"),
    [
        ("[limits]\nturn = 5\n", 2, "limits.turn", "limits.turns"),
        ('profile = "rich"\n', 1, "profile", "context.profile"),
        ("[limit]\nturns = 3\n", 1, "limit", "limits.turns"),
        ('[models."a/b"]\nwindow = 5\n', 2, "models.a/b.window", "models.a/b.window_tokens"),
        ("\n\nlimits = { turms = 4 }\n", 3, "limits.turms", "limits.turns"),
        ("context.profil = 4\n", 1, "context.profil", "context.profile"),
    ],
)
def test_an_unknown_key_is_found_in_tables_too(
    config_file: Path, text: str, line: int, key: str, meant: str
) -> None:
    message = refused(config_file, text)
    assert message.startswith(f"{config_file}:{line}: there is no key '{key}'.")
    assert meant in message


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ('[limits]\nturns = "x"\n', 2, ("'limits.turns'", "a whole number", "'x'")),
        ("[limits]\nturns = 0\n", 2, ("'limits.turns'", "0")),
        ("model = 3\n", 1, ("'model'", "a text", "3")),
        ('[context]\n\nprofile = "huge"\n', 3, ("'context.profile'", "'huge'", "balanced, rich")),
        ('limits = "no"\n', 1, ("'limits'", "a table", "'no'")),
        ('[models."a/b"]\nvision = 1\n', 2, ("'models.a/b.vision'", "true or false", "1")),
        ('fallback_models = "x"\n', 1, ("'fallback_models'", "a list", "'x'")),
    ],
)
def test_a_wrong_value_names_file_line_key_and_what_is_wanted(
    config_file: Path, text: str, line: int, parts: tuple[str, ...]
) -> None:
    message = refused(config_file, text)
    assert message.startswith(f"{config_file}:{line}: ")
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('theme = "a"\ntheme = "b"\n', 2),
        ('model = "a\n', 1),
        ("= 3\n", 1),
        ("[limits\n", 1),
        ("a = [1,\n", 2),
    ],
)
def test_what_is_no_toml_names_file_and_line(config_file: Path, text: str, line: int) -> None:
    assert refused(config_file, text).startswith(f"{config_file}:{line}: ")


def test_a_byte_order_mark_says_nothing(config_file: Path) -> None:
    config_file.write_bytes(b'\xef\xbb\xbfmodel = "a/b"\n')
    assert load(config_file).settings.model == "a/b"


def test_a_line_that_is_not_utf8_is_named(config_file: Path) -> None:
    config_file.write_bytes(b'theme = "a"\nmodel = "caf\xe9"\n')
    with pytest.raises(UsageError, match=r"config.toml:2: this line is not UTF-8"):
        load(config_file)


def test_a_directory_in_place_of_the_file_is_told(config_file: Path) -> None:
    config_file.mkdir()
    with pytest.raises(UsageError, match="is a directory"):
        load(config_file)


def test_a_pipe_in_place_of_the_file_does_not_hang(config_file: Path) -> None:
    os.mkfifo(config_file)
    with pytest.raises(UsageError, match="not a regular file"):
        load(config_file)


def test_an_unreadable_file_is_told(tmp_path: Path) -> None:
    # A link to itself fails for root too, whom permissions do not stop.
    config = tmp_path / "tori" / "config.toml"
    config.parent.mkdir()
    config.symlink_to(config)
    with pytest.raises(UsageError, match="cannot be read"):
        load(config)


def test_a_huge_file_is_refused_unread(config_file: Path) -> None:
    config_file.write_text("#" * 1_000_001)
    with pytest.raises(UsageError, match="more than 1,000,000 bytes"):
        load(config_file)


def test_the_sandbox_is_switched_on_by_file_or_flag(config_file: Path, tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(config_file.parent.parent), "HOME": str(tmp_path)}
    config_file.write_text("[sandbox]\nnetwork = true\n")
    assert not load_settings(environ, tmp_path).settings.sandbox.enabled
    loaded = load_settings(environ, tmp_path, sandbox=True)
    assert loaded.settings.sandbox.enabled
    assert loaded.settings.sandbox.network
    assert loaded.sources["sandbox.enabled"] == "--sandbox"


def test_the_folders_own_file_is_named_and_not_read(config_file: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".tori").mkdir()
    (project / ".tori" / "config.toml").write_text('mode = "auto"\nrubbish')
    inner = project / "src"
    inner.mkdir()
    loaded = load(config_file, cwd=inner)
    assert loaded.settings.mode == "ask"
    assert len(loaded.notices) == 1
    assert f"{project / '.tori'} is not read (config.toml)" in loaded.notices[0]


def test_a_folder_above_the_work_tree_is_not_looked_at(config_file: Path, tmp_path: Path) -> None:
    (tmp_path / ".tori").mkdir()
    (tmp_path / ".tori" / "config.toml").write_text("")
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    assert load(config_file, cwd=project).notices == ()


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/x/tori/config.toml"),
        ({"XDG_CONFIG_HOME": "", "HOME": "/h"}, "/h/.config/tori/config.toml"),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, "/h/.config/tori/config.toml"),
    ],
)
def test_the_users_file_lies_where_xdg_says(environ: dict[str, str], path: str) -> None:
    assert user_config_path(environ) == Path(path)


def test_the_list_of_keys_holds_nested_and_named_ones() -> None:
    keys = all_keys()
    assert keys[0] == "model"
    assert "limits.turns" in keys
    assert "providers.NAME.base_url" in keys
    assert "models.NAME.window_tokens" in keys
