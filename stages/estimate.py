"""Print what a whole run is going to take, before it is paid for: `dvc repro plan`, then `python stages/estimate.py`.

Reads: runs/plan/summary.json. Writes: nothing. Model calls: none.
"""

import sys

from skillpipe.artifacts import read_record
from skillpipe.errors import SkillpipeError
from skillpipe.records import PlanSummary


def estimate(plan: PlanSummary) -> str:
    """The estimate for people, and the plan's warnings."""
    expected = plan.estimate
    written, cost = expected.target_output_tokens, expected.target_cost_usd
    rows = {
        "steps": f"{len(plan.batches)}, of {plan.batch_size} train tasks and {plan.val} val tasks each",
        "target calls": f"at most {expected.target_calls}, tests included",
        "target tokens": f"about {expected.target_input_tokens} in, "
        f"{'no limit' if written is None else f'at most {written}'} out; more as the skill grows",
        "target cost": "not known: no price" if cost is None else f"at most about ${cost:.4f}",
        "optimizer calls": f"at most {expected.optimizer_calls}",
        "judge calls": f"at most {expected.judge_calls}",
    }
    lines = [f"{name:<16}  {text}" for name, text in rows.items()]
    return "\n".join(lines + [f"warning: {warning}" for warning in plan.warnings])


def main() -> None:
    try:
        print(estimate(read_record("runs/plan/summary.json", PlanSummary)))
    except SkillpipeError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
