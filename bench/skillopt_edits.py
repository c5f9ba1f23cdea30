"""Apply the same 200 edits with skillpipe and with SkillOpt, and list where the documents differ.

    python bench/skillopt_edits.py [--version 0.2.0] [--seed 1] [--keep FOLDER]

SkillOpt is installed into an environment of its own in a temporary folder (or in FOLDER, which is then kept and
used again) and called in a process of its own. The edits are well formed: 50 of each operation, each with a
target that is a whole line, or words of one, and stands in its document exactly once; each is applied to the
unchanged document. Documents are compared line by line without blank lines and without trailing blanks.

What differs is printed by kind; docs/differences.md says of every kind which is right and why.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "stages"))

from skillpipe.skill import apply_edits

OPS = ("append", "insert_after", "replace", "delete")
PIECES = (
    "Text {0} about one thing.\n",
    "Text {0} that is wrapped\nto a second line {0}.\n",
    "- rule {0} says so\n- other rule {0}\n- last rule {0}\n",
    "1. first {0}\n2. second {0}\n3. third {0}\n",
    "- top {0}\n  - nested {0}\n  - nested too {0}\n- end {0}\n",
    "- item {0}\n  goes on {0}\n- next item {0}\n",
    "```sh\nrun --step {0}\nstop --step {0}\n```\n",
    "| key | value |\n|---|---|\n| row {0} | x |\n| other row {0} | y |\n",
    "> quoted {0}\n",
)

# Run by SkillOpt's own interpreter. Its module for edits is loaded from its file: the package around it imports
# clients for models, which applying edits does not need, so none of its dependencies has to be installed.
RUNNER = """
import importlib.util, json, pathlib, sys
spec = importlib.util.find_spec("skillopt")
path = pathlib.Path(spec.submodule_search_locations[0]) / "optimizer" / "skill.py"
spec = importlib.util.spec_from_file_location("skillopt_edits", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for line in sys.stdin:
    job = json.loads(line)
    text, reports = module.apply_patch_with_report(job["skill"], {"edits": [job["edit"]]})
    print(json.dumps({"text": text, "status": reports[0]["status"]}))
"""


def document(rng: random.Random, number: int) -> str:
    """A SKILL.md with four sections, in which every line of text stands once."""
    text = f"---\nname: skill-{number}\ndescription: Number {number}. Use in benchmarks.\n---\n# Skill {number}\n"
    for section in range(4):
        text += f"\n## Section {section}\n"
        for piece in rng.sample(PIECES, 3):
            text += "\n" + piece.format(f"{section}{rng.randint(100, 999)}")
    return text


def edit(rng: random.Random, text: str, op: str) -> dict[str, str]:
    """A well-formed edit with operation `op` whose target stands in `text` once."""
    words = f"note {rng.randint(1000, 9999)}"
    if op == "append":
        return {"op": op, "content": f"- {words}"}
    body = [line for line in text.split("---\n", 2)[2].splitlines() if text.count(line) == 1 and line.strip("`|-")]
    line = rng.choice(body)
    target, content = line, f"- {words}"
    bits = line.split()
    if op != "insert_after" and len(bits) > 3 and rng.random() < 0.3:
        target, content = " ".join(bits[-2:]), words
    elif op == "replace":
        # In the shape of what it replaces, as an optimizer that knows the document writes it.
        content = line.replace(bits[-1] if bits[-1] != "|" else bits[-2], words)
    elif op == "insert_after" and not line.lstrip().startswith("-"):
        content = f"{words.capitalize()}."
    if text.count(target) != 1:
        target = line
    return {"op": op, "target": target, "content": "" if op == "delete" else content}


def install(folder: Path, version: str) -> Path:
    """Return the interpreter of an environment in `folder` that holds SkillOpt `version` alone."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", f"skillopt=={version}"]
        subprocess.run(command, check=True)
    return python


def said(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def kind_of(made: dict[str, str], status: str, ours: str, theirs: str) -> str:
    """In words, how two documents differ that came of the same edit."""
    if status == "invalid":
        return "refused here: lines that stay would be read as another block"
    ours_said, theirs_said = said(ours), said(theirs)
    if sorted(ours_said) == sorted(theirs_said):
        return "here after the block that holds the target, there inside it"
    if [line.strip() for line in ours_said] == [line.strip() for line in theirs_said]:
        return "here with the indent of the place, there at the margin"
    if sorted(line.strip() for line in ours_said) == sorted(line.strip() for line in theirs_said):
        return "both of the above"
    return "other"


def compare(python: Path, seed: int) -> tuple[Counter[str], dict[str, tuple[str, dict[str, str], str, str]]]:
    jobs: list[dict[str, Any]] = []
    for number in range(200):
        rng = random.Random(f"{seed}/{number}")
        text = document(rng, number)
        jobs.append({"skill": text, "edit": edit(rng, text, OPS[number % 4])})
    lines = "".join(json.dumps(job) + "\n" for job in jobs)
    ran = subprocess.run([str(python), "-c", RUNNER], input=lines, capture_output=True, text=True, check=True)
    kinds: Counter[str] = Counter()
    examples: dict[str, tuple[str, dict[str, str], str, str]] = {}
    for job, reply in zip(jobs, map(json.loads, ran.stdout.splitlines()), strict=True):
        ours, reports = apply_edits(job["skill"], [job["edit"]])
        kind = "the same up to blank lines"
        if said(ours) != said(reply["text"]):
            kind = kind_of(job["edit"], reports[0].status, ours, reply["text"])
            examples.setdefault(kind, (job["skill"], job["edit"], ours, reply["text"]))
        kinds[f"{job['edit']['op']}: {kind}"] += 1
    return kinds, examples


def show(before: str, after: str) -> str:
    """The lines around the first difference between two documents."""
    old, new = before.splitlines(), after.splitlines()
    at = next((index for index, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return "\n".join("      | " + line for line in new[max(0, at - 3) : at + 4])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--version", default="0.2.0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for SkillOpt's environment, kept for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        python = install(options.keep or Path(scratch) / "venv", options.version)
        kinds, examples = compare(python, options.seed)
    print(f"200 edits, SkillOpt {options.version}")
    for kind, number in sorted(kinds.items()):
        print(f"  {number:3} {kind}")
    for kind, (text, made, ours, theirs) in sorted(examples.items()):
        print(f"\n{kind}\n    {json.dumps(made)}\n    here\n{show(text, ours)}\n    SkillOpt\n{show(text, theirs)}")


if __name__ == "__main__":
    main()
