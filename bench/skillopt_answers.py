"""What SkillOpt says to questions of skillopt_parity.py. Run by the interpreter of SkillOpt's own environment.

Reads a JSON object, kind -> list of questions, on stdin, and prints kind -> list of answers. No model is asked: where
SkillOpt would ask one, a function answers and keeps what was shown.
"""

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path

from skillopt.datasets import base
from skillopt.evaluation.gate import evaluate_gate, select_gate_score
from skillopt.gradient import aggregate, reflect
from skillopt.optimizer.scheduler import build_scheduler
from skillopt.utils import compute_score


def schedule(question):
    scheduler = build_scheduler(question["mode"], question["max"], question["min"], question["steps"])
    return [scheduler.get_lr(step) for step in range(1, question["steps"] + 1)]


def gate(question):
    metric, weight = question["metric"], question["weight"]
    scores = {name: compute_score(rows) for name, rows in question["rows"].items()}
    current, best = (select_gate_score(*scores[name], metric, weight) for name in ("current", "best"))
    hard, soft = scores["candidate"]
    more = {"cand_soft": soft, "metric": metric, "mixed_weight": weight}
    return evaluate_gate("new", hard, "now", current, "top", best, 0, 1, **more).action


def split(question):
    try:
        return list(base._compute_split_counts(question["total"], base._parse_split_ratio(question["ratio"])))
    except ValueError:
        return "refused"


def minibatches(question):
    """The ids of each minibatch, failures first, in the order of the files that the patches are written to."""

    def analyst(skill, batch, *args, **kwargs):
        return {"patch": {"edits": [{"op": "append", "content": row["id"]} for row in batch]}}

    reflect.run_error_analyst_minibatch = reflect.run_success_analyst_minibatch = analyst
    with tempfile.TemporaryDirectory() as folder:
        reflect.run_minibatch_reflect(
            question["rows"],
            "",
            folder,
            folder,
            workers=1,
            failure_only=False,
            minibatch_size=question["size"],
            random_seed=question["seed"],
        )
        patches = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("minibatch_*.json"))]
    return [[edit["content"] for edit in patch["patch"]["edits"]] for patch in patches]


def merge(question):
    """What each merge was shown, as sorted groups of contents, and the contents of the result in order."""
    shown = []

    def answer(system, user, **kwargs):
        patches = json.loads(user[user.index("\n[") :])
        contents = [edit["content"] for patch in patches for edit in patch["edits"]]
        shown.append(sorted(contents))
        return (
            (json.dumps({"edits": [edit for patch in patches for edit in patch["edits"]]}), {})
            if (question["usable"])
            else ("no", {})
        )

    aggregate.chat_optimizer, aggregate.load_prompt = answer, lambda name: ""
    patches = {
        source: [{"edits": [{"op": "append", "content": text} for text in patch]} for patch in question[source]]
        for source in ("failure", "success")
    }
    merged = aggregate.merge_patches("", patches["failure"], patches["success"], question["size"], workers=1)
    return {"shown": sorted(shown), "order": [edit["content"] for edit in merged["edits"]]}


def main():
    answer = {"schedule": schedule, "gate": gate, "split": split, "minibatches": minibatches, "merge": merge}
    questions = json.load(sys.stdin)
    with contextlib.redirect_stdout(io.StringIO()):
        answers = {kind: [answer[kind](question) for question in questions[kind]] for kind in questions}
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
