from __future__ import annotations

from pathlib import Path

import pytest

from tests.providers.requests import profile, reply_from, request
from tests.wire.answers import WireReply, by_history
from tests.wire.server import WireServer
from tori_tui.domain.errors import UsageError
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.keys import describe_keys, find_key, run_key_command
from tori_tui.providers.registry import default_model, endpoint_for, make_provider
from tori_tui.providers.settings import LOCAL_IDLE_TIMEOUT_S, ProviderSettings, is_local_url

SECRET = "sk-very-secret-key"


def no_keyring(_: str) -> str:
    return ""


def test_a_configured_command_wins_over_the_environment_and_that_over_the_keyring() -> None:
    environ = {"OPENAI_API_KEY": "from-env", "PATH": "/usr/bin:/bin"}
    by_command = find_key("openai", ProviderSettings(key_command="echo from-command"), environ)
    by_environ = find_key("openai", ProviderSettings(), environ, from_keyring=lambda _: "from-ring")
    by_keyring = find_key("openai", ProviderSettings(), {}, from_keyring=lambda _: "from-ring")
    assert [source.read() for source in (by_command, by_environ, by_keyring)] == [
        "from-command",
        "from-env",
        "from-ring",
    ]


def test_the_description_names_the_source_and_never_the_key() -> None:
    environ = {"ANTHROPIC_AUTH_TOKEN": SECRET}
    settings = {"openai": ProviderSettings(key_command="pass show openai")}
    sources = describe_keys(settings, environ, from_keyring=no_keyring)
    lines = [str(source) for source in sources]
    assert lines == [
        "anthropic: from the environment variable ANTHROPIC_AUTH_TOKEN",
        "openai: by the command 'pass show openai'",
        "openai-chat: no key",
    ]
    assert SECRET not in repr(sources)
    assert SECRET not in repr(endpoint_for("anthropic", ProviderSettings(), environ))


@pytest.mark.parametrize(
    ("command", "words"),
    [("exit 3", "ended with 3"), ("true", "printed nothing"), ("echo no >&2; exit 1", "no")],
)
def test_a_key_command_that_fails_says_so(command: str, words: str) -> None:
    with pytest.raises(ProviderError, match=words):
        run_key_command(command, {"PATH": "/usr/bin:/bin"})


async def test_the_command_s_key_is_sent_and_not_told_when_it_is_refused(tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    key_file.write_text(f"{SECRET}\n")
    async with WireServer(by_history(WireReply("Hello."))) as server:
        settings = ProviderSettings(base_url=server.openai_url, key_command=f"cat {key_file}")
        provider = make_provider(profile(), settings, environ={"PATH": "/usr/bin:/bin"})
        await reply_from(provider, request())
        await provider.close()
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


async def test_a_bearer_token_and_own_headers_reach_the_messages_api() -> None:
    async with WireServer(by_history(WireReply("Hello."))) as server:
        settings = ProviderSettings(
            base_url=server.url, headers={"anthropic-version": "2023-06-01", "x-team": "a"}
        )
        provider = make_provider(profile("anthropic"), settings, environ={"ANTHROPIC_AUTH_TOKEN": SECRET})
        await reply_from(provider, request(of=profile("anthropic")))
        await provider.close()
    headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {SECRET}"
    assert (headers["anthropic-version"], headers["x-team"]) == ("2023-06-01", "a")


@pytest.mark.parametrize(
    ("environ", "model"),
    [
        ({"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b"}, "anthropic/"),
        ({"OPENAI_API_KEY": "b"}, "openai/"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}, "openai-chat/"),
        ({"OPENAI_BASE_URL": "https://openrouter.ai/api/v1", "OPENAI_API_KEY": "b"}, "openai-chat/"),
    ],
)
def test_the_default_model_goes_by_the_keys_that_are_set(environ: dict[str, str], model: str) -> None:
    assert default_model(environ).startswith(model)


def test_without_any_key_one_line_names_the_variables_and_the_demo() -> None:
    with pytest.raises(UsageError, match=r"ANTHROPIC_API_KEY or OPENAI_API_KEY") as caught:
        default_model({})
    assert "tori demo" in caught.value.hint


@pytest.mark.parametrize("protocol", ["openai", "openai-chat", "anthropic"])
def test_a_provider_without_key_and_address_names_its_variable(protocol: str) -> None:
    variable = "ANTHROPIC_API_KEY" if protocol == "anthropic" else "OPENAI_API_KEY"
    with pytest.raises(UsageError, match=variable):
        make_provider(profile(protocol), environ={})


async def test_a_server_without_a_named_model_is_asked_for_its_first() -> None:
    async with WireServer(by_history(WireReply("Hello.")), models=("qwen3", "llama")) as server:
        environ = {"OPENAI_BASE_URL": server.openai_url}
        provider = make_provider(profile(model=""), environ=environ)
        await reply_from(provider, request(of=profile(model="")))
        await provider.close()
    assert server.requests[0].body["model"] == "qwen3"


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080", True),
        ("http://192.168.1.7:8000/v1", True),
        ("http://172.20.0.2/v1", True),
        ("http://box.local:1234/v1", True),
        ("http://[::1]:8080/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://172.32.0.1/v1", False),
        ("https://10.example.com/v1", False),
    ],
)
def test_local_servers_get_the_longer_time_out(url: str, is_local: bool) -> None:
    assert is_local_url(url) is is_local
    endpoint = endpoint_for("openai-chat", ProviderSettings(base_url=url), {})
    assert (endpoint.idle_timeout_s == LOCAL_IDLE_TIMEOUT_S) is is_local
