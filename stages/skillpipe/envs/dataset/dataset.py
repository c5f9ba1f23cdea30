"""The environment whose tasks are rows: an input, an answer, a scorer."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from skillpipe import scoring
from skillpipe.artifacts import read_text
from skillpipe.envs import Parting
from skillpipe.envs.attempt import attempt
from skillpipe.envs.cutting import by_head, by_ratio
from skillpipe.envs.dataset.hub import Hub
from skillpipe.envs.dataset.rows import Row, file_of_split, only_file, read_rows, shown
from skillpipe.envs.dataset.templates import Prompt, Template, is_template
from skillpipe.errors import SkillpipeError
from skillpipe.models import Model
from skillpipe.records import SPLITS, Rollout, Split, Task

_FIELDS = ("id", "input", "answer", "task_type", "reference")
# More than any model reads: a row that is larger is a mistake, such as a whole file on one line.
_LARGEST = 10_000_000


class Dataset:
    """A question and its answer per row; fields that nobody asked for are left alone.

    The skill is the system message, the rendered prompt the user message. See docs/environments.md for the forms of
    data, and what a template may use.

    Args:
        data: a folder or a file. DVC watches it, so a prompt_file lies in it, or in conf/.
        prompt: what the target is sent, around the row's input: plain with {input}, or a Jinja2 template. None
            exactly where there is a prompt_file.
        scorer: of the answer against the row's.
        prompt_file: a file that holds the prompt, in place of `prompt`: nothing in it is interpolated.
        input_template: a Jinja2 template that makes the input out of a row's fields, in place of the field `input`.
        fields: what the rows call id, input, answer, task_type and reference, where it is another name.
        split: {ratio: "2:1:7", seed: 42}, or {head: "70/30"}, of one file; without it each split stands by itself.
        limit: the first so many tasks of each split; None for all.
        huggingface: {path, name, revision, splits} of a dataset that is read in place of `data`.
    """

    def __init__(
        self,
        data: str,
        prompt: str | None,
        scorer: Callable[[str, str], scoring.Score],
        *,
        prompt_file: str | None = None,
        input_template: str | None = None,
        fields: Mapping[str, str] | None = None,
        split: Mapping[str, Any] | None = None,
        limit: int | None = None,
        huggingface: Mapping[str, Any] | None = None,
    ) -> None:
        self._data, self._scorer, self._split, self._limit = Path(data), scorer, dict(split or {}), limit
        self._prompt = _prompt(prompt, prompt_file, self._data)
        if input_template is not None and not is_template(input_template):
            raise SkillpipeError(
                f"env.input_template is {shown(input_template)}; name the row's fields: {{{{ field }}}}"
            )
        self._input = None if input_template is None else Template(input_template, "env.input_template")
        self._fields = _names(fields or {})
        self._hub = None if huggingface is None else Hub(huggingface)
        self.parting = self._parting()
        if limit is not None and limit < 1:
            raise SkillpipeError(f"env.limit is {limit}; allowed is 1 or more, or null for all")

    def tasks(self, split: Split) -> list[Task]:
        rows = self._rows(split) if self.parting.mode == "dir" else self._cut[split]
        return [self._task(row, where) for where, row in rows[: self._limit]]

    async def run(self, task: Task, skill: str, target: Model) -> Rollout:
        return await attempt(task, skill, target, self._scorer)

    def _parting(self) -> Parting:
        source = self._hub.path if self._hub else self._data.as_posix()
        if not self._split:
            return Parting(source, "dir")
        if self._split.keys() == {"ratio", "seed"} and type(self._split["seed"]) is int:
            return Parting(source, "ratio", str(self._split["ratio"]), self._split["seed"])
        if self._split.keys() == {"head"}:
            return Parting(source, "head", str(self._split["head"]))
        raise SkillpipeError(
            f"env.split is {shown(self._split)}; allowed are "
            '{ratio: "2:1:7", seed: 42} and {head: "70/30"}, or nothing where each split stands by itself'
        )

    @cached_property
    def _cut(self) -> dict[Split, list[Row]]:
        how = self.parting
        rows = self._hub.rows("train") if self._hub else read_rows(only_file(self._data), self._fields["id"])
        if how.mode == "head":
            return by_head(rows, how.cut, how.source)
        return by_ratio(rows, how.cut, how.seed or 0, how.source)

    def _rows(self, split: Split) -> list[Row]:
        if self._hub:
            return self._hub.rows(split)
        if self._data.is_file():
            raise SkillpipeError(
                f"{self._data}: one file; cut it by env.split, "
                f'{{ratio: "2:1:7", seed: 42}} or {{head: "70/30"}}, or name a folder with {", ".join(SPLITS)}'
            )
        return read_rows(file_of_split(self._data, split), self._fields["id"])

    def _task(self, row: Mapping[str, Any], where: str) -> Task:
        hidden = {self._fields["answer"], self._fields["reference"]}
        seen = {name: value for name, value in row.items() if name not in hidden}
        given = self._input.render(seen, where) if self._input else self._text(row, "input", where)
        asked = self._prompt.render(given, seen, where)
        if not given.strip() or not asked.strip():
            raise SkillpipeError(f"{where}: the input is blank; every task needs one")
        if len(asked) > _LARGEST:
            raise SkillpipeError(
                f"{where}: an input of {len(asked)} characters; allowed are {_LARGEST}: is it one task?"
            )
        answer = self._text(row, "answer", where)
        self._try(answer, where)
        task_type, reference = (self._optional(row, field, where) for field in ("task_type", "reference"))
        return Task(self._text(row, "id", where), asked, answer, task_type, reference)

    def _text(self, row: Mapping[str, Any], field: str, where: str) -> str:
        name = self._fields[field]
        value = row.get(name)
        if type(value) is int or (isinstance(value, float) and math.isfinite(value)):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            raise SkillpipeError(f"{where}: {name} is {shown(value)}; it must be a text that is not blank")
        return value

    def _optional(self, row: Mapping[str, Any], field: str, where: str) -> str:
        value = row.get(self._fields[field])
        if not isinstance(value, str | None):
            raise SkillpipeError(f"{where}: {self._fields[field]} is {shown(value)}; it must be a text")
        return value or ""

    def _try(self, answer: str, where: str) -> None:
        """Refuse an answer that skillpipe's own scorers cannot use: now, not after the first paid calls."""
        if getattr(getattr(self._scorer, "func", self._scorer), "__module__", "") == scoring.__name__:
            try:
                self._scorer("", answer)
            except SkillpipeError as error:
                raise SkillpipeError(f"{where}: {error}") from None


def _prompt(prompt: str | None, prompt_file: str | None, data: Path) -> Prompt:
    if (prompt is None) == (prompt_file is None):
        raise SkillpipeError("env: give prompt, or prompt_file and prompt: null")
    if prompt_file is None:
        return Prompt(str(prompt), "env.prompt")
    path = Path(prompt_file)
    if not any(path.resolve().is_relative_to(folder.resolve()) for folder in (Path("conf"), data)):
        raise SkillpipeError(f"env.prompt_file is {prompt_file}; it must lie in {data} or in conf/, which DVC watches")
    return Prompt(read_text(path), f"env.prompt_file {prompt_file}")


def _names(fields: Mapping[str, str]) -> dict[str, str]:
    unknown = sorted(fields.keys() - set(_FIELDS))
    if unknown:
        raise SkillpipeError(f"env.fields: {', '.join(unknown)}; allowed are {', '.join(_FIELDS)}")
    blank = [name for name, field in fields.items() if not isinstance(field, str) or not field]
    if blank:
        raise SkillpipeError(f"env.fields.{blank[0]} is {shown(fields[blank[0]])}; it must name a field of the rows")
    return {name: name for name in _FIELDS} | dict(fields)
