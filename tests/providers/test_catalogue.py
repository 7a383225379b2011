from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.providers.make_catalogue import catalogue_text
from tori_tui.domain.errors import UsageError
from tori_tui.providers.catalogue import (
    CATALOGUE_FILE,
    DEFAULT_WINDOW_TOKENS,
    ModelOverrides,
    known_models,
    profile_for,
)
from tori_tui.providers.registry import ANTHROPIC_DEFAULT, OPENAI_DEFAULT


@pytest.mark.parametrize("name", [ANTHROPIC_DEFAULT, OPENAI_DEFAULT])
def test_the_default_models_are_known_whole(name: str) -> None:
    profile = profile_for(name)
    assert profile.is_known
    assert profile.late_system
    assert profile.efforts
    assert profile.input_usd_per_mtok
    assert profile.cached_usd_per_mtok is not None
    assert profile.cached_usd_per_mtok < profile.input_usd_per_mtok


def test_claude_takes_a_late_system_message_from_4_8_on() -> None:
    taken = {
        name: profile_for(f"anthropic/{name}").late_system for name in ("claude-opus-4-7", "claude-opus-4-8")
    }
    assert taken == {"claude-opus-4-7": False, "claude-opus-4-8": True}


def test_a_dated_name_is_the_same_model_and_family() -> None:
    dated, plain = profile_for("anthropic/claude-opus-4-8-20990101"), profile_for("anthropic/claude-opus-4-8")
    assert (dated.window_tokens, dated.family) == (plain.window_tokens, plain.family)
    assert dated.model == "claude-opus-4-8-20990101"


def test_an_unknown_model_has_a_visible_default_and_no_price() -> None:
    profile = profile_for("openai-chat/my/own-model")
    assert (profile.is_known, profile.window_tokens) == (False, DEFAULT_WINDOW_TOKENS)
    assert profile.input_usd_per_mtok is None


def test_overrides_win() -> None:
    overrides = ModelOverrides(window_tokens=32_000, late_system=False, input_usd_per_mtok=0.0)
    profile = profile_for("openai-chat/my/own-model", overrides)
    assert (profile.window_tokens, profile.late_system, profile.is_known) == (32_000, False, True)
    assert profile.input_usd_per_mtok == 0.0


@pytest.mark.parametrize("name", ["gpt-5", "mistral/x", "openai", "anthropic/", ""])
def test_a_name_without_a_provider_says_what_to_write(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        profile_for(name)
    assert repr(name) in caught.value.message
    assert f"openai-chat/{name if name not in ('openai', 'anthropic/', '') else 'NAME'}" in caught.value.hint


def test_every_model_of_the_catalogue_has_a_profile() -> None:
    assert len(known_models()) > 100
    for name in known_models():
        profile = profile_for(name)
        assert profile.is_known
        assert profile.window_tokens >= 1_000


def test_the_generator_keeps_facts_of_chat_models_only() -> None:
    chat = {
        "litellm_provider": "anthropic",
        "mode": "chat",
        "supports_function_calling": True,
        "max_input_tokens": 9,
        "max_output_tokens": 3,
        "input_cost_per_token": 2e-06,
        "supports_mid_conversation_system": True,
        "supports_adaptive_thinking": True,
    }
    text = catalogue_text({"claude-x": chat, "ft:claude": chat, "claude-y": {**chat, "mode": "embedding"}})
    assert json.loads(text)["anthropic"] == {
        "claude-x": {
            "window": 9,
            "limit": 3,
            "input": 2.0,
            "late": True,
            "efforts": ["low", "medium", "high"],
        }
    }


def test_loading_the_catalogue_costs_under_five_milliseconds() -> None:
    # Of its own processor time: a machine that is busy with something else makes no file larger.
    code = (
        "import time\nfrom tori_tui.providers.catalogue import profile_for\nbegan_s = time.process_time()\n"
        "profile_for('anthropic/claude-opus-4-8')\nprint((time.process_time() - began_s) * 1000)"
    )
    took = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(3)
    )
    assert took < 5
    assert CATALOGUE_FILE.stat().st_size < 100_000


def test_making_a_provider_imports_no_sdk() -> None:
    code = (
        "import sys\nfrom tori_tui.providers.catalogue import profile_for\n"
        "from tori_tui.providers.registry import make_provider\n"
        "[make_provider(profile_for(name), environ={'OPENAI_API_KEY': 'x', 'ANTHROPIC_API_KEY': 'x'})"
        " for name in ('openai/x', 'openai-chat/x', 'anthropic/x')]\n"
        "print({'openai', 'anthropic', 'httpx2', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"
