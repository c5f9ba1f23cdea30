"""The one error that is meant for people."""


class SkillpipeError(Exception):
    """A refusal that a user can mend.

    The message is one line: where, what was found, what is allowed, what to type. Stage scripts print it without
    a traceback and exit with 1; any other exception is a defect and keeps its traceback.
    """
