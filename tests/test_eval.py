"""eval.py: score any skill on any split, with no training."""

from dataclasses import replace

import pytest

from eval import evaluate
from samples import broken
from workbench import SKILL, val


def test_the_line_holds_hard_soft_number_of_tasks_and_coverage():
    rows = [replace(row, soft=0.5) for row in val(1, 0, 0)]
    assert evaluate([*rows, broken("v3")]) == "hard 0.333  soft 0.500  n 4  coverage 0.750"


@pytest.mark.parametrize("rows", [[], [broken("v0")]])
def test_without_a_score_none_is_made_up(rows):
    assert evaluate(rows).startswith("no task was scored  n ")


def test_the_script_scores_a_skill_and_writes_nothing(bench):
    before = bench.files()
    printed = bench.done("eval", "skill=skills/toy", "split=val")
    assert printed.startswith("hard 0.")
    assert printed.endswith("n 10  coverage 1.000\n")
    assert bench.files() == before


@pytest.mark.parametrize("path", ["mine/SKILL.md", "mine"])
def test_a_skill_may_be_named_by_its_folder_or_its_file(bench, path):
    examples = "".join(f"\nWord: {word}\nCapitals: {word.upper()}\n" for word in "abcdef")
    bench.write("mine/SKILL.md", SKILL + examples)
    ended = bench.run_here("eval", f"skill={path}", "split=test")
    assert ended.out == "hard 1.000  soft 1.000  n 10  coverage 1.000\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("skill=skills/toy", "split=dev"), "split is 'dev'; allowed are train, val, test"),
        (("skill=skills/gone", "split=val"), "skills/gone"),
        (("skill=skills/toy",), "split"),
        (("skill=skills/toy", "split=val", "env.data=gone"), "gone/val.jsonl: no such file"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_line(bench, words, said):
    assert said in bench.refused("eval", *words)


def test_scores_on_too_few_tasks_are_shown_and_the_script_fails(bench):
    ended = bench.run_here("eval", "skill=skills/toy", "split=val", "min_coverage=1.5")
    assert ended.code == 1
    assert ended.out.endswith("coverage 1.000\n")
    assert "min_coverage is 1.5" in ended.err
