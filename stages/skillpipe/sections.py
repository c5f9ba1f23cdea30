"""The types of the configuration: one section per stage, and params.yaml whole. All defaults live in conf/."""

from dataclasses import dataclass
from typing import Any

from omegaconf import MISSING

Choice = dict[str, Any]


@dataclass
class Execution:
    """How to run: no stage depends on it.

    `target`, `optimizer` and `judge` hold constructor arguments of the role's model that change no answer: threads,
    time-outs.
    """

    max_concurrency: int = MISSING
    optimizer_max_concurrency: int = MISSING
    target: dict[str, Any] = MISSING
    optimizer: dict[str, Any] = MISSING
    judge: dict[str, Any] = MISSING


@dataclass
class Limits:
    """What one role may use in a training run; None is no limit."""

    max_calls: int | None = MISSING
    max_tokens: int | None = MISSING
    max_cost_usd: float | None = MISSING


@dataclass
class Budget:
    """What a run may use. plan alone depends on it: a limit changes no result, it only ends a run."""

    target: Limits = MISSING
    optimizer: Limits = MISSING
    judge: Limits = MISSING


@dataclass
class Scores:
    """How attempts become one number, and how an environment's own partial credit is read."""

    metric: str = MISSING
    mixed_weight: float = MISSING
    direction: str = MISSING
    range: list[float] = MISSING


@dataclass
class Notes:
    """Execution notes."""

    enabled: bool = MISSING
    max_lines: int = MISSING


@dataclass
class Remembered:
    """What the optimizer is told again."""

    max_rejected: int = MISSING


@dataclass
class Plan:
    """What plan.py reads."""

    env: Choice = MISSING
    target: Choice = MISSING
    optimizer: Choice = MISSING
    judge: Choice = MISSING
    budget: Budget = MISSING
    num_epochs: int = MISSING
    steps_per_epoch: int = MISSING
    batch_size: int = MISSING
    stratify: bool = MISSING
    repeats: int = MISSING
    seed: int = MISSING
    slow_update: bool = MISSING
    slow_update_samples: int = MISSING
    test_last: bool = MISSING
    conf_digest: str = MISSING


@dataclass
class Start:
    """What start.py reads."""

    scores: Scores = MISSING


@dataclass
class Rollout:
    """What rollout.py reads, in each of its places: baseline, rollout, tests."""

    env: Choice = MISSING
    target: Choice = MISSING
    scores: Scores = MISSING
    judge: Choice = MISSING
    min_coverage: float = MISSING


@dataclass
class Validate:
    """What validate.py reads. `rule` is the gate's, for stopping early; null when every val task is to be run."""

    env: Choice = MISSING
    target: Choice = MISSING
    judge: Choice = MISSING
    scores: Scores = MISSING
    min_coverage: float = MISSING
    repeats: int = MISSING
    seed: int = MISSING
    rule: Choice | None = MISSING


@dataclass
class Reflect:
    """What reflect.py reads."""

    optimizer: Choice = MISSING


@dataclass
class Aggregate:
    """What aggregate.py reads."""

    optimizer: Choice = MISSING


@dataclass
class Apply:
    """What apply.py reads besides its edit budget, which stands in its command line."""

    optimizer: Choice = MISSING
    update_mode: str = MISSING
    execution_notes: Notes = MISSING
    skill_name: str = MISSING
    editable: list[str] = MISSING
    max_skill_tokens: int = MISSING
    max_skill_lines: int = MISSING


@dataclass
class Gate:
    """What gate.py reads."""

    rule: Choice = MISSING
    policies: list[Choice] = MISSING
    scores: Scores = MISSING
    patience: int | None = MISSING
    memory: Remembered = MISSING


@dataclass
class SlowUpdate:
    """What slow_update.py reads: what validate and gate do, and what it compares."""

    enabled: bool = MISSING
    samples: int = MISSING
    pair_policy: str = MISSING
    gated: bool = MISSING
    optimizer: Choice = MISSING
    skill_name: str = MISSING
    max_skill_tokens: int = MISSING
    max_skill_lines: int = MISSING
    validate: Validate = MISSING
    gate: Gate = MISSING


@dataclass
class Report:
    """What report.py says of the run beside its paths: the choices, to be published. It builds none."""

    settings: dict[str, Any] = MISSING


@dataclass
class Root:
    """params.yaml whole: the tunables and choices, then a section per stage that repeats what the stage reads."""

    conf_digest: str = MISSING
    seed: int = MISSING
    skill: str = MISSING
    num_epochs: int = MISSING
    steps_per_epoch: int = MISSING
    batch_size: int = MISSING
    stratify: bool = MISSING
    edit_budget: int = MISSING
    min_edit_budget: int = MISSING
    schedule: str = MISSING
    update_mode: str = MISSING
    execution_notes: Notes = MISSING
    memory: Remembered = MISSING
    scores: Scores = MISSING
    repeats: int = MISSING
    stop_early: bool = MISSING
    patience: int | None = MISSING
    test_last: bool = MISSING
    min_coverage: float = MISSING
    max_skill_tokens: int = MISSING
    max_skill_lines: int = MISSING
    editable: list[str] = MISSING
    env: Choice = MISSING
    target: Choice = MISSING
    optimizer: Choice = MISSING
    judge: Choice = MISSING
    plan: Plan = MISSING
    start: Start = MISSING
    rollout: Rollout = MISSING
    reflect: Reflect = MISSING
    aggregate: Aggregate = MISSING
    apply: Apply = MISSING
    validate: Validate = MISSING
    gate: Gate = MISSING
    slow_update: SlowUpdate = MISSING
    report: Report = MISSING
    steps: dict[str, Any] = MISSING
    slow_updates: dict[str, Any] = MISSING
    extra_tests: dict[str, Any] = MISSING
    last_state: str = MISSING
    execution: Execution = MISSING
    budget: Budget = MISSING
