"""gating: Strict, Paired, Veto and Off, each by itself."""

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pairing import FRACTIONS, HARD_RULES, PASSES, changed, decide, pairs
from samples import scores
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Off, OpenTask, Paired, Strict, Verdict, Veto
from skillpipe.gating.paired import sign_flip
from workbench import STAGES

TWO = st.lists(st.tuples(PASSES, PASSES), min_size=1, max_size=14)
TWO_FRACTIONS = st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=8)


def waiting(*before) -> list[OpenTask]:
    return [OpenTask(f"w{number}", "", Fraction(str(value))) for number, value in enumerate(before)]


@pytest.mark.parametrize("value", [-0.1, 1, 1.5, math.nan])
def test_a_min_delta_outside_its_range_is_refused_with_the_range(value):
    with pytest.raises(SkillpipeError, match=f"min_delta is {value}; allowed is 0 up to 1"):
        Strict(value)


@pytest.mark.parametrize("value", [0, -0.1, 0.51, math.nan])
def test_an_alpha_outside_its_range_is_refused_with_the_range(value):
    with pytest.raises(SkillpipeError, match=f"alpha is {value}; allowed is above 0 up to 0.5"):
        Paired(value)


@given(st.integers(0, 60), st.integers(0, 60))
def test_on_passed_and_failed_tasks_p_is_the_exact_one_sided_mcnemar_test(gained, lost):
    expected = stats.binomtest(gained, gained + lost, 0.5, "greater").pvalue if gained + lost else 1.0
    assert Paired(0.05).judge(changed(gained, lost, 3)).p_value == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.integers(-6, 6), max_size=9))
def test_p_is_the_share_of_all_sign_patterns_that_gain_as_much(changes):
    patterns = list(itertools.product((1, -1), repeat=len(changes)))
    sums = [sum(sign * change for sign, change in zip(signs, changes, strict=True)) for signs in patterns]
    assert sign_flip(changes) == Fraction(sum(total >= sum(changes) for total in sums), len(patterns))


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=10))
def test_on_fractions_p_is_that_of_scipys_permutation_test(percent):
    before, after = [0.5] * len(percent), [(100 + change) / 200 for change in percent]
    test = stats.permutation_test(
        (numpy.array(percent, dtype=float),), numpy.sum, permutation_type="samples", alternative="greater"
    )
    assert Paired(0.05).judge(pairs(before, after)).p_value == pytest.approx(test.pvalue, rel=1e-9)


def test_means_of_three_repeats_tie_though_their_decimals_do_not():
    third, two_thirds = 0.3333333333333333, 0.6666666666666667
    assert Paired(0.5).judge(pairs([third, third, 0], [0, 0, two_thirds])).p_value == 0.625


def test_a_loss_that_rounding_hides_is_a_loss():
    rounded_to_one_step_up = pairs([0, 0.0008, 0.0008], [0.0009, 0, 0])
    verdict = Paired(0.5).judge(rounded_to_one_step_up)
    assert (verdict.accept, verdict.reason, verdict.p_value) == (False, "a loss", 0.5)
    assert not Paired(0.5).can_pass(rounded_to_one_step_up, [])


@pytest.mark.parametrize(("gained", "lost", "accepted"), [(4, 0, False), (5, 0, True), (6, 1, False), (7, 1, True)])
def test_paired_accepts_at_alpha_or_below_alone(gained, lost, accepted):
    assert Paired(0.05).judge(changed(gained, lost)).accept == accepted


def test_a_p_of_exactly_alpha_is_accepted():
    assert Paired(0.0625).judge(changed(4, 0)).accept
    assert not Paired(0.0624).judge(changed(4, 0)).accept


def test_paired_says_how_sure_it_is():
    assert Paired(0.05).judge(changed(2, 0)).reason == "a gain that may be luck (p 0.25, alpha 0.05)"
    assert Paired(0.05).judge(changed(5, 0)).reason == "a gain (p 0.0312, alpha 0.05)"
    assert Paired(0.05).judge(changed(1, 1)).reason == "a tie"
    assert Paired(0.05).judge(changed(0, 1)).reason == "a loss"


@given(TWO)
def test_at_alpha_one_half_paired_decides_as_strict_on_passed_and_failed_tasks(both):
    given_pairs = pairs(*zip(*both, strict=True))
    assert Paired(0.5).judge(given_pairs).accept == Strict(0.0).judge(given_pairs).accept


@given(TWO_FRACTIONS, st.sampled_from(HARD_RULES))
def test_no_rule_but_off_accepts_a_tie_or_a_loss(both, rule):
    given_pairs = pairs(*zip(*both, strict=True))
    if sum(pair.change for pair in given_pairs) <= 0:
        assert not rule.judge(given_pairs).accept


def test_a_large_val_is_tested_exactly_and_not_by_chance():
    twice = [Paired(0.05).judge(changed(230, 170, 0)).p_value for _ in range(2)]
    assert twice[0] == twice[1] == pytest.approx(stats.binomtest(230, 400, 0.5, "greater").pvalue, rel=1e-9)


def test_a_veto_refuses_more_lost_tasks_than_allowed_and_says_how_many():
    verdict = Veto(Strict(0.0), 1, None).judge(changed(5, 2))
    assert (verdict.accept, verdict.reason) == (False, "a gain, but tasks that got worse are 2 (max_lost 1)")
    assert Veto(Strict(0.0), 2, None).judge(changed(5, 2)).accept


def test_a_veto_refuses_more_worse_types_than_allowed_and_names_them():
    worse = pairs([0, 0, 0, 1, 1, 0], [1, 1, 1, 0, 0, 0], "aaabcc")
    verdict = Veto(Strict(0.0), None, 1).judge(worse)
    assert verdict.reason == "a gain, but task types that got worse are b, c (max_types_worse 1)"
    assert Veto(Strict(0.0), None, 2).judge(worse).accept


def test_a_type_that_loses_as_much_as_it_gains_is_not_worse():
    assert Veto(Strict(0.0), None, 0).judge(pairs([0, 1, 0], [1, 0, 1], "aab")).accept


def test_a_veto_leaves_the_word_of_its_rule_alone_where_it_has_nothing_against():
    assert Veto(Paired(0.05), 0, 0).judge(changed(5, 0)) == Paired(0.05).judge(changed(5, 0))
    assert Veto(Paired(0.05), 0, 0).judge(changed(2, 3)) == Paired(0.05).judge(changed(2, 3))


def test_a_veto_holds_where_there_is_no_gate_too():
    said = "there is no gate, but tasks that got worse are 1 (max_lost 0)"
    assert Veto(Off(), 0, None).judge(changed(0, 1)) == Verdict(False, said)
    assert decide(scores(1), scores(0), rule=Veto(Off(), 0, None)).action == "reject"


@pytest.mark.parametrize(
    ("lost", "worse", "said"),
    [(-1, None, "max_lost is -1"), (None, -2, "max_types_worse is -2"), (None, None, "both null; set one")],
)
def test_a_veto_without_a_limit_or_with_a_wrong_one_is_refused(lost, worse, said):
    with pytest.raises(SkillpipeError, match=said):
        Veto(Strict(0.0), lost, worse)


@pytest.mark.parametrize(("candidate", "best"), [((0, 0), (1, 0)), ((1, 1), (1, 0)), ((1, 0), (1, 0))])
def test_without_a_gate_whatever_comes_is_accepted_by_force(candidate, best):
    decision = decide(scores(1, 0), scores(*candidate), best=scores(*best), rule=Off())
    assert decision.action == "force_accept"
    assert decision.reason.startswith("there is no gate, ")
    assert decision.candidate == sum(candidate) / 2


@pytest.mark.parametrize("rule", [*HARD_RULES, Veto(Strict(0.0), 0, 0), Veto(Paired(0.05), 5, None)])
def test_nothing_can_pass_beside_a_perfect_skill(rule):
    assert not rule.can_pass([], waiting(*[1] * 20))
    assert rule.can_pass([], waiting(*[0] * 20))


def test_without_a_gate_anything_can_pass_beside_a_perfect_skill():
    assert Off().can_pass([], waiting(1, 1))


@pytest.mark.parametrize(("failing", "possible"), [(4, False), (5, True)])
def test_paired_can_pass_only_while_enough_tasks_are_left_to_gain(failing, possible):
    assert Paired(0.05).can_pass([], waiting(*[0] * failing, *[1] * 30)) == possible


def test_no_rule_loads_scipy_or_numpy():
    code = (
        "import sys, skillpipe.gating as g; from fractions import Fraction as F;"
        "g.Paired(0.05).judge([g.Pair('a', '', F(0), F(1))]); print({'scipy', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=STAGES, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
