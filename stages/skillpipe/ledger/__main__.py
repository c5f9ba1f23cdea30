"""Look into the ledger: `python -m skillpipe.ledger spend | doubts | prune | export`."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, fields
from pathlib import Path

from skillpipe.errors import SkillpipeError
from skillpipe.ledger import report
from skillpipe.ledger.database import connect

DEFAULT = "~/.cache/skillpipe/calls.sqlite"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 1 when there is no ledger, 0 else."""
    args = _parser().parse_args(arguments)
    path = Path(args.ledger).expanduser()
    try:
        with closing(connect(path, create=False)) as db:
            if args.command == "spend":
                for group in ("model", "experiment"):
                    rows = [asdict(row) for row in report.spend(db, path, group)]
                    _table(rows, [field.name for field in fields(report.Spend)], group)
            elif args.command == "doubts":
                rows = [{**asdict(row), "since": _clock(row.since)} for row in report.doubts(db, path)]
                _table(rows, [field.name for field in fields(report.Doubt)], "key")
            elif args.command == "prune":
                found = report.prune(db, path, args.what, args.older_than)
                print(f"{found} calls deleted ({args.what}, older than {args.older_than:g} days)")
            else:
                for record in report.export(db):
                    print(json.dumps(record, sort_keys=True))
    except SkillpipeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m skillpipe.ledger", description=__doc__)
    parser.add_argument("--ledger", default=DEFAULT, help="the ledger's file (default: %(default)s)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("spend", help="calls, tokens, cost and hit rate, by model and by experiment")
    commands.add_parser("doubts", help="calls that were sent by a process that died")
    prune = commands.add_parser("prune", help="delete rows; their requests would be paid again")
    prune.add_argument("what", choices=["doubts", "failed", "done"])
    prune.add_argument("--older-than", type=float, default=0.0, metavar="DAYS")
    commands.add_parser("export", help="every row as JSONL, to standard output")
    return parser


def _table(rows: list[dict[str, object]], columns: list[str], first: str) -> None:
    """Aligned columns with a header; `first` is the header of the column of names."""
    lines = [[first if number == 0 else name for number, name in enumerate(columns)]]
    lines += [[_cell(row[name]) for name in columns] for row in rows]
    widths = [max(len(line[number]) for line in lines) for number in range(len(columns))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    print()


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


if __name__ == "__main__":
    sys.exit(main())
