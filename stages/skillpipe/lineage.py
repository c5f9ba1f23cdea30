"""The exact change that an edit made to its file, and what a row of such changes comes to. Pure text.

A file's lines are those of `skill.lines.split_lines`: CR LF, LF and CR end one, nothing else does. A byte order mark
belongs to the first line.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from skillpipe.errors import SkillpipeError
from skillpipe.records import LineageRow, Splice
from skillpipe.skill.lines import split_lines

Line = TypeVar("Line")


def splice_of(before: str, after: str, report_splice: tuple[int, int, int]) -> Splice:
    """What turned the file `before` into `after`: replay(before, [it]) == after, byte for byte.

    `report_splice` is EditReport's (start, removed, added). The range is the report's, made wider where a line beside
    it changed too: a last line that gained its line end, or the line that holds the byte order mark.
    """
    old, new = split_lines(before), split_lines(after)
    start, removed, _ = report_splice
    head = _alike(old[:start], new)
    tail = _alike(old[max(start + removed, head) :][::-1], new[head:][::-1])
    return Splice(head, len(old) - tail - head, tuple(new[head : len(new) - tail]))


def splice_in_folder(
    before: Mapping[str, bytes], after: Mapping[str, bytes], file: str, report_splice: tuple[int, int, int] | None
) -> Splice | None:
    """What turned the file of one skill folder into that of another; None for an edit that was not applied."""
    return None if report_splice is None else splice_of(before[file].decode(), after[file].decode(), report_splice)


def replay(text: str, splices: Iterable[Splice]) -> str:
    """The file after `splices`, each made of the file that the one before left.

    Raises SkillpipeError for a splice of lines that the file does not have.
    """
    for splice in splices:
        text = "".join(spliced(split_lines(text), splice, splice.lines))
    return text


def spliced(lines: Sequence[Line], splice: Splice, new: Iterable[Line]) -> list[Line]:
    """`lines`, one item per line of the file, with `new` in place of those that the splice takes away."""
    end = splice.start + splice.removed
    if end > len(lines):
        raise SkillpipeError(f"lineage: a splice of lines {splice.start} to {end} in a file of {len(lines)} lines")
    return [*lines[: splice.start], *new, *lines[end:]]


def replay_folder(files: Mapping[str, bytes], rows: Iterable[LineageRow]) -> dict[str, bytes]:
    """The skill after the edits of `rows`, in order. Raises SkillpipeError for a row that cannot be replayed."""
    texts = dict(files)
    for row in rows:
        splice, file = splice_in(row, texts), row.edit.file
        texts[file] = replay(texts[file].decode(), [splice]).encode()
    return texts


def splice_in(row: LineageRow, files: Mapping[str, bytes]) -> Splice:
    """The row's splice. Raises SkillpipeError if it has none, or is of a file that the skill does not have."""
    if row.splice is None:
        raise SkillpipeError(f"lineage: {row.step} edit {row.rank} has no splice; run `dvc repro` to write one")
    if row.edit.file not in files:
        raise SkillpipeError(f"lineage: {row.step} edit {row.rank} is of {row.edit.file}, which the skill has not")
    return row.splice


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines two files have in common from their beginning on."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
