"""Small records that tests are made of: whatever a test does not care about has a plain value."""

from skillpipe.records import Edit, Message, Patch, Rollout, Task, Usage, ValScore


def task(key: str, *, text: str = "", answer: str = "yes", task_type: str = "") -> Task:
    return Task(key, text or f"Question {key}?", answer, task_type)


def tasks(count: int, prefix: str = "t") -> list[Task]:
    return [task(f"{prefix}{number}") for number in range(count)]


def passed(key: str, task_type: str = "", *, expected: str = "yes") -> Rollout:
    return attempt(key, 1.0, expected=expected, task_type=task_type)


def failed(key: str, *, expected: str = "yes", task_type: str = "") -> Rollout:
    return attempt(key, 0.0, expected=expected, task_type=task_type)


def attempt(key: str, hard: float, *, expected: str = "yes", task_type: str = "") -> Rollout:
    """A scored rollout: one call, ten tokens in, one out."""
    status, said = ("passed", expected) if hard == 1 else ("failed", "no idea")
    trajectory = (Message("user", f"Question {key}?"), Message("assistant", said))
    return Rollout(key, task_type, status, hard, hard, "", expected, trajectory, Usage(1, 10, 1))


def broken(key: str, reason: str = "no answer") -> Rollout:
    """A rollout without a score."""
    return Rollout(key, "", "infra_error", None, None, reason, "yes", (), Usage(1, 0, 0))


def scores(*hard: float | None) -> tuple[ValScore, ...]:
    """Val scores of tasks v0, v1, ..."""
    return tuple(ValScore(f"v{number}", "", value, value) for number, value in enumerate(hard))


def append(content: str, *task_ids: str, support: int = 1) -> Edit:
    return Edit("append", content, tasks=task_ids, support=support)


def patch(*edits: Edit, reasoning: str = "") -> Patch:
    return Patch("failure", (), reasoning, edits)
