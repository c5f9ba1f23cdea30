"""plan.py: the tasks of each split, checked, and a batch per step."""

import json
from dataclasses import replace

import pytest

from plan import plan
from samples import tasks
from skillpipe.artifacts import read_record, read_rows
from skillpipe.errors import SkillpipeError
from skillpipe.records import Estimate, PlanSummary, Task

WORDS = ("conf=conf", "skill=skills/toy", "out=runs/plan")
TRAIN, VAL, TEST = (f"data/toy/{split}.jsonl" for split in ("train", "val", "test"))


def splits():
    return {"train": tasks(6, "a"), "val": tasks(2, "b"), "test": tasks(2, "c")}


def row(**changes) -> str:
    return json.dumps({"id": "x", "input": "x", "answer": "X"} | changes) + "\n"


def test_every_step_has_a_batch_of_train_tasks():
    planned = plan(splits(), ["e1s1", "e1s2"], 4, seed=1, stratify=False)
    assert list(planned) == ["e1s1", "e1s2"]
    assert all(len(batch) == 4 and set(batch) <= set(tasks(6, "a")) for batch in planned.values())


def test_one_more_step_changes_no_earlier_batch():
    assert plan(splits(), ["e1s1", "e1s2"], 4, 1, False)["e1s1"] == plan(splits(), ["e1s1"], 4, 1, False)["e1s1"]


def test_splits_that_overlap_are_refused():
    with pytest.raises(SkillpipeError, match="the same id stands in"):
        plan(splits() | {"test": tasks(1, "a")}, ["e1s1"], 4, 1, False)


def test_the_script_writes_splits_batches_and_a_summary(bench):
    bench.done("plan", *WORDS)
    out = bench.root / "runs" / "plan"
    names = [path.relative_to(out).as_posix() for path in sorted(out.rglob("*")) if path.is_file()]
    assert names == [
        "batches/e1s1.jsonl", "batches/e2s1.jsonl", "splits.json", "summary.json",
        "test.jsonl", "train.jsonl", "val.jsonl",
    ]  # fmt: skip
    summary = read_record(out / "summary.json", PlanSummary)
    assert summary == PlanSummary(20, 10, 10, 8, ("e1s1", "e2s1"), summary.estimate, ())
    assert replace(summary.estimate, target_input_tokens=0) == Estimate(2 * 8 + 3 * 10 + 2 * 10, 0, None, None, 0, 0)
    train = read_rows(out / "train.jsonl", Task)
    assert train[0] == Task("wordaa", "Word: wordaa\nCapitals:", "WORDAA")
    assert all(task in train for task in read_rows(out / "batches" / "e2s1.jsonl", Task))


def test_what_is_amiss_with_the_skill_is_a_warning_in_the_summary_and_on_the_screen(bench):
    bench.write("skills/toy/SKILL.md", "---\nname: other\n---\nUse capitals.\n")
    printed = bench.run_here("plan", *WORDS).err
    warnings = read_record(bench.root / "runs" / "plan" / "summary.json", PlanSummary).warnings
    assert any("other" in warning for warning in warnings)
    assert all(f"warning: {warning}" in printed for warning in warnings)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (VAL, None, "data/toy/val.jsonl: no such file; env.data must name a folder"),
        (VAL, row() + "{id: 1}\n", "data/toy/val.jsonl:2: not JSON"),
        (VAL, row() + row(id=""), "data/toy/val.jsonl:2: id is ''"),
        (VAL, b"\xff\n", "data/toy/val.jsonl: not UTF-8"),
        (VAL, "", "val: no tasks found"),
        (VAL, row(id="wordaa"), "the same id stands in train task 'wordaa'"),
        (TEST, row(input="wordab"), "the same input stands in train task 'wordab'"),
        (TRAIN, row(), "batch_size is 8 and train has 1 tasks; allowed is 1 to 1"),
        ("conf/env/toy.yaml", "changed: 1\n", "conf/ has changed since params.yaml was composed"),
        ("skills/toy/SKILL.md", None, "skills/toy"),
        ("skills/toy/SKILL.md", b"---\nname: toy\n---\n\xff\n", "skills/toy/SKILL.md: not UTF-8"),
    ],
    ids=str,
)
def test_what_cannot_be_trained_on_is_refused_in_one_line_and_nothing_is_written(bench, name, content, said):
    if content is None:
        (bench.root / name).unlink()
    else:
        bench.write(name, content)
    assert said in bench.refused("plan", *WORDS)


def test_a_refusal_is_the_only_thing_that_a_process_prints_and_its_exit_code_is_1(bench):
    bench.write(VAL, "{\n")
    ended = bench.run("plan", *WORDS)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("error: data/toy/val.jsonl:1: not JSON")
    assert len(ended.err.splitlines()) == 1


def test_stale_params_are_refused_with_the_command_that_mends_them(bench):
    bench.write("conf/gate/other.yaml", "rule: {}\n")
    assert "type `python stages/compose.py`" in bench.refused("plan", *WORDS)


def test_an_update_mode_that_the_optimizer_does_not_know_is_refused_before_anything_is_paid(bench):
    text = (bench.root / "params.yaml").read_text("utf-8")
    bench.write("params.yaml", text.replace("update_mode: patch", "update_mode: rewrite"))
    assert "update_mode is rewrite; set update_mode=patch, or optimizer=model" in bench.refused("plan", *WORDS)


def test_edited_params_are_honoured(bench):
    text = (bench.root / "params.yaml").read_text("utf-8")
    bench.write("params.yaml", text.replace("batch_size: 8", "batch_size: 5"))
    assert bench.run_here("plan", *WORDS).code == 0
    assert len(read_rows(bench.root / "runs" / "plan" / "batches" / "e1s1.jsonl", Task)) == 5


def test_a_plan_that_fails_leaves_the_one_before(bench):
    assert bench.run_here("plan", *WORDS).code == 0
    bench.write(VAL, "")
    bench.refused("plan", *WORDS)
