"""The types of the configuration: one section per stage, and params.yaml whole. All defaults live in conf/."""

from dataclasses import dataclass
from typing import Any

from omegaconf import MISSING

Choice = dict[str, Any]


@dataclass
class Execution:
    """How to run: no stage depends on it.

    `target` and `optimizer` hold constructor arguments of the role's model that change no answer: threads, time-outs.
    """

    max_concurrency: int = MISSING
    optimizer_max_concurrency: int = MISSING
    target: dict[str, Any] = MISSING
    optimizer: dict[str, Any] = MISSING


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


@dataclass
class Plan:
    """What plan.py reads."""

    env: Choice = MISSING
    target: Choice = MISSING
    optimizer: Choice = MISSING
    budget: Budget = MISSING
    num_epochs: int = MISSING
    steps_per_epoch: int = MISSING
    batch_size: int = MISSING
    seed: int = MISSING
    conf_digest: str = MISSING


@dataclass
class Rollout:
    """What rollout.py reads, in each of its four places: baseline, rollout, validate, test."""

    env: Choice = MISSING
    target: Choice = MISSING
    min_coverage: float = MISSING


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
    skill_name: str = MISSING
    editable: list[str] = MISSING
    max_skill_tokens: int = MISSING
    max_skill_lines: int = MISSING


@dataclass
class Gate:
    """What gate.py reads."""

    rule: Choice = MISSING


@dataclass
class Root:
    """params.yaml whole: the tunables and choices, then a section per stage that repeats what the stage reads."""

    conf_digest: str = MISSING
    seed: int = MISSING
    skill: str = MISSING
    num_epochs: int = MISSING
    steps_per_epoch: int = MISSING
    batch_size: int = MISSING
    edit_budget: int = MISSING
    min_edit_budget: int = MISSING
    schedule: str = MISSING
    min_coverage: float = MISSING
    max_skill_tokens: int = MISSING
    max_skill_lines: int = MISSING
    editable: list[str] = MISSING
    env: Choice = MISSING
    target: Choice = MISSING
    optimizer: Choice = MISSING
    plan: Plan = MISSING
    rollout: Rollout = MISSING
    reflect: Reflect = MISSING
    aggregate: Aggregate = MISSING
    apply: Apply = MISSING
    gate: Gate = MISSING
    steps: dict[str, Any] = MISSING
    last_step: str = MISSING
    execution: Execution = MISSING
    budget: Budget = MISSING
