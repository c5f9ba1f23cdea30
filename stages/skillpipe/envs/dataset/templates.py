"""Texts around the fields of a row. A text that holds `{{` or `{%` is a Jinja2 template; any other is plain."""

from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from skillpipe.errors import SkillpipeError

# Values are put in as they are; a field that a row does not have is an error; nothing reaches Python or the disk.
_JINJA = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
for _random in (_JINJA.filters, _JINJA.globals):  # the same row always gives the same text
    _random.pop("random", None)
    _random.pop("lipsum", None)


def is_template(text: str) -> bool:
    """Whether a text is a Jinja2 template. A plain one may hold any other brace."""
    return "{{" in text or "{%" in text


class Template:
    """A Jinja2 template over the fields of a row: `{{ question }}`, or `{{ row["my field"] }}` for any name.

    `key` is where it stands in the configuration. Raises SkillpipeError for what is no template, or names no field.
    """

    def __init__(self, text: str, key: str) -> None:
        self._key = key
        try:
            self._template = _JINJA.from_string(text)
            fields = meta.find_undeclared_variables(_JINJA.parse(text))
        except TemplateSyntaxError as error:
            raise SkillpipeError(
                f"{key}: line {error.lineno} is no Jinja2: {error.message}; `{{{{` and `{{%` make a text a template"
            ) from None
        except TemplateError as error:
            raise SkillpipeError(f"{key}: no Jinja2: {error}") from None
        if not fields - _JINJA.globals.keys():
            raise SkillpipeError(f"{key}: a template that names no field gives every task the same text")

    def render(self, fields: Mapping[str, Any], where: str) -> str:
        """The text for one row. Raises SkillpipeError that names the row and what is wrong."""
        try:
            return self._template.render({**fields, "row": fields})
        except Exception as error:  # whatever an expression of the user's meets in a row
            known = ", ".join(sorted(fields))
            raise SkillpipeError(f"{where}: {self._key}: {' '.join(str(error).split())}; fields are {known}") from None


class Prompt:
    """What the target is sent: a plain text with `{input}`, which alone is replaced, or a template."""

    def __init__(self, text: str, key: str) -> None:
        self._text = text
        self._template = Template(text, key) if is_template(text) else None
        if self._template is None and "{input}" not in text:
            raise SkillpipeError(f"{key} is {text!r}; it must hold {{input}}, where the task's input goes")

    def render(self, text: str, fields: Mapping[str, Any], where: str) -> str:
        """The prompt around a row's input, `text`; a template sees it as `input`, beside the row's own fields."""
        if self._template is None:
            return self._text.replace("{input}", text)
        return self._template.render({**fields, "input": text}, where)
