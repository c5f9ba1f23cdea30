"""Ask a model for one JSON object, with one retry that shows it what was wrong with its reply."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from skillpipe.artifacts import SCHEMAS, read_text
from skillpipe.models import Image, Model, ModelError, Request
from skillpipe.prompts import Template
from skillpipe.records import Message, Usage
from skillpipe.replies import ReplyError, parse_reply

Value = TypeVar("Value")

_TRIES = 2
# Stands for a reply of nothing when the model is shown it: some providers refuse an empty message.
_NOTHING = "(no text)"


class Unusable(Exception):
    """A reply that fits its schema and still cannot be used. The message tells the model why."""


@dataclass(frozen=True)
class Answer(Generic[Value]):
    """What came of asking. `value` is None exactly when `failure` says why.

    `raw` is then the last reply, empty if none came. `usage` counts every call that was made, failed ones too.
    """

    value: Value | None
    failure: str
    raw: str
    usage: Usage


class Asker:
    """Asks one model, with at most `max_concurrency` requests under way. For one event loop."""

    def __init__(self, model: Model, repair: Template, max_concurrency: int) -> None:
        self._model = model
        self._repair = repair
        self._free = asyncio.Semaphore(max_concurrency)

    async def ask(
        self,
        prompt: str,
        schema: dict[str, Any],
        read: Callable[[dict[str, Any]], Value],
        *,
        held_to: dict[str, Any] | None = None,
        images: Sequence[Image] = (),
    ) -> Answer[Value]:
        """What `read` makes of the reply to `prompt`.

        `held_to` is the schema that a provider may hold its model to, where it is narrower than the one for reading.
        `images` are shown with the prompt.
        The reply must fit the schema, and `read` may still raise Unusable. A model whose reply is of no use is shown
        the reply and the error, once. A ModelError ends it: the model has retried what was worth it. SkillpipeError,
        for a model that cannot be used at all, is raised.
        """
        usage, failure, raw = Usage(), "", ""
        messages: tuple[Message, ...] = (Message("system", ""), Message("user", prompt))
        for _ in range(_TRIES):
            if failure:
                shown = raw if raw.strip() else _NOTHING
                messages += (Message("assistant", shown), Message("user", self._repair.render(error=failure)))
            try:
                async with self._free:
                    reply = await self._model.complete(Request(messages, held_to or schema, images=tuple(images)))
            except ModelError as error:
                failure = " ".join(str(error).split()) or "the call failed, and does not say why"
                return Answer(None, failure, raw, usage + Usage(calls=1))
            usage += reply.usage
            try:
                return Answer(read(parse_reply(reply.text, schema, finish=reply.finish)), "", "", usage)
            except (ReplyError, Unusable) as error:
                failure, raw = str(error), reply.text
        return Answer(None, failure, raw, usage)


async def gathered(jobs: Iterable[Coroutine[Any, Any, Value]]) -> list[Value]:
    """The results in the order of the jobs, which all begin at once. The first exception ends the other jobs."""
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:  # Ctrl-C too: nothing may go on asking; it goes on to the caller
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def commonest(reasons: Sequence[str]) -> str:
    """The three commonest reasons with how often each was given, on one line; empty for none."""
    return "; ".join(f"{count} x {reason}" for reason, count in Counter(reasons).most_common(3))


@cache
def reply_schema(name: str, *without: str) -> dict[str, Any]:
    """The JSON Schema in schemas/<name>.json, with no word of the properties that are not asked for."""
    schema: dict[str, Any] = json.loads(read_text(SCHEMAS / f"{name}.json"))
    for unasked in without:
        del schema["properties"][unasked]
    return schema
