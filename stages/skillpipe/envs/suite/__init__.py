"""Tasks from suites in the form of Aiden's benchmark: hard assertions, and a rubric that a judge decides on.

The modules import each other in one direction: form -> pairs -> suite
"""

from skillpipe.envs.suite.form import SuiteForm, SuiteTask, read_suite
from skillpipe.envs.suite.pairs import Pair, find_pairs
from skillpipe.envs.suite.suite import Suite

__all__ = ["Pair", "Suite", "SuiteForm", "SuiteTask", "find_pairs", "read_suite"]
