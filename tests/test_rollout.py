"""rollout.py: a skill on tasks, for the baseline, the batches and the tests."""

import pytest

from rollout import rollout
from samples import tasks
from skillpipe.artifacts import read_rows, write_rows
from skillpipe.envs.dataset import Dataset
from skillpipe.executor import Run
from skillpipe.models import Reply
from skillpipe.records import Rollout, Task, Usage
from skillpipe.scoring import exact
from workbench import SKILL

WORDS = ("skill=skills/toy", "tasks=tasks.jsonl", "out=runs/rollouts.jsonl")
GUARDED = (*WORDS, "unless=known")
RUN = Run(2, "here", lambda rollout: rollout)
MUTE = """\
class Mute:
    def __init__(self, **settings):
        pass

    async def complete(self, request):
        raise OSError("no line")

    def close(self):
        pass
"""


class Attentive:
    """A target that says yes, and keeps the system message it was given."""

    def __init__(self):
        self.skills = set()

    async def complete(self, request):
        self.skills.add(request.messages[0].content)
        return Reply("yes", Usage(1, 1, 1))

    def close(self):
        pass


@pytest.fixture
def bench(bench):
    rows = [Task(word, f"Word: {word}\nCapitals:", word.upper()) for word in ("wordba", "wordbb", "wordbc")]
    write_rows(bench.root / "tasks.jsonl", rows)
    return bench


def written(bench) -> list[Rollout]:
    return read_rows(bench.root / "runs" / "rollouts.jsonl", Rollout)


def test_one_rollout_per_task_in_task_order():
    rows = rollout(Dataset("data", "{input}", exact), Attentive(), SKILL, tasks(5), RUN)
    assert [row.task for row in rows] == [task.id for task in tasks(5)]


def test_the_target_is_given_the_body_without_the_frontmatter():
    target = Attentive()
    rollout(Dataset("data", "{input}", exact), target, SKILL, tasks(2), RUN)
    (given,) = target.skills
    assert given.strip() == "# Toy\n\nUse capitals."


def test_the_script_writes_a_rollout_per_task(bench):
    bench.done("rollout", *WORDS)
    rows = written(bench)
    assert [row.task for row in rows] == ["wordba", "wordbb", "wordbc"]
    assert all(row.trajectory[0].content == f"Word: {row.task}\nCapitals:" for row in rows)


def test_how_many_run_at_once_changes_no_byte(bench):
    files = []
    for concurrency in (1, 3):
        bench.run_here("rollout", *WORDS, f"execution.max_concurrency={concurrency}")
        files.append((bench.root / "runs" / "rollouts.jsonl").read_bytes())
    assert files[0] == files[1] != b""


def test_a_skill_that_equals_the_known_one_is_not_run_and_needs_no_model(bench):
    bench.write("known/SKILL.md", SKILL)
    assert bench.run_here("rollout", *GUARDED, "target._target_=toys.NoSuchModel").code == 0
    assert written(bench) == []


@pytest.mark.parametrize("name", ["SKILL.md", "references/a.md"])
def test_a_skill_that_differs_from_the_known_one_in_any_file_is_run(bench, name):
    bench.write("known/SKILL.md", SKILL)
    bench.write(f"known/{name}", "# Other\n")
    assert bench.run_here("rollout", *GUARDED).code == 0
    assert len(written(bench)) == 3


def test_when_training_has_stopped_nothing_is_run_and_no_model_is_needed(bench):
    bench.write("stop.txt", "no candidate can pass\n")
    assert bench.run_here("rollout", *WORDS, "stop=stop.txt", "target._target_=toys.NoSuchModel").code == 0
    assert written(bench) == []


def test_while_training_goes_on_everything_is_run(bench):
    bench.write("stop.txt", "")
    assert bench.run_here("rollout", *WORDS, "stop=stop.txt").code == 0
    assert len(written(bench)) == 3


def test_each_task_is_run_as_often_as_repeats_say(bench):
    assert bench.run_here("rollout", *WORDS, "repeats=2").code == 0
    assert [(row.task, row.replicate) for row in written(bench)] == [
        (word, number) for word in ("wordba", "wordbb", "wordbc") for number in (0, 1)
    ]


def test_where_less_is_better_the_soft_score_is_turned_round(bench):
    assert bench.run_here("rollout", *WORDS, "scores.direction=minimize").code == 0
    assert all(row.soft == 1 - row.hard for row in written(bench))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("scores.direction=up",), "scores.direction is 'up'; allowed are maximize and minimize"),
        (("scores.range=[1,0]",), "scores.range is [1.0, 0.0]; it must be [lowest, highest]"),
        (("repeats=0",), "repeats is 0; allowed is 1 or more"),
        (("tasks=gone.jsonl",), "gone.jsonl: no such file"),
        (("skill=skills/gone",), "skills/gone"),
        (("target._target_=toys.Gone",), "target: toys.Gone"),
        (("execution.max_concurrency=0",), "execution.max_concurrency is 0"),
        (("min_coverage=1.5",), "runs/rollouts.jsonl: 3 of 3 tasks were scored, min_coverage is 1.5"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line_and_nothing_is_written(bench, words, said):
    lines = bench.run_here("rollout", *WORDS, *words).err.splitlines()
    assert lines[-1].startswith("error: ")
    assert said in lines[-1]
    assert not (bench.root / "runs" / "rollouts.jsonl").exists()


def test_a_target_that_never_answers_stops_the_run_with_its_reason(bench):
    bench.write("mute.py", MUTE)
    ended = bench.run_here("rollout", *WORDS, "target._target_=mute.Mute", "execution.max_concurrency=3")
    assert ended.code == 1
    assert "the first 3 tasks all failed to run: OSError: no line" in ended.err
    assert not (bench.root / "runs").exists()
