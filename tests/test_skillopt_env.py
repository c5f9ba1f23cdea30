"""envs/skillopt: an adapter that was written for SkillOpt is an environment of this pipeline."""

import asyncio
import gc
import importlib.util
import sys
import types
from pathlib import Path

import pytest

from adapters import Defaulted, Listed, Simulated, Words, write_items
from skillpipe.envs import Calls
from skillpipe.envs.skillopt import SkillOpt
from skillpipe.errors import SkillpipeError
from skillpipe.executor import Run, run_tasks

SKILLOPT = importlib.util.find_spec("skillopt") is not None


@pytest.fixture
def data(tmp_path):
    write_items(tmp_path / "items")
    return tmp_path / "items"


def environment(adapter, data, **changes):
    arguments = {"cfg": {}, "data": str(data), "seed": 1, "answer_field": "", "metrics": ()} | changes
    return SkillOpt(adapter=adapter, **arguments)


def run_all(env, tasks, skill="even"):
    return asyncio.run(env.run_all(tasks, skill, None))


def refusal(call, *arguments):
    with pytest.raises(SkillpipeError) as caught:
        call(*arguments)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize("kind", [Words, Listed, Defaulted, Simulated])
@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_a_part_of_a_split_is_one_rollout_of_just_these_items(data, kind, split):
    adapter = kind(data)
    env = environment(adapter, data)
    wanted = env.tasks(split)[:0:-1]
    scores = {"even": ("passed", 1.0, 1.0), "odd": ("failed", 0.0, 0.25)}
    rollouts = run_all(env, wanted)
    assert [(row.task, row.status, row.hard, row.soft) for row in rollouts] == [
        (task.id, *scores[task.task_type]) for task in wanted
    ]
    assert [sorted(ids) for ids, *_ in adapter.calls] == [sorted(task.id for task in wanted)]


def test_the_target_is_never_asked(data):
    assert environment(Words(data), data).most_calls == Calls(target=0)


def test_one_task_is_a_batch_of_one(data):
    adapter = Words(data)
    env = environment(adapter, data)
    rollout = asyncio.run(env.run(env.tasks("val")[1], "odd", None))
    assert (rollout.task, rollout.status) == ("val1", "passed")
    assert [ids for ids, *_ in adapter.calls] == [["val1"]]


def test_the_executor_runs_it_as_any_environment(data):
    env = environment(Words(data), data)
    rollouts = run_tasks(env, env.tasks("train"), "odd", None, Run(3, "train", lambda rollout: rollout))
    assert [row.hard for row in rollouts] == [0, 1, 0, 1]


def test_calls_of_the_adapter_never_overlap(data):
    class Busy(Words):
        inside = 0

        def rollout(self, *arguments, **kwargs):
            self.inside += 1
            assert self.inside == 1
            rows = super().rollout(*arguments, **kwargs)
            self.inside -= 1
            return rows

    env = environment(Busy(data), data)

    async def at_once():
        return await asyncio.gather(*(env.run(task, "", None) for task in env.tasks("train") * 5))

    assert {row.status for row in asyncio.run(at_once())} == {"failed"}


def test_only_train_items_are_run_with_feedback_as_by_skillopts_trainer(data):
    adapter = Words(data)
    env = environment(adapter, data)
    for split in ("train", "val", "test"):
        run_all(env, env.tasks(split))
    assert [kwargs for *_, kwargs in adapter.calls] == [{"use_eval_feedback": True}, {}, {}]


def test_each_rollout_has_a_folder_of_its_own_and_leaves_nothing(data):
    adapter = Words(data)
    env = environment(adapter, data)
    for _ in range(2):
        run_all(env, env.tasks("val"))
    folders = [folder for _, _, folder, _ in adapter.calls]
    assert folders[0] != folders[1]
    scratch = folders[0].parent
    assert list(scratch.iterdir()) == []
    del env
    gc.collect()
    assert not scratch.exists()


def test_no_text_names_the_folder_of_a_rollout(data):
    env = environment(Words(data), data)
    assert run_all(env, env.tasks("val"))[1].reason == "no, see out_dir"


def test_an_exception_in_a_rollout_is_missing_data_for_all_its_tasks(data):
    def fails(rows):
        raise KeyError("no key")

    env = environment(Words(data, fails), data)
    for row in run_all(env, env.tasks("val")):
        assert (row.status, row.hard, row.soft) == ("infra_error", None, None)
        assert row.reason == "Words.rollout: KeyError: 'no key'"


@pytest.mark.parametrize("place", ["setup", "get_dataloader", "build_env_from_batch", "get_task_types"])
def test_an_exception_outside_a_rollout_stops_the_stage_with_its_text(data, place):
    adapter = Words(data)
    setattr(adapter, place, lambda *arguments, **named: 1 / 0)
    env = environment(adapter, data)
    said = refusal(lambda: run_all(env, env.tasks("val")))
    assert said.startswith("Words: ")
    assert "ZeroDivisionError: division by zero" in said


def test_ray_is_started_for_an_adapter_that_requires_it(data, monkeypatch):
    class Rays(Words):
        def requires_ray(self):
            return True

    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install ray" in refusal(environment(Rays(data), data).tasks, "val")
    started = []
    ray = types.SimpleNamespace(is_initialized=lambda: False, init=lambda **how: started.append(how))
    monkeypatch.setitem(sys.modules, "ray", ray)
    assert len(environment(Rays(data), data).tasks("val")) == 3
    assert started == [{"num_gpus": 0}]


def test_a_reflect_of_its_own_is_said_not_to_be_used(data, capsys):
    class Reflects(Words):
        def reflect(self, results, skill_content, out_dir, **kwargs):
            return []

    environment(Reflects(data), data).tasks("val")
    assert "Reflects.reflect is not used" in capsys.readouterr().err
    environment(Words(data), data).tasks("val")
    assert capsys.readouterr().err == ""


def test_what_the_adapter_prints_is_no_output_of_the_stage(data, capsys):
    class Chatty(Words):
        def rollout(self, *arguments, **kwargs):
            print("rolling")
            return super().rollout(*arguments, **kwargs)

    env = environment(Chatty(data), data)
    run_all(env, env.tasks("val"))
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "rolling\n")


@pytest.mark.skipif(not SKILLOPT, reason="SkillOpt is not installed; `pip install skillopt==0.2.0` to run its adapters")
def test_an_adapter_on_skillopts_own_classes_runs_as_it_is(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "bench"))
    from skillopt_words import WordsAdapter
    from skillopt_words import write_items as write_words

    write_words(tmp_path)
    env = environment(WordsAdapter(str(tmp_path)), tmp_path, answer_field="ground_truth", metrics=["n_turns"])
    tasks = env.tasks("test")
    rollouts = run_all(env, tasks, "Mind the capitals.")
    assert [row.hard for row in rollouts] == [float(row.task_type == "capitals") for row in rollouts]
    assert [row.expected for row in rollouts] == [task.answer for task in tasks]
    assert all(len(row.trajectory) == 2 and row.metrics == {"n_turns": 1.0} for row in rollouts)
