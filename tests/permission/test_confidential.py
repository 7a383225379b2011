from __future__ import annotations

import pytest

from tori_tui.permission.confidential import secret_in
from tori_tui.permission.redaction import Redactor

KEY = "sk-live-0123456789abcdefABCDEF"
REDACT = Redactor({"OPENAI_API_KEY": "known-value-of-a-key"}).redact


@pytest.mark.parametrize(
    "text",
    [
        f"the key {KEY} works",
        "use known-value-of-a-key for tests",
        "the database is postgres://app:s3cr3t@db.local/app",
        "the admin password is hunter2",
        "DB_PASSWORD=hunter2!",
        "DB_PASSWORD_PROD: 'hunter2'",
        'api_key = "abc123def456"',
        "the token for staging is `a1b2c3d4e5`",
        "Authorization: Bearer abcdefghijklmnop1234",
        "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
        "管理员密码是abc12345",
        "密码：hunter2",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ==\n-----END PRIVATE KEY-----",
    ],
)
def test_secrets_are_seen_and_not_repeated(text: str) -> None:
    found = secret_in(text, REDACT)
    assert found
    for part in ("hunter2", KEY, "known-value", "abc123", "a1b2", "s3cr3t"):
        assert part not in found


@pytest.mark.parametrize(
    "text",
    [
        "passwords are hashed with bcrypt, cost 12",
        "the password is checked in auth.py",
        "the token is read from $API_TOKEN",
        "the API key is in ~/.config/app2/key",
        "secrets: see docs/secrets.md",
        "the token budget is 400",
        "tokens are counted by o200k",
        "the build needs commit 3a3296e0123456789abcdef0123456789abcdef0",
        "PASSWORD_MIN_LENGTH lives in settings.py",
        "clone git@github.com:a/b.git, then https://example.com/x@2",
        "密码用 bcrypt 加密",
        "the secret is stored in AWS_SECRET_NAME",
    ],
)
def test_words_about_secrets_are_no_secrets(text: str) -> None:
    assert secret_in(text, REDACT) == ""
