"""Ask skillpipe and SkillOpt the same questions about schedule, gate, splits, minibatches and merges.

    python bench/skillopt_parity.py [--version 0.2.0] [--seed 1] [--keep FOLDER]

SkillOpt is installed, with all it needs, into an environment of its own in a temporary folder (or in FOLDER, which is
then kept and used again) and asked in a process of its own, by skillopt_answers.py. Printed are two Markdown tables:
how many answers are equal, and the kinds of those that differ, each with its shortest example; docs/differences.md says
which is right.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "stages"))

from skillopt_adapter import install
from skillopt_questions import COMPARED, Question

BENCH = Path(__file__).resolve().parent


def ask(python: Path, questions: dict[str, list[Question]], folder: str) -> dict[str, list[Any]]:
    command = [str(python), str(BENCH / "skillopt_answers.py")]
    asked = json.dumps(questions)
    ran = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, check=True, cwd=folder)
    answers: dict[str, list[Any]] = json.loads(ran.stdout)
    return answers


def brief(value: object) -> str:
    text = json.dumps(value).replace("|", "/")
    return text if len(text) <= 300 else f"{text[:300]}..."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--version", default="0.2.0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for SkillOpt's environment, kept for the next run")
    options = parser.parse_args()
    questions = {kind: made(random.Random(f"{options.seed}/{kind}")) for kind, (_, made, _, _) in COMPARED.items()}
    with tempfile.TemporaryDirectory() as scratch:
        python = install(options.keep or Path(scratch) / "venv", options.version)
        answers = ask(python, questions, scratch)
    print(f"skillpipe and SkillOpt {options.version}\n")
    print("| what | compared | equal | different |\n| --- | ---: | ---: | ---: |")
    kinds: dict[str, list[tuple[Question, Any, Any]]] = {}
    for kind, (title, _, ours_of, kind_of) in COMPARED.items():
        told = [(asked, there, ours_of(asked)) for asked, there in zip(questions[kind], answers[kind], strict=True)]
        different = [entry for entry in told if entry[1] != entry[2]]
        print(f"| {title} | {len(told)} | {len(told) - len(different)} | {len(different)} |")
        for entry in different:
            kinds.setdefault(f"{kind}: {kind_of(*entry)}", []).append(entry)
    print("\n| kind of difference | n | example | there | here |\n| --- | ---: | --- | --- | --- |")
    for name, entries in kinds.items():
        shortest = min(entries, key=lambda entry: len(json.dumps(entry)))
        print(f"| {name} | {len(entries)} | {' | '.join(brief(part) for part in shortest)} |")


if __name__ == "__main__":
    main()
