"""The real pipeline with the real embedded model, on a few of the review tasks."""

import json
from pathlib import Path

from project import Project
from toys import write

FEW = {"train": 6, "val": 4, "test": 4}


def test_a_run_on_the_embedded_model_scores_every_task_and_makes_its_examples_from_train_alone(tmp_path: Path) -> None:
    project = Project.copy(tmp_path / "project")
    inputs = {}
    for split, number in FEW.items():
        lines = (project.root / "data" / "reviews" / f"{split}.jsonl").read_text("utf-8").splitlines()[:number]
        write(project.root / "data" / "few" / f"{split}.jsonl", "".join(line + "\n" for line in lines))
        inputs[split] = [json.loads(line)["input"] for line in lines]
    few = ["env.data=data/few", "num_epochs=1", "steps_per_epoch=1", "batch_size=6"]
    project.run("python", "stages/compose.py", *few)
    project.commit()
    project.repro()
    summary = json.loads((project.root / "results" / "summary.json").read_text("utf-8"))
    candidate = (project.root / "runs" / "e1s1" / "candidate" / "skill" / "SKILL.md").read_text("utf-8")
    assert summary["test_coverage"] == 1
    assert summary["target_calls"] >= 4 + 6 + 4
    assert any(text in candidate for text in inputs["train"])
    assert not any(text in candidate for text in inputs["val"] + inputs["test"])
