"""Compare published runs: `python -m skillpipe.compare exp-a exp-b` (or `workspace`, or any revision of git).

Scores on the held-out tasks with the paired significance of their difference, tasks that flipped, parameters and skills
that differ. Reads what a run has published into git, results/ and params.yaml; no cache of DVC is needed.
"""

from skillpipe.compare.comparison import Against, Comparison, compare
from skillpipe.compare.page import as_html
from skillpipe.compare.revisions import Published, read_published
from skillpipe.compare.significance import Significance, significance
from skillpipe.compare.text import as_text

__all__ = [
    "Against",
    "Comparison",
    "Published",
    "Significance",
    "as_html",
    "as_text",
    "compare",
    "read_published",
    "significance",
]
