"""Own authorities and proxies, as the environment or the configuration names them."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.providers.requests import profile, reply_from, request
from tests.providers.serving import PROTOCOLS
from tests.wire.answers import WireReply, by_history
from tests.wire.server import WireServer
from tori_tui.providers.base import Provider
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.registry import make_provider
from tori_tui.providers.settings import ProviderSettings


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1 with its key in one file."""
    folder = tmp_path_factory.mktemp("tls")
    pem, key = folder / "own.pem", folder / "key.pem"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    names = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ("openssl", "req", "-x509", *curve, *names, "-keyout", str(key), "-out", str(pem))
    subprocess.run(command, check=True, capture_output=True)
    pem.write_text(pem.read_text() + key.read_text())
    return pem


@asynccontextmanager
async def over_tls(certificate: Path, protocol: str, ca_file: Path | None) -> AsyncIterator[Provider]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with WireServer(by_history(WireReply("Hello.")), tls=context) as server:
        url = server.url if protocol == "anthropic" else server.openai_url
        settings = ProviderSettings(base_url=url, ca_file=ca_file)
        provider = make_provider(profile(protocol), settings, environ={})
        yield provider
        await provider.close()


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_configured_ca_file_is_trusted(certificate: Path, protocol: str) -> None:
    async with over_tls(certificate, protocol, certificate) as provider:
        assert (await reply_from(provider, request(of=profile(protocol)))).content == "Hello."


@pytest.mark.needs("openssl")
async def test_ssl_cert_file_is_trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with over_tls(certificate, "openai-chat", None) as provider:
        assert (await reply_from(provider, request())).content == "Hello."


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_untrusted_certificate_names_the_cause_and_the_variable(
    certificate: Path, protocol: str
) -> None:
    async with over_tls(certificate, protocol, None) as provider:
        with pytest.raises(ProviderError) as caught:
            await reply_from(provider, request(of=profile(protocol)))
    assert caught.value.fault == "connection"
    assert "certificate" in caught.value.message.lower()
    assert "SSL_CERT_FILE" in caught.value.hint


async def test_a_ca_file_that_is_none_says_so(tmp_path: Path) -> None:
    settings = ProviderSettings(base_url="https://127.0.0.1:9/v1", ca_file=tmp_path / "missing.pem")
    provider = make_provider(profile(), settings, environ={})
    with pytest.raises(ProviderError, match=r"missing\.pem"):
        await reply_from(provider, request())


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_proxies_are_used_and_no_proxy_spares_a_host(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with WireServer(by_history(WireReply("Hello."))) as server:
        url = server.url if protocol == "anthropic" else server.openai_url
        settings = ProviderSettings(base_url=url)
        through_proxy = make_provider(profile(protocol), settings, environ=os.environ)
        with pytest.raises(ProviderError) as caught:
            await reply_from(through_proxy, request(of=profile(protocol)))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        directly = make_provider(profile(protocol), settings, environ={})
        assert (await reply_from(directly, request(of=profile(protocol)))).content == "Hello."
        await through_proxy.close()
        await directly.close()
    assert caught.value.fault == "connection"
    assert "HTTP_PROXY" in caught.value.hint
    assert len(server.requests) == 1
