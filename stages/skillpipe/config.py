"""The configuration: how conf/ becomes params.yaml, and how a stage script becomes a Hydra application.

conf/ is composed in two places only, compose.py and `dvc exp run`. A script reads its own section of params.yaml
and takes overrides on its command line; it never composes conf/ again, since that would lose `-S` overrides.
All defaults live in conf/.
"""

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import hydra
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException, InstantiationException
from hydra.utils import instantiate
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from skillpipe import phases
from skillpipe.errors import SkillpipeError
from skillpipe.sections import Root

PARAMS = Path("params.yaml")

Args = TypeVar("Args")


def register() -> None:
    """Give conf/config.yaml its types, under the name `types`."""
    ConfigStore.instance().store(name="types", node=Root)


def conf_digest(folder: str | Path | None = None) -> str:
    """16 hex digits that change when any file of conf/ changes, by name or by bytes.

    Without an argument: the conf/ folder of the project that the working directory is in.
    """
    root = Path(folder) if folder else project_root() / "conf"
    if not root.is_dir():
        raise SkillpipeError(f"{root}: no such folder; the configuration lives in conf/ at the top of the project")
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.yaml")):
        digest.update(f"{path.relative_to(root).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def project_root() -> Path:
    """The nearest folder upwards of the working directory that holds conf/config.yaml."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "conf" / "config.yaml").is_file():
            return folder
    raise SkillpipeError(f"{here}: no conf/config.yaml here or above; change into the project")


def compose(overrides: Sequence[str]) -> str:
    """conf/ with Hydra overrides applied, as the text of params.yaml: what `dvc exp run -S` writes, byte for byte.

    SkillpipeError when a choice lacks a value that only a person knows (`???`).
    """
    try:
        with hydra.initialize_config_dir(str(project_root() / "conf"), version_base=None):
            composed = hydra.compose("config", overrides=list(overrides))
            _require_known(composed, Root)
            _require_values(_missing(composed), "conf/")
            OmegaConf.resolve(composed)
            return OmegaConf.to_yaml(composed)
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        raise SkillpipeError(f"conf/: {_one_line(error)}") from error


def stage(section: str | None, schema: type[Args]) -> Callable[[Callable[[Args], None]], Callable[[], None]]:
    """Make `main(args)` a Hydra application over one section of params.yaml.

    `schema` is a dataclass: the section's keys, the paths that the command line gives, and where they are wanted
    `execution` and `budget`, which stand beside the sections in params.yaml.
    An unknown or ill-typed key is refused by name. A SkillpipeError is printed as one line, exit code 1.
    """

    def decorate(main: Callable[[Args], None]) -> Callable[[], None]:
        @functools.wraps(main)  # Hydra searches for groups in the package of a function's module; __main__ has none
        def body(composed: Any) -> None:
            with _told_in_one_line():
                _require_known(composed, schema)
                _require_values(_missing_in_params(composed, section), str(PARAMS))
                main(OmegaConf.to_object(composed))  # type: ignore[arg-type]

        @functools.wraps(main)
        def run() -> None:
            os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions come out as they are, to be told in one line here
            with phases.recorded(sys.argv), _told_in_one_line():
                _register_application(section, schema)
                hydra.main(version_base="1.3", config_path=None, config_name="application")(body)()

        return run

    return decorate


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    try:
        yield
    except SkillpipeError as error:
        sys.exit(f"error: {error}{phases.offer(sys.argv)}")
    except (HydraException, OmegaConfBaseException) as error:
        sys.exit(f"error: command line: {_one_line(error)}")
    except KeyboardInterrupt:
        print("interrupted: nothing was written, what was paid for is kept; run again to go on", file=sys.stderr)
        sys.exit(130)


def build(choice: Mapping[str, Any], role: str, **arguments: Any) -> Any:
    """The object that a choice names by `_target_`; the working directory is on the import path.

    `source` and `model_source` are for DVC (what to depend on) and no constructor arguments. Raises SkillpipeError for
    a class that cannot be imported or does not take these arguments.
    """
    node = {key: value for key, value in choice.items() if key not in ("source", "model_source")} | arguments
    if "_target_" not in node:
        raise SkillpipeError(f"{role}: has no _target_; name a class, such as `_target_: my_module.MyClass`")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return instantiate(node, _convert_="all")
    except InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, SkillpipeError):
            raise cause from None
        raise SkillpipeError(f"{role}: {node['_target_']}: {_one_line(cause or error)}") from error


def _register_application(section: str | None, schema: type) -> None:
    typed = OmegaConf.structured(schema)
    shared = {"execution", "budget"} & {field.name for field in fields(schema)}
    values = read_params() if section or shared else {}
    if section and section not in values:
        raise SkillpipeError(f"{PARAMS}: no section {section}; run `python stages/compose.py`")
    own = values[section] if section else {}
    if not isinstance(own, dict):
        raise SkillpipeError(f"{PARAMS}: {section} is {own!r}, not a map; run `python stages/compose.py`")
    own = {name: values.get(name, {}) for name in sorted(shared)} | own
    try:
        OmegaConf.merge(typed, own)
    except OmegaConfBaseException as error:
        raise SkillpipeError(f"{PARAMS}: {section}: {_one_line(error)}; run `python stages/compose.py`") from error
    quiet = [{"override hydra/job_logging": "none"}, {"override hydra/hydra_logging": "none"}]
    here = {"run": {"dir": "."}, "output_subdir": None, "job": {"chdir": False}}
    store = ConfigStore.instance()
    store.store(name="types_of_stage", node=schema)
    store.store(name="application", node={"defaults": ["types_of_stage", *quiet, "_self_"], "hydra": here, **own})


def read_params() -> Any:
    """params.yaml whole, as a map. Raises SkillpipeError that says how to make one."""
    try:
        values = OmegaConf.to_container(OmegaConf.load(PARAMS))
    except FileNotFoundError:
        raise SkillpipeError(f"{PARAMS}: no such file; run `python stages/compose.py`") from None
    except (YAMLError, UnicodeDecodeError) as error:
        raise SkillpipeError(f"{PARAMS}: not YAML: {_one_line(error)}; run `python stages/compose.py`") from error
    if not isinstance(values, dict):
        raise SkillpipeError(f"{PARAMS}: not a map; run `python stages/compose.py`")
    return values


def _require_known(composed: Any, schema: type) -> None:
    """Refuse keys that were added with `+key=value` beside those of the schema."""
    unknown = sorted({str(key) for key in composed} - {field.name for field in fields(schema)})
    if unknown:
        known = ", ".join(field.name for field in fields(schema))
        raise SkillpipeError(f"unknown key {', '.join(unknown)}; allowed are {known}")


def _missing(composed: Any) -> list[str]:
    """The keys without a value (`???`), dotted, in their order; a copy of one by `${...}` is none itself."""

    def walk(node: Any, path: str) -> Iterator[str]:
        if node == "???":
            yield path
        elif isinstance(node, dict):
            for key, value in node.items():
                yield from walk(value, f"{path}.{key}" if path else str(key))

    return list(walk(OmegaConf.to_container(composed, resolve=False), ""))


def _missing_in_params(composed: Any, section: str | None) -> list[str]:
    """The keys without a value in params.yaml, by the names that an override has for them.

    Only the outermost: in params.yaml a copy looks like its original. Words of the command line are none.
    """
    keys = [key for key in _missing(composed) if "." in key]
    outermost = [key for key in keys if key.count(".") == min(key.count(".") for key in keys)]
    shared = {field.name for field in fields(Root)}
    return [key if key.split(".")[0] in shared else f"{section}.{key}" for key in outermost]


def _require_values(missing: Sequence[str], where: str) -> None:
    if missing:
        words = [f"{key}=..." for key in missing]
        raise SkillpipeError(
            f"{where}: no value for {', '.join(missing)}; type `dvc exp run -S {' -S '.join(words)}` or "
            f"`python stages/compose.py {' '.join(words)}`, each with the other overrides that you want"
        )


def _one_line(error: BaseException) -> str:
    """The message of an error of Hydra, OmegaConf or YAML without its hints and line breaks."""
    cause = error.__cause__ if isinstance(error, HydraException) else None  # it says what was wrong with the value
    told, *_ = f"{error}\n{cause or ''}".split("Config search path:")  # which lists folders of this machine
    lines = dict.fromkeys(line.strip().rstrip(".:") for line in told.splitlines())
    hints = ("To append", "See http", "object_type=", "reference_type=", "set HYDRA_FULL_ERROR")
    return "; ".join(line for line in lines if line and not line.startswith(hints)) or type(error).__name__
