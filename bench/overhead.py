"""What the pipeline costs beside the model: `python bench/overhead.py [steps ...]`, by default 4 10 40.

Runs the real pipeline in a temporary copy with a target that answers at once, and prints a Markdown table per number
of steps: wall and CPU seconds of each kind of stage (measured around its process), of the whole `dvc repro`, and of
a `dvc repro` with nothing to do. 40 steps take a quarter of an hour, most of it in DVC.
"""

import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "stages"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from project import Project
from toys import write_toy

# Stands before the real `python` on the path: times each stage and notes "script wall user system".
SHIM = """#!/usr/bin/env bash
TIMEFORMAT="%R %U %S"
exec 3>&1 4>&2
used=$( { time "{python}" "$@" 1>&3 2>&4; } 2>&1 )
code=$?
echo "$1 $used" >> "{log}"
exit $code
"""


def measure(steps: int) -> str:
    """One table for a run of `steps` steps, as 2 epochs."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project.copy(Path(folder) / "project")
        write_toy(project.root)
        settings = [f"steps_per_epoch={steps // 2}", "num_epochs=2", "batch_size=8"]
        project.run("python", "stages/compose.py", "env=toy", "target=toy", *settings)
        project.commit()
        log = Path(folder) / "log"
        shim = Path(folder) / "bin" / "python"
        shim.parent.mkdir()
        shim.write_text(SHIM.replace("{python}", sys.executable).replace("{log}", str(log)))
        shim.chmod(0o755)
        project.first_on_path = shim.parent
        whole = timed(project)
        nothing = timed(project)
        return table(steps, log.read_text().splitlines(), whole, nothing)


def timed(project: Project) -> float:
    begin = time.perf_counter()
    project.run("dvc", "repro")
    return time.perf_counter() - begin


def table(steps: int, lines: list[str], whole: float, nothing: float) -> str:
    wall: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        script, real, user, system = line.split()
        wall[Path(script).stem].append(float(real))
        cpu[Path(script).stem].append(float(user) + float(system))
    rows = [f"| {name} | {len(wall[name])} | {fmean(wall[name]):.2f} | {fmean(cpu[name]):.2f} |" for name in wall]
    inside = sum(map(sum, wall.values()))
    return "\n".join(
        [
            f"### {steps} steps, {len(lines)} stages, {os.cpu_count()} cores",
            "",
            "| script | runs | wall s each | CPU s each |",
            "| --- | ---: | ---: | ---: |",
            *rows,
            "",
            f"Whole run {whole:.1f} s, of it {inside:.1f} s in stages and {whole - inside:.1f} s in DVC "
            f"({(whole - inside) / len(lines):.2f} s a stage). `dvc repro` with nothing to do: {nothing:.1f} s.",
            "",
        ]
    )


if __name__ == "__main__":
    for number in [int(argument) for argument in sys.argv[1:]] or [4, 10, 40]:
        print(measure(number), flush=True)
