"""Apply random edits to random SKILL.md files and check what must hold for any of them.

    python bench/fuzz_edits.py [--pairs 20000] [--seed 1] [--large 20]

One pair is one document with one list of edits. Nothing here is taken from the package under test but its
public
functions: the invariants are checked against a parse of the whole document by markdown-it-py and a plain
regular expression for frontmatter and regions. Prints counts; exits with 1 if any invariant was broken, after
printing the smallest failing pair it saw.

The same seed gives the same pairs on every Python version from 3.10.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "stages"))

from skillpipe.skill import EditReport, apply_edits, body_for_target, split, validate

PARSER = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
PARSER.core.ruler.enableOnly(["normalize", "block"])
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
REGION = re.compile(
    r"<!-- SLOW_UPDATE_START -->.*?(?:<!-- SLOW_UPDATE_END -->|\Z)|"
    r"<!-- APPENDIX_START -->.*?(?:<!-- APPENDIX_END -->|\Z)",
    re.DOTALL,
)
STATUSES = {"applied", "unmatched", "ambiguous", "protected", "duplicate", "empty", "invalid"}

WORDS = [
    *(
        "check",
        "units",
        "answer",
        "the",
        "number",
        "when",
        "price",
        "is",
        "ask",
        "don't",
        "don\u2019t",
        "at",
        "zero",
    ),
    *(
        "café",
        "cafe\u0301",
        "prix",
        "über",
        "größe",
        "Прайс",
        "цена",
        "שלום",
        "מחיר",
        "السعر",
        "価格",
        "確認",
        "を",
    ),
    *(
        "가격",
        "확인",
        "🙂",
        "👩\u200d💻",
        "👍🏽",
        "naïve",
        "re-check",
        "v1.2",
        "$5",
        "50%",
        "a_b",
        "e\u0301clair",
    ),
    *(
        "`code`",
        "**bold**",
        "_it_",
        "[link](x)",
        "https://a.b/c",
        "<b>x</b>",
        "\u201cquoted\u201d",
        "x\u00a0y",
    ),
]
HEADS = ("# {}", "## {}", "### {}", "## {} ##", "{}\n===", "{}\n---")


def words(rng: random.Random, low: int = 1, high: int = 7) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(low, high)))


def list_block(rng: random.Random, depth: int = 0) -> str:
    """A list: tight or loose, bullets or numbers, with continuations, fences, quotes and lists inside."""
    bullet = rng.choice(["-", "-", "-", "*", "+", "1.", "1)"])
    gap = "\n\n" if rng.random() < 0.2 else "\n"
    items = []
    for number in range(rng.randint(1, 4)):
        marker = bullet.replace("1", str(number + 1))
        pad = " " * (len(marker) + 1)
        box = rng.choice(["[ ] ", "[x] "]) if rng.random() < 0.1 else ""
        lines = [f"{marker} {box}{words(rng)}"]
        roll = rng.random()
        if roll < 0.15:
            lines.append(pad + words(rng))
        elif roll < 0.22:
            lines.append(words(rng))
        elif roll < 0.32:
            lines += [pad + line for line in fence(rng).split("\n")]
        elif roll < 0.38:
            lines += ["", pad + words(rng)]
        elif roll < 0.42:
            lines += [pad + "> " + words(rng), pad + "> " + words(rng)]
        elif roll < 0.62 and depth < 3:
            lines += [pad + line if line else line for line in list_block(rng, depth + 1).split("\n")]
        items.append("\n".join(lines))
    return gap.join(items)


def fence(rng: random.Random) -> str:
    mark = rng.choice(["```", "```", "~~~", "````"])
    inner = [
        rng.choice(["run the tool", "- not a list", "# no heading", "", "    x = 1", words(rng)]) for _ in range(3)
    ]
    return "\n".join([mark + rng.choice(["", "sh", "python"]), *inner[: rng.randint(0, 3)], mark])


def block(rng: random.Random) -> str:
    """One top-level block of the kinds that real SKILL.md files hold."""
    kind = rng.choices(
        ["para", "head", "list", "fence", "table", "html", "quote", "rule", "ref", "code", "region", "odd"],
        [20, 18, 26, 9, 7, 6, 5, 2, 2, 2, 2, 2],
    )[0]
    if kind == "para":
        return "\n".join(words(rng) for _ in range(rng.randint(1, 3)))
    if kind == "head":
        return rng.choice(HEADS).format(words(rng, 1, 3))
    if kind == "list":
        return list_block(rng)
    if kind == "fence":
        return fence(rng)
    if kind == "table":
        rows = [f"| {words(rng, 1, 2)} | {words(rng, 1, 2)} |" for _ in range(rng.randint(1, 3))]
        return "\n".join(["| a | b |", "|---|:-:|", *rows])
    if kind == "html":
        return rng.choice(
            [
                f"<div>\n{words(rng)}\n</div>",
                f"<details>\n<summary>{words(rng)}</summary>\n\n{words(rng)}\n\n</details>",
                f"<!-- {words(rng)} -->",
                f"<!--\n{words(rng)}\n\n{words(rng)}\n-->",
                "<script>\nlet x = 1\n\nlet y = 2\n</script>",
                f"<span>{words(rng)}</span>",
            ]
        )
    if kind == "quote":
        inner = rng.choice(
            [words(rng) + "\n" + words(rng), list_block(rng, 2), fence(rng), words(rng) + "\n\n" + words(rng)]
        )
        return "\n".join("> " + line if line else ">" for line in inner.split("\n"))
    if kind == "region":
        name = rng.choice(["SLOW_UPDATE", "APPENDIX"])
        inner = rng.choice(["", words(rng) + "\n", "- " + words(rng) + "\n", "\n- a\n\n"])
        return f"<!-- {name}_START -->\n{inner}<!-- {name}_END -->"
    plain = {
        "rule": "---",
        "ref": f"[{words(rng, 1, 1)}]: https://a.b/c 'title'",
        "code": "    indented\n\n    code",
    }
    odd = [
        "-",
        "1.",
        ">",
        "\\# no",
        "- - nested",
        "1. - a\n   - b",
        "\tx",
        "|",
        "===",
        "[x]:",
        "<!-- APPENDIX_START -->",
        "* * *",
    ]
    return plain.get(kind) or rng.choice([*odd, "```\nnever closed", "<!-- never closed"])


FRONT = (
    "---\nname: unit-desk\ndescription: Convert units. Use when a measure must be converted.\n---\n",
    "---\nname: a\ndescription: one --- two\nmetadata:\n  k: v\n---\n\n",
    "---\ndescription: |\n  a\n  ---\n  b\n---\n",
    "---\nname: x\nnever: closed\n",
    "",
)


def document(rng: random.Random, blocks: int = 0) -> str:
    """A document of `blocks` blocks (0: one to nine), with line ends, blank runs and end of file at
    random."""
    parts = [rng.choices(FRONT, [60, 10, 8, 3, 19])[0]]
    for _ in range(blocks or rng.randint(1, 9)):
        parts.append(block(rng))
        parts.append("\n" if rng.random() < 0.12 else "\n\n" if rng.random() < 0.9 else "\n\n\n")
    text = "".join(parts)
    if rng.random() < 0.2:
        text = text.rstrip("\n")
    elif rng.random() < 0.8:
        text = text.rstrip("\n") + "\n"
    style = rng.random()
    if style < 0.15:
        text = text.replace("\n", "\r\n")
    elif style < 0.22:
        text = "".join(rng.choice(["\n", "\r\n"]) if char == "\n" else char for char in text)
    elif style < 0.24:
        text = text.replace("\n", "\r")
    if rng.random() < 0.2:
        text = re.sub(r"(?=\r|\n)", lambda _: "  " if rng.random() < 0.1 else "", text)
    return "\ufeff" + text if rng.random() < 0.05 else text


def content(rng: random.Random) -> str:
    """What an optimizer may write: mostly an item or a paragraph, sometimes what could break a document."""
    roll = rng.random()
    if roll < 0.35:
        return "- " + words(rng)
    if roll < 0.7:
        return rng.choice([words(rng), block(rng), list_block(rng), "  - " + words(rng), "1. " + words(rng)])
    return rng.choice(
        [
            "```\nopen fence", "- a\n  ```\n  open in item", "<!-- open", "<script>\nx", "---", "---\nname: x\n---",
            "===", "# Head\n\n- a\n- b", "text <!-- SLOW_UPDATE_END --> more", "<!-- APPENDIX_START -->\n- x",
            "- a\n- b\n\ntext", "    code", "> quote", "| a | b |\n|---|---|\n| 1 | 2 |", "a\r\nb", "[r]: /u 'open",
            "<div>", "</div>", "- ", "", "  \n", "~~~", "a\n---", "* * *", "x\n\n\n\ny", "\ttab", "- x  ",
            "\u200b", "|---|---|",
        ]
    )  # fmt: skip


def retyped(rng: random.Random, text: str) -> str:
    """`text` as a model may quote it back: other quotes, spaces, normal form, line ends, trailing blanks."""
    changes = [
        lambda: text.replace("\u2019", "'").replace("\u201c", '"').replace("\u201d", '"'),
        lambda: unicodedata.normalize(rng.choice(["NFC", "NFD"]), text),
        lambda: text.replace("\r\n", "\n").replace("\r", "\n"),
        lambda: text.replace("\u00a0", " "),
        lambda: text + rng.choice([" ", "\n", "  \n"]),
        lambda: "\n" + text,
    ]
    return rng.choice(changes)() if rng.random() < 0.4 else text


def edit(rng: random.Random, text: str) -> object:
    lines = LINE.findall(text) or [""]
    said = [index for index, line in enumerate(lines) if line.strip()]
    at = rng.choice(said) if said and rng.random() < 0.95 else rng.randrange(len(lines))
    roll = rng.random()
    if roll < 0.55:
        target = lines[at].strip("\r\n")
    elif roll < 0.7:
        target = "".join(lines[at : at + rng.randint(2, 4)])
    elif roll < 0.92:
        bits = lines[at].split()
        low = rng.randrange(len(bits) + 1)
        target = " ".join(bits[low : low + rng.randint(1, 4)])
    else:
        target = rng.choice(["", "no such line", "---", "-", "a", words(rng)])
    made: dict[str, object] = {
        "op": rng.choice(["append", "insert_after", "insert_after", "replace", "delete"]),
        "target": retyped(rng, target),
        "content": content(rng),
    }
    if rng.random() < 0.1:
        heads = [line.strip() for line in lines if line.startswith("#")]
        made["section"] = rng.choice([*heads, "## nowhere"])
    if rng.random() < 0.03:
        odd = [None, 5, [], {}, "text", b"x", {"op": "append"}, {"op": "rewrite", "content": "x"}, {"op": 1},
               {"op": "append", "content": "\ud800"}, {"op": "append", "content": "a\0b"}]  # fmt: skip
        return rng.choice(odd)
    return made


# ---- the invariants
# ----------------------------------------------------------------------------------------------


def front(text: str) -> str:
    """The byte order mark and frontmatter of `text`."""
    found = re.match(
        r"\ufeff?(?:---[ \t]*(?:\r\n|\n|\r)(?:.*?(?:\r\n|\n|\r))??---[ \t]*(?:\r\n|\n|\r|\Z))?",
        text,
        re.DOTALL,
    )
    return found[0] if found else ""


def leaves(text: str) -> list[tuple[str, int, int, tuple[tuple[str, int], ...]]]:
    """All blocks of the body: kind, first line, end (0 for containers), and the items and quotes around
    each."""
    head = front(text)
    offset = len(LINE.findall(head.lstrip("\ufeff")))
    lines = LINE.findall(text[len(head) :])
    found, stack = [], []
    hidden = 0
    for token in PARSER.parse("\n".join(line.rstrip("\r\n") for line in lines) + "\n", {}):
        if token.type.endswith("_close"):
            if token.type in ("list_item_close", "blockquote_close"):
                stack.pop()
            hidden -= token.type == "table_close"
            continue
        if token.map is None or token.type in ("inline", "bullet_list_open", "ordered_list_open") or hidden:
            hidden += token.type == "table_open"
            continue
        first, end = token.map
        while end > first + 1 and (end > len(lines) or not lines[end - 1].strip(" \t\r\n")):
            end -= 1
        box = token.type in ("list_item_open", "blockquote_open")
        found.append((token.type + token.tag, first + offset, 0 if box else end + offset, tuple(stack)))
        if box:
            stack.append((token.type, first + offset))
        hidden += token.type == "table_open"
    return found


def structure_problem(before: str, after: str, splice: tuple[int, int, int]) -> str:
    """Why the blocks around a change of lines do not parse as they did, or nothing."""
    start, removed, added = splice
    end, new_end = start + removed, start + added
    touched = [b for b in leaves(before) if b[2] and b[1] < max(end, start) and b[2] > start and removed]
    low = min([start, *(b[1] for b in touched)])
    high = max([end, *(b[2] for b in touched)])

    def moved(line: int) -> int:
        return line if line < start else line + added - removed

    now = {(b[0], b[1], b[2], tuple((k, -1 if start <= at < new_end else at) for k, at in b[3])) for b in leaves(after)}
    for kind, first, last, chain in leaves(before):
        if low <= first < high:
            continue
        around = tuple((k, -1 if start <= at < end else moved(at)) for k, at in chain)
        if (kind, moved(first), moved(last - 1) + 1 if last else 0, around) not in now:
            return f"the block {kind} at line {first + 1} is not what it was"
    return ""


def step_problem(before: str, after: str, report: EditReport) -> str:
    """What is wrong with one edit that turned `before` into `after`, or nothing."""
    if report.status not in STATUSES:
        return f"unknown status {report.status}"
    if report.status != "applied":
        return "a refused edit changed the document" if before != after else ""
    if before == after:
        return "an applied edit changed nothing"
    if front(before).rstrip("\r\n") != front(after).rstrip("\r\n"):
        return "the frontmatter changed"
    if REGION.findall(before[len(front(before)) :]) != REGION.findall(after[len(front(after)) :]):
        return "a protected region changed"
    if report.splice is None:
        return "no splice"
    start, removed, added = report.splice
    old, new = LINE.findall(before.lstrip("\ufeff")), LINE.findall(after.lstrip("\ufeff"))
    if len(new) - len(old) != added - removed:
        return "the splice does not add up"
    kept_old, kept_new = old[:start] + old[start + removed :], new[:start] + new[start + added :]
    for index, (was, now) in enumerate(zip(kept_old, kept_new, strict=True)):
        ended = index == start - 1 and was == old[-1] and not was.endswith(("\r", "\n"))
        if was != now and not (ended and was == now.rstrip("\r\n")):
            return f"line {index + 1} is outside the splice and changed"
    if report.lines and not (1 <= report.lines[0] <= report.lines[1] <= len(new)):
        return "the line range is outside the document"
    # A fence that the document left open is closed by a line of its own: the fence itself is then touched.
    closed = int(report.reason.startswith("closed the code fence"))
    return structure_problem(before, after, (start - closed, removed + closed, added + closed))


def broken(text: str, edits: Sequence[object]) -> str:
    """The first invariant that `edits` on `text` break, or nothing."""
    result, reports = apply_edits(text, edits)
    if [report.index for report in reports] != list(range(len(edits))):
        return "not one report per edit, in order"
    current = text
    for made, report in zip(edits, reports, strict=True):
        after, alone = apply_edits(current, [made])
        if (alone[0].status, alone[0].reason, alone[0].splice) != (
            report.status,
            report.reason,
            report.splice,
        ):
            return f"edit {report.index} alone is {alone[0].status}, in sequence {report.status}"
        problem = step_problem(current, after, report)
        if problem:
            return f"edit {report.index} ({report.op}): {problem}"
        current = after
    if current != result:
        return "edits one by one give another document than together"
    appends = [made for made in edits if isinstance(made, dict) and made.get("op") == "append"]
    once, _ = apply_edits(text, appends)
    if apply_edits(once, appends)[0] != once:
        return "the same appends changed the document a second time"
    parts = split(result)
    if parts.bom + parts.frontmatter + parts.body != result:
        return "split lost something"
    body_for_target(result)
    validate(result, "unit-desk")
    return ""


def pairs(seed: int, count: int, large: int) -> Iterator[tuple[str, list[object]]]:
    """`count` pairs, of which `large` have bodies of about 200 kB."""
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        text = document(rng, 2600 if number < large else 0)
        yield text, [edit(rng, text) for _ in range(rng.randint(1, 5))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", type=int, default=20, help="how many of the pairs have bodies of about 200 kB")
    options = parser.parse_args()
    started = time.perf_counter()
    counts: Counter[str] = Counter()
    failures: list[tuple[int, str, str, list[object]]] = []
    size = 0
    for text, edits in pairs(options.seed, options.pairs, options.large):
        try:
            problem = broken(text, edits)
        except Exception as error:  # the invariant is that nothing is raised
            problem = f"raised {error!r}"
        if problem:
            failures.append((len(text), problem, text, edits))
        size = max(size, len(text.encode("utf-8", "surrogatepass")))
        counts.update(f"{report.op or 'no edit'}: {report.status}" for report in apply_edits(text, edits)[1])
    print(f"{options.pairs} pairs, {sum(counts.values())} edits, largest document {size} bytes")
    for name, number in sorted(counts.items()):
        print(f"  {name} {number}")
    print(f"{len(failures)} broken invariants, {time.perf_counter() - started:.0f} s")
    for name, number in Counter(re.sub(r"\d+", "N", failure[1]) for failure in failures).most_common(20):
        print(f"  {number} x {name}")
    if failures:
        _, problem, text, edits = min(failures, key=lambda failure: (failure[0], str(failure[3])))
        print(f"smallest: {problem}\n{text!r}\n{edits!r}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
