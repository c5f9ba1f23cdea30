"""What became of each edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["applied", "unmatched", "ambiguous", "protected", "duplicate", "empty", "invalid", "over_budget"]


@dataclass(frozen=True)
class EditReport:
    """What became of one edit.

    Attributes:
        index: Place of the edit in the sequence that was given, from 0.
        op: `append`, `insert_after`, `replace` or `delete`; what was given instead, shortened, if it is none
            of them.
        status: `applied`, or why not:
            unmatched: target or section does not stand in the document;
            ambiguous: it stands there more than once;
            protected: it stands in the frontmatter, in a protected region, or in a file that is not editable;
            duplicate: the body says the content already, or the edit would change nothing;
            empty: there is no content;
            invalid: no edit, a bad path, or a result that is refused: a document over its limits, or damaged.
            `over_budget` is never given here: it is for whoever cuts edits before they are applied.
        reason: One line for people and for the optimizer; empty for most applied edits.
        lines: First and last line of the content in the document after this edit, 1-based, inclusive; for a
            delete of part of a line, that line. None if the edit was not applied, and for a delete of whole
            lines, which leaves none. Blank lines put around content are not counted.
        old_lines: First and last line that the edit took away or rewrote, in the document before it. None if
            it was not applied, and for append and insert_after, which touch no line.
        splice: (start, removed, added): exactly how line numbers moved. Lines `start` to `start + removed`
            (0-based, exclusive end) of the document before became `added` lines after; all other lines are
            the same but for a line end that the last line may have gained. None if not applied.
        file: The file of the skill that the edit names.
    """

    index: int
    op: str
    status: Status
    reason: str
    lines: tuple[int, int] | None = None
    file: str = "SKILL.md"
    old_lines: tuple[int, int] | None = None
    splice: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Refusal:
    """Why an edit changes nothing: the status and the reason of its report."""

    status: Status
    reason: str
