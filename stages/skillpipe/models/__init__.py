"""What a model is to this pipeline: something that completes one request.

Choices live one file each beside this one and are named by `_target_` in conf/target; a user's own needs no base
class, only these two members.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from skillpipe.records import Message, Usage

ImageType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]


@dataclass(frozen=True)
class Image:
    """A picture that is shown with a request: the bytes of its file, and what it is of in a few words."""

    name: str
    media_type: ImageType
    data: bytes


@dataclass(frozen=True)
class Request:
    """One request: what is sent, oldest message first.

    The first message has role "system" and holds the skill's body (never its frontmatter); it may be empty.
    `schema` is the JSON Schema that the reply should fit: a model that can be held to it is, another ignores it.
    Requests that differ in `replicate` alone are independent samples of one question. `images` are shown after the
    first user message; a model that sees none raises ModelError.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    replicate: int = 0
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens read and written."""

    input_per_mtok: float
    output_per_mtok: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What one call costs."""
        return (input_tokens * self.input_per_mtok + output_tokens * self.output_per_mtok) / 1e6


@dataclass(frozen=True)
class Reply:
    """What came back. `text` is the reply as the model gave it, unstripped; it may be empty.

    `finish` is "length" when the token limit cut the reply, else "stop".
    """

    text: str
    usage: Usage
    finish: Literal["stop", "length"] = "stop"


class ModelError(Exception):
    """A call that could not be made or answered: missing data, never a wrong answer.

    `permanent` says that the same request would fail again (bad key, unknown model, context too long).
    """

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent


class Model(Protocol):
    """Completes requests.

    `complete` may be awaited many times at once; the reply depends on the request alone, never on what was asked
    before or on who asks beside it. It raises ModelError for a failed call and SkillpipeError (skillpipe.errors)
    when the model cannot be used at all: not installed, no key. A model may also tell, as
    properties: `list_price`, a Price (without one, the cost of a run is not estimated and a cost cap is refused);
    `max_tokens`, the longest answer (without it, what a run writes is not estimated); `doubts`, how many calls of a
    process that died it has sent again, which count against the budget.
    """

    async def complete(self, request: Request) -> Reply:
        """Answer one request."""
        ...

    def close(self) -> None:
        """Free what the model holds. Called once, after the last request."""
        ...
