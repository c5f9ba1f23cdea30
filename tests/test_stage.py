"""config.stage: how a script becomes a Hydra application over its own section of params.yaml."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from omegaconf import MISSING

from skillpipe import config, sections
from skillpipe.errors import SkillpipeError
from skillpipe.sections import Budget, Execution, Limits

PARAMS = """\
aggregate:
  optimizer: {_target_: x.Y, size: 1}
execution:
  max_concurrency: 4
  optimizer_max_concurrency: 2
  target: {threads: 0}
  optimizer: {}
  judge: {}
seed: 1
"""


@dataclass
class Args(sections.Aggregate):
    step: str = MISSING
    size: int = 3
    execution: Execution = MISSING


@dataclass
class Paths:
    out: str = MISSING


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "params.yaml").write_text(PARAMS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(monkeypatch):
    """Runs a script over a section, as if typed with these words; returns what its main was given."""

    def run(*words, section="aggregate", schema=Args, problem=""):
        given = []

        def main(args):
            given.append(args)
            if problem:
                raise SkillpipeError(problem)

        main.__module__ = "__main__"  # as in a script
        monkeypatch.setattr(sys, "argv", ["script.py", *words])
        config.stage(section, schema)(main)()
        return given[0]

    return run


def refused(call, *words, **named) -> str:
    """The text that a refused call ends with."""
    with pytest.raises(SystemExit) as caught:
        call(*words, **named)
    assert caught.value.code not in (0, None)
    return str(caught.value.code)


def test_main_gets_its_section_the_command_line_and_how_fast_to_run_as_plain_values(call):
    args = call("step=e1s1")
    assert args == Args({"_target_": "x.Y", "size": 1}, "e1s1", 3, Execution(4, 2, {"threads": 0}, {}, {}))
    assert type(args.optimizer) is dict


def test_the_command_line_overrides_the_section(call):
    args = call("step=e1s1", "optimizer.size=2", "execution.max_concurrency=1", "size=5")
    assert (args.optimizer["size"], args.execution.max_concurrency, args.size) == (2, 1, 5)


def test_a_choice_can_be_given_an_argument_more(call):
    assert call("step=e1s1", "+optimizer.shape=round").optimizer["shape"] == "round"


def test_a_script_without_a_section_needs_no_params_file(call, folder):
    (folder / "params.yaml").unlink()
    assert call("out=x", section=None, schema=Paths) == Paths("x")


@dataclass
class Counted(sections.Aggregate):
    budget: Budget = MISSING


LIMITS = "{max_calls: 3, max_tokens: null, max_cost_usd: 0.5}"
BUDGET = f"budget: {{target: {LIMITS}, optimizer: {LIMITS}, judge: {LIMITS}}}\n"


def test_main_gets_what_may_be_spent_where_it_asks_for_it(call, folder):
    (folder / "params.yaml").write_text(PARAMS + BUDGET, "utf-8")
    args = call("budget.target.max_calls=null", schema=Counted)
    assert args.budget == Budget(Limits(None, None, 0.5), *[Limits(3, None, 0.5)] * 2)


def test_a_limit_that_is_none_is_refused_by_name(call, folder):
    (folder / "params.yaml").write_text(PARAMS + BUDGET, "utf-8")
    assert "max_calls" in refused(call, "budget.target.max_calls=many", schema=Counted)


def test_hydra_leaves_nothing_behind_and_changes_no_folder(call, folder):
    call("step=e1s1")
    assert Path.cwd() == folder
    assert [path.name for path in folder.iterdir()] == ["params.yaml"]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["step=e1s1", "stp=e1s1"], "stp"),
        (["step=e1s1", "+stp=e1s1"], "stp"),
        (["step=e1s1", "seed=2"], "seed"),
        (["step=e1s1", "execution.max_concurency=2"], "max_concurency"),
        (["step=e1s1", "size=many"], "size"),
        (["step=e1s1", "size=1.5"], "size"),
        (["step=[1]"], "step"),
        (["step=e1s1", "optimizer=3"], "optimizer"),
        ([], "step"),
    ],
)
def test_a_key_that_is_unknown_ill_typed_or_missing_is_refused_by_name(call, capsys, words, key):
    assert key in refused(call, *words) + capsys.readouterr().err


@pytest.mark.parametrize("word", ["stp=e1s1", "size=many", "step"])
def test_a_slip_on_the_command_line_is_refused_in_one_line(call, capsys, word):
    code = refused(call, word)
    message = capsys.readouterr().err.strip() if code == "1" else code
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("params", "said"),
    [
        (None, "params.yaml: no such file"),
        ("a: [", "params.yaml: not YAML"),
        ("- a\n", "params.yaml: not a map"),
        ("", "params.yaml: no"),
        ("execution: {max_concurrency: 4, target: {}}\n", "params.yaml: no section aggregate"),
        (PARAMS.replace("optimizer", "optimiser"), "optimiser"),
        (PARAMS.replace("max_concurrency: 4", "max_concurrency: four"), "max_concurrency"),
        (PARAMS.replace("{_target_: x.Y, size: 1}", "fast"), "optimizer"),
        ("aggregate: 3\n", "params.yaml: aggregate"),
        ("aggregate:\n", "params.yaml: aggregate"),
    ],
)
def test_a_params_file_that_does_not_fit_is_refused_in_one_line_with_the_command_that_mends_it(
    call, folder, params, said
):
    (folder / "params.yaml").unlink()
    if params is not None:
        (folder / "params.yaml").write_text(params, "utf-8")
    message = refused(call, "step=e1s1")
    assert said in message
    assert "run `python stages/compose.py`" in message
    assert len(message.splitlines()) == 1


def test_an_interrupt_ends_the_script_with_one_line_and_the_shells_code(monkeypatch, capsys):
    def main(args):
        raise KeyboardInterrupt

    main.__module__ = "__main__"
    monkeypatch.setattr(sys, "argv", ["script.py", "out=x"])
    with pytest.raises(SystemExit) as caught:
        config.stage(None, Paths)(main)()
    assert caught.value.code == 130
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_refusal_ends_the_script_with_its_one_line(call):
    assert refused(call, "step=e1s1", problem="here: wrong; type that") == "error: here: wrong; type that"


def test_a_text_that_looks_like_an_interpolation_is_taken_as_it_stands(call, folder):
    text = PARAMS.replace("size: 1", "size: 'costs \\${price}'")
    (folder / "params.yaml").write_text(text, "utf-8")
    assert call("step=e1s1").optimizer["size"] == "costs ${price}"
