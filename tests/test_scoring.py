"""scoring.py: what a response is worth, and the mean over many."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import broken, failed, passed, scores
from skillpipe.errors import SkillpipeError
from skillpipe.scoring import (
    HARD,
    SOFT,
    Metric,
    Score,
    SoftScale,
    contains,
    coverage,
    exact,
    exact_ci,
    mean,
    number,
    regex,
    require_coverage,
)

ALL = (exact, exact_ci, contains, regex, number)


@pytest.mark.parametrize(
    ("scorer", "response", "answer"),
    [
        (exact, " yes\n", "yes"),
        (exact, "yes", " yes "),
        (exact_ci, "YES ", "yes"),
        (exact_ci, "STRASSE", "straße"),
        (contains, "I say yes, always", "yes"),
        (regex, "on 2024-05-01.", r"\d{4}-\d\d-\d\d"),
        (regex, "  abc  ", "^abc$"),
        (number, "it is 2.50", "2.5"),
        (number, "1,250 in all", "1250"),
        (number, "first 3, then 4", "4"),
        (number, "-7", "-7.0"),
        (number, ".5", "0.5"),
        (number, "1e3", "1000"),
        (number, "so 0.1", "0.10"),
        (number, "42.", "the answer is 42"),
    ],
)
def test_a_right_response_scores_one_and_has_nothing_wrong(scorer, response, answer):
    assert scorer(response, answer) == Score(1.0, 1.0, "")


@pytest.mark.parametrize(
    ("scorer", "response", "answer"),
    [
        (exact, "Yes", "yes"),
        (exact, "yes.", "yes"),
        (exact_ci, "yess", "yes"),
        (contains, "YES", "yes"),
        (regex, "on May 1", r"\d{4}"),
        (number, "4 or 3", "4"),
        (number, "0.30000000000000004", "0.3"),
        (number, "none", "4"),
        (number, "-4", "4"),
    ],
)
def test_a_wrong_response_scores_zero_and_says_why(scorer, response, answer):
    score = scorer(response, answer)
    assert (score.hard, score.soft) == (0, 0)
    assert score.reason


def test_the_reason_shows_what_was_expected_and_what_came():
    assert exact("no ", "yes").reason == "expected 'yes', got 'no'"
    assert number("none", "4").reason == "expected 4, got no number"


@given(st.sampled_from(ALL), st.text())
def test_no_response_whatever_breaks_a_scorer(scorer, response):
    assert scorer(response, "7").hard in (0, 1)


@given(st.sampled_from((exact, exact_ci, contains)), st.text())
def test_the_answer_itself_is_always_right(scorer, answer):
    assert scorer(answer, answer).hard == 1


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_number_is_itself_however_it_is_written(value):
    assert number(f"The result is {value}", format(value, "f")).hard == 1


def test_an_answer_without_a_number_is_the_datas_fault():
    with pytest.raises(SkillpipeError, match="scorer number: answer 'none' holds no number"):
        number("4", "none")


def test_an_answer_that_is_no_pattern_is_the_datas_fault():
    with pytest.raises(SkillpipeError, match=r"scorer regex: answer '\(' is no pattern"):
        regex("4", "(")


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
def test_a_hard_score_outside_zero_to_one_cannot_be_made(value):
    with pytest.raises(ValueError, match=f"hard score is {value}"):
        Score(value, 0.5)


def soft(value: float, direction: str = "maximize", bounds=(0.0, 10.0)):
    return SoftScale(direction, bounds)(replace(passed("t1"), soft=value))


@pytest.mark.parametrize(("value", "more", "less"), [(0, 0, 1), (2, 0.2, 0.8), (10, 1, 0)])
def test_soft_scores_are_brought_to_zero_to_one_and_turned_round_where_less_is_better(value, more, less):
    assert (soft(value).soft, soft(value, "minimize").soft) == (more, less)
    assert soft(value).hard == 1


@pytest.mark.parametrize("value", [-0.1, 10.1, math.nan, math.inf])
def test_a_soft_score_out_of_its_range_is_missing_data_and_no_zero(value):
    row = soft(value)
    assert (row.status, row.hard, row.soft) == ("judge_error", None, None)
    assert row.reason == f"soft score is {value:g}; allowed is 0 to 10 (scores.range)"


def test_a_rollout_without_a_score_is_left_as_it_is():
    assert SoftScale("maximize", (0, 1))(broken("t1")) == broken("t1")


@pytest.mark.parametrize(
    ("direction", "bounds"), [("up", (0, 1)), ("maximize", (1, 0)), ("maximize", (0, math.inf)), ("maximize", (1,))]
)
def test_a_scale_that_is_none_is_refused(direction, bounds):
    with pytest.raises(SkillpipeError, match=r"^scores\."):
        SoftScale(direction, bounds)


@pytest.mark.parametrize("value", [True, 1])
def test_a_score_given_as_a_truth_value_or_an_integer_becomes_a_float(value):
    score = Score(value, value)
    assert (type(score.hard), type(score.soft)) == (float, float)


def test_the_mean_is_over_scored_rows_alone():
    assert mean(scores(1.0, None, 0.0, 0.5)) == 0.5


def test_a_score_of_zero_is_a_score():
    assert mean(scores(0.0, None)) == 0.0


@pytest.mark.parametrize("rows", [(), scores(None, None)])
def test_without_a_score_there_is_no_mean(rows):
    assert mean(rows) is None


def test_the_soft_mean_is_that_of_the_soft_scores():
    rows = [Score(0.0, 0.25), Score(1.0, 0.75)]
    assert (mean(rows), mean(rows, SOFT)) == (0.5, 0.5)
    assert mean(rows[:1], SOFT) == 0.25


def test_a_mean_is_exact_over_the_decimals_as_they_are_written():
    assert sum([0.1, 0.1, 0.1]) / 3 != 0.1
    assert mean(scores(0.1, 0.1, 0.1)) == 0.1


@pytest.mark.parametrize(
    ("metric", "score"),
    [
        (HARD, "0"),
        (SOFT, "3/10"),
        (Metric("mixed", 0.1), "3/100"),
        (Metric("mixed", 0), "0"),
        (Metric("mixed", 1), "3/10"),
    ],
)
def test_a_metric_weighs_the_hard_and_the_soft_score_exactly(metric, score):
    assert metric.of(Score(0.0, 0.3)) == Fraction(score)


@pytest.mark.parametrize("metric", [HARD, SOFT, Metric("mixed", 0.5)])
def test_a_row_without_a_score_has_none_by_any_metric(metric):
    assert metric.of(broken("v0")) is None
    assert mean([broken("v0"), passed("v1")], metric) == 1.0


def test_another_metric_is_refused_with_those_allowed():
    with pytest.raises(SkillpipeError, match="metric is 'f1'; allowed are hard, soft, mixed"):
        Metric("f1", 0.0)


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan])
def test_a_weight_outside_zero_to_one_is_refused(weight):
    with pytest.raises(SkillpipeError, match=f"weight is {weight}; allowed is 0 to 1"):
        Metric("mixed", weight)


@pytest.mark.parametrize(("rows", "share"), [((), 0.0), (scores(None), 0.0), (scores(0.0, None, 1.0, None), 0.5)])
def test_coverage_is_the_share_of_scored_rows(rows, share):
    assert coverage(rows) == share


def test_coverage_at_the_minimum_passes():
    require_coverage([passed("a")] * 9 + [broken("b")], 0.9, "here")


def test_coverage_below_the_minimum_is_refused_with_numbers_and_the_commonest_reasons():
    rows = [passed("a"), failed("b"), broken("c", "timed out"), broken("d", "timed out"), broken("e", "refused")]
    with pytest.raises(SkillpipeError) as caught:
        require_coverage(rows, 0.9, "here")
    numbers = "2 of 5 tasks were scored, min_coverage is 0.9"
    assert str(caught.value) == f"here: {numbers}: 2 x infra_error: timed out; 1 x infra_error: refused"


def test_no_rollouts_at_all_do_not_count_as_covered():
    with pytest.raises(SkillpipeError, match="here: 0 of 0 tasks"):
        require_coverage([], 0.9, "here")
