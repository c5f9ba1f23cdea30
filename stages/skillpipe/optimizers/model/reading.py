"""What a model wrote, once it fits the reply's schema, becomes records. Pure.

Nothing is guessed: an edit without the target or content that its op needs stays as it is, and apply reports it as
invalid or empty.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from skillpipe.asking import Unusable
from skillpipe.records import Edit, Observation, Source
from skillpipe.skill import REGION_MARKERS


def read_edit(given: Mapping[str, Any], *, tasks: tuple[str, ...], support: int, source: Source) -> Edit:
    """The edit in `given`, null and absent fields as empty, with the evidence that the program knows of."""
    return Edit(
        op=given["op"],
        content=given.get("content") or "",
        target=given.get("target") or "",
        section=given.get("section") or "",
        file=given.get("file") or Edit.file,
        tasks=tasks,
        support=support,
        source=source,
    )


def read_tasks(named: Sequence[str], known: Collection[str]) -> tuple[tuple[str, ...], int]:
    """The ids among `known`, each once, as named; and how many others were named.

    An edit may be left without any id. It is kept so: to give it all tasks of the minibatch would be evidence that
    nobody claimed.
    """
    unique = tuple(dict.fromkeys(named))
    kept = tuple(task for task in unique if task in known)
    return kept, len(unique) - len(kept)


def read_indices(named: Sequence[int | float], count: int) -> tuple[int, ...]:
    """The indices in range(count), each once, as named. JSON's 1.0 is 1."""
    return tuple(dict.fromkeys(int(index) for index in named if 0 <= index < count))


def read_observations(
    given: Sequence[Mapping[str, Any] | str], known: Collection[str]
) -> tuple[tuple[Observation, ...], int]:
    """Patterns or notes, each on one line, with the ids among `known`; and how many other ids they named.

    Those that say nothing are left out. A bare text is one without ids, and fields that are not
    asked for play no part: edits are not lost for the form of what stands beside them.
    """
    full = [{"text": one} if isinstance(one, str) else one for one in given]
    named = [(" ".join(one["text"].split()), *read_tasks(one.get("tasks", ()), known)) for one in full]
    kept = tuple(Observation(text, tasks) for text, tasks, _ in named if text)
    return kept, sum(dropped for _, _, dropped in named)


def read_text(given: str | None, name: str) -> str:
    """A text that goes into the skill, without white space at its end or blank lines before it; None is empty.

    Raises Unusable when it holds a marker of a protected region, or a NUL: the skill could not take it.
    """
    text = (given or "").rstrip().lstrip("\r\n")
    held = next((marker for pair in REGION_MARKERS for marker in pair if marker in text), "")
    if held or "\0" in text:
        raise Unusable(f"`{name}` holds {held or 'a NUL character'}; write it without that")
    return text
