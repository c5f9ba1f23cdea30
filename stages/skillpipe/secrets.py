"""Keep keys and tokens out of everything that is written: ledger rows, error messages, settings."""

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from skillpipe.errors import SkillpipeError

MASK = "[secret]"
# A shorter value is a placeholder ("EMPTY", "none") that would also stand in innocent text.
MIN_LENGTH = 8

_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_NAMED = (
    r"(?:x-)?(?:goog-)?api[ _-]?key|(?:access|auth|id|refresh)[_-]?token|token"
    r"|client[_-]?secret|secret|password"
)
# Each pattern's group 1 is kept, the rest of the match is masked.
_PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(\b(?:proxy-)?authorization[\"']?\s*[:=,]\s*[\"']?(?:(?:bearer|basic|token)\s+)?)[^\s\"',;}\])]+",
        r"(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}",
        rf"(\b(?:{_NAMED})(?:\s+provided)?[\"']?\s*[:=]\s*[\"']?)[^\s\"'&,;}}\])]{{6,}}",
        r"([?&](?:key|api[_-]?key|subscription-key|\w*token|sig|signature|secret|auth|code)=)[^&\s\"'#]+",
        r"(\b[a-z][a-z0-9+.-]*://)[^/\s@\"']+(?=@)",
        r"(\b)(?:sk|pk|rk|ak|xai|gsk|hf|gh[pos]|glpat|github_pat|nvapi|pplx|r8|tgp|xox[a-s])[-_][\w*-]{8,}",
        r"(\b)(?:AIza[\w-]{20,}|AKIA[0-9A-Z]{12,}|ya29\.[\w.-]{10,}|eyJ[\w-]{10,}\.[\w-]{8,}\.[\w-]*)",
    )
]
_HOLDER = re.compile(rf"(?:{_NAMED}|.*authorization)", re.IGNORECASE)
# What a setting's value looks like when it is a key, or a URL with one in it.
_VALUE_PATTERNS = (_PATTERNS[1], *_PATTERNS[3:])


class Secrets:
    """Knows the values that must not be written.

    `names` are the environment variables that the configuration names. Values are read once, here.
    """

    def __init__(self, names: Iterable[str], environ: Mapping[str, str] = os.environ) -> None:
        named = [environ.get(name, "") for name in names]
        alike = [value for name, value in environ.items() if _SECRET_NAME.search(name)]
        self._named = _alternatives(named)
        self._all = _alternatives([*named, *alike])

    def known(self, text: str) -> str:
        """`text` without the values of the named variables: for prompts and replies, nothing is guessed."""
        return self._named.sub(MASK, text) if self._named else text

    def redact(self, text: str) -> str:
        """`text`, an error, without the values of variables named like secrets, and what looks like one."""
        text = self._all.sub(MASK, text) if self._all else text
        for pattern in _PATTERNS:
            text = pattern.sub(rf"\1{MASK}", text)
        return text


def refuse_secrets(settings: Any, where: str) -> None:
    """Raise SkillpipeError when a setting holds a key: settings are written to params.yaml and the ledger.

    `settings` is made of dicts, lists and scalars; `where` is its name, for the message, which shows no key.
    """
    if isinstance(settings, Mapping):
        for name, value in settings.items():
            if isinstance(value, str) and value and _HOLDER.fullmatch(name):
                _refuse(f"{where}.{name}")
            refuse_secrets(value, f"{where}.{name}")
    elif isinstance(settings, list | tuple):
        for index, value in enumerate(settings):
            refuse_secrets(value, f"{where}[{index}]")
    elif isinstance(settings, str) and any(pattern.search(settings) for pattern in _VALUE_PATTERNS):
        _refuse(where)


def _refuse(where: str) -> None:
    raise SkillpipeError(f"{where}: holds a key; put it into an environment variable named by api_key_env")


def _alternatives(values: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern for every value in every form it is written in; the longest first."""
    forms: set[str] = set()
    for value in values:
        if len(value) >= MIN_LENGTH:
            encoded = base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()
            forms |= {value, quote(value, safe=""), json.dumps(value)[1:-1], encoded.rstrip("=")}
    if not forms:
        return None
    return re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
