"""compose.py: rewrite params.yaml from conf/."""

from pathlib import Path

import pytest
import yaml

from skillpipe import config

ROOT = Path(__file__).resolve().parents[1]


def test_params_in_git_are_composed_from_conf_as_it_stands(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert (ROOT / "params.yaml").read_text("utf-8") == config.compose([])


def test_the_script_writes_params_with_its_overrides(bench):
    bench.done("compose", "env=toy", "target=toy", "edit_budget=2")
    values = yaml.safe_load((bench.root / "params.yaml").read_text("utf-8"))
    assert (values["edit_budget"], values["skill"], values["seed"]) == (2, "skills/toy", 1)


def test_it_mends_stale_params(bench):
    words = ("conf=conf", "skill=skills/toy", "out=runs/plan")
    bench.write("conf/gate/mine.yaml", "rule: {}\n")
    bench.refused("plan", *words)
    assert bench.run_here("compose", "env=toy", "target=toy", "batch_size=8").code == 0
    assert bench.run_here("plan", *words).code == 0


def test_from_a_folder_inside_the_project_the_projects_params_are_written(bench, monkeypatch):
    before = bench.files()
    inside = type(bench)(bench.root / "data")
    assert inside.run_here("compose", "seed=7").code == 0
    after = bench.files()
    assert set(after) == set(before)
    assert b"seed: 7" in after["params.yaml"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("edit_budgt=2", "edit_budgt"),
        ("edit_budget=two", "'two'"),
        ("env=gone", "env/gone"),
        ("schedule=cosin", "schedule=cosin"),
        ("edit_budget", "edit_budget"),
    ],
)
def test_an_override_that_cannot_be_is_refused_in_one_line_and_params_stay(bench, word, said):
    assert said in bench.refused("compose", word)


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (["target=litellm"], ["target.model"]),
        (["optimizer=model"], ["optimizer.model"]),
        (["optimizer=model", "optimizer/api=chat_server"], ["optimizer.api.api_base", "optimizer.model"]),
        (["target=chat_server", "target.model=m"], ["target.api_base"]),
        (["edit_budget=???"], ["edit_budget"]),
    ],
    ids=str,
)
def test_a_choice_without_a_value_that_it_needs_is_refused_with_what_to_type_and_params_stay(bench, words, keys):
    said = bench.refused("compose", *words)
    assert said.startswith(f"conf/: no value for {', '.join(keys)}; type `dvc exp run -S {keys[0]}=...")
    assert f"`python stages/compose.py {' '.join(f'{key}=...' for key in keys)}`" in said


def test_a_broken_file_of_conf_is_refused_by_name_and_params_stay(bench):
    bench.write("conf/gate/strict.yaml", "rule: [\n")
    assert "strict.yaml" in bench.refused("compose")
