"""A word-guessing game for SkyRL Gym: a clue, three guesses, and a narrower choice after each wrong one."""

from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from skillpipe.skyhook import env


@env.words
class Words(BaseTextEnv):
    """One word. `extras` are SkyRL's: the `answer`, three `choices` with the answer among them, and `max_turns`.

    The reward of a step is the sum of the rewards below: 0.9, 0.8 or 0.7 in all for the first, second or third guess,
    -0.3 for three wrong ones.
    """

    def __init__(self, env_config: Any, extras: dict[str, Any]) -> None:
        super().__init__()
        self.word: str = extras["answer"]
        self.choices: list[str] = extras["choices"]
        self.max_turns = extras["max_turns"]
        self.over = False

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
        self.turns, self.over = 0, False
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        if self.over:
            raise RuntimeError("the game is over; init begins another")
        self.turns += 1
        right = same(action, self.word)
        self.over = right or self.turns >= self.max_turns
        return BaseTextEnvStepOutput(
            observations=[{"role": "user", "content": "Right." if right else self._hint(action)}],
            reward=env.words.sum_rewards(self, action),
            done=self.over,
            metadata={"turns": self.turns},
        )

    def get_metrics(self) -> dict[str, Any]:
        return {"turns": self.turns}

    def _hint(self, action: str) -> str:
        if self.over:
            return f"Wrong. It was {self.word}."
        left = self.choices
        if self.turns > 1:
            other = next(word for word in self.choices if word != self.word and not same(action, word))
            left = [word for word in self.choices if word in (self.word, other)]
        return f"Wrong. Is it {', '.join(left[:-1])} or {left[-1]}?\nWord:"


@env.words.reward
def solved(game: Words, action: str) -> float:
    """1 for the word."""
    return 1.0 if same(action, game.word) else 0.0


@env.words.reward
def guess(game: Words, action: str) -> float:
    """What a guess costs."""
    return -0.1


def same(action: str, word: str) -> bool:
    """Whether an action is the word and nothing else; case, blanks and a full stop apart."""
    return action.strip().removesuffix(".").casefold() == word.casefold()
