"""The report of a run: one HTML file that needs nothing beside it, for a run that ended and for one that failed.

`render` is pure: the same RunView gives the same text, which holds no time, host or path. The page makes no request and
its Content-Security-Policy allows none; scripts of a skill, a task or a reply are text in it, and could not run.

The charts are SVG from a template. Of the libraries that draw SVG in Python, pygal came closest; it gives every chart a
random id (the same run would not be the same bytes), has one shape for every mark, and writes colours into style
attributes (no dark page, and a policy that would have to allow them).
"""

from skillpipe.page.reading import read_steps
from skillpipe.page.rendering import render
from skillpipe.page.view import LineOrigin, Names, Phase, RunView, StepFiles, phase_of

__all__ = ["LineOrigin", "Names", "Phase", "RunView", "StepFiles", "phase_of", "read_steps", "render"]
