"""A copy of this project in a temporary folder, under git, and the commands people type in it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Project:
    """A working copy. `run` types a command in it, with this environment's `python` and `dvc` first on the path."""

    root: Path
    first_on_path: Path = Path(sys.executable).parent

    @classmethod
    def copy(cls, root: Path) -> "Project":
        """The files that git has or would have, without what a run wrote (dvc.lock, results/)."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split("\0")
        for name in listed:
            source = ROOT / name
            if name and source.is_file() and name != "dvc.lock" and not name.startswith("results/"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, root / name)
        project = cls(root)
        project.run("git", "init", "-q", "-b", "main")
        return project

    def commit(self, message: str = "work") -> None:
        self.run("git", "add", "-A")
        self.run(
            "git",
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "commit",
            "-qm",
            message,
            "--allow-empty",
        )

    def clone(self, root: Path) -> "Project":
        """A second clone, with a cache of its own."""
        subprocess.run(["git", "clone", "-q", self.root, root], check=True)
        return Project(root)

    def twin(self, root: Path) -> "Project":
        """The same folder once more: git, cache and outputs included."""
        shutil.copytree(self.root, root, symlinks=True)
        return Project(root)

    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return kept | {
            "PATH": os.pathsep.join([str(self.first_on_path), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org",
            "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
        }  # fmt: skip

    def run(self, *command: str, ok: bool = True) -> str:
        """Type a command; its standard output and error together. With `ok`, it must end with 0."""
        done = subprocess.run(
            command, cwd=self.root, env=self.environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        assert not ok or done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def killed(self, *command: str) -> bool:
        """Type a command in a process group of its own; whether it was killed."""
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment(),
            capture_output=True,
            start_new_session=True,
            check=False,
        )
        return done.returncode == -signal.SIGKILL

    def repro(self) -> list[str]:
        """`dvc repro`; the names of the stages that ran, in order."""
        return stages_that_ran(self.run("dvc", "repro"))

    def hashes(self) -> dict[str, str]:
        """Output path -> content hash, as dvc.lock holds them."""
        lock = yaml.safe_load((self.root / "dvc.lock").read_text("utf-8"))
        return {out["path"]: out["md5"] for stage in lock["stages"].values() for out in stage.get("outs", [])}


def stages_that_ran(output: str) -> list[str]:
    return re.findall(r"Running stage '([^']+)'", output)
