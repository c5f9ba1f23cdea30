"""A comparison for a terminal. Pure."""

from collections.abc import Sequence

from skillpipe.compare.comparison import Against, Comparison


def as_text(found: Comparison) -> str:
    """Scores, then each run against the first, then what differs in parameters and skills."""
    parts = [table([HEADER, *scores(found)])]
    first = found.runs[0].name
    parts += ["\n".join(against(first, row)) for row in found.against]
    names = [run.name for run in found.runs]
    rows = [[name, *values] for name, values in found.params.items()]
    parts.append(table([["parameter", *names], *rows]) if rows else "parameters: the same")
    parts += [row.diff.rstrip("\n") or f"skills: {row.name} has the same as {first}" for row in found.against]
    return "\n\n".join(parts)


HEADER = ["run", "revision", "test initial", "test best", "gain", "p of gain", "tasks", "val best"]


def scores(found: Comparison) -> list[list[str]]:
    """A row per run, as HEADER names it."""
    return [
        [
            run.name, run.revision, three(run.summary.get("test_initial")), three(run.summary.get("test_best")),
            signed(run.summary.get("test_gain")), p_value(gain.p_value), str(len(run.tests)),
            three(run.summary.get("val_best")),
        ]
        for run, gain in zip(found.runs, found.gains, strict=True)
    ]  # fmt: skip


def against(first: str, row: Against) -> list[str]:
    """One run against the first: a line of figures, then the tasks that flipped."""
    if row.significance is None or row.before is None or row.after is None:
        return [f"{row.name} against {first}: no test task has a score in both; they cannot be compared"]
    flips = f"{len(row.gained)} gained, {len(row.lost)} lost"
    p = p_value(row.significance.p_value)
    told = [
        f"{row.name} against {first}: {three(row.before)} -> {three(row.after)} on {row.n} test tasks, {flips}; "
        f"p {p if p.startswith('<') else f'= {p}'} ({row.significance.test})"
    ]
    return told + [f"  {word}: {', '.join(ids)}" for word, ids in (("gained", row.gained), ("lost", row.lost)) if ids]


def table(rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def three(score: float | None) -> str:
    """A score with three places; a dash where there is none."""
    return "-" if score is None else f"{score:.3f}"


def signed(change: float | None) -> str:
    """A difference with its sign."""
    return "-" if change is None else f"{change:+.3f}"


def p_value(value: float) -> str:
    """A p-value with three places, never 0."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"
