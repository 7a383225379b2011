from __future__ import annotations

import base64
import hashlib
import random
import statistics
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.permission.redaction import Redactor

KEY = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4"


def test_a_known_key_goes_wherever_it_stands() -> None:
    redactor = Redactor({"OPENAI_API_KEY": "hunter2hunter2"})
    assert redactor.redact("xhunter2hunter2y") == "x[redacted OPENAI_API_KEY]y"


def test_a_known_key_goes_percent_encoded_too() -> None:
    redactor = Redactor({"KEY": "a/b+c d=e!"})
    assert redactor.redact("?k=a%2Fb%2Bc%20d%3De%21&") == "?k=[redacted KEY]&"


def test_of_two_keys_the_one_that_contains_the_other_goes_whole() -> None:
    redactor = Redactor({"SHORT": "12345678", "LONG": "12345678-abc"})
    assert redactor.redact("12345678-abc 12345678") == "[redacted LONG] [redacted SHORT]"


def test_a_short_value_is_a_word_and_stays() -> None:
    assert Redactor({"KEY": "ollama"}).redact("run ollama") == "run ollama"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (KEY, "API key"),
        ("sk-ant-api03-" + "Ab1_" * 20, "API key"),
        ("sk-or-v1-" + hashlib.sha256(b"x").hexdigest(), "API key"),
        ("AIza" + "aB3-_" * 7, "API key"),
        ("AKIAIOSFODNN7EXA1234", "AWS key id"),
        ("ghp_" + "aB3" * 12, "GitHub token"),
        ("github_pat_" + "aB3_" * 15, "GitHub token"),
        ("glpat-" + "aB3-x" * 4, "GitLab token"),
        ("xoxb-123456789012-abcdefABCDEF", "Slack token"),
        ("hf_" + "aB3d" * 8, "Hugging Face token"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "KEY={}", '"{}"', "Bearer {}\n", "({}),", "key: {}."])
def test_what_has_a_vendors_form_goes(text: str, name: str, around: str) -> None:
    assert Redactor({}).redact(around.format(text)) == around.format(f"[redacted {name}]")


@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH ", "EC ", "ENCRYPTED "])
def test_a_private_key_goes_whole(kind: str) -> None:
    lines = "\n".join(["MIIEpAIBAAKCAQEA7bq1+/x=" * 2] * 9)
    block = f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"
    assert Redactor({}).redact(f"a\n{block}\nb") == "a\n[redacted private key]\nb"


def test_a_private_key_that_was_cut_goes_as_far_as_it_reaches() -> None:
    block = "-----BEGIN PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq1MIIEpAIB\n" * 5
    assert Redactor({}).redact(block + "\nok") == "[redacted private key]\n\nok"


@pytest.mark.parametrize(
    "text",
    [
        hashlib.sha256(b"x").hexdigest(),
        "123e4567-e89b-12d3-a456-426614174000",
        "sk-toggleable__label-arrow-and-more",
        "sk-estimator-doc-link-to-page-v2",
        "task-0a1b2c3d4e5f6a7b8c9d0e1f2a3b",
        "/srv/risk-a1b2c3d4e5f6a7b8c9d0e1/x",
        "AKIA is a prefix, AKIAIOSFODNN7EXA12345678 is too long",
        "xAKIAIOSFODNN7EXA1234",
        "ghp_short1",
        "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA7bq1\n-----END CERTIFICATE-----",
        "the PRIVATE KEY----- marker alone",
        "data:image/png;base64," + base64.b64encode(random.Random(3).randbytes(60_000)).decode(),
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor({}).redact(text) == text


@given(st.text(alphabet=string.printable, max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    redactor = Redactor({"KEY": "0123456789"})
    once = redactor.redact(text + KEY + text)
    assert redactor.redact(once) == once


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_known_key_never_stays(before: str, after: str) -> None:
    value = "Zq7-secret-value"
    assert value not in Redactor({"KEY": value}).redact(before + value + after)


@pytest.mark.parametrize(
    "line", ["line 12 of a log: gh issue, sk- and hf_ AKIA xox\n", "a" * 79 + "\n", "sk-"]
)
def test_a_megabyte_is_fast(line: str) -> None:
    text = line * (1_000_000 // len(line))
    redactor = Redactor({"A": "0123456789", "B": "abcdefghijk"})
    times = []
    for _ in range(5):
        began = time.perf_counter()
        redactor.redact(text)
        times.append(time.perf_counter() - began)
    assert statistics.median(times) < 0.1
