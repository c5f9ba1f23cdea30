"""A toy run, stage by stage, by the commands of dvc.yaml and without DVC: what DVC does to outputs is done here too."""

import shutil
from pathlib import Path

from skillpipe.publishing import Link, read_chain
from workbench import Bench, Ended

ROOT = Path(__file__).resolve().parents[1]


def chain_of(bench: Bench) -> tuple[Link, ...]:
    """The stages of the toy run in the bench's folder, which gets the project's dvc.yaml."""
    shutil.copy(ROOT / "dvc.yaml", bench.root / "dvc.yaml")
    return read_chain(bench.root / "dvc.yaml", bench.root / "params.yaml")


def run_stage(bench: Bench, link: Link, *more: str) -> Ended:
    """Run one stage, its outputs taken away first, as DVC does; `more` are words that its command gets besides."""
    for out in link.outs:
        path = bench.root / out
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    _, script, *words = link.command.split()
    return bench.run_here(Path(script).stem, *words, *more)


def run_chain(bench: Bench, *, before: str = "") -> tuple[Link, ...]:
    """Run all stages in order, or those before the phase `before`."""
    chain = chain_of(bench)
    for link in chain:
        if link.phase == before:
            break
        ended = run_stage(bench, link)
        assert ended.code == 0, f"{link.phase}: {ended.err}"
    return chain
