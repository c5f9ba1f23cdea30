"""Edits as a model wrote them, once they fit the reply's schema, become records. Pure.

Nothing is guessed: an edit without the target or content that its op needs stays as it is, and apply reports it as
invalid or empty.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from skillpipe.records import Edit, Source


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
