"""The records that an adapter and a trainer exchange, as dataclasses that turn into plain dicts and back.

`from_dict` takes what is there and the default for the rest; `to_dict` leaves out what is empty. Neither checks values:
what a rollout may score is checked where it is used (skillpipe.envs.skillopt.rows).
"""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

EditOp = Literal["append", "insert_after", "replace", "delete"]
GateAction = Literal["accept_new_best", "accept", "reject"]
SourceType = Literal["failure", "success"]


@dataclass
class Edit:
    """One change of a skill document. to_dict always has op and content."""

    op: EditOp
    content: str = ""
    target: str = ""
    support_count: int | None = None
    source_type: SourceType | None = None
    merge_level: int | None = None
    update_origin: str = ""
    update_target: str = ""

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> "Edit":
        """The edit in `d`; without an op, an append."""
        return cls(**{"op": "append", **_known(cls, d)})

    def to_dict(self) -> dict[str, Any]:
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {key: value for key, value in values.items() if key in ("op", "content") or value not in ("", None)}


@dataclass
class Patch:
    """Edits and the reasoning behind them. What stands in for an edit and is no dict is kept as it is."""

    edits: list[Edit] = field(default_factory=list)
    reasoning: str = ""
    ranking_details: dict[str, Any] | None = None

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> "Patch":
        edits = [Edit.from_dict(edit) if isinstance(edit, dict) else edit for edit in d.get("edits", [])]
        return cls(edits, d.get("reasoning", ""), d.get("ranking_details"))

    def to_dict(self) -> dict[str, Any]:
        edits = [edit.to_dict() if isinstance(edit, Edit) else edit for edit in self.edits]
        details = {} if self.ranking_details is None else {"ranking_details": self.ranking_details}
        return {"reasoning": self.reasoning, "edits": edits, **details}


@dataclass
class FailureSummaryEntry:
    """A kind of failure, and how often it was seen."""

    failure_type: str
    count: int = 0
    description: str = ""

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> "FailureSummaryEntry":
        return cls(d.get("failure_type", ""), int(d.get("count", 0)), d.get("description", ""))

    def to_dict(self) -> dict[str, Any]:
        return {"failure_type": self.failure_type, "count": self.count, "description": self.description}


@dataclass
class RawPatch:
    """A patch, and whether failures or successes gave rise to it."""

    patch: Patch
    source_type: SourceType = "failure"
    batch_size: int = 0
    failure_summary: list[FailureSummaryEntry] = field(default_factory=list)

    @classmethod
    def from_dict(cls, d: dict[str, Any] | None) -> "RawPatch | None":
        """The patch in `d`, which may also be a bare Patch; None for None, and for a patch that is no dict."""
        inner = None if d is None else d.get("patch", d)
        if d is None or not isinstance(inner, dict):
            return None
        summary = [FailureSummaryEntry.from_dict(entry) for entry in d.get("failure_summary", [])]
        return cls(Patch.from_dict(inner), d.get("source_type", "failure"), int(d.get("batch_size", 0)), summary)

    def to_dict(self) -> dict[str, Any]:
        summary = [entry.to_dict() for entry in self.failure_summary]
        return {
            "patch": self.patch.to_dict(),
            "source_type": self.source_type,
            "batch_size": self.batch_size,
            **({"failure_summary": summary} if summary else {}),
        }


@dataclass
class RolloutResult:
    """What one rollout scored. `hard` is 0 or 1, or a fraction; `soft` is in [0, 1]; higher is better.

    What `from_dict` does not know goes to `extras`, and comes back from `to_dict`. A fraction in `hard` is kept;
    SkillOpt's from_dict cuts it to a whole number.
    """

    id: str
    hard: float
    soft: float
    n_turns: int = 0
    fail_reason: str = ""
    task_type: str = ""
    task_description: str = ""
    predicted_answer: str = ""
    question: str = ""
    reference_text: str = ""
    target_system_prompt: str = ""
    target_user_prompt: str = ""
    spreadsheet_preview: str = ""
    extras: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> "RolloutResult":
        known = _known(cls, d)
        extras = known.pop("extras", {}) | {key: value for key, value in d.items() if key not in _names(cls)}
        hard, soft = known.pop("hard", 0), float(known.pop("soft", 0.0))
        turns = int(known.pop("n_turns", 0))
        texts: dict[str, Any] = {"id": "", **{key: str(value) for key, value in known.items()}}
        return cls(
            **texts, hard=hard if isinstance(hard, int) else float(hard), soft=soft, n_turns=turns, extras=extras
        )

    def to_dict(self) -> dict[str, Any]:
        always = {"id": self.id, "hard": self.hard, "soft": self.soft}
        rest = {name: getattr(self, name) for name in _names(type(self)) if name not in (*always, "extras")}
        return always | {name: value for name, value in rest.items() if value} | self.extras


@dataclass(frozen=True)
class GateResult:
    """What a gate decided, and the current and best skill after it."""

    action: GateAction
    current_skill: str
    current_score: float
    best_skill: str
    best_score: float
    best_step: int


def _names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def _known(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in _names(kind) if name in values}
