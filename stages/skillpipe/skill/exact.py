"""The exact difference between a document and what became of it, and the outcome that tells it."""

from __future__ import annotations

from collections.abc import Sequence

from skillpipe.records import Edit, EditOutcome, Splice
from skillpipe.skill.lines import byte_length, split_lines, tokens_in
from skillpipe.skill.report import Status


def applied(edit: Edit, before: str, after: str, reason: str = "") -> EditOutcome:
    """The outcome of an edit that made `before` into `after`, which differ; lines are those that differ."""
    old, new = split_lines(before), split_lines(after)
    splice = splice_between(old, new)
    removed, added = splice.removed, len(splice.lines)
    first = splice.start + 1
    return EditOutcome(
        edit,
        "applied",
        reason,
        old_lines=(first, splice.start + removed) if removed else None,
        lines=(first, splice.start + added) if added else None,
        splice=splice,
    )


def refused(edit: Edit, status: Status, reason: str) -> EditOutcome:
    """The outcome of an edit that changed nothing."""
    return EditOutcome(edit, status, reason, None, None)


def splice_between(old: Sequence[str], new: Sequence[str]) -> Splice:
    """The smallest splice that turns the lines `old` into `new`; of several, the one furthest down."""
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    same = 0
    while same < most - start and old[len(old) - 1 - same] == new[len(new) - 1 - same]:
        same += 1
    return Splice(start, len(old) - same - start, tuple(new[start : len(new) - same]))


def too_large(before: str, after: str, max_tokens: int | None, max_lines: int | None) -> str:
    """Why the document may not grow to `after`, or nothing: it may if it stays within the limits or does not grow."""
    measures = (
        ("tokens", max_tokens, tokens_in(byte_length(before)), tokens_in(byte_length(after))),
        ("lines", max_lines, len(split_lines(before)), len(split_lines(after))),
    )
    for unit, limit, was, would in measures:
        if limit is not None and would > limit and would > was:
            return f"the document would have {would} {unit}; at most {limit} are allowed"
    return ""


def unusable(content: str) -> str:
    """Why `content` can stand in no document, or nothing."""
    if "\0" in content:
        return "it holds a NUL character, which no text file may"
    try:
        content.encode("utf-8")
    except UnicodeEncodeError:
        return "it holds half a surrogate pair, which cannot be saved as UTF-8"
    return ""
