"""What a stage says of itself while it runs, and how it ended: runs/phases/<phase>.json, one PhaseRecord each.

For people and programs that look on. No stage reads these files and DVC knows none of them, so they may hold times.
"""

from skillpipe.phases.naming import Phase, phase_of, place
from skillpipe.phases.reading import FOLDER, in_one_line, read_phases
from skillpipe.phases.writing import Observer, PhaseWriter, offer, recorded, watched

__all__ = [
    "FOLDER",
    "Observer",
    "Phase",
    "PhaseWriter",
    "in_one_line",
    "offer",
    "phase_of",
    "place",
    "read_phases",
    "recorded",
    "watched",
]
