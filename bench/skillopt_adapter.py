"""Run one adapter, skillopt_words.py, in SkillOpt and in skillpipe, and compare what each task scored.

    python bench/skillopt_adapter.py [--version 0.2.0] [--keep FOLDER]

SkillOpt is installed, with all it needs, into an environment of its own in a temporary folder (or in FOLDER, which is
then kept and used again). There run, in a process of their own:

- its scripts/eval_only.py, for three skills on all three splits, with the adapter registered as its documentation says;
- its trainer, one epoch of three steps, gate on. There is no model to ask: `reflect` gives one fixed patch, which needs
  no merge, and the merge's prompt, which the package does not hold but is read all the same, is empty.

Here the same file is an environment of this pipeline, by `_target_`. Compared are id, hard and soft of every row, and
every conversation.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "stages"))

from skillpipe.config import build
from skillpipe.executor import run_tasks
from skillpipe.records import Rollout

BENCH = Path(__file__).resolve().parent

SKILLS = {
    "plain": "Answer with the word.\n",
    "one kind": "Write capitals where capitals are asked for.\n",
    "all kinds": "Capitals, backwards, letters: do as the question says.\n",
}
SPLITS = {"train": "train", "val": "valid_seen", "test": "valid_unseen"}

EVALUATE = """
import json, sys
from scripts import eval_only
import skillopt_words
job = json.loads(sys.stdin.read())
eval_only._ENV_REGISTRY["words"] = skillopt_words.WordsAdapter
for run in job["runs"]:
    sys.argv = ["eval_only.py", "--config", job["config"], *run]
    eval_only.main()
"""

TRAIN = """
import json, sys
from skillopt.engine.trainer import ReflACTTrainer
from skillopt.gradient import aggregate
import skillopt_words
aggregate.load_prompt = lambda name: ""
class Words(skillopt_words.WordsAdapter):
    def reflect(self, results, skill_content, out_dir, **kwargs):
        kinds = [row["task_type"] for row in results if not row["hard"]]
        edits = [{"op": "append", "content": "Mind the " + kind + "."} for kind in dict.fromkeys(kinds)][:1]
        return [{"patch": {"reasoning": "", "edits": edits}, "source_type": "failure"}]
cfg = json.loads(sys.stdin.read())
ReflACTTrainer(cfg, Words(split_dir=cfg["split_dir"])).train()
"""

CONFIG = {
    "env": "words",
    "seed": 42,
    "split_mode": "split_dir",
    "optimizer_model": "none",
    "target_model": "none",
    "num_epochs": 1,
    "batch_size": 4,
    "accumulation": 1,
    "analyst_workers": 1,
    "merge_batch_size": 8,
    "edit_budget": 4,
    "sel_env_num": 0,
    "test_env_num": 0,
    "eval_test": True,
    "use_slow_update": False,
    "use_meta_skill": False,
}


def install(folder: Path, version: str) -> Path:
    """The interpreter of an environment in `folder` that holds SkillOpt `version` and what it needs."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", f"skillopt=={version}"], check=True)
    return python


def site_packages(python: Path) -> str:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def theirs(python: Path, code: str, job: dict[str, Any], folder: Path) -> None:
    """Run `code` by SkillOpt's interpreter, in `folder`, with the adapter on its path and `job` as its input."""
    lines = f"import sys; sys.path.insert(0, {str(BENCH)!r})\n{code}"
    ran = subprocess.run(
        [str(python), "-c", lines], input=json.dumps(job), capture_output=True, text=True, cwd=folder, check=False
    )
    if ran.returncode:
        sys.exit(f"SkillOpt ended with {ran.returncode}:\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")


def kept(folder: Path) -> dict[str, tuple[Any, ...]]:
    """What a rollout of SkillOpt left behind: id -> hard, soft, what was said."""
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text("utf-8").splitlines()]
    said = {
        row["id"]: json.loads((folder / "predictions" / row["id"] / "conversation.json").read_text()) for row in rows
    }
    return {
        row["id"]: (row["hard"], row["soft"], [(entry["role"], entry["content"]) for entry in said[row["id"]]])
        for row in rows
    }


def seen(rollouts: list[Rollout]) -> dict[str, tuple[Any, ...]]:
    return {
        row.task: (row.hard, row.soft, [(message.role, message.content) for message in row.trajectory])
        for row in rollouts
    }


def compared(python: Path, folder: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """What was run, what it scored in SkillOpt, what it scored here."""
    sys.path += [str(BENCH), site_packages(python)]
    from skillopt_words import write_items

    items = folder / "items"
    write_items(items)
    choice = {
        "_target_": "skillpipe.envs.skillopt.SkillOpt",
        "adapter": {"_target_": "skillopt_words.WordsAdapter", "split_dir": str(items)},
        "cfg": {},
        "data": str(items),
        "seed": 42,
        "answer_field": "ground_truth",
        "metrics": ["n_turns"],
    }

    def here(skill: str, split: str) -> dict[str, Any]:
        environment = build(choice, "env")
        tasks = environment.tasks(split)
        return seen(run_tasks(environment, tasks, skill, target=None, max_concurrency=4, label=split))

    config = folder / "config.yaml"
    config.write_text(json.dumps(CONFIG | {"split_dir": str(items)}), "utf-8")
    runs = []
    for name, text in SKILLS.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
        runs += [
            ["--skill", f"{name}.md", "--split", split, "--out_root", str(folder / name / split)]
            for split in SPLITS.values()
        ]
    theirs(python, EVALUATE, {"config": str(config), "runs": runs}, folder)
    for name, text in SKILLS.items():
        for split, called in SPLITS.items():
            yield f"eval_only, skill {name!r}, {split}", kept(folder / name / called), here(text, split)

    out = folder / "trained"
    cfg = CONFIG | {"split_dir": str(items), "out_root": str(out), "skill_init": str(folder / "plain.md")}
    theirs(python, TRAIN, cfg, folder)
    best = (out / "best_skill.md").read_text("utf-8")
    for name, text, split in (
        ("selection_eval_baseline", SKILLS["plain"], "val"),
        ("test_eval_baseline", SKILLS["plain"], "test"),
        ("test_eval", best, "test"),
    ):
        yield f"trainer, {name}", kept(out / name), here(text, split)
    for record in json.loads((out / "history.json").read_text("utf-8")):
        step = out / "steps" / f"step_{record['step']:04d}"
        if (step / "selection_eval").is_dir():
            text = (step / "candidate_skill.md").read_text("utf-8")
            yield f"trainer, candidate of step {record['step']}", kept(step / "selection_eval"), here(text, "val")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--version", default="0.2.0")
    parser.add_argument("--keep", type=Path, help="folder for SkillOpt's environment, kept for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        python = install(options.keep or Path(scratch) / "venv", options.version)
        print(f"One adapter in SkillOpt {options.version} and here\n")
        print("| what ran | tasks | hard there | hard here | soft there | soft here | rows that differ |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        total = different = 0
        for name, there, here in compared(python, Path(scratch)):
            differ = [key for key in there.keys() | here.keys() if there.get(key) != here.get(key)]
            means = [
                f"{sum(row[place] for row in rows.values()) / len(rows):.4f}"
                for place in (0, 1)
                for rows in (there, here)
            ]
            print(f"| {name} | {len(there)} | {' | '.join(means)} | {len(differ)} |")
            total, different = total + len(there), different + len(differ)
    print(f"\n{total} rows, {different} differ")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
