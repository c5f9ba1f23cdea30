"""Decide on the candidate and write the state that the next step starts from.

Reads: the state before the step, the candidate's folder, its rollouts on val, the step's rollouts on train.
Writes: a state folder; a rejected step writes the unchanged skill. Model calls: none.
"""

from dataclasses import dataclass
from pathlib import Path

from omegaconf import MISSING

from skillpipe import config, sections
from skillpipe.artifacts import read_record, read_rows
from skillpipe.judgement import read_judgement
from skillpipe.records import ApplyReport, Rollout
from skillpipe.skill import read_folder
from skillpipe.state import State, read_state, write_state
from skillpipe.transition import Evaluated, Judgement, advance


@dataclass
class Args(sections.Gate):
    """gate's section of params.yaml and its paths."""

    state: str = MISSING
    candidate: str = MISSING
    val: str = MISSING
    rollouts: str = MISSING
    out: str = MISSING


def gate(state: State, candidate: Evaluated, judgement: Judgement) -> State:
    """The state after the step."""
    return advance(state, candidate, judgement)


@config.stage("gate", Args)
def main(args: Args) -> None:
    folder = Path(args.candidate)
    candidate = Evaluated(
        read_folder(folder / "skill"),
        read_record(folder / "report.json", ApplyReport),
        read_rows(args.val, Rollout),
        read_rows(args.rollouts, Rollout),
    )
    write_state(args.out, gate(read_state(args.state), candidate, read_judgement(args)))


if __name__ == "__main__":
    main()
