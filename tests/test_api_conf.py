"""The choices in conf/target name every argument of their class, and none too many."""

from pathlib import Path

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from skillpipe.models.api import ChatServer, LitellmModel

CONF = Path(__file__).parent.parent / "conf" / "target"


@pytest.mark.parametrize(
    ("name", "kind", "needed"),
    [
        ("litellm", LitellmModel, {"model": "openai/gpt-5-mini"}),
        ("chat_server", ChatServer, {"model": "m", "api_base": "http://localhost:8000/v1"}),
    ],
)
def test_a_choice_makes_its_model(name: str, kind: type, needed: dict[str, str]) -> None:
    conf = OmegaConf.load(CONF / f"{name}.yaml")
    missing = {str(key).removeprefix("target.") for key in OmegaConf.missing_keys(conf)}
    assert missing == set(needed)
    merged = OmegaConf.merge(conf.target, needed, conf.execution.target)
    arguments = {key: value for key, value in merged.items() if key != "source"}
    assert type(instantiate(arguments, _convert_="all")) is kind
