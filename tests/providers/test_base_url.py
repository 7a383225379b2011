from __future__ import annotations

import pytest

from tori_tui.domain.errors import UsageError
from tori_tui.providers.registry import endpoint_for
from tori_tui.providers.settings import ProviderSettings, is_local_url


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "localhost:8080/v1",
        "127.0.0.1:8080",
        "ftp://x/v1",
        "http://",
        "http://127.0.0.1:99999/v1",
        "http://h:0",
        "http://h:port/v1",
        "http://[::1",
        "http://a b/v1",
        "http:///v1",
    ],
)
def test_what_is_no_address_is_refused_with_its_source(url: str) -> None:
    with pytest.raises(UsageError, match=r"OPENAI_BASE_URL is '.*no address") as refused:
        endpoint_for("openai-chat", ProviderSettings(), {"OPENAI_BASE_URL": url})
    assert "http://localhost:8080/v1" in refused.value.hint
    with pytest.raises(UsageError, match=r"providers\.openai-chat\.base_url is"):
        endpoint_for("openai-chat", ProviderSettings(base_url=url), {})
    assert not is_local_url("http://[::1")


def test_a_password_in_a_wrong_address_is_not_told() -> None:
    with pytest.raises(UsageError) as refused:
        endpoint_for("openai", ProviderSettings(), {"OPENAI_BASE_URL": "http://me:secret@h:99999/v1"})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["http://localhost:8080/v1/", "https://api.example.org", "http://[::1]:80/v1"]
)
def test_an_address_goes_without_its_last_slash(url: str) -> None:
    endpoint = endpoint_for("openai-chat", ProviderSettings(), {"OPENAI_BASE_URL": url})
    assert endpoint.base_url == url.rstrip("/")
