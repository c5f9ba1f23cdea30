"""Fixtures that more than one file of tests needs."""

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from asking import KEY
from skillpipe import config
from toys import write_toy
from workbench import Bench

settings.register_profile("patient", deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("patient")
ROOT = Path(__file__).resolve().parents[1]
TOY = [
    "env=toy",
    "target=toy",
    "gate=toy",
    "steps_per_epoch=1",
    "batch_size=8",
    "edit_budget=3",
    "slow_update.enabled=false",
]


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """conf/, params.yaml, data and a skill for the toy choices; no test writes into it."""
    root = tmp_path_factory.mktemp("toy")
    shutil.copytree(ROOT / "conf", root / "conf")
    shutil.copytree(ROOT / "prompts", root / "prompts")
    write_toy(root)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(root)
        (root / "params.yaml").write_text(config.compose(TOY), encoding="utf-8")
    return root


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger is to be made, in a folder that is not there yet."""
    return tmp_path / "deep" / "calls.sqlite"


@pytest.fixture
def toy_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of a model behind an API is set."""
    monkeypatch.setenv("TOY_KEY", KEY)


@pytest.fixture
def bench(toy_folder: Path, tmp_path: Path) -> Bench:
    """A copy of it, to run scripts in."""
    return Bench(Path(shutil.copytree(toy_folder, tmp_path / "bench")))
