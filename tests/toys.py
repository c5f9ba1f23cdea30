"""Toy choices for tests of the pipeline: answers at once, learns from examples, and can learn too much."""

import hashlib
import json
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from skillpipe.gating import Pair, Strict, Verdict
from skillpipe.models import Reply, Request
from skillpipe.records import Usage

DIE = Path("die")


def die_if_told(place: str) -> None:
    """SIGKILL this process and all of its group, once, when the file `die` names this place."""
    if DIE.exists() and DIE.read_text("utf-8") == place:
        DIE.unlink()
        os.killpg(0, signal.SIGKILL)


class Instant:
    """Writes a word in capitals if it has seen enough examples: as many as the word's hash modulo 6 asks for.

    Of more than `limit` examples it gets confused, and answers nothing right. Counts its calls in a file.
    """

    def __init__(self, limit: int, log: str) -> None:
        self._limit, self._log = limit, Path(log)

    async def complete(self, request: Request) -> Reply:
        skill, asked = (message.content for message in request.messages)
        word = asked.split()[1]
        with self._log.open("a") as log:
            log.write(word + "\n")
        die_if_told(word)
        examples = skill.count("\nCapitals:")
        needed = hashlib.sha256(word.encode()).digest()[0] % 6
        right = needed <= examples <= self._limit
        return Reply(word.upper() if right else "no idea", Usage(1, len(skill.split()), 1))

    def close(self) -> None:
        pass


class Gate(Strict):
    """The strict gate, mortal."""

    def judge(self, pairs: Sequence[Pair]) -> Verdict:
        die_if_told("gate")
        return super().judge(pairs)


def write_toy(root: Path, limit: int = 6, log: str = "/dev/null") -> None:
    """Add an environment, a target, a gate and a skill named `toy` to a copy of the project, as a user would."""
    shutil.copy(__file__, root / "toys.py")
    words = [f"word{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(40)]
    for split, part in (("train", words[:20]), ("val", words[20:30]), ("test", words[30:])):
        rows = (json.dumps({"id": word, "input": word, "answer": word.upper()}) for word in part)
        write(root / "data" / "toy" / f"{split}.jsonl", "".join(row + "\n" for row in rows))
    write(
        root / "skills" / "toy" / "SKILL.md",
        "---\nname: toy\ndescription: Capitals.\n---\n# Toy\n\nUse capitals.\n",
    )
    write(
        root / "conf" / "env" / "toy.yaml",
        "# @package _global_\n"
        "skill: skills/toy\n"
        "env:\n"
        "  _target_: skillpipe.envs.dataset.Dataset\n"
        "  source: stages/skillpipe/envs/dataset\n"
        "  model_source: stages/skillpipe/scoring.py\n"
        "  data: data/toy\n"
        '  prompt: "Word: {input}\\nCapitals:"\n'
        "  scorer: {_target_: skillpipe.scoring.exact, _partial_: true}\n",
    )
    write(
        root / "conf" / "target" / "toy.yaml",
        "# @package _global_\n"
        "target:\n"
        "  _target_: toys.Instant\n"
        "  source: toys.py\n"
        f"  limit: {limit}\n"
        f"  log: {log}\n"
        "execution:\n"
        "  target: {}\n",
    )
    write(
        root / "conf" / "gate" / "toy.yaml",
        "rule:\n  _target_: toys.Gate\n  source: toys.py\n  min_delta: 0.0\npolicies: []\n",
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
