"""envs/suite/pairs.py and form.py: which suites belong together, and what a suite may hold."""

import pytest

from skillpipe.envs.suite import Pair, find_pairs, read_suite
from skillpipe.errors import SkillpipeError
from skillpipe.judging import Assertions, RubricItem
from suites import suite_task, write_pair, write_suite


def named(folder, *names):
    for name in names:
        write_suite(folder / f"{name}.json", suite_task(name))
    return folder


def ids(folder):
    return [pair.id for pair in find_pairs(folder)]


@pytest.mark.parametrize("word", ["verification", "validation"])
def test_a_train_suite_pairs_with_the_one_to_verify_or_validate_by(tmp_path, word):
    folder = write_pair(tmp_path / "notes", "shopping_scenario", train=3, held_out=4, word=word)
    assert find_pairs(folder) == [
        Pair(
            "notes-shopping_scenario",
            "notes",
            "notes: Shopping Scenario",
            folder / "shopping_scenario_train.json",
            folder / f"shopping_scenario_{word}.json",
            None,
            3,
            4,
        )
    ]


def test_a_prefix_that_is_the_skills_name_gives_the_skills_name_as_id(tmp_path):
    folder = write_pair(write_pair(tmp_path / "device-operator", "device_operator"), "shopping_scenario")
    assert ids(folder) == ["device-operator", "device-operator-shopping_scenario"]


def test_a_test_suite_beside_a_pair_belongs_to_it(tmp_path):
    folder = named(write_pair(tmp_path / "notes"), "toys_test")
    assert find_pairs(folder)[0].test == folder / "toys_test.json"


def test_suites_without_a_partner_are_passed_over(tmp_path):
    assert ids(named(write_pair(tmp_path / "notes"), "a_train", "b_verification", "c", "toys_selection")) == [
        "notes-toys"
    ]


@pytest.mark.parametrize("held_out", ["my-selection", "verification", "the_validation_set"])
def test_one_file_of_each_kind_is_a_pair_where_no_names_pair_up(tmp_path, held_out):
    assert ids(named(tmp_path / "notes", "trainset", held_out)) == ["notes"]


def test_such_a_pair_may_have_a_test_suite_too(tmp_path):
    folder = named(tmp_path / "notes", "trainset", "verification", "test")
    assert find_pairs(folder)[0].test == folder / "test.json"


def test_two_files_of_a_kind_are_no_such_pair(tmp_path):
    assert ids(named(tmp_path / "notes", "trainset", "verification", "selection")) == []


def test_a_suite_that_cannot_be_read_counts_no_tasks_and_is_still_listed(tmp_path):
    folder = write_pair(tmp_path / "notes")
    (folder / "toys_train.json").write_text("{", "utf-8")
    (pair,) = find_pairs(folder)
    assert (pair.train_tasks, pair.val_tasks) == (0, 4)


def test_two_suites_to_hold_out_for_one_prefix_are_refused(tmp_path):
    folder = write_pair(write_pair(tmp_path / "notes"), word="validation")
    with pytest.raises(SkillpipeError, match=r"toys_verification\.json and toys_validation\.json; keep one"):
        find_pairs(folder)


@pytest.mark.parametrize("name", ["my notes", "nötes", "a;b"])
def test_a_name_that_is_not_plain_is_refused(tmp_path, name):
    with pytest.raises(SkillpipeError, match=r"allowed in its name are A-Z, a-z, 0-9, _, \. and -"):
        find_pairs(write_pair(tmp_path / name))
    with pytest.raises(SkillpipeError, match=r"allowed in its name are A-Z, a-z, 0-9, _, \. and -"):
        find_pairs(write_pair(tmp_path / "notes", name))


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SkillpipeError, match="no such folder"):
        find_pairs(tmp_path / "gone")


def test_a_task_that_says_no_more_than_it_must_has_the_forms_defaults(tmp_path):
    path = write_suite(tmp_path / "toys.json", suite_task())
    suite = read_suite(path)
    (task,) = suite.tasks
    assert (suite.name, task.id, task.category, task.prompt) == ("toys", "t1", "single_step", "Do t1.")
    assert task.rubric == (RubricItem("polite", "The reply greets."),)
    assert task.assertions == Assertions(0, 50, 180, True, (), (), (), (), "", False)
    assert (task.needs, task.repeats) == ((), 1)


def test_a_suite_without_a_name_is_called_after_its_file(tmp_path):
    path = tmp_path / "mine.json"
    write_suite(path, suite_task())
    path.write_text(path.read_text("utf-8").replace('"name": "toys", ', ""), "utf-8")
    assert read_suite(path).name == "mine"


def test_all_that_the_form_knows_is_read(tmp_path):
    full = suite_task(
        setup={"app": "mail"},
        repeats=-3,
        input_screenshot="a.png",
        expected_answer=None,
        answer_format=None,
        expected_recalled_memory_ids=["m1"],
        platforms=["android"],
        app_ids=["mail"],
        hard_assertions={"required_tool_calls": [{"tool": "tap", "input_contains": {"x": 1}}], "max_tool_calls": 9},
    )
    seen = [{"id": "o1", "description": "it opens", "skill_name": "notes"}, {"id": "o2", "tool_name": "tap"}]
    path = write_suite(
        tmp_path / "toys.json",
        full,
        description="all",
        global_reset={"a": 1},
        trace_observations=seen,
        mock_environment={},
    )
    suite = read_suite(path)
    assert suite.needs == ("global_reset",)
    assert suite.tasks[0].needs == ("setup", "input_screenshot", "expected_recalled_memory_ids")
    assert suite.tasks[0].repeats == 1
    assert suite.tasks[0].assertions.required_tool_calls[0].input_contains == {"x": 1}
