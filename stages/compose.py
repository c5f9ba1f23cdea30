"""Rewrite params.yaml from conf/, with Hydra overrides: `python stages/compose.py env=inbox edit_budget=2`.

Reads: conf/. Writes: params.yaml. Model calls: none.

`dvc exp run` does the same by itself, with -S in place of plain overrides; `dvc repro` never does.
"""

import sys

from skillpipe.artifacts import write_text
from skillpipe.config import PARAMS, compose, project_root
from skillpipe.errors import SkillpipeError


def main() -> None:
    try:
        write_text(project_root() / PARAMS, compose(sys.argv[1:]))
    except SkillpipeError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
