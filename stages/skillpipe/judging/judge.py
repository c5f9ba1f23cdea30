"""A model that judges an attempt by a rubric. What it is told stands in prompts/judge.md."""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillpipe.asking import Asker, Unusable, reply_schema
from skillpipe.judging.rubric import RubricItem, Verdict
from skillpipe.judging.trace import final_response, tool_calls
from skillpipe.models import Image, Model
from skillpipe.prompts import read_template
from skillpipe.records import Message, Usage


@dataclass(frozen=True)
class Judgement:
    """What the judge found: one verdict per item asked about, in their order; none exactly when `failure` says why."""

    verdicts: tuple[Verdict, ...]
    failure: str
    usage: Usage


class Judge:
    """Judges attempts, with at most `max_concurrency` requests under way. For one event loop.

    Args:
        model: answers.
        prompts: the folder with judge.md and repair.md.
    """

    def __init__(self, model: Model, prompts: str, max_concurrency: int) -> None:
        self._asker = Asker(model, read_template(Path(prompts) / "repair.md", ("error",)), max_concurrency)
        self._prompt = read_template(Path(prompts) / "judge.md", ("evidence",))

    async def judge(
        self,
        description: str,
        rubric: Sequence[RubricItem],
        trajectory: Sequence[Message],
        images: Sequence[Image] = (),
    ) -> Judgement:
        """Ask for a verdict on every item of the rubric, at least one.

        The judge sees `evidence`, the images (see read_images) and nothing else. A reply without exactly one verdict
        per item is asked for once more; what cannot be had then, or by a call that failed, is a failure and never a
        "no". Raises SkillpipeError for a model that cannot be used at all, ValueError for tool messages that cannot be
        read.
        """
        prompt = self._prompt.render(evidence=evidence(description, rubric, trajectory, images))
        schema = reply_schema("reply_verdicts")
        answer = await self._asker.ask(
            prompt, schema, lambda reply: _verdicts(reply, rubric), held_to=_narrowed(schema, rubric), images=images
        )
        return Judgement(answer.value or (), answer.failure, answer.usage)


def evidence(
    description: str, rubric: Sequence[RubricItem], trajectory: Sequence[Message], images: Sequence[Image] = ()
) -> str:
    """What the judge is shown, as one JSON object: the task's description, the rubric, the request that the target was
    sent, its tool calls in order, its final response, and what the images after it are of, if there are any.

    No expected answer, assertion or regex is in it. `<` is escaped, so that nothing a target says can end the tag
    around it.
    """
    shown = {
        "task": description,
        "rubric": [{"id": item.id, "check": item.check} for item in rubric],
        "request": "\n\n".join(message.content for message in trajectory if message.role == "user"),
        "tool_calls": [
            {"step": number, "tool": call.tool, "input": dict(call.input), "output": call.output}
            for number, call in enumerate(tool_calls(trajectory), start=1)
        ],
        "final_response": final_response(trajectory),
    }
    if images:
        shown["images"] = [image.name for image in images]
    return json.dumps(shown, ensure_ascii=False, indent=1).replace("<", "\\u003c")


def _narrowed(schema: dict[str, Any], rubric: Sequence[RubricItem]) -> dict[str, Any]:
    """The schema with as many verdicts as the rubric has items, by their ids. _verdicts says better what is amiss."""
    schema = deepcopy(schema)
    items = schema["properties"]["items"]
    items |= {"minItems": len(rubric), "maxItems": len(rubric)}
    items["items"]["properties"]["id"] = {"enum": [item.id for item in rubric]}
    return schema


def _verdicts(reply: dict[str, Any], rubric: Sequence[RubricItem]) -> tuple[Verdict, ...]:
    given = [Verdict(**item) for item in reply["items"]]
    named, wanted = [verdict.id for verdict in given], [item.id for item in rubric]
    if sorted(named) != sorted(wanted):
        there = ", ".join(named) or "nothing"
        raise Unusable(f"verdicts are on {there}; one on each of {', '.join(wanted)} is needed, and on nothing else")
    return tuple(sorted(given, key=lambda verdict: wanted.index(verdict.id)))
