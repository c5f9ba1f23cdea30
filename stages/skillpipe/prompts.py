"""Prompts: Markdown files with named placeholders, `{{skill}}`, that are checked before anything is sent."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from skillpipe.artifacts import read_text
from skillpipe.errors import SkillpipeError

_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


@dataclass(frozen=True)
class Template:
    """The text of a prompt, which holds each of its placeholders at least once and no other. See `read_template`."""

    text: str

    def render(self, **values: str) -> str:
        """The prompt with a value for every placeholder. A value is put in as it is: braces in it mean nothing."""
        return _PLACEHOLDER.sub(lambda found: values[found[1].strip()], self.text)


def read_template(path: str | Path, names: Collection[str]) -> Template:
    """Read a prompt that must hold exactly the placeholders `names`, in any order and number.

    Line ends become LF, so that a checkout on another system sends the same request. Raises SkillpipeError that
    names the file, the placeholder that is unknown or missing, and those that are allowed. A placeholder that does
    not close, or with a single brace, is plain text: it is noticed as missing.
    """
    text = read_text(path).replace("\r\n", "\n")
    found = {name.strip() for name in _PLACEHOLDER.findall(text)}
    allowed = ", ".join(f"{{{{{name}}}}}" for name in names)
    for name in sorted(found.difference(names)):
        shown = " ".join(name.split())[:40]
        raise SkillpipeError(f"{path}: {{{{{shown}}}}} is no placeholder of this prompt; allowed are {allowed}")
    for name in names:
        if name not in found:
            raise SkillpipeError(f"{path}: {{{{{name}}}}} is missing; this prompt must hold {allowed}")
    return Template(text)
