"""Open the environment that a configuration chooses, with its judge."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from skillpipe import roles
from skillpipe.config import build
from skillpipe.envs import Environment
from skillpipe.errors import SkillpipeError
from skillpipe.judging import Judge
from skillpipe.records import Usage
from skillpipe.sections import Budget, Choice, Execution


@contextmanager
def environment(
    env: Choice, judge: Choice, execution: Execution, budget: Budget, spent: Usage, prompts: str
) -> Iterator[Environment]:
    """The environment. One that has a judge by its configuration is given it as `judge`; it is metered, and closed at
    the end.

    Where none is configured (judge=none), no argument is given: an environment that knows no judge needs no such
    argument. Raises SkillpipeError for a judge that the environment cannot take.
    """
    if "_target_" not in judge:
        yield cast(Environment, build(env, "env"))
        return
    with roles.judge(judge, execution, budget, spent) as model:
        taken = Judge(model, prompts, execution.max_concurrency)
        try:
            opened = cast(Environment, build(env, "env", judge=taken))
        except SkillpipeError as error:
            raise SkillpipeError(f"{error}; one that takes no argument judge needs judge=none") from error
        yield opened
