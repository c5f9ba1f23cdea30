"""dvc.yaml: what a stage depends on is what it reads and imports, no more and no less."""

import dataclasses
import re
import typing
from functools import cache
from pathlib import Path

import pytest
import yaml

from choices import CHOICES, chosen
from closure import closure
from skillpipe import config, sections

ROOT = Path(__file__).resolve().parents[1]
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text("utf-8"))["stages"]
BODIES = {name: stage.get("do", stage) for name, stage in STAGES.items()}
SOURCES = (
    "${env.source}",
    "${env.model_source}",
    "${target.source}",
    "${judge.source}",
    "${judge.source}",
    "${optimizer.source}",
    "${optimizer.model_source}",
    "${gate.rule.source}",
)
SCHEMAS = "stages/skillpipe/schemas"  # read by artifacts.py, imported by nobody
NO_PATH = {"step", "epoch", "edit_budget", "repeats", "last"}  # words of a command that name no file
NO_DEP = {"spent"}  # decides whether a stage may run, never what it writes
# What remembers answers and changes none, and what keeps keys out of it.
REMEMBERS = {
    *(ROOT / "stages" / "skillpipe" / "ledger").glob("*.py"),
    *(ROOT / "stages" / "skillpipe" / "phases").glob("*.py"),
    ROOT / "stages" / "skillpipe" / "secrets.py",
}


def texts(name: str) -> tuple[list[str], list[str]]:
    """The deps and outs of a stage, as they stand in dvc.yaml."""
    body = BODIES[name]
    outs = [out for kind in ("outs", "metrics", "plots") for out in body.get(kind, [])]
    return body["deps"], [out if isinstance(out, str) else next(iter(out)) for out in outs]


def script(name: str) -> Path:
    return ROOT / re.match(r"python (stages/\w+\.py) ", BODIES[name]["cmd"])[1]


def words(name: str) -> dict[str, str]:
    """key=value words of a stage's command."""
    return dict(word.split("=", 1) for word in BODIES[name]["cmd"].split()[2:])


def value(params: dict, expression: str) -> str:
    """What `${a.b}` stands for in params.yaml."""
    for key in expression[2:-1].split("."):
        params = params[key]
    return params


def is_code(dep: str) -> bool:
    return dep.startswith("stages/") or dep in SOURCES


def covered(dep: str, params: dict) -> set[Path]:
    """The Python files that a dep stands for: itself, or those under its folder."""
    return files(ROOT / (value(params, dep) if dep in SOURCES else dep))


def files(path: Path) -> set[Path]:
    return set(path.rglob("*.py")) if path.is_dir() else {path}


@cache
def composed(choice: str) -> dict:
    """params.yaml with this choice."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(ROOT)
        return yaml.safe_load(config.compose(chosen(choice)))


@cache
def imported(path: Path) -> set[Path]:
    """What running a file, or any file of a folder, imports."""
    return set().union(*map(closure, files(path))) - REMEMBERS


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", BODIES)
def test_a_stage_depends_on_each_module_that_it_and_its_choices_import(name, choice):
    params, deps = composed(choice), [dep for dep in texts(name)[0] if is_code(dep)]
    sources = [ROOT / value(params, dep) for dep in deps if dep in SOURCES]
    needed = set().union(*map(imported, [script(name), *sources]))
    assert needed - {path for dep in deps for path in covered(dep, params)} == set()


@pytest.mark.parametrize("name", BODIES)
def test_a_stage_depends_on_no_module_that_neither_it_nor_a_choice_imports(name):
    deps = {dep for dep in texts(name)[0] if is_code(dep)}
    sources = {ROOT / value(composed(choice), dep) for choice in CHOICES for dep in deps & set(SOURCES)}
    used = set().union(*map(imported, [script(name), *sources]))
    assert {dep for dep in deps - {*SOURCES, SCHEMAS} if not covered(dep, {}) & used} == set()


@pytest.mark.parametrize("name", BODIES)
def test_a_stage_depends_on_a_choices_source_exactly_when_it_builds_the_choice(name):
    section = (BODIES[name].get("params") or [None])[0]
    built = {"env", "target", "optimizer", "judge", "rule"} & fields_of(section)
    named = {dep[2:-1].split(".")[-2] for dep in texts(name)[0] if dep in SOURCES}
    assert named == built
    for role in ("env", "optimizer"):
        assert (f"${{{role}.model_source}}" in texts(name)[0]) == (role in built)


def fields_of(section: str | None) -> set[str]:
    """The keys of a section, and of the sections inside it."""
    named = "".join(word.capitalize() for word in (section or "").split("_"))
    kind = getattr(sections, named) if named else None
    return keys_of(kind) if kind else set()


def keys_of(kind: type) -> set[str]:
    hints = typing.get_type_hints(kind)
    inner = (keys_of(hint) for hint in hints.values() if dataclasses.is_dataclass(hint))
    return set(hints).union(*inner)


@pytest.mark.parametrize("name", BODIES)
def test_a_stage_depends_on_the_schemas_exactly_when_it_reads_or_writes_records(name):
    deps = texts(name)[0]
    uses = ROOT / "stages" / "skillpipe" / "artifacts.py" in imported(script(name))
    assert (SCHEMAS in deps) == uses


@pytest.mark.parametrize("name", BODIES)
def test_a_stage_lists_its_own_section_and_no_other_exactly_when_its_script_reads_one(name):
    section = re.search(r"@config\.stage\((?:None|\"(\w+)\"), ", script(name).read_text("utf-8"))[1]
    assert BODIES[name].get("params", []) == ([section] if section else [])


@pytest.mark.parametrize("name", BODIES)
def test_every_path_of_a_command_is_a_dep_or_an_out(name):
    deps, outs = texts(name)
    assert script(name).relative_to(ROOT).as_posix() in deps
    for key, path in words(name).items():
        if key in NO_PATH | NO_DEP:
            continue
        if key == "prompts":  # a stage reads some files of the folder
            assert any(dep.startswith(f"{path}/") for dep in deps)
            continue
        inside = [out for out in outs if out == path or out.startswith(f"{path}/")]
        assert inside if key == "out" else path in deps, f"{key}={path}"


@pytest.mark.parametrize("name", BODIES)
def test_every_file_that_a_stage_depends_on_stands_in_its_command(name):
    data = {dep for dep in texts(name)[0] if not is_code(dep) and dep != "${env.data}"}
    # These order the tests, so that the budget of each knows those before it.
    data -= {"test_best": {"runs/test/initial.jsonl"}, "test": {"runs/test/best.jsonl"}}.get(name, set())
    prompts = {dep for dep in data if dep.startswith(f"{words(name).get('prompts')}/")}
    assert data - prompts <= set(words(name).values())


@pytest.mark.parametrize("name", BODIES)
def test_every_out_stands_in_its_command(name):
    folder = words(name)["out"]
    assert all(out == folder or out.startswith(f"{folder}/") for out in texts(name)[1])


@pytest.mark.parametrize("name", BODIES)
def test_nothing_is_listed_twice(name):
    deps, outs = texts(name)
    assert len(set(deps)) == len(deps)
    assert len(set(outs)) == len(outs)
    assert [dep for dep in deps if any(dep.startswith(f"{other}/") for other in deps)] == []


def test_test_tasks_are_read_by_the_test_stages_and_no_other():
    readers = {name for name in BODIES if any("test.jsonl" in dep for dep in texts(name)[0])}
    assert readers == {"test_initial", "test_best", "test"}


def test_only_what_goes_into_git_is_kept_out_of_the_cache():
    uncached = {
        next(iter(out))
        for name in BODIES
        for kind in ("outs", "metrics", "plots")
        for out in BODIES[name].get(kind, [])
        if not isinstance(out, str) and next(iter(out.values())).get("cache") is False
    }
    assert uncached == set(texts("report")[1])


def test_every_stage_of_a_step_is_unrolled_over_the_steps():
    assert {name for name, stage in STAGES.items() if stage.get("foreach") == "${steps}"} == {
        "rollout", "reflect", "aggregate", "apply", "validate", "gate",
    }  # fmt: skip
