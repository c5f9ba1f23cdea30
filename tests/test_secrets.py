"""No key comes through, and nothing else is lost."""

import base64
from typing import Any
from urllib.parse import quote

import pytest

from skillpipe.errors import SkillpipeError
from skillpipe.secrets import Secrets, refuse_secrets

KEY = "pl4nt/ed+0123456789"
SECRETS = Secrets(["MY_KEY"], {"MY_KEY": KEY, "OTHER_TOKEN": "t0ken-of-another", "HOME": "/home/somebody"})


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Authorization: Bearer {KEY}",
        f"{{'authorization': 'Basic {base64.b64encode(KEY.encode()).decode()}'}}",
        f"POST https://user:{KEY}@host/v1 failed",
        f"GET https://host/v1?a=1&key={quote(KEY, safe='')}&b=2",
        f"headers=[(b'x-api-key', b'{KEY}')]",
        f'{{"error": "{KEY}"}}',
        f"Traceback: openai.Auth({KEY!r})",
        f"{KEY}{KEY}",
    ],
)
def test_the_named_variables_value_is_masked_wherever_it_stands(text: str) -> None:
    for cleaned in (SECRETS.redact(text), Secrets(["MY_KEY"], {"MY_KEY": KEY}).redact(text)):
        assert "pl4nt" not in cleaned
        assert KEY not in cleaned
        assert base64.b64encode(KEY.encode()).decode() not in cleaned


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Incorrect API key provided: abcd1234efgh.", "abcd1234efgh"),
        ("Authorization: Bearer abc.def-ghi_jkl", "abc.def-ghi_jkl"),
        ("authorization=token0123", "token0123"),
        ("'Authorization': 'Basic dXNlcjpwYXNz'", "dXNlcjpwYXNz"),
        ("sent Bearer abcdefgh12345", "abcdefgh12345"),
        ('{"api_key": "0123456789abcdef"}', "0123456789abcdef"),
        ("x-goog-api-key: 0123456789", "0123456789"),
        ("https://host/path?key=0123abcd&x=1", "0123abcd"),
        ("https://host/path?x=1&api_key=0123abcd", "0123abcd"),
        ("redis://:pa55word@host:1", "pa55word"),
        ("https://user:pa55word@host/", "pa55word"),
        ("key sk-proj-abc_DEF-0123456789 was", "sk-proj-abc_DEF-0123456789"),
        ("sk-or-v1-0123456789abcdef", "sk-or-v1-0123456789abcdef"),
        ("sk-ab****wxyz", "sk-ab****wxyz"),
        ("AIza" + "a" * 35, "a" * 35),
        ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
        ("ghp_0123456789abcdef", "0123456789abcdef"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "eyJzdWIiOiIxIn0"),
        ("value t0ken-of-another here", "t0ken-of-another"),
    ],
)
def test_what_looks_like_a_key_is_masked_in_errors(text: str, secret: str) -> None:
    cleaned = SECRETS.redact(text)
    assert secret not in cleaned
    assert "[secret]" in cleaned


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 8192 tokens: you sent 9000 tokens",
        "max_tokens: 4096 is too large",
        "https://host:8080/v1/chat/completions?model=a returned 500",
        "the task-oriented risk-assessment",
        "cannot write to /home/somebody",
        "mail me at a@b.org",
        "",
    ],
)
def test_innocent_errors_are_left_alone(text: str) -> None:
    assert SECRETS.redact(text) == text


def test_prompts_and_replies_lose_the_named_values_and_nothing_else() -> None:
    text = "sk-proj-0123456789abcdef and t0ken-of-another and Authorization: Bearer abcdefgh"
    assert SECRETS.known(text) == text
    assert SECRETS.known(f"a {KEY} b") == "a [secret] b"


def test_a_placeholder_is_no_secret() -> None:
    assert Secrets(["MY_KEY"], {"MY_KEY": "EMPTY"}).redact("EMPTY reply") == "EMPTY reply"
    assert Secrets(["MY_KEY"], {}).known("text") == "text"


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"api_base": "https://host/v1?key=0123abcd"}, "target.api_base"),
        ({"api_base": "https://user:pass@host/v1"}, "target.api_base"),
        ({"extra": {"extra_headers": {"Authorization": "x"}}}, "target.extra.extra_headers.Authorization"),
        ({"extra": {"list": ["a", "sk-abcdefgh0123"]}}, r"target.extra.list\[1\]"),
        ({"extra": {"api_key": "short"}}, "target.extra.api_key"),
    ],
)
def test_a_setting_that_holds_a_key_is_refused_without_showing_it(settings: Any, where: str) -> None:
    with pytest.raises(SkillpipeError, match=f"^{where}: holds a key.*api_key_env") as caught:
        refuse_secrets(settings, "target")
    for secret in ("0123", "pass@", "short"):
        assert secret not in str(caught.value)


def test_ordinary_settings_pass() -> None:
    settings = {
        "model": "openai/gpt-x", "api_base": "http://localhost:8000/v1", "api_key_env": "OPENAI_API_KEY",
        "max_tokens": 100, "extra": {"top_p": 0.9, "stop": ["\n"], "extra_headers": {"X-Title": "skillpipe"}},
        "price": {"input_per_mtok": 1.0}, "seed": None,
    }  # fmt: skip
    refuse_secrets(settings, "target")
