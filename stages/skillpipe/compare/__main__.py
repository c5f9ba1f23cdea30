"""The command: `python -m skillpipe.compare exp-a exp-b ... [--html out.html]`."""

import argparse
import sys
from collections.abc import Sequence

from skillpipe.artifacts import write_text
from skillpipe.compare import as_html, as_text, compare, read_published
from skillpipe.errors import SkillpipeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; the exit code is 1 for a refusal, told in one line."""
    parser = argparse.ArgumentParser(prog="python -m skillpipe.compare", description="Compare published runs.")
    parser.add_argument("runs", nargs="+", help="an experiment, a revision of git, or `workspace`; two or more")
    parser.add_argument("--html", metavar="FILE", help="write it as a page, too")
    args = parser.parse_args(arguments)
    try:
        found = compare([read_published(name) for name in args.runs])
        if args.html:
            write_text(args.html, as_html(found))
    except SkillpipeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(as_text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
