"""Other load generators against the same server: how each is started, and where it says what it saw.

Each lives in an environment of its own below $BENCH_PEERS (.bench/ by default); `make bench-peers` installs them.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vocabulary
from measure import ROOT, Cost, run


@dataclass(frozen=True, slots=True)
class Load:
    """`input_tok` tokens in, `tok` out, `streams` at once. model, tokenizer: what the peer is to be told.
    prompts: a file of them for `vllm bench serve`, which otherwise draws its own."""

    url: str
    model: str
    tokenizer: Path
    streams: int
    requests: int
    tok: int
    input_tok: int = 512
    prompts: Path | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a client says. None: it does not say."""

    requests: int
    ttft_mean_ms: float | None
    ttft_p50_ms: float | None
    tpot_mean_ms: float | None
    tok_s: float
    output_tok: int | None = None


@dataclass(frozen=True, slots=True)
class Peer:
    """program: below the peer's environment. environment: variables that it needs. at: the program itself, where it is
    elsewhere."""

    name: str
    program: str
    arguments: Callable[[Load, Path], list[str]]
    read: Callable[[Path], Report]
    environment: Mapping[str, str]
    at: Path | None = None

    @property
    def path(self) -> Path:
        return self.at or home() / self.name / "bin" / self.program

    def measure(
        self, load: Load, folder: Path, limit_s: float = 150.0, extra: Sequence[str] = ()
    ) -> tuple[Cost, Report]:
        """extra: further arguments. Raises RuntimeError with the end of what it printed when it fails."""
        folder.mkdir(parents=True)
        cost = run([str(self.path), *self.arguments(load, folder), *extra], limit_s, self.environment)
        try:
            if cost.exit_code:
                raise RuntimeError(f"exit {cost.exit_code}")
            return cost, self.read(folder)
        except (OSError, KeyError, ValueError, IndexError, RuntimeError) as error:
            tail = " | ".join(line for line in cost.output.splitlines()[-8:] if line.strip())
            raise RuntimeError(f"{self.name}: {error}: {tail[-600:]}") from error


def home() -> Path:
    return Path(os.environ.get("BENCH_PEERS", ROOT / ".bench")).resolve()


def installed() -> list[Peer]:
    return [peer for peer in PEERS if peer.path.exists()]


def tokenizer(folder: Path) -> Path:
    return vocabulary.write(folder / "tokenizer")


def _vllm(load: Load, folder: Path) -> list[str]:
    return [
        *("bench", "serve", "--backend", "openai", "--base-url", load.url, "--model", load.model),
        *("--tokenizer", str(load.tokenizer), "--num-prompts", str(load.requests), *_vllm_prompts(load)),
        *("--max-concurrency", str(load.streams), "--ignore-eos", "--temperature", "0", "--disable-tqdm"),
        *("--save-result", "--result-dir", str(folder), "--result-filename", "vllm.json"),
    ]


def _vllm_prompts(load: Load) -> list[str]:
    if load.prompts is not None:
        path = ("--dataset-name", "sharegpt", "--dataset-path", str(load.prompts))
        return [*path, "--sharegpt-output-len", str(load.tok), "--disable-shuffle"]
    return [
        *("--dataset-name", "random", "--random-input-len", str(load.input_tok), "--random-output-len", str(load.tok)),
    ]


def _read_vllm(folder: Path) -> Report:
    told = json.loads((folder / "vllm.json").read_text())
    return Report(
        told["completed"], told["mean_ttft_ms"], told["median_ttft_ms"], told["mean_tpot_ms"],
        told["output_throughput"], told["total_output_tokens"],
    )  # fmt: skip


def _servebench(load: Load, folder: Path) -> list[str]:
    return [
        *("run", "--url", load.url + "/v1", "--model", load.model, "--concurrency", str(load.streams)),
        *("--num-requests", str(load.requests), "--input-len", str(load.input_tok), "--output-len", str(load.tok)),
        *("--csv", str(folder / "levels.csv")),
    ]


def _read_servebench(folder: Path) -> Report:
    with (folder / "levels.csv").open() as file:
        told = next(csv.DictReader(file))
    return Report(
        int(told["completed"]), None, float(told["ttft_p50_ms"]), float(told["tpot_p50_ms"]), float(told["out_tok_s"])
    )


def _aiperf(load: Load, folder: Path) -> list[str]:
    return [
        *("profile", "-m", load.model, "--url", load.url, "--endpoint-type", "completions", "--streaming"),
        *("--concurrency", str(load.streams), "--request-count", str(load.requests), "--isl", str(load.input_tok)),
        *("--osl", str(load.tok), "--tokenizer", str(load.tokenizer), "--artifact-dir", str(folder), "--ui", "none"),
        *("--use-server-token-count", "--extra-inputs", "ignore_eos:true"),
    ]


def _read_aiperf(folder: Path) -> Report:
    told: dict[str, Any] = json.loads((folder / "profile_export_aiperf.json").read_text())
    ttft = told["time_to_first_token"]
    return Report(
        int(told["request_count"]["avg"]), ttft["avg"], ttft["p50"], told["inter_token_latency"]["avg"],
        told["output_token_throughput"]["avg"], int(told["total_usage_completion_tokens"]["avg"]),
    )  # fmt: skip


def _guidellm(load: Load, folder: Path) -> list[str]:
    return [
        *("run", "--backend", f"kind=openai_http,target={load.url},model={load.model},request_format=/v1/completions"),
        *("--profile", f"kind=concurrent,streams={load.streams}"),
        *("--constraint", f"kind=max_requests,count={load.requests}"),
        *("--tokenizer", f"kind=huggingface_auto,model={load.tokenizer}"),
        *("--data", f"kind=synthetic_text,prompt_tokens={load.input_tok},output_tokens={load.tok}"),
        *("--output", f"kind=json,path={folder / 'guidellm.json'}", "--disable-console"),
    ]


def _read_guidellm(folder: Path) -> Report:
    told = json.loads((folder / "guidellm.json").read_text())["benchmarks"][0]["metrics"]

    def of(name: str) -> dict[str, Any]:
        found: dict[str, Any] = told[name]["successful"]
        return found

    ttft = of("time_to_first_token_ms")
    return Report(
        int(told["request_totals"]["successful"]), ttft["mean"], ttft["median"], of("inter_token_latency_ms")["mean"],
        of("output_tokens_per_second")["mean"], round(of("output_token_count")["total_sum"]),
    )  # fmt: skip


#: servebench says p50 for TPOT, and no mean of TTFT
PEERS = (
    Peer("vllm", "vllm", _vllm, _read_vllm, {"HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR"}),
    Peer("servebench", "servebench", _servebench, _read_servebench, {}),
    Peer("aiperf", "aiperf", _aiperf, _read_aiperf, {}),
    Peer("guidellm", "guidellm", _guidellm, _read_guidellm, {"HF_HUB_OFFLINE": "1"}),
)
