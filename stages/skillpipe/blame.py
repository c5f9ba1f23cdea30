"""Which edit each line of the best skill comes from, like git blame: `python -m skillpipe.blame results/best/SKILL.md`.

Reads results/ alone: initial/, best/ and lineage.jsonl. Accepted edits are replayed on the initial skill, step by step,
up to the last step whose skill is the best one, byte for byte.
"""

import argparse
import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from skillpipe.artifacts import read_rows
from skillpipe.errors import SkillpipeError
from skillpipe.lineage import replay_folder, splice_in, spliced
from skillpipe.records import ACCEPTED, LineageRow
from skillpipe.skill import read_folder
from skillpipe.skill.lines import body_of, split_lines


@dataclass(frozen=True)
class Line:
    """A line of a skill's file, with its line end. `edits` are the rows that made it what it is, the latest first.

    A line of the initial skill that no edit touched has none; `initial` says whether the chain of edits ends in a line
    of the initial skill.
    """

    text: str
    edits: tuple[LineageRow, ...]
    initial: bool


@dataclass(frozen=True)
class Blame:
    """`edits` are those that made the best skill, in order; `lines` are of one file, from the first on."""

    file: str
    edits: tuple[LineageRow, ...]
    lines: tuple[Line, ...]

    @property
    def without_a_line(self) -> tuple[LineageRow, ...]:
        """The edits of this file that left no line: they deleted, or what they wrote is gone."""
        named = {name_of(row) for line in self.lines for row in line.edits}
        return tuple(row for row in self.edits if row.edit.file == self.file and name_of(row) not in named)


def edits_of_best(
    initial: Mapping[str, bytes], best: Mapping[str, bytes], lineage: Sequence[LineageRow]
) -> tuple[LineageRow, ...]:
    """The accepted rows, in order, that turn the initial skill into the best one; whole steps, the most there are.

    Raises SkillpipeError when no step's skill is `best`.
    """
    accepted = [row for row in lineage if row.action in ACCEPTED]
    skill, found, done = dict(initial), 0 if initial == best else None, 0
    for _, rows in groupby(accepted, key=lambda row: row.step):
        of_step = list(rows)
        skill, done = replay_folder(skill, of_step), done + len(of_step)
        found = done if skill == best else found
    if found is None:
        raise SkillpipeError(
            f"the best skill is none that the {len(accepted)} accepted edits of lineage.jsonl make of the initial one: "
            "best/, initial/ or lineage.jsonl was changed by hand; `dvc repro` writes them anew"
        )
    return tuple(accepted[:found])


def blame(initial: Mapping[str, bytes], edits: Sequence[LineageRow], file: str) -> Blame:
    """The origin of each line of `file` after `edits`. Raises SkillpipeError for a file that is not in the skill."""
    if file not in initial:
        raise SkillpipeError(f"{file}: the skill has no such file; it has {', '.join(sorted(initial))}")
    lines = [Line(text, (), True) for text in split_lines(initial[file].decode())]
    for row in edits:
        if row.edit.file == file:
            splice = splice_in(row, initial)
            old = lines[splice.start : splice.start + splice.removed]
            lines = spliced(lines, splice, _rewritten(old, splice.lines, row))
    return Blame(file, tuple(edits), tuple(lines))


def name_of(row: LineageRow) -> str:
    """How people name an edit: its step and its rank in it."""
    return f"{row.step}#{row.rank}"


def _rewritten(old: Sequence[Line], new: Sequence[str], row: LineageRow) -> list[Line]:
    """The new lines with their origins: one that stays, but for its line end, keeps its own."""
    bodies, new_bodies = [body_of(line.text) for line in old], [body_of(text) for text in new]
    lines: list[Line] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, bodies, new_bodies, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [Line(text, was.edits, was.initial) for was, text in zip(old[a:b], new[c:d], strict=True)]
            continue
        earlier = {name_of(edit): edit for line in old[a:b] for edit in line.edits}
        chain = (row, *earlier.values())
        lines += [Line(text, chain, any(line.initial for line in old[a:b])) for text in new[c:d]]
    return lines


def as_text(found: Blame) -> str:
    """For people: edit, what it did to the val score, the tasks behind it, line number, line; one line each."""
    cells = [_cells(line) for line in found.lines]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(3)]
    digits = len(str(len(found.lines)))
    told = []
    for number, (row, line) in enumerate(zip(cells, found.lines, strict=True), start=1):
        origin = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        told.append(f"{origin}  {number:>{digits}}) {body_of(line.text)}".rstrip())
    gone = ((name_of(edit), edit.edit) for edit in found.without_a_line)
    told += [f"{name}: {edit.op}, of which no line is left: {edit.target or edit.content!r}" for name, edit in gone]
    return "\n".join(told)


def _cells(line: Line) -> tuple[str, str, str]:
    if not line.edits:
        return "initial", "", ""
    row = line.edits[0]
    chain = " < ".join([*map(name_of, line.edits), *(["initial"] if line.initial else [])])
    scores = [("?" if score is None else f"{score:.3f}") for score in (row.score_before, row.score_after)]
    tasks = ",".join(row.edit.tasks[:2]) + (f",+{len(row.edit.tasks) - 2}" if len(row.edit.tasks) > 2 else "")
    return chain, " -> ".join(scores), tasks


def as_json(found: Blame) -> dict[str, Any]:
    """The same for programs: `edits` in the order in which they make the best skill; `lines` name them."""
    edits = [
        {
            "name": name_of(row), "step": row.step, "rank": row.rank, "op": row.edit.op, "file": row.edit.file,
            "target": row.edit.target, "section": row.edit.section, "content": row.edit.content,
            "tasks": list(row.edit.tasks), "support": row.edit.support, "source": row.edit.source,
            "action": row.action, "score_before": row.score_before, "score_after": row.score_after,
        }
        for row in found.edits
    ]  # fmt: skip
    lines = [
        {"line": number, "text": line.text, "edits": [name_of(row) for row in line.edits], "initial": line.initial}
        for number, line in enumerate(found.lines, start=1)
    ]
    return {"file": found.file, "edits": edits, "lines": lines}


def read_blame(path: str | Path) -> Blame:
    """Blame for a file below a results folder's best/. Raises SkillpipeError for any other path."""
    path = Path(path)
    folder = next((parent for parent in path.parents if parent.name == "best"), None)
    if folder is None or not (folder.parent / "lineage.jsonl").is_file():
        raise SkillpipeError(
            f"{path}: no file of a published best skill; name one below the best/ of a folder with a lineage.jsonl, "
            "such as results/best/SKILL.md"
        )
    initial = read_folder(folder.parent / "initial")
    lineage = read_rows(folder.parent / "lineage.jsonl", LineageRow)
    return blame(initial, edits_of_best(initial, read_folder(folder), lineage), path.relative_to(folder).as_posix())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print it; the exit code is 1 for a refusal, told in one line."""
    parser = argparse.ArgumentParser(prog="python -m skillpipe.blame", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("file", help="a file below results/best/")
    parser.add_argument("--json", action="store_true", help="for programs")
    args = parser.parse_args(arguments)
    try:
        found = read_blame(args.file)
    except SkillpipeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(as_json(found), indent=1, ensure_ascii=False) if args.json else as_text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
