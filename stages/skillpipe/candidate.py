"""Make a candidate of a skill: from ranked edits, from a new body, with execution notes. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from skillpipe.lineage import splice_in_folder
from skillpipe.records import Edit, EditOutcome, Observation
from skillpipe.skill import apply_to_folder, fold_line, read_region, rewrite_body, write_region

SKILL_FILE = "SKILL.md"

RegionName = Literal["slow_update", "appendix"]


@dataclass(frozen=True)
class Limits:
    """What a candidate must keep to: see skill.apply_to_folder. `skill_name` is the name of its folder."""

    skill_name: str
    editable: Sequence[str]
    max_tokens: int
    max_lines: int


Made = tuple[dict[str, bytes], list[EditOutcome]]


def from_edits(files: Mapping[str, bytes], edits: Sequence[Edit], edit_budget: int, limits: Limits) -> Made:
    """The skill with the edits in order, each applied to the result of the one before; one outcome per edit.

    The budget counts edits that took effect: one that matches nothing costs nothing, and those left when it is spent
    are over_budget. The candidate equals the skill when no edit took effect.
    """
    candidate, outcomes, applied = dict(files), [], 0
    for edit in edits:
        if applied == edit_budget:
            outcomes.append(EditOutcome(edit, "over_budget", f"the edit budget is {edit_budget}", None, None))
            continue
        before = candidate
        candidate, (report,) = apply_to_folder(
            before,
            [edit],
            editable=limits.editable,
            folder_name=limits.skill_name,
            max_tokens=limits.max_tokens,
            max_lines=limits.max_lines,
        )
        splice = splice_in_folder(before, candidate, report.file, report.splice)
        applied += report.status == "applied"
        outcomes.append(EditOutcome(edit, report.status, report.reason, report.old_lines, report.lines, splice))
    return candidate, outcomes


def from_body(files: Mapping[str, bytes], body: str, tasks: Sequence[str], limits: Limits) -> Made:
    """The skill with a new body, and its differences from the old one as edits; `tasks` are the evidence for all."""
    text, outcomes = rewrite_body(
        files[SKILL_FILE].decode(),
        body,
        max_tokens=limits.max_tokens,
        max_lines=limits.max_lines,
    )
    told = [replace(row, edit=replace(row.edit, tasks=tuple(tasks))) for row in outcomes]
    return {**files, SKILL_FILE: text.encode()}, told


def note_lines(files: Mapping[str, bytes], notes: Sequence[Observation]) -> list[str]:
    """The skill's execution notes, a line each, and those of `notes` that it does not say; empty for nothing new."""
    lines = read_region(files[SKILL_FILE].decode(), "appendix").splitlines()
    said = {_words(line.removeprefix("- ")) for line in lines}
    new = []
    for note in notes:
        text = " ".join(note.text.split())
        if text and _words(text) not in said:
            said.add(_words(text))
            new.append(f"- {text}")
    return [*lines, *new] if new else []


def _words(text: str) -> str:
    """What two notes have in common that say the same: case, quotes and a full stop at the end play no part."""
    return fold_line(text).casefold().rstrip(". ")


def with_region(
    files: Mapping[str, bytes], name: RegionName, content: str, tasks: Sequence[str], limits: Limits
) -> Made:
    """The skill with `content` as all that a protected region says, and what became of it; `tasks` are behind it.

    Nothing is told when the region says that already.
    """
    text, outcome = write_region(
        files[SKILL_FILE].decode(), name, content, max_tokens=limits.max_tokens, max_lines=limits.max_lines
    )
    if outcome.status in ("duplicate", "empty"):
        return dict(files), []
    return {**files, SKILL_FILE: text.encode()}, [replace(outcome, edit=replace(outcome.edit, tasks=tuple(tasks)))]
