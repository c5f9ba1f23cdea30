"""How long do 100 edits take, and how does that grow with the document?

    python bench/edits_speed.py [--repeat 3]

For each shape and size: one `apply_edits` call with 100 edits of all four operations, spread over the
document. Prints a table with the best of the repeats, in seconds of processor time, so that other work on the
machine hardly shows.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "stages"))

from skillpipe.skill import apply_edits

HEAD = "---\nname: speed\ndescription: Measures how long edits take. Use in benchmarks only.\n---\n# Speed\n\n"
SHAPES = {
    "sections": "## Section {0}\n\nText {0} about one thing,\nin two lines.\n\n- rule {0} says so\n  - nested {0}\n"
    "- other rule {0}\n\n```sh\nrun {0}\n```\n\n",
    "one list": "- rule {0} says so and so\n- other rule {0}\n",
    "tables": "| a | b |\n|---|---|\n| rule {0} says so | x |\n| other rule {0} | y |\n\n",
    "unicode": "## Раздел {0}\n\n- rule {0} says so, caf\u00e9 \u201cprix\u201d\n- other rule {0}: 価格 🙂\n\n",
    "no blank lines": "text {0}\n## Head {0}\n- rule {0} says so\n- other rule {0}\n",
}


def document(shape: str, size: int) -> tuple[str, int]:
    """A document of about `size` bytes in the given shape, and how many pieces it has."""
    count = size // len(SHAPES[shape].format(1000).encode())
    return HEAD + "".join(SHAPES[shape].format(number) for number in range(count)), count


def edits(count: int) -> list[dict[str, str]]:
    """100 edits, 25 of each operation, on pieces spread over the document."""
    made = []
    for number in range(25):
        at = [number * count // 25 + each for each in range(3)]
        made += [
            {"op": "replace", "target": f"other rule {at[0]}", "content": f"changed rule {at[0]}"},
            {"op": "insert_after", "target": f"rule {at[1]} says so", "content": f"- new rule {at[1]}"},
            {"op": "delete", "target": f"other rule {at[2]}"},
            {"op": "append", "content": f"- appended rule {number}"},
        ]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print("| shape | bytes | lines | applied of 100 | seconds |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for shape in SHAPES:
        for size in (25_000, 50_000, 100_000, 200_000, 400_000):
            text, count = document(shape, size)
            seconds = []
            for _ in range(options.repeat):
                started = time.process_time()
                _, reports = apply_edits(text, edits(count))
                seconds.append(time.process_time() - started)
            applied = sum(report.status == "applied" for report in reports)
            lines = text.count("\n")
            print(f"| {shape} | {len(text.encode())} | {lines} | {applied} | {min(seconds):.2f} |", flush=True)


if __name__ == "__main__":
    main()
