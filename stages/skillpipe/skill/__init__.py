"""The skill document and its edits: safe on any SKILL.md that exists.

Pure text in, pure text out; only `read_folder` and `write_folder` touch a disk. The modules import each other
in one direction:

    lines, report -> fold, parts, blocks, request, paths -> outline, content -> document, anchors
        -> insert, change -> edits -> folder -> exact -> rewrite, regions;  validate;  store

docs/skills.md tells users what an edit may do; docs/differences.md where that differs from SkillOpt, and why.
"""

from skillpipe.skill.edits import apply_edits
from skillpipe.skill.fold import fold_line
from skillpipe.skill.folder import apply_to_folder
from skillpipe.skill.lines import count_tokens
from skillpipe.skill.parts import REGION_MARKERS, Parts, body_for_target, split
from skillpipe.skill.regions import protected_text, read_region, write_region
from skillpipe.skill.report import EditReport
from skillpipe.skill.rewrite import editable_body, rewrite_body
from skillpipe.skill.store import read_folder, write_folder
from skillpipe.skill.validate import Finding, validate

__all__ = [
    "REGION_MARKERS",
    "EditReport",
    "Finding",
    "Parts",
    "apply_edits",
    "apply_to_folder",
    "body_for_target",
    "count_tokens",
    "editable_body",
    "fold_line",
    "protected_text",
    "read_folder",
    "read_region",
    "rewrite_body",
    "split",
    "validate",
    "write_folder",
    "write_region",
]
