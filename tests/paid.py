"""What a paid model says in tests of the pipeline: a target and an optimizer behind one server, and its requests."""

import hashlib
import json
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from fault_server import FaultServer, Seen
from project import Project
from toys import write, write_toy

RULE = re.compile(r"^(\d+): (\{.*\}) \(support", re.MULTILINE)
TOY = ["env=toy", "gate=toy", "steps_per_epoch=1", "edit_budget=3"]
# The optimizer behind the protocol of a chat server: through litellm every stage would take seconds to import it.
DIRECT = ["optimizer/api=chat_server", "optimizer.minibatch_size=4", "optimizer.model=toy/writer",
          "optimizer.api.price={input_per_mtok: 1000, output_per_mtok: 2000}"]  # fmt: skip


def target_says(skill: str, asked: str) -> str:
    """As toys.Instant: a word in capitals after enough examples, as many as the word's hash modulo 6 asks for."""
    word = asked.split()[1]
    needed = hashlib.sha256(word.encode()).digest()[0] % 6
    return word.upper() if needed <= skill.count("\nCapitals:") else "no idea"


def optimizer_says(prompt: str) -> str:
    """Each failed task as an example; every proposal once; the last proposals first. More politely if asked to."""
    title = prompt.split()[1]
    numbered = {int(number): json.loads(edit)["content"] for number, edit in RULE.findall(prompt)}
    if title == "Correct":
        please = "Please. " if "Be polite." in prompt else ""
        ids = re.findall(r"^id: (\w+)$", prompt, re.MULTILINE)
        edits = [an_example(f"{please}Word: {word}\nCapitals: {word.upper()}", tasks=[word]) for word in ids]
        said: dict[str, Any] = {"reasoning": f"{len(ids)} failed", "edits": edits}
    elif title == "Merge":
        said = {"edits": [an_example(content, **{"from": [number]}) for number, content in numbered.items()]}
    elif title == "Choose":
        said = {"selected": sorted(numbered, reverse=True)}
    else:
        said = {"edits": []}
    return json.dumps(said)


def an_example(content: str, **fields: Any) -> dict[str, Any]:
    return {"op": "append", "content": content, **fields}


def says(seen: Seen) -> str:
    """The answer to a request of either role, for a script of the server."""
    messages = [message["content"] for message in seen.body["messages"]]
    return "say " + (optimizer_says(messages[0]) if len(messages) == 1 else target_says(*messages))


class PaidServer(FaultServer):
    """A server that answers as both roles, but as `instead` says where that is not empty.

    It kills the process group `victim` the moment that `kill_at[0]` requests have come; that one is not answered.
    """

    def __init__(self, instead: Callable[[], str] = str, latency_s: float = 0.0) -> None:
        super().__init__(self._meets, latency_s)
        self._instead = instead
        self.kill_at: list[int] = []
        self.victim = 0

    def _meets(self, number: int, text: str) -> str:
        if self.kill_at and number + 1 == self.kill_at[0]:
            self.kill_at.pop(0)
            os.killpg(self.victim, signal.SIGKILL)
            return "hang"
        return self._instead() or says(self.seen[number])


def requests(seen: Iterable[Seen]) -> Counter[str]:
    """How often each request came, whole."""
    return Counter(json.dumps(one.body, sort_keys=True) for one in seen)


def titles(seen: Iterable[Seen]) -> Counter[str]:
    """How often each prompt of the optimizer came, by the first word of its title."""
    return Counter(one.text.split()[1] for one in seen if one.text.startswith("# "))


def write_words(root: Path, train: int, val: int, test: int) -> None:
    """Larger splits for the toy environment."""
    words = iter(f"word{first}{second}" for first in ascii_lowercase for second in ascii_lowercase)
    for split, size in (("train", train), ("val", val), ("test", test)):
        rows = ({"id": word, "input": word, "answer": word.upper()} for word in islice(words, size))
        write(root / "data" / "toy" / f"{split}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def run_files(root: Path) -> set[str]:
    """Every artifact of a run that is there; what stages say of themselves is none."""
    files = (path for path in (root / "runs").rglob("*") if path.is_file() and "phases" not in path.parts)
    return {path.relative_to(root).as_posix() for path in files}


def toy_project(root: Path) -> Project:
    """A copy with toy choices, committed, in which nothing was composed."""
    project = Project.copy(root)
    write_toy(project.root)
    project.commit()
    return project


def clone(started: Project, root: Path, *overrides: str) -> Project:
    """A clone with params.yaml for the toy settings and these."""
    project = started.clone(root)
    project.run("python", "stages/compose.py", *TOY, *overrides)
    return project


def target(server: PaidServer, ledger: Path, choice: str = "chat_server", model: str = "toy") -> list[str]:
    """Settings for a target behind the server, through either wire."""
    where = [f"target.api_base={server.url}", f"execution.target.ledger={ledger}", "batch_size=8"]
    fast = "execution.target.retry={attempts: 3, first_wait_s: 0.001, max_wait_s: 0.002}"
    return [f"target={choice}", f"target.model={model}", *where, fast]


def optimizer(server: PaidServer, ledger: Path) -> list[str]:
    """Settings for an optimizer behind the server; the target is the toy that costs nothing."""
    where = [f"optimizer.api.api_base={server.url}", f"execution.optimizer.ledger={ledger}", "batch_size=8"]
    return ["target=toy", "optimizer=model", *DIRECT, *where]


def must_fail(project: Project, *command: str) -> str:
    """What a command says that must fail."""
    done = subprocess.run(
        command, cwd=project.root, env=project.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    return done.stdout + done.stderr
