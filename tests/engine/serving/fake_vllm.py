"""A small `vllm`: the command line, the log and the HTTP answers of a server, without an engine. The environment says
how it goes: FAKE_CASE `log:FILE` prints that and fails, `killed`, `slow`, `deaf` to SIGTERM, `leaves` processes that
have left its group, `leaves deaf` ones; else it serves."""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HELP = """\
usage: vllm serve [model_tag] [options]

options:
  --api-server-count API_SERVER_COUNT, -asc API_SERVER_COUNT
  --async-scheduling, --no-async-scheduling
                        Schedule ahead. (default: None)
  --enable-auto-tool-choice, --no-enable-auto-tool-choice
  --enable-mamba-cache-stochastic-rounding, --no-enable-mamba-cache-stochastic-rounding
  --enable-per-request-metrics, --no-enable-per-request-metrics
  --enable-prefix-caching, --no-enable-prefix-caching
  --enable-prompt-tokens-details, --no-enable-prompt-tokens-details
  --gpu-memory-utilization GPU_MEMORY_UTILIZATION
  --host HOST
  --load-format LOAD_FORMAT
  --mamba-backend MAMBA_BACKEND
  --mamba-cache-mode {align,none}
                        Which states are kept, as `--mamba-cache-all` was once. (default: align)
  --mamba-cache-philox-rounds MAMBA_CACHE_PHILOX_ROUNDS
  --mamba-ssm-cache-dtype {auto,bfloat16,float16,float32}
  --max-model-len MAX_MODEL_LEN
  --max-num-batched-tokens MAX_NUM_BATCHED_TOKENS
  --max-num-seqs MAX_NUM_SEQS
  --port PORT
  --served-model-name SERVED_MODEL_NAME [SERVED_MODEL_NAME ...]
  --speculative-config SPECULATIVE_CONFIG, -sc SPECULATIVE_CONFIG
  --tensor-parallel-size TENSOR_PARALLEL_SIZE
  --tokenizer TOKENIZER
  --tool-call-parser {hermes,qwen3_coder} or name registered in --tool-parser-plugin
"""
METRICS = """\
# TYPE process_start_time_seconds gauge
process_start_time_seconds {start}
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0"}} {running}
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{{block_size="1072",num_gpu_blocks="{blocks}"}} 1.0
"""


def option(name: str, default: str = "") -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


class Handler(BaseHTTPRequestHandler):
    started = time.time()
    asked = 0

    def do_GET(self) -> None:
        named = os.environ.get("FAKE_MODEL", option("--served-model-name"))
        model = {"id": named, "max_model_len": int(option("--max-model-len", "4096"))}
        blocks = 9048 if os.path.exists(os.environ.get("FAKE_OTHER", "")) else 9047
        if self.path == "/metrics":
            Handler.asked += 1
        running = max(0, int(os.environ.get("FAKE_RUNNING", "0")) - Handler.asked)
        answers = {
            "/health": "",
            "/v1/models": json.dumps({"data": [model]}),
            "/version": json.dumps({"version": os.environ.get("FAKE_VERSION", "0.32.0")}),
            "/metrics": METRICS.format(start=self.started, running=running, blocks=blocks),
        }
        body = answers.get(self.path)
        self.send_response(404 if body is None else 200)
        self.end_headers()
        self.wfile.write((body or "").encode())

    def log_message(self, *_: object) -> None:
        pass


def leave(depth: int, *, deaf: bool) -> None:
    """A process in a session of its own. depth: 1, a daemon, whose parents are gone at once; 2, with such a child."""
    if os.fork():
        return
    os.setsid()
    if depth and os.fork():
        os._exit(0)
    if deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if depth > 1:
        leave(0, deaf=deaf)
    print(f"left {os.getpid()}", flush=True)
    time.sleep(300)


def main() -> int:
    if "--help=all" in sys.argv:
        print(HELP)
        return 0
    if "--help" in sys.argv:  # as vLLM's parser, which reads what comes before it
        if not option("--max-model-len", "1").isdecimal():
            said = f"error: argument --max-model-len: invalid human_readable_int value: '{option('--max-model-len')}'"
            print(f"usage: vllm serve [options]\nvllm serve: {said}", file=sys.stderr)
            return 2
        print(HELP)
        return 0
    case = os.environ.get("FAKE_CASE", "")
    print(f"INFO 11-30 06:00:00 [api_server.py:1] args: {sys.argv[1:]}", flush=True)
    print(f"secret in the environment: {'FAKE_KEY' in os.environ}", flush=True)
    if case.startswith("log:"):
        print(Path(case[4:]).read_text(), flush=True)
        return 1
    if case == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    # an engine's worker, which would live on
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    print(f"worker {worker.pid}", flush=True)
    if "leaves" in case:
        leave(0, deaf="deaf" in case)
        leave(2, deaf="deaf" in case)
        time.sleep(0.3)
    if case == "slow":
        time.sleep(300)
    if "deaf" in case:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # without its worker, as when it crashes
    ThreadingHTTPServer((option("--host"), int(option("--port"))), Handler).serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
