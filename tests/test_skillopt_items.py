"""envs/skillopt/batches.py: the items of an adapter are tasks, and a part of them can be run."""

import asyncio
from dataclasses import replace

import pytest

from adapters import Defaulted, Listed, Simulated, Words, write_items
from samples import task
from skillpipe.adapter import EnvAdapter, SplitDataLoader
from skillpipe.envs.skillopt import SkillOpt
from skillpipe.errors import SkillpipeError


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
@pytest.mark.parametrize(("split", "size"), [("train", 4), ("val", 3), ("test", 2)])
def test_the_items_of_a_split_are_its_tasks_in_their_order(data, kind, split, size):
    tasks = environment(kind(data), data).tasks(split)
    assert [task.id for task in tasks] == [f"{split}{number}" for number in range(size)]
    assert [task.task_type for task in tasks] == ["even", "odd", "even", "odd"][:size]


def test_setup_gets_cfg_and_a_folder_to_write_to_once(data):
    class Counting(Words):
        given = ()

        def setup(self, cfg):
            self.given = (*self.given, cfg)
            super().setup(cfg)

    adapter = Counting(data)
    env = environment(adapter, data, cfg={"workers": 2})
    run_all(env, env.tasks("val"))
    [cfg] = adapter.given
    assert (cfg["workers"], set(cfg)) == (2, {"workers", "out_root"})


def test_reference_and_answer_are_for_the_optimizer_and_content_tells_tasks_apart(data):
    class Known(Words):
        def build_reference_text(self, item):
            return f"see {item['word']}"

    tasks = environment(Known(data), data, answer_field="word").tasks("val")
    assert [(row.answer, row.reference) for row in tasks] == [(f"val{n}", f"see val{n}") for n in range(3)]
    rollouts = run_all(environment(Known(data), data, answer_field="word"), tasks)
    assert [(row.expected, row.reference) for row in rollouts] == [(f"val{n}", f"see val{n}") for n in range(3)]
    assert tasks[0].input == '{"task_type": "even", "word": "val0"}'
    assert environment(Known(data), data).tasks("val")[0].answer == ""


def test_fields_that_json_cannot_hold_are_no_part_of_a_task(data):
    class Odd(Listed):
        def build_eval_env(self, env_num, split, seed, **kwargs):
            return [item | {"path": data, "nan": float("nan")} for item in super().build_eval_env(env_num, split, seed)]

    env = environment(Odd(data), data)
    tasks = env.tasks("val")
    assert tasks[0].data == {"id": "val0", "word": "val0", "task_type": "even"}
    assert run_all(env, tasks)[0].status == "passed"


def test_an_item_that_changed_since_the_plan_is_refused(data):
    env = environment(Words(data), data)
    changed = replace(env.tasks("val")[0], data={"id": "val0", "word": "else"})
    assert "item 'val0' has changed since the run was planned; `dvc repro`" in refusal(run_all, env, [changed])
    assert "item 'new' is gone since the run was planned" in refusal(run_all, env, [task("new")])


def test_a_simulator_that_runs_other_items_is_noticed(data):
    env = environment(Simulated(data, honest=False), data)
    said = refusal(run_all, env, env.tasks("val")[1:])
    assert "Simulated.rollout: row 0 has id 'val0', which is none of the 2 that it was to run" in said


def test_a_simulator_that_cannot_be_given_items_is_refused_before_it_runs(data):
    class Sized(Simulated):
        build_env_from_batch = EnvAdapter.build_env_from_batch

        def build_eval_env(self, env_num, split, seed, **kwargs):
            return iter(())

    env = environment(Sized(data), data)
    said = refusal(run_all, env, env.tasks("val"))
    assert "build_env_from_batch is the default" in said
    assert "write one that makes the environment of batch.payload" in said


def test_an_adapter_that_cannot_list_its_items_is_told_what_is_needed(data):
    class Unlisted(Listed):
        def build_eval_env(self, env_num, split, seed, **kwargs):
            return object()

    said = refusal(environment(Unlisted(data), data).tasks, "val")
    assert "Unlisted: build_eval_env(env_num=0, split='train'" in said
    assert "gave object; tasks are known before they are run, so it must give a list of dicts with an id" in said


def test_a_loader_whose_batch_leaves_items_out_is_refused(data):
    class Capped(SplitDataLoader):
        def build_train_batch(self, batch_size, seed, **kwargs):
            return super().build_train_batch(2, seed)

    adapter = Words(data)
    adapter.loader = Capped(split_dir=str(data), split_mode="split_dir")
    env = environment(adapter, data)
    said = refusal(run_all, env, env.tasks("train"))
    assert "Words: its batch of 2 items has none with id 'train" in said


def test_a_batch_has_the_phase_the_split_and_the_size_that_skillopts_trainer_gives_it(data):
    class Keeps(Words):
        batches = ()

        def build_env_from_batch(self, batch, **kwargs):
            self.batches = (*self.batches, batch)
            return batch.payload

    adapter = Keeps(data)
    env = environment(adapter, data)
    for split in ("train", "val", "test"):
        run_all(env, env.tasks(split)[:2])
    assert [(batch.phase, batch.split, batch.seed, batch.batch_size) for batch in adapter.batches] == [
        ("train", "train", 1, 2),
        ("eval", "valid_seen", 1, 2),
        ("eval", "valid_unseen", 1, 2),
    ]


def test_a_loaders_lists_by_item_are_cut_down_with_the_items(data):
    class Games(SplitDataLoader):
        def build_eval_batch(self, env_num, split, seed, **kwargs):
            batch = super().build_eval_batch(env_num, split, seed, **kwargs)
            batch.metadata |= {"games": [f"game of {item['id']}" for item in batch.payload], "kinds": ["a", "b"]}
            return batch

    class Gamed(Words):
        def build_env_from_batch(self, batch, **kwargs):
            self.metadata = batch.metadata
            return batch.payload

    adapter = Gamed(data)
    adapter.loader = Games(split_dir=str(data), split_mode="split_dir")
    env = environment(adapter, data)
    run_all(env, env.tasks("val")[2:])
    assert adapter.metadata == {"games": ["game of val2"], "kinds": ["a", "b"]}


def test_what_is_no_adapter_is_refused(data):
    said = refusal(environment, object(), data)
    assert said.startswith("env.adapter: object has no setup, get_dataloader")
    assert "skillpipe.adapter.EnvAdapter" in said


def test_data_that_is_not_there_is_refused(data):
    said = refusal(environment(Words(data), data / "gone").tasks, "val")
    assert "gone: no such file or folder" in said
