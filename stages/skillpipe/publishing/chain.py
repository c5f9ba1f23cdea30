"""The stages of a run in order, as dvc.yaml and params.yaml unroll them, and how far a run has come. No DVC needed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from skillpipe.errors import SkillpipeError


@dataclass(frozen=True)
class Link:
    """One stage at one step: `phase` is its name as in PhaseRecord, `step` its key or empty, paths as in dvc.yaml.

    `needs` are the phases whose outputs it reads.
    """

    phase: str
    step: str
    command: str
    deps: tuple[str, ...]
    outs: tuple[str, ...]
    needs: frozenset[str] = frozenset()


def read_chain(pipeline: str | Path = "dvc.yaml", params: str | Path = "params.yaml") -> tuple[Link, ...]:
    """The stages in an order in which they can run; of two that can, the one that stands first in dvc.yaml.

    Raises SkillpipeError when a file is missing or is not what it should be.
    """
    values = read_yaml(params)
    stages = read_yaml(pipeline).get("stages")
    if not isinstance(stages, dict):
        raise SkillpipeError(f"{pipeline}: has no map of stages; take the one that skillpipe has")
    return _in_order([link for name, stage in stages.items() for link in _unrolled(name, stage, values)])


def read_yaml(path: str | Path) -> dict[str, Any]:
    """A YAML file that holds a map. Raises SkillpipeError."""
    try:
        found = yaml.safe_load(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise SkillpipeError(
            f"{path}: no such file; change into the project, or run `python stages/compose.py`"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SkillpipeError(f"{path}: not YAML: {' '.join(str(error).split())}; correct it") from None
    if not isinstance(found, dict):
        raise SkillpipeError(f"{path}: not a map; correct it")
    return found


def done(chain: Iterable[Link], root: Path = Path()) -> tuple[Link, ...]:
    """The stages whose outputs are there and belong to this run, in order.

    DVC takes a stage's outputs away before it runs the stage, and what came after it may still lie there from an
    earlier run: so a stage counts only if all that it depends on count.
    """
    made: dict[str, Link] = {}
    for link in chain:
        if link.needs <= made.keys() and all((root / out).exists() for out in link.outs):
            made[link.phase] = link
    return tuple(made.values())


def could_run(chain: Iterable[Link], made: Iterable[Link]) -> tuple[Link, ...]:
    """The stages that are not done and wait for no other."""
    names = {link.phase for link in made}
    return tuple(link for link in chain if link.phase not in names and link.needs <= names)


def last_state(made: Iterable[Link]) -> Path | None:
    """The folder of the last state that these stages wrote, None before the first. A slow update holds its own."""
    places = (Path(path) for link in made for out in link.outs for path in (out, f"{out}/state"))
    states = [path for path in places if path.name == "state" and path.is_dir()]
    return states[-1] if states else None


def _unrolled(name: str, stage: Mapping[str, Any], params: Mapping[str, Any]) -> list[Link]:
    if "foreach" not in stage:
        return [_link(name, "", stage, params)]
    over = _value(params, str(stage["foreach"])[2:-1])
    items = over.items() if isinstance(over, dict) else ((str(item), item) for item in over)
    return [_link(f"{name}-{key}", key, stage["do"], {**params, "key": key, "item": item}) for key, item in items]


def _link(phase: str, step: str, stage: Mapping[str, Any], scope: Mapping[str, Any]) -> Link:
    outs = [out for kind in ("outs", "metrics", "plots") for out in stage.get(kind, [])]
    paths = (out if isinstance(out, str) else next(iter(out)) for out in outs)
    deps = tuple(_filled(dep, scope) for dep in stage.get("deps", []))
    return Link(phase, step, _filled(stage["cmd"], scope), deps, tuple(_filled(path, scope) for path in paths))


def _filled(text: str, scope: Mapping[str, Any]) -> str:
    return re.sub(r"\$\{([\w.]+)\}", lambda match: str(_value(scope, match[1])), text)


def _value(scope: Mapping[str, Any], path: str) -> Any:
    value: Any = scope
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise SkillpipeError(f"params.yaml: no {path}, which dvc.yaml names; run `python stages/compose.py`")
        value = value[key]
    return value


def _in_order(links: list[Link]) -> tuple[Link, ...]:
    ordered: dict[str, Link] = {}
    waiting = _with_needs(links)
    while waiting:
        ready = next((link for link in waiting if link.needs <= ordered.keys()), None)
        if ready is None:
            raise SkillpipeError(
                f"dvc.yaml: {', '.join(link.phase for link in waiting)} wait for each other; correct it"
            )
        ordered[ready.phase] = ready
        waiting.remove(ready)
    return tuple(ordered.values())


def _with_needs(links: list[Link]) -> list[Link]:
    """The links with what each needs: whose outputs its deps are, lie in, or hold."""
    makers = {out: link.phase for link in links for out in link.outs}
    holders: dict[str, set[str]] = {}
    for out, phase in makers.items():
        for folder in _above(out):
            holders.setdefault(folder, set()).add(phase)
    found = []
    for link in links:
        needs = {makers[path] for dep in link.deps for path in (dep, *_above(dep)) if path in makers}
        needs |= {phase for dep in link.deps for phase in holders.get(dep, ())}
        found.append(replace(link, needs=frozenset(needs - {link.phase})))
    return found


def _above(path: str) -> list[str]:
    return [parent.as_posix() for parent in PurePosixPath(path).parents]
