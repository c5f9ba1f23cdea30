"""config.py: how conf/ becomes params.yaml, and choices become objects."""

import dataclasses
import inspect
import shutil
from functools import cache
from pathlib import Path

import pytest
import yaml
from dvc.utils.hydra import compose_and_dump
from omegaconf import OmegaConf

from choices import EVERY
from skillpipe import config, roles, scoring, sections
from skillpipe.errors import SkillpipeError
from skillpipe.records import Usage

ROOT = Path(__file__).resolve().parents[1]
SCORERS = ["contains", "exact", "exact_ci", "number", "regex"]


class Shelf:
    """Something to build: it keeps what it was given."""

    def __init__(self, books=(), size=1):
        if size < 0:
            raise SkillpipeError(f"shelf.size is {size}; allowed is 0 or more")
        self.books, self.size = books, size


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch) -> Path:
    """A folder with this project's conf/, as the working directory."""
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@cache
def composed(*overrides: str) -> dict:
    """What params.yaml holds, for conf/ as it is in git."""
    return yaml.safe_load(config.compose(overrides))


def refusal(call, *arguments, **named) -> str:
    with pytest.raises(SkillpipeError) as caught:
        call(*arguments, **named)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def how(values: dict) -> list:
    """The sections execution and budget, as a stage gets them."""
    kinds = {"execution": sections.Execution, "budget": sections.Budget}
    return [
        OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(kind), values[key])) for key, kind in kinds.items()
    ]


def came_from(built, source: str) -> bool:
    """Whether the object's class is written in the file `source`, or in one of the folder `source`."""
    path = Path(inspect.getsourcefile(type(built)))
    return ROOT / source in (path, path.parent)


def shelf(**given) -> dict:
    return {"_target_": "test_config.Shelf"} | given


@pytest.mark.parametrize(
    "overrides",
    [[], ["edit_budget=2"], ["num_epochs=3", "schedule=cosine", "min_edit_budget=0"], ["env.prompt='Text: {input}'"]]
    + [list(overrides) for overrides in EVERY],
    ids=str,
)
def test_params_are_what_dvc_composes_byte_for_byte(project, overrides):
    compose_and_dump(project / "dvc.yaml", str(project / "conf"), None, "config", str(ROOT / "stages"), overrides)
    assert config.compose(overrides) == (project / "dvc.yaml").read_text("utf-8")


def test_composing_twice_gives_the_same_text():
    assert config.compose([]) == config.compose([])


@pytest.mark.parametrize("overrides", EVERY, ids=str)
def test_nothing_is_left_to_be_filled_in(overrides):
    text = config.compose(overrides)
    assert "${" not in text
    assert "???" not in text


def test_an_override_reaches_the_sections_that_read_it_and_no_other():
    before, after = composed(), composed("min_coverage=0.5")
    assert {key for key in before if before[key] != after[key]} == {
        "min_coverage",
        "rollout",
        "slow_update",
        "validate",
    }


@pytest.mark.parametrize(
    ("section", "schema"),
    [
        (name, getattr(sections, name.capitalize()))
        for name in ("plan", "rollout", "reflect", "aggregate", "apply", "gate")
    ],
)
def test_each_section_holds_exactly_what_its_stage_reads(section, schema):
    assert set(composed()[section]) == {field.name for field in dataclasses.fields(schema)}


def test_steps_and_last_state_follow_the_numbers():
    values = composed("num_epochs=1", "steps_per_epoch=3", "edit_budget=3", "schedule=linear")
    assert {key: step["edit_budget"] for key, step in values["steps"].items()} == {"e1s1": 2, "e1s2": 2, "e1s3": 1}
    assert values["last_state"] == "e1s3"


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("edit_budgt=3", "edit_budgt"),
        ("plan.sede=3", "plan.sede"),
        ("+edit_budgt=3", "edit_budgt"),
        ("edit_budget=abc", "edit_budget"),
        ("min_coverage=[1]", "min_coverage"),
        ("schedule=cosin", "allowed are constant, linear, cosine"),
        ("num_epochs=0", "num_epochs is 0"),
        ("edit_budget=", "edit_budget"),
        ("env=nope", "env/nope"),
        ("env=nope", "reviews"),
        ("edit_budget", "edit_budget"),
    ],
)
def test_an_override_that_cannot_be_is_refused_by_name(override, said):
    assert said in refusal(config.compose, [override])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("edit_budget: 4", "edit_budgt: 4", "edit_budgt"),
        ("edit_budget: 4", "edit_budget: four", "edit_budget"),
        ("  min_coverage: ${min_coverage}", "  min_coverage: ${min_coverag}", "min_coverag"),
        ("edit_budget: 4", "edit_budget: [", "conf/"),
        ("  - env: reviews", "  - env: nope", "env/nope"),
    ],
)
def test_a_slip_in_conf_is_refused_by_name(project, old, new, said):
    text = (project / "conf" / "config.yaml").read_text("utf-8")
    assert old in text
    (project / "conf" / "config.yaml").write_text(text.replace(old, new), "utf-8")
    assert said in refusal(config.compose, [])


def test_the_digest_is_16_hex_digits_and_stands_in_params():
    digest = config.conf_digest()
    assert len(digest) == 16
    assert int(digest, 16) >= 0
    assert (composed()["conf_digest"], composed()["plan"]["conf_digest"]) == (digest, digest)


@pytest.mark.parametrize(
    "change",
    [
        lambda conf: (conf / "config.yaml").write_bytes((conf / "config.yaml").read_bytes() + b"\n"),
        lambda conf: (conf / "gate" / "strict.yaml").rename(conf / "gate" / "other.yaml"),
        lambda conf: (conf / "gate" / "new.yaml").write_bytes(b""),
        lambda conf: (conf / "gate" / "strict.yaml").unlink(),
    ],
    ids=["one byte more", "a new name", "a new empty file", "one file less"],
)
def test_the_digest_changes_with_any_file_of_conf(project, change):
    before = config.conf_digest()
    change(project / "conf")
    assert config.conf_digest() != before


def test_the_digest_does_not_depend_on_where_conf_stands(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "settings"
    shutil.copytree(project / "conf", elsewhere)
    assert config.conf_digest(elsewhere) == config.conf_digest()


def test_conf_is_found_from_a_folder_inside_the_project(project, monkeypatch):
    text = config.compose([])
    (project / "data" / "x").mkdir(parents=True)
    monkeypatch.chdir(project / "data" / "x")
    assert config.compose([]) == text


def test_a_missing_conf_is_refused_by_name():
    assert "gone: no such folder" in refusal(config.conf_digest, "gone")


@pytest.mark.parametrize("overrides", EVERY, ids=str)
def test_every_choice_can_be_built_from_the_file_that_it_names_as_its_source(overrides):
    values = composed(*overrides)
    for role, node in (("env", values["env"]), ("gate.rule", values["gate"]["rule"])):
        assert came_from(config.build(node, role), node["source"])
    with roles.target(values["target"], *how(values), Usage()) as target:
        assert came_from(target._model, values["target"]["source"])
    with roles.optimizer(values["optimizer"], *how(values), Usage(), "prompts") as optimizer:
        assert came_from(optimizer, values["optimizer"]["source"])
        if "api" in values["optimizer"]:
            assert came_from(optimizer._model._model, values["optimizer"]["model_source"])


@pytest.mark.parametrize("name", SCORERS)
def test_every_scorer_can_be_chosen(name):
    node = composed(f"env.scorer._target_=skillpipe.scoring.{name}")["env"]["scorer"]
    assert config.build(node, "scorer")("4", "4") == getattr(scoring, name)("4", "4")


def test_a_choice_is_built_with_its_arguments_and_without_its_source():
    built = config.build(shelf(source="shelf.py", books=["a"]), "shelf", size=3)
    assert (built.books, type(built.books), built.size) == (["a"], list, 3)


def test_a_class_beside_params_yaml_needs_no_installation(project):
    (project / "my_shelf.py").write_text("class Mine:\n    pass\n", "utf-8")
    assert type(config.build({"_target_": "my_shelf.Mine"}, "shelf")).__name__ == "Mine"


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"books": []}, "shelf: has no _target_"),
        ({"_target_": "no_such_module.Shelf"}, "shelf: no_such_module.Shelf: "),
        ({"_target_": "test_config.NoShelf"}, "shelf: test_config.NoShelf: "),
        (shelf(colour="red"), "colour"),
        (shelf(size=-1), "shelf.size is -1; allowed is 0 or more"),
        (shelf(books=shelf(size=-1)), "shelf.size is -1; allowed is 0 or more"),
    ],
)
def test_a_choice_that_cannot_be_built_is_refused_in_one_line(node, said):
    message = refusal(config.build, node, "shelf")
    assert said in message
    assert not said.startswith("shelf.size") or message == said
