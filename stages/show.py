"""Print what the last run came to: `python stages/show.py`.

Reads: results/. Writes: nothing. Model calls: none.
"""

import sys
from pathlib import Path

from skillpipe.artifacts import read_record
from skillpipe.errors import SkillpipeError
from skillpipe.records import Summary


def show(summary: Summary, results: Path) -> str:
    """The summary for people: what was gained on held-out tasks, what was accepted, where to look."""
    best = (
        "the initial skill: no candidate passed the gate"
        if not summary.steps_accepted
        else results / "best" / "SKILL.md"
    )
    rows = {
        "test (held out)": f"{summary.test_initial:.3f} -> {summary.test_best:.3f}  ({summary.test_gain:+.3f})",
        "val": f"{summary.val_initial:.3f} -> {summary.val_best:.3f}",
        "steps": f"{summary.steps}: {summary.steps_accepted} accepted, {summary.steps_rejected} rejected, "
        f"{summary.steps_no_change} without change, {summary.steps_stopped} after training had stopped",
        "edits": f"{summary.edits_proposed} proposed, {summary.edits_applied} tried, {summary.edits_kept} kept",
        "target": f"{summary.target_calls} calls, {summary.target_tokens} tokens; "
        f"{summary.val_not_needed} val rollouts not needed",
        "optimizer": f"{summary.optimizer_calls} calls, {summary.optimizer_tokens} tokens; "
        f"{summary.reply_failures} replies unusable, {summary.fallbacks} fallbacks",
        "cost": "not known: no price" if summary.cost_usd is None else f"${summary.cost_usd:.4f}",
        "best skill": f"{best}",
        "report": f"{results / 'report.html'}  (open it in a browser)",
        "its diff": f"{results / 'diff.patch'}  (git apply it to keep it)",
    }
    return "\n".join(f"{name:<16}  {text}" for name, text in rows.items())


def main() -> None:
    try:
        print(show(read_record("results/summary.json", Summary), Path("results")))
    except SkillpipeError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
