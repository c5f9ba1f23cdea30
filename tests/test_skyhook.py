"""skyhook.py: each statement that it makes about environments and rewards."""

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv

from skillpipe.skyhook import Binding, env

STAGES = Path(__file__).resolve().parents[1] / "stages"
NUMBERS = itertools.count()


@pytest.fixture
def env_id() -> Iterator[str]:
    """An id that no other test has; what is registered under it is gone afterwards."""
    env_id = f"hooked_{next(NUMBERS)}"
    yield env_id
    skyrl_gym.registry.pop(env_id, None)


@pytest.fixture
def binding(env_id: str) -> Binding:
    return env[env_id]


def game_for(binding: Binding) -> type[BaseTextEnv]:
    class Game(BaseTextEnv):
        def __init__(self, target="crane"):
            super().__init__()
            self.target = target

        def step(self, action):
            done = action == self.target
            return {"observations": [], "reward": binding.sum_rewards(self, action), "done": done, "metadata": {}}

    return Game


def correct_word(game, action):
    return 1.0 if action == game.target else 0.0


def turn_cost(game, action):
    return -0.05


def test_the_class_decorator_registers_the_class_as_the_entry_point(binding, env_id):
    game = binding(game_for(binding))
    assert skyrl_gym.spec(env_id).entry_point is game


def test_the_class_decorator_returns_the_same_class_with_its_step_and_its_bases(binding):
    game = game_for(binding)
    step, bases = game.step, game.__mro__
    assert binding(game) is game
    assert (game.step, game.__mro__) == (step, bases)


def test_skyrl_gym_makes_an_instance_with_its_arguments(binding, env_id):
    binding(game_for(binding))
    assert skyrl_gym.make(env_id, target="slate").target == "slate"


def test_the_reward_decorator_returns_the_same_function(binding):
    assert binding.reward(correct_word) is correct_word


def test_a_name_has_one_binding_by_attribute_and_by_key():
    assert env.hooked_once is env.hooked_once
    assert env.hooked_once is env["hooked_once"]


def test_a_step_earns_the_sum_of_the_rewards(binding):
    game = binding(game_for(binding))()
    binding.reward(correct_word)
    binding.reward(turn_cost)
    assert game.step("crane")["reward"] == 0.95


def test_each_reward_is_called_once_in_the_order_of_registration_with_the_same_arguments(binding):
    calls = []
    for name in "abc":
        binding.reward(lambda *args, name=name, **kwargs: calls.append((name, args, kwargs)) or 0, name=name)
    binding.sum_rewards(1, "x", scale=2, self="s")
    assert calls == [(name, (1, "x"), {"scale": 2, "self": "s"}) for name in "abc"]


def test_a_reward_that_raises_ends_the_call_with_the_same_exception(binding):
    failure, calls = RuntimeError("no"), []

    def broken():
        raise failure

    binding.reward(broken)
    binding.reward(lambda: calls.append(1), name="later")
    with pytest.raises(RuntimeError) as raised:
        binding.sum_rewards()
    assert raised.value is failure
    assert calls == []


def test_rewards_are_the_original_callables_by_name_in_order(binding):
    binding.reward(turn_cost)
    binding.reward(correct_word)
    assert list(binding.rewards.items()) == [("turn_cost", turn_cost), ("correct_word", correct_word)]


def test_a_reward_that_is_looked_up_runs_alone_and_gives_its_own_result(binding):
    binding.reward(lambda: pytest.fail("called"), name="other")
    binding.reward(lambda: "raw", name="mine")
    assert binding.rewards["mine"]() == "raw"


def test_a_missing_reward_is_a_key_error(binding):
    with pytest.raises(KeyError):
        binding.rewards["missing"]


def test_rewards_cannot_be_written_to(binding):
    binding.reward(turn_cost)
    with pytest.raises(TypeError):
        binding.rewards["turn_cost"] = correct_word
    with pytest.raises(TypeError):
        del binding.rewards["turn_cost"]
    with pytest.raises(AttributeError):
        binding.rewards = {}


def test_rewards_are_a_live_view(binding):
    view = binding.rewards
    binding.reward(turn_cost)
    assert dict(view) == {"turn_cost": turn_cost}


def test_rewards_may_come_before_the_class_and_after_an_instance(binding):
    binding.reward(correct_word)
    game = binding(game_for(binding))()
    assert game.step("crane")["reward"] == 1.0
    binding.reward(turn_cost)
    assert game.step("crane")["reward"] == 0.95


def test_a_reward_registered_during_a_call_counts_from_the_next_one(binding):
    def grows():
        binding.reward(lambda: 2.0, name=f"late {len(binding.rewards)}")
        return 1.0

    binding.reward(grows)
    assert binding.sum_rewards() == 1.0
    assert binding.sum_rewards() == 3.0


def test_an_environment_of_an_id_with_punctuation_is_reached_by_key():
    assert env["hooked-env-v0"].reward(turn_cost) is env["hooked-env-v0"].rewards["turn_cost"]


@pytest.mark.parametrize(("key", "error"), [(123, TypeError), (None, TypeError), ("", ValueError), ("  ", ValueError)])
def test_a_key_that_is_no_id_is_refused(key, error):
    with pytest.raises(error):
        env[key]


def test_a_leading_underscore_is_no_attribute_but_a_key():
    with pytest.raises(AttributeError):
        _ = env._hooked
    assert env["_hooked"].sum_rewards() == 0


def test_an_id_that_is_taken_is_skyrls_own_error_and_the_first_class_stays(binding, env_id):
    first = binding(game_for(binding))
    with pytest.raises(skyrl_gym.error.RegistrationError):
        binding(game_for(binding))
    assert skyrl_gym.spec(env_id).entry_point is first


@pytest.mark.parametrize("thing", [object, dict, lambda: None, None, "Game"])
def test_what_is_no_class_of_environments_is_refused_and_not_registered(binding, env_id, thing):
    with pytest.raises(TypeError):
        binding(thing)
    assert env_id not in skyrl_gym.registry


MODULE = "from skyrl_gym import Env\nfrom skillpipe.skyhook import env\n@env.elsewhere\nclass Game(Env): ...\n"
MAKE = (
    "import skyrl_gym\ntry:\n    print(skyrl_gym.make('elsewhere'))\nexcept skyrl_gym.error.Error:\n    print('none')\n"
)


@pytest.mark.parametrize(("code", "said"), [(MAKE, "none"), ("import module\n" + MAKE, "Env(Game)")])
def test_an_environment_exists_in_a_process_that_imports_its_module_and_in_no_other(tmp_path, code, said):
    (tmp_path / "module.py").write_text(MODULE, "utf-8")
    assert python(tmp_path, code) == said


def test_skillpipe_itself_needs_no_skyrl(tmp_path):
    gone = "import sys\nsys.modules['skyrl_gym'] = None\n"
    assert python(tmp_path, gone + "import skillpipe, skillpipe.envs.dataset\nprint('fine')") == "fine"


def test_without_skyrl_the_import_says_what_to_install(tmp_path):
    code = (
        "import sys\nsys.modules['skyrl_gym'] = None\nfrom skillpipe.errors import SkillpipeError\n"
        "try:\n    import skillpipe.skyhook\n"
        "except SkillpipeError as error:\n    print(isinstance(error, ImportError), error)"
    )
    said = python(tmp_path, code)
    assert said.startswith("True skillpipe.skyhook: SkyRL Gym cannot be imported")
    assert "pip install 'skillpipe[skyrl]'" in said


def test_a_run_without_skyrl_says_what_to_install(tmp_path):
    code = (
        "import sys\nsys.modules['skyrl_gym'] = None\nfrom skillpipe import config, errors\n"
        "try:\n    config.build({'_target_': 'skillpipe.envs.skyrl.SkyRL'}, 'env')\n"
        "except errors.SkillpipeError as error:\n    print(error)"
    )
    assert "pip install 'skillpipe[skyrl]'" in python(tmp_path, code)


def python(folder: Path, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(STAGES)!r})\n{code}"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
