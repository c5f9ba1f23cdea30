"""envs/skyrl: an episode of a SkyRL Gym environment is a rollout."""

import asyncio
import math
from collections.abc import Iterator

import pytest

from skillpipe.envs import Calls
from skillpipe.models import Reply
from skillpipe.records import Message, Usage
from skyrl_toys import TASK, Says, environment, paid, play, registered


@pytest.fixture(autouse=True)
def game() -> Iterator[None]:
    with registered():
        yield


def test_an_episode_is_a_conversation_under_the_skill():
    target = Says("a", "b", "c")
    asyncio.run(environment().run(TASK, "Be brief.", target))
    said = ("Be brief.", "Start", "a", "turn 1", "b", "turn 2")
    roles = ("system", "user", "assistant", "user", "assistant", "user")
    assert target.requests[2].messages == tuple(map(Message, roles, said))
    assert [len(request.messages) for request in target.requests] == [2, 4, 6]


def test_the_trajectory_is_everything_but_the_skill():
    said = [message.content for message in play("a", "b", "c").trajectory]
    assert said == ["Start", "a", "turn 1", "b", "turn 2", "c", "turn 3"]


def test_an_episode_takes_a_call_for_each_turn_at_most():
    assert environment(max_turns=4).most_calls == Calls(target=4)


def test_rewards_add_up_to_the_score():
    rollout = play(task=paid(0.25, 0.25))
    assert (rollout.status, rollout.hard, rollout.soft) == ("failed", 0.0, 0.75)
    assert rollout.reason == "reward 0.5, pass_at is 1"


def test_an_episode_passes_at_the_stated_sum():
    rollout = play(task=paid(0.25, 0.25), pass_at=0.5)
    assert (rollout.status, rollout.hard, rollout.reason) == ("passed", 1.0, "")


def test_a_sum_that_rounding_puts_a_few_bits_beside_its_value_counts_as_the_value():
    assert 0.1 + 0.7 < 0.8
    assert play(task=paid(0.1, 0.7), pass_at=0.8).status == "passed"
    assert 0.1 + 0.1 + 0.1 > 0.3
    assert play(task=paid(0.1, 0.1, 0.1), pass_at=0.3, reward_range=[0, 0.3]).soft == 1.0


@pytest.mark.parametrize(("rewards", "soft"), [((-1,), 0.0), ((0,), 0.5), ((1,), 1.0)])
def test_soft_is_where_the_sum_lies_in_the_range(rewards, soft):
    assert play(task=paid(*rewards)).soft == soft


@pytest.mark.parametrize(("reward", "said"), [(1.5, "1.5"), (-2, "-2"), (math.nan, "nan"), (math.inf, "inf")])
def test_a_sum_outside_the_range_is_missing_data(reward, said):
    rollout = play(task=paid(reward))
    assert (rollout.status, rollout.hard, rollout.soft) == ("judge_error", None, None)
    assert rollout.reason == f"env toy_game: reward {said} is not in reward_range -1 to 1"


def test_an_episode_that_is_not_done_ends_after_max_turns_with_what_it_earned():
    target = Says("a")
    rollout = asyncio.run(environment(max_turns=2).run(TASK, "", target))
    assert len(target.requests) == 2
    assert (rollout.status, rollout.reason) == ("failed", "reward 0.75, pass_at is 1; not done after 2 turns")


def test_usage_is_that_of_all_turns():
    assert play().usage == Usage(3, 21, 6, 1.5)


def test_whatever_the_environment_says_is_said_by_the_user():
    observed = [{"role": role, "content": role} for role in ("system", "tool", "assistant")]
    roles = [message.role for message in play(odd={"observed": observed}).trajectory[:3]]
    assert roles == ["user", "user", "assistant"]


def test_an_action_that_the_environment_rewrites_stands_in_the_conversation_as_rewritten():
    rollout = play(" Crane! ", task=paid(1), odd={"output": {"postprocessed_action": "crane"}})
    assert rollout.trajectory[1] == Message("assistant", "crane")


def test_a_last_reply_that_the_token_limit_cut_says_so_when_it_fails():
    cut = Reply("a", Usage(1), "length")
    assert play(cut, task=paid(0)).reason == "cut by the token limit; reward 0, pass_at is 1"
    assert play(cut, task=paid(1)).reason == ""


def test_the_only_metric_of_a_plain_environment_is_the_reward():
    assert play().metrics == {"reward": 1.0}


def test_finite_numbers_among_the_environments_own_metrics_are_kept():
    own = {
        "steps": 3,
        "won": True,
        "name": "x",
        "text": "3",
        "none": None,
        "bad": math.nan,
        "huge": 10**400,
        "list": [1],
    }
    assert play(odd={"metrics": own}).metrics == {"steps": 3.0, "won": 1.0, "reward": 1.0}
