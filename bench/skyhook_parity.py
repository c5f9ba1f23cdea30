"""Hold skillpipe.skyhook to Skyhook itself: run its own check against ours, and the same probes on both.

    python bench/skyhook_parity.py [--version 0.1.0] [--keep FOLDER]

Needs skillpipe with its extras skyrl and dev, for this interpreter. Skyhook's source distribution is fetched with pip
into a temporary folder (or into FOLDER, which is then kept and used again) and nothing of it is installed. Its check
imports `skyhook`; here that is a package of one line beside it, which hands on ours and carries skillpipe's py.typed.
The check is a plain script with one function, `check`; pytest is told to collect it.

A probe is an expression; what it gives, or the class of what it raises, is compared between the two modules, each in a
process of its own. Prints a Markdown table of those that differ; docs/skyrl.md says of each which is right and why.
Ends with 1 when the check fails.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

STAGES = Path(__file__).resolve().parents[1] / "stages"

PREPARE = """
import asyncio, copy, functools, inspect, json, math, pickle, sys
from decimal import Decimal
from fractions import Fraction
import skyrl_gym
from skyhook import env

class Game(skyrl_gym.Env): ...
class Other(skyrl_gym.Env): ...
async def late(): return 1.0
class Late:
    async def __call__(self): return 1.0
class Nameless:
    def __call__(self): return 1.0
class Named(Nameless):
    __name__ = 7
class Awaitable:
    def __await__(self): yield
def add(binding, *values):
    for number, value in enumerate(values):
        binding.reward(lambda value=value: value, name=f"r{number}")
    return binding
def grow():
    env.grow.reward(lambda: 2.0, name=f"late {len(env.grow.rewards)}")
    return 1.0
def raises(error):
    raise error
def twice(binding):
    binding.reward(len)
    try:
        binding.reward(abs, name="len")
    except ValueError:
        return list(binding.rewards.items()) == [("len", len)]
def order(binding):
    seen = []
    for name in "cab":
        binding.reward(lambda *a, name=name, **k: seen.append((name, a, k)) or 0, name=name)
    binding.sum_rewards(1, x=2)
    return seen
def stops(binding):
    seen = []
    binding.reward(lambda: raises(KeyError("k")), name="a")
    binding.reward(lambda: seen.append(1), name="b")
    try:
        binding.sum_rewards()
    except KeyError:
        return seen
def live(binding):
    view = binding.rewards
    binding.reward(len)
    return list(view)
"""

PROBES = """
env.a is env["a"]
env.never.sum_rewards(), type(env.never.sum_rewards()).__name__
env["word env-v0"](Game) is Game
skyrl_gym.spec("word env-v0").entry_point is Game
Game.__mro__ == (Game, skyrl_gym.Env, *skyrl_gym.Env.__mro__[1:])
env["word env-v0"](Other)
env.not_env(object)
env.not_class(lambda: 1)
env.instance(Game())
env[123]
env[None]
env[""]
env["  "]
env[" a "] is env["a"]
env._hidden
env["_hidden"].sum_rewards()
hasattr(env, "__wrapped__")
env.b.reward(len) is len
env.b.reward(len, "other")
env.c.reward(lambda: 1) and list(env.c.rewards)
env.d.reward(Nameless())
env.d.reward(Named())
env.d.reward(Nameless(), name="x") and list(env.d.rewards)
env.d.reward(functools.partial(len))
env.d.reward(None)
env.d.reward(None, name="x")
env.d.reward(len, name=3)
env.d.reward(len, name="")
env.d.reward(len, name=" ")
env.e.reward(len, name=" a ") and env.e.reward(len, name="a") and list(env.e.rewards)
env.f.reward(late)
env.f.reward(Late(), name="x")
env.f.reward(functools.partial(late), name="x")
env.f.reward(functools.partial(Late()), name="x")
env.f.reward(Late().__call__)
env.f.reward()
twice(env.g)
order(env.h)
stops(env.i)
live(env.j)
env.j.rewards.__setitem__("x", len)
env.j.rewards["missing"]
setattr(env.j, "rewards", {})
env.grow.reward(grow) and (env.grow.sum_rewards(), env.grow.sum_rewards())
add(env.k, Decimal("0.1"), Decimal("0.2")).sum_rewards()
add(env.l, Fraction(1, 3), Fraction(1, 6)).sum_rewards()
add(env.m, 10**400, 10**400).sum_rewards() == 2 * 10**400
add(env.n, 1j, 2).sum_rewards()
add(env.o, math.inf, 1.0).sum_rewards()
math.isnan(add(env.p, math.nan).sum_rewards())
add(env.q, *[0.1] * 10).sum_rewards() == sum([0.1] * 10)
add(env.r, 1e16, 1.0, -1e16).sum_rewards() == sum((1e16, 1.0, -1e16))
add(env.s, True, True).sum_rewards()
add(env.t, "1").sum_rewards()
add(env.u, None).sum_rewards()
add(env.v, [1]).sum_rewards()
add(env.w, Decimal(1), Fraction(1)).sum_rewards()
add(env.x, Awaitable()).sum_rewards()
add(env.y, (n for n in [1])).sum_rewards()
add(env.z, late()).sum_rewards()
add(env.self, 1).sum_rewards(self=1)
env.own.reward(lambda **k: len(k), name="a") and env.own.sum_rewards(self=1, args=2)
"""

RUN = """
probes = json.loads(sys.argv[1])
for probe in probes:
    try:
        found = repr(eval(probe))
    except Exception as error:
        found = "raises " + type(error).__name__
    print(json.dumps(found))
"""


def fetched(folder: Path, version: str) -> Path:
    """The unpacked source distribution."""
    root = folder / f"skyhook_rl-{version}"
    if not root.is_dir():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--no-binary", ":all:", "--dest", folder, f"skyhook-rl=={version}"], check=True)
        with tarfile.open(folder / f"skyhook_rl-{version}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return root


def aliased(folder: Path) -> Path:
    """A folder in which the import name `skyhook` is ours."""
    package = folder / "alias" / "skyhook"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("from skillpipe.skyhook import env as env\n", "utf-8")
    shutil.copy(STAGES / "skillpipe" / "py.typed", package)
    return package.parent


def environment(*path: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}


def check(root: Path, alias: Path) -> bool:
    """Run its check against ours, and say how it went."""
    test = root / "tests" / "test_skyhook.py"
    asserts = sum(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(test.read_text("utf-8"))))
    options = ["-q", "-p", "no:cacheprovider", "-o", "python_functions=check", "--rootdir", root]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, test], env=environment(alias, STAGES), cwd=root, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    passed = done.returncode == 0 and "1 passed" in done.stdout
    print(f"its own check, one function with {asserts} assert statements: {'passed' if passed else 'FAILED'}")
    if not passed:
        print(done.stdout + done.stderr)
    return passed


def probed(*path: Path) -> list[str]:
    """What each probe gives in a process with this import path."""
    probes = json.dumps(PROBES.strip().splitlines())
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PREPARE + RUN, probes], env=environment(*path), text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", default="0.1.0")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        root, alias = fetched(folder.resolve(), arguments.version), aliased(folder.resolve())
        passed = check(root, alias)
        probes = PROBES.strip().splitlines()
        rows = list(zip(probes, probed(root), probed(alias, STAGES), strict=True))
    differing = [row for row in rows if row[1] != row[2]]
    print(f"probes: {len(rows) - len(differing)} of {len(rows)} the same\n")
    if differing:
        print("| probe | Skyhook | here |\n| --- | --- | --- |")
    for row in differing:
        print("| `{}` | {} | {} |".format(*row))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
