from __future__ import annotations

from pathlib import Path

from tests.e2e.commands import tori
from tests.wire.answers import WireReply, in_order
from tests.wire.server import WireServer


async def test_it_says_where_the_key_comes_from_and_never_shows_it(tmp_path: Path) -> None:
    code, out, err = await tori("doctor", cwd=tmp_path, OPENAI_API_KEY="sk-planted-0123456789abcdef")
    assert code == 0, err
    assert "from the environment variable OPENAI_API_KEY" in out
    assert "planted" not in out + err


async def test_it_tells_of_a_broken_configuration_and_shows_the_rest(tmp_path: Path) -> None:
    config = tmp_path / "config" / "tori"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("modle = 'x'\n")
    code, out, err = await tori("doctor", cwd=tmp_path, XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert code == 0, err
    assert "modle" in out
    assert "terminal" in out


async def test_a_key_command_is_named_and_not_run(tmp_path: Path) -> None:
    config = tmp_path / "config" / "tori"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(f'[providers.openai]\nkey_command = "touch {tmp_path}/ran"\n')
    code, out, err = await tori("doctor", cwd=tmp_path, XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert code == 0, err
    assert "by the command" in out
    assert not (tmp_path / "ran").exists()


async def test_it_names_the_users_server_and_its_first_model_and_no_secret_of_the_address(
    tmp_path: Path,
) -> None:
    async with WireServer(in_order(WireReply("hi")), models=("qwen3", "other")) as server:
        address = server.openai_url.replace("http://", "http://me:planted@") + "?key=planted"
        code, out, err = await tori("doctor", cwd=tmp_path, OPENAI_BASE_URL=address)
        assert code == 0, err
        assert "planted" not in out + err
        assert f"server: {server.openai_url}" in out
        code, out, err = await tori("doctor", cwd=tmp_path, OPENAI_BASE_URL=server.openai_url)
        assert "its first model: openai-chat/qwen3" in out


async def test_a_run_on_the_users_server_is_told_by_the_name_of_the_model_it_used(tmp_path: Path) -> None:
    async with WireServer(in_order(WireReply("hi")), models=("qwen3", "other")) as server:
        code, out, err = await tori(
            "run", "go", "--json", "--mode", "auto", cwd=tmp_path, OPENAI_BASE_URL=server.openai_url
        )
        assert code == 0, err
        assert [request.body["model"] for request in server.requests] == ["qwen3"]
    assert '"model":"openai-chat/qwen3"' in out
