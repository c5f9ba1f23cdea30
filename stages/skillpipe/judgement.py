"""The gate, as the configuration has it."""

from skillpipe.config import build
from skillpipe.scoring import Metric
from skillpipe.sections import Gate
from skillpipe.transition import Judgement


def read_judgement(section: Gate) -> Judgement:
    """The rule and the policies of the section, built. Raises SkillpipeError for what cannot be built."""
    return Judgement(
        rule=build(section.rule, "gate.rule"),
        policies=[build(policy, f"gate.policies[{place}]") for place, policy in enumerate(section.policies)],
        metric=Metric(section.scores.metric, section.scores.mixed_weight),
        patience=section.patience,
        max_rejected=section.memory.max_rejected,
    )
