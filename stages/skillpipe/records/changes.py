"""What is proposed and what becomes of it: edits, patches, reports. Nothing but data."""

from dataclasses import dataclass, field
from typing import Literal

from skillpipe.records.work import Usage

Op = Literal["append", "insert_after", "replace", "delete"]
Source = Literal["failure", "success"]
UpdateMode = Literal["patch", "rewrite", "full_rewrite"]
RegionName = Literal["", "slow_update", "appendix"]
EditStatus = Literal["applied", "unmatched", "ambiguous", "protected", "duplicate", "empty", "invalid", "over_budget"]


@dataclass(frozen=True)
class Edit:
    """One change of the body of the skill.

    `target` is the text that stands in the document (not for append), `section` a heading line that makes it
    unique, `file` a path inside the skill's folder. `tasks` are the ids of the tasks behind it, `support` how many
    proposals agreed, `source` whether failures or successes gave rise to it. `region` names the protected region that
    guidance and execution notes are written to; no proposal may name one.
    """

    op: Op
    content: str = ""
    target: str = ""
    section: str = ""
    file: str = "SKILL.md"
    tasks: tuple[str, ...] = ()
    support: int = 1
    source: Source = "failure"
    region: RegionName = ""


@dataclass(frozen=True)
class Observation:
    """Something that several attempts show: a pattern of failure, or a note for those who follow the skill."""

    text: str
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Patch:
    """Edits that were proposed together, and the reasoning and tasks behind them.

    `failure` says why there is no usable reply about these tasks, and is empty if there is one; the patch then has
    no edits, and `raw` keeps the reply that could not be used. No edits and no failure: nothing to propose.
    `dropped_tasks` counts ids that edits named and that are not among `tasks`, `cut_tokens` the tokens (estimated)
    of the attempts that the optimizer was not shown. `usage` is what the proposal took, retries included. `patterns`
    are the failures of the attempts in a few words, `notes` the lapses in following the skill (execution notes), `body`
    the whole new body when the update mode is full_rewrite.
    """

    source: Source
    tasks: tuple[str, ...]
    reasoning: str
    edits: tuple[Edit, ...]
    failure: str = ""
    raw: str = ""
    dropped_tasks: int = 0
    cut_tokens: int = 0
    usage: Usage = field(default_factory=Usage)
    patterns: tuple[Observation, ...] = ()
    notes: tuple[Observation, ...] = ()
    body: str = ""


@dataclass(frozen=True)
class Merged:
    """All proposals of a step as one ranked list, best first. `proposed` counts edits before merging.

    `failures` counts the patches that failed. `fallback` says why a model's merge could not be used and proposals were
    merged by support instead; it is empty if that never happened. `dropped_edits` counts edits of a model's merge that
    come from no proposal and were left out. `usage` is the optimizer's in this step so far: all patches' and the
    merge's own. `patterns`, `notes` and `body` are as in Patch, of all patches.
    """

    step: str
    proposed: int
    reasoning: str
    edits: tuple[Edit, ...]
    failures: int = 0
    fallback: str = ""
    dropped_edits: int = 0
    usage: Usage = field(default_factory=Usage)
    patterns: tuple[Observation, ...] = ()
    notes: tuple[Observation, ...] = ()
    body: str = ""


@dataclass(frozen=True)
class Ranking:
    """Which merged edits to try first. Part of another artifact, none by itself.

    `order` holds every index into Merged.edits once, best first. `fallback` says why a model's choice could not be
    used and the order is as merged; empty otherwise. `usage` is that of the ranking alone. `chosen` is how many edits
    the optimizer wants to try where the schedule is autonomous, None elsewhere.
    """

    order: tuple[int, ...]
    reasoning: str = ""
    fallback: str = ""
    usage: Usage = field(default_factory=Usage)
    chosen: int | None = None


@dataclass(frozen=True)
class Splice:
    """Exactly what an edit did to its file: lines `start` to `start + removed` (0-based, end exclusive) became `lines`.

    `lines` keep their line ends, so that the file after is the file before with these lines in place, byte for byte.
    """

    start: int
    removed: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class EditOutcome:
    """What became of one proposed edit. Line numbers are 1-based and inclusive.

    `old_lines` are the lines it touched in the document before it, `lines` those it left in the document after it;
    None when there are none (an insert touches no old line, a delete leaves no new one, or the edit was not applied).
    `splice` is the change of the document's lines, None if the edit was not applied.
    """

    edit: Edit
    status: EditStatus
    reason: str
    old_lines: tuple[int, int] | None
    lines: tuple[int, int] | None
    splice: Splice | None = None


@dataclass(frozen=True)
class ApplyReport:
    """Every edit that was merged, in rank order, and what became of it. `changed` is false when none took effect.

    A rewrite's outcomes are its differences from the skill, as edits. `reply_failures` counts the minibatches without a
    usable reply, `fallbacks` says where a model's merge, ranking or rewrite could not be used, `usage` is the
    optimizer's in this whole step. `edit_budget` is what the step had, chosen by the optimizer where the schedule is
    autonomous. `patterns` are the step's patterns of failure.
    """

    step: str
    edit_budget: int
    changed: bool
    outcomes: tuple[EditOutcome, ...]
    reasoning: str = ""
    reply_failures: int = 0
    fallbacks: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    mode: UpdateMode = "patch"
    patterns: tuple[Observation, ...] = ()
