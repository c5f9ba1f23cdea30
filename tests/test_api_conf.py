"""The choices in conf/target and conf/optimizer/api name every argument of their class, and none too many."""

from pathlib import Path

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from skillpipe.models.api import ChatServer, LitellmModel

CONF = Path(__file__).parent.parent / "conf"


@pytest.mark.parametrize("role", ["target", "optimizer/api"])
@pytest.mark.parametrize(
    ("name", "kind", "needed"),
    [
        ("litellm", LitellmModel, {"model": "openai/gpt-5-mini"}),
        ("chat_server", ChatServer, {"model": "m", "api_base": "http://localhost:8000/v1"}),
    ],
)
def test_a_choice_makes_its_model(role: str, name: str, kind: type, needed: dict[str, str]) -> None:
    conf = OmegaConf.load(CONF / role / f"{name}.yaml")
    settings, execution = conf.target if role == "target" else conf.optimizer.api, next(iter(conf.execution.values()))
    raw = OmegaConf.to_container(settings, resolve=False)
    assert {key for key, value in raw.items() if value in ("???", "${optimizer.model}")} == set(needed)
    merged = OmegaConf.merge(settings, needed, execution)
    arguments = {key: value for key, value in merged.items() if key != "source"}
    assert type(instantiate(arguments, _convert_="all")) is kind
