"""The choices in conf/, and what a person has to say beside one."""

from pathlib import Path

CONF = Path(__file__).resolve().parents[1] / "conf"
_URL = "http://localhost:8000/v1"
_NEEDED = {
    "env=skillopt": ("env.data=data/mine", "env.adapter._target_=adapters.Words"),
    "judge=litellm": ("judge.model=openai/gpt-5",),
    "judge=chat_server": ("judge.model=m", "judge.api_base=http://localhost:8000/v1"),
    "optimizer=model": ("optimizer.model=openai/gpt-5",),
    "target=litellm": ("target.model=openai/gpt-5",),
    "target=chat_server": ("target.model=m", f"target.api_base={_URL}"),
}
CHOICES = sorted(f"{path.parent.name}={path.stem}" for path in CONF.glob("*/*.yaml"))
# A choice inside a choice.
_DIRECT = ("optimizer=model", "optimizer/api=chat_server", "optimizer.model=m", f"optimizer.api.api_base={_URL}")


def chosen(choice: str) -> tuple[str, ...]:
    """The overrides that make this choice."""
    return (choice, *_NEEDED.get(choice, ()))


EVERY = [*map(chosen, CHOICES), _DIRECT]
