"""What the embedded model passes with k worked examples of reviews: how far examples alone can take it.

    PYTHONPATH=stages python bench/shots.py [k ...]        (4, 6 and 8; two minutes each on two cores)

Draws are balanced, negative and positive in turns, from 30 train tasks; they are scored on 20 others and on val.
No test task is read. Prints a Markdown table.
"""

import random
import statistics
import sys
from pathlib import Path

from omegaconf import OmegaConf

from skillpipe import config
from skillpipe.envs import Environment
from skillpipe.executor import Run, run_tasks
from skillpipe.models import Model
from skillpipe.records import Task
from skillpipe.scoring import SoftScale, mean
from skillpipe.skill import body_for_target, read_folder

DRAWS = 6


def drawn(tasks: list[Task], k: int, seed: int) -> tuple[list[Task], list[Task]]:
    """k examples, and 20 tasks to score them on."""
    shuffled = random.Random(seed).sample(tasks, len(tasks))
    batch, others = shuffled[:30], shuffled[30:50]
    kinds = [[task for task in batch if task.answer == answer][: k // 2] for answer in ("negative", "positive")]
    return [task for pair in zip(*kinds, strict=True) for task in pair], others


def share(env: Environment, target: Model, skill: str, k: int, seed: int) -> float:
    """The share that passes with one draw."""
    examples, others = drawn(env.tasks("train"), k, seed)
    body = "\n\n".join([skill.rstrip(), *(f"{task.input} {task.answer}" for task in examples)]) + "\n"
    run = Run(4, f"{k} examples, draw {seed}", SoftScale("maximize", (0, 1)))
    return mean(run_tasks(env, [*env.tasks("val"), *others], body, target, run)) or 0.0


def main() -> None:
    params = OmegaConf.to_container(OmegaConf.create(config.compose([])))
    env = config.build(params["env"], "env")
    target = config.build(params["target"] | params["execution"]["target"], "target")
    skill = body_for_target(read_folder(Path(params["skill"]))["SKILL.md"].decode())
    print("| examples | mean | draws |\n| ---: | --- | --- |")
    for k in [int(word) for word in sys.argv[1:]] or [4, 6, 8]:
        shares = [share(env, target, skill, k, seed) for seed in range(DRAWS)]
        print(f"| {k} | {statistics.mean(shares):.3f} | {', '.join(f'{one:.2f}' for one in shares)} |", flush=True)
    target.close()


if __name__ == "__main__":
    main()
