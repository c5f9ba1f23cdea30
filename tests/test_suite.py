"""envs/suite/suite.py: assertions first, then the rubric; what could not be judged has no score."""

import pytest

from scripted import CALL
from skillpipe.envs import Calls, manifest
from skillpipe.envs.suite import Suite
from skillpipe.errors import SkillpipeError
from skillpipe.models import ModelError
from skillpipe.records import Message, SplitManifest, Usage
from suites import ITEM, Answers, judge, run, suite_task, verdicts, write_pair, write_suite

TWO = [ITEM, {"id": "short", "check": "It is one sentence."}]
DONE = Answers("Hello!")


def scores(row):
    return row.status, row.hard, row.soft


def test_the_target_gets_the_skill_and_the_prompt_behind_the_suites_prefix(tmp_path):
    path = write_suite(tmp_path / "all.json", *(suite_task(f"t{n}") for n in range(4)), prompt_prefix="Be brief.\n \n")
    (first, _) = Suite(str(path), None, "70/30").tasks("train")
    assert first.input == "Be brief.\n\nDo t0."


def test_all_items_hold_and_the_attempt_passes(tmp_path):
    row = run(tmp_path, suite_task(rubric=TWO), DONE, judge(verdicts(polite="yes", short="yes"))[0])
    assert scores(row) == ("passed", 1.0, 1.0)
    assert row.reason == ""
    assert row.trajectory == (Message("user", "Do t1."), Message("assistant", "Hello!"))


def test_soft_is_the_share_of_items_that_hold_and_hard_asks_for_all(tmp_path):
    row = run(tmp_path, suite_task(rubric=TWO), DONE, judge(verdicts(polite="yes", short="no"))[0])
    assert scores(row) == ("failed", 0.0, 0.5)
    assert row.reason == "short: so it is with short (It is one sentence.)"
    assert row.metrics == {"rubric_total": 2.0, "rubric_passed": 1.0, "unjudged": 0.0}


def test_items_with_a_regex_are_decided_by_program_and_the_judge_is_asked_about_the_others(tmp_path):
    rubric = [{"id": "greets", "check": "It greets.", "regex": "Hello"}, TWO[1]]
    asked, model = judge(verdicts(short="no"))
    row = run(tmp_path, suite_task(rubric=rubric), DONE, asked)
    assert scores(row) == ("failed", 0.0, 0.5)
    assert "greets" not in model.prompts[0]


def test_a_hard_assertion_that_fails_decides_and_the_judge_is_not_asked(tmp_path):
    asked, model = judge()
    row = run(tmp_path, suite_task(hard_assertions={"min_tool_calls": 1}), DONE, asked)
    assert scores(row) == ("failed", 0.0, 0.0)
    assert row.reason == "min_tool_calls: at least 1, found 0"
    assert model.requests == []


def test_an_answer_that_took_too_long_is_a_timeout_with_a_score(tmp_path):
    row = run(tmp_path, suite_task(hard_assertions={"must_complete_within_sec": 1e-9}), DONE)
    assert scores(row) == ("timeout", 0.0, 0.0)


def test_an_expected_answer_is_asserted_and_never_shown_to_target_or_judge(tmp_path):
    task = suite_task(expected_answer="C", answer_format="option_letter")
    target, (asked, model) = Answers("The answer is C."), judge(verdicts(polite="yes"))
    hidden = run(tmp_path, task, target, asked)
    assert (hidden.status, hidden.expected) == ("passed", "C")
    assert '"C"' not in model.prompts[0]
    assert "C" not in target.requests[0].messages[1].content
    assert run(tmp_path, task, Answers("B"), judge()[0]).reason == "expected_answer: 'C', found 'B'"


def test_without_a_judge_the_assertions_decide_and_the_metrics_say_so(tmp_path):
    row = run(tmp_path, suite_task(rubric=TWO), DONE)
    assert scores(row) == ("passed", 1.0, 1.0)
    assert row.metrics["unjudged"] == 2.0
    assert run(tmp_path, suite_task(rubric=TWO), Answers(" ")).status == "failed"


def test_without_a_judge_items_with_a_regex_still_count(tmp_path):
    rubric = [{"id": "greets", "check": "It greets.", "regex": "Goodbye"}, TWO[1]]
    row = run(tmp_path, suite_task(rubric=rubric), DONE)
    assert (*scores(row), row.metrics["unjudged"]) == ("failed", 0.0, 0.0, 1.0)


@pytest.mark.parametrize("said", [("no idea", "no idea"), (ModelError("no idea", permanent=True),)])
def test_a_judge_that_fails_is_missing_data_and_no_zero(tmp_path, said):
    row = run(tmp_path, suite_task(), DONE, judge(*said)[0])
    assert scores(row) == ("judge_error", None, None)
    assert row.reason.startswith("judge: no ")
    assert row.judge_usage.calls == len(said)


def test_what_the_judge_used_is_counted_apart_from_what_the_target_used(tmp_path):
    row = run(tmp_path, suite_task(), DONE, judge(verdicts(polite="yes"))[0])
    assert (row.usage, row.judge_usage) == (Usage(1, 7, 2), CALL)


def test_a_call_of_the_target_that_failed_is_missing_data_and_is_not_judged(tmp_path):
    asked, model = judge()
    row = run(tmp_path, suite_task(), Answers(ModelError("timed out", permanent=False)), asked)
    assert (*scores(row), row.reason) == ("infra_error", None, None, "timed out")
    assert model.requests == []


def test_the_category_is_the_task_type(tmp_path):
    assert run(tmp_path, suite_task(category="memory"), DONE).task_type == "memory"


def test_val_is_the_verification_suite_cut_in_two_where_there_is_no_test_suite(tmp_path):
    suite = Suite(str(write_pair(tmp_path / "toys", held_out=5)), None, None)
    ids = {split: [task.id for task in suite.tasks(split)] for split in ("val", "test")}
    assert ids == {"val": ["toys-b0", "toys-b1", "toys-b2"], "test": ["toys-b3", "toys-b4"]}
    tasks = {split: suite.tasks(split) for split in ("train", "val", "test")}
    how = manifest(suite, tasks)
    assert how == SplitManifest((tmp_path / "toys").as_posix(), "dir", "toys, val cut in two", None, 3, 3, 2)


def test_a_test_suite_is_test_and_val_stays_whole(tmp_path):
    folder = write_pair(tmp_path / "toys")
    write_suite(folder / "toys_test.json", suite_task("c0"))
    suite = Suite(str(folder), None, None)
    assert [len(suite.tasks(split)) for split in ("train", "val", "test")] == [3, 4, 1]
    assert suite.parting.cut == "toys"


def test_one_suite_is_cut_in_file_order(tmp_path):
    path = write_suite(tmp_path / "all.json", *(suite_task(f"t{number}") for number in range(10)))
    suite = Suite(str(path), None, "70/30")
    assert [[task.id for task in suite.tasks(split)] for split in ("val", "test")] == [["t7", "t8"], ["t9"]]
    assert (suite.parting.mode, suite.parting.cut) == ("head", "70/30")


def test_a_pair_is_chosen_by_its_id(tmp_path):
    folder = write_pair(write_pair(tmp_path / "toys"), "other")
    assert Suite(str(folder), "toys-other", None).tasks("train")[0].id == "other-a0"
    with pytest.raises(SkillpipeError, match=r"env\.pair is None; the pairs in .* are toys-other, toys"):
        Suite(str(folder), None, None).tasks("train")


def test_plan_is_warned_of_rubrics_that_nobody_judges(tmp_path):
    folder = write_pair(tmp_path / "toys")
    (warning,) = Suite(str(folder), None, None).warnings()
    assert "judge=none: 7 of 7 tasks have a rubric that nobody judges" in warning
    assert Suite(str(folder), None, None, judge()[0]).warnings() == ()


def test_a_judge_is_counted_with_its_second_try_where_there_is_something_to_judge(tmp_path):
    folder = write_pair(tmp_path / "toys")
    assert Suite(str(folder), None, None, judge()[0]).most_calls == Calls(target=1, judge=2)
    assert Suite(str(folder), None, None).most_calls == Calls(target=1, judge=0)
    by_program = [suite_task(f"t{number}", rubric=[ITEM | {"regex": "a"}]) for number in range(4)]
    path = write_suite(tmp_path / "all.json", *by_program)
    assert Suite(str(path), None, "50/50", judge()[0]).most_calls == Calls(target=1, judge=0)


def test_plan_is_warned_of_tool_calls_that_cannot_be_made_and_of_repeats(tmp_path):
    hard = {"required_tools": ["tap"]}
    tasks = [suite_task(f"t{number}", hard_assertions=hard, repeats=3) for number in range(4)]
    path = write_suite(tmp_path / "all.json", *tasks)
    tools, repeats = Suite(str(path), None, "50/50", judge()[0]).warnings()
    assert "4 of 4 tasks require tool calls, and the target of this environment has no tools" in tools
    assert "4 of 4 tasks ask for repeats" in repeats
