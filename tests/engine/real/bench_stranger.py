"""Our synthetic traffic against `vllm bench serve`: one server life, alternating pairs of runs, the same requests.

    python tests/engine/real/bench_stranger.py                       # CPU build, tiny hybrid, bound 5 %
    python tests/engine/real/bench_stranger.py --endpoint http://127.0.0.1:8000 --tokenizer MODEL --bound 0.02 \\
        --input 512 --output 512 --streams 256 --requests 768        # on a GPU host, with a server that runs

Prints a line a pair and the ratio ours / theirs with its 95 % interval, of output tokens a second (both over the whole
run), of TTFT p50 (both from the call: theirs has no other), of TPOT, and of what the server's API process spent a
token, which tells whether both asked the same of it. Exit code 0: both tools agree on tokens a second within the bound;
1: they do not; 4: these pairs cannot tell.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path += [str(ROOT), str(ROOT / "tests" / "bench")]

import ours  # noqa: E402
import peers  # noqa: E402
import same_prompts  # noqa: E402
import served  # noqa: E402

from simulator.core.compare.pairs import PairedRatio, ratio_of_pairs  # noqa: E402
from simulator.engine.scrape import flatten  # noqa: E402

#: of the first pair that counts; the one before it warms up kernels and connections of both
FIRST_SEED = 100
#: by which the prompts of the two tools may differ in length
SAME_WORK = 0.01


@dataclass(frozen=True, slots=True)
class Figures:
    """What a tool says of one run. prompt_tok: mean a request. server_us: CPU of the server's API process a token
    generated, warm-ups included."""

    tok_s: float
    ttft_p50_ms: float
    tpot_mean_ms: float
    prompt_tok: float
    requests: int
    server_us: float = math.nan


@dataclass(frozen=True, slots=True)
class At:
    url: str


def theirs(vllm: Path, load: peers.Load, folder: Path, seed: int) -> Figures:
    """`vllm bench serve`; prompts are random words, other ones for every seed, of as many tokens as our own."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    prompts = same_prompts.write(
        folder.with_name("prompts.json"), load.url, load.model, words(load.url, load.model),
        requests=load.requests, tok=load.input_tok, seed=seed,
    )  # fmt: skip
    load = replace(load, prompts=prompts)
    forget(load.url)
    peer = replace(next(p for p in peers.PEERS if p.name == "vllm"), at=vllm)
    extra = ["--seed", str(seed), "--num-warmups", str(ours.WARMUPS), "--save-detailed"]
    peer.measure(load, folder, 600.0, extra)
    told = json.loads((folder / "vllm.json").read_text())
    return Figures(
        told["output_throughput"], told["median_ttft_ms"], told["mean_tpot_ms"],
        told["total_input_tokens"] / told["completed"], told["completed"],
    )  # fmt: skip


def our_own(load: peers.Load, folder: Path, seed: int) -> Figures:
    """`sim run scenarios/512_512.yaml`; it drops the server's caches itself."""
    outcome = ours.sim(
        At(load.url), folder, streams=load.streams, requests=load.requests, tok=load.tok, seed=seed,
        input_tok=load.input_tok,
    )  # fmt: skip
    good = [r for r in outcome.requests if r["outcome"] == "ok"]
    told = outcome.summary["synthetic"]
    return Figures(
        told["output_tok_s_whole_run"],
        1e3 * statistics.median(r["t_first_s"] - r["t_call_s"] for r in good),
        1e3 * told["tpot_s"]["mean"],
        statistics.fmean(r["prompt_tok"] for r in good),
        len(good),
    )


words = functools.cache(same_prompts.plain_words)


def forget(url: str) -> None:
    """Drops the server's prefix cache where it lets us (VLLM_SERVER_DEV_MODE=1)."""
    with contextlib.suppress(OSError):
        urllib.request.urlopen(urllib.request.Request(f"{url}/reset_prefix_cache", method="POST"), timeout=30).close()


def spent(url: str) -> tuple[float, float]:
    """(CPU seconds of the API process, tokens generated) so far."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
        told = flatten(answer.read().decode())
    return told["process_cpu_seconds_total"], told["vllm:generation_tokens_total"]


def compare(vllm: Path, load: peers.Load, pairs: int, folder: Path) -> tuple[list[Figures], list[Figures]]:
    """(theirs, ours), a run each a pair, in the order theirs-ours, ours-theirs, ..."""
    found: tuple[list[Figures], list[Figures]] = ([], [])
    for pair in range(-1, pairs):
        seed, at = FIRST_SEED + pair, folder / str(pair)
        ran: dict[str, Figures] = {}
        for tool in ("theirs", "ours") if pair % 2 else ("ours", "theirs"):
            before = spent(load.url)
            measure = functools.partial(theirs, vllm) if tool == "theirs" else our_own
            figures, after = measure(load, at / tool, seed), spent(load.url)
            ran[tool] = replace(figures, server_us=1e6 * (after[0] - before[0]) / (after[1] - before[1]))
        say(f"pair {pair}" if pair >= 0 else "not counted", ran["theirs"], ran["ours"])
        if pair >= 0:
            found[0].append(ran["theirs"])
            found[1].append(ran["ours"])
    return found


def say(name: str, them: Figures, us: Figures) -> None:
    def line(f: Figures) -> str:
        times = f"TTFT p50 {f.ttft_p50_ms:8.1f} ms  TPOT {f.tpot_mean_ms:6.2f} ms"
        return f"{f.tok_s:9,.1f} tok/s  {times}  {f.server_us:4,.0f} us"

    counts = f"{them.requests}/{us.requests} requests, prompts {them.prompt_tok:.1f}/{us.prompt_tok:.1f}"
    print(f"{name:12} vllm bench {line(them)}   sim {line(us)}   {counts}", flush=True)


def verdict(name: str, found: PairedRatio, bound: float | None) -> int:
    """Prints the ratio; the exit code that follows from it."""
    assert found.low is not None and found.high is not None, "two pairs at least"
    text = f"{name}: ours / theirs {found.ratio:.4f}, 95 % {found.low:.4f} to {found.high:.4f}, {found.n} pairs"
    if bound is None:
        print(text)
        return 0
    if 1 - bound <= found.low and found.high <= 1 + bound:
        word, code = "inside", 0
    elif found.low > 1 + bound or found.high < 1 - bound:
        word, code = "OUTSIDE", 1
    else:
        word, code = "UNDECIDED (more pairs, or a quieter machine) for", 4
    print(f"{text}: {word} +-{100 * bound:g} %")
    return code


@contextlib.contextmanager
def server(asked: argparse.Namespace, vllm: Path, folder: Path) -> Iterator[tuple[str, str, Path]]:
    """(address, model, tokenizer): the one that was named, or the tiny hybrid."""
    if asked.endpoint:
        url = asked.endpoint.rstrip("/").removesuffix("/v1")
        with urllib.request.urlopen(f"{url}/v1/models", timeout=30) as answer:
            model = asked.model or json.load(answer)["data"][0]["id"]
        yield url, model, asked.tokenizer
        return
    model = folder / "tiny-hybrid"
    subprocess.run([vllm.with_name("python"), HERE / "tiny_model.py", model], check=True)
    config = served.config_file(folder / "tiny_hybrid.yaml", vllm.parents[1], model, served.RANDOM_WEIGHTS)
    with served.serving(config, model.name) as life:
        apart(life.pid)
        yield life.url, life.model, model


def apart(server: int) -> None:
    """The server and its engine have the first half of the cores and both tools the rest, so that neither tool takes
    from what it measures."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        leader = psutil.Process(server)
        for process in (leader, *leader.children(recursive=True)):
            for task in process.threads():
                os.sched_setaffinity(task.id, cores[: len(cores) // 2])
        os.sched_setaffinity(0, cores[len(cores) // 2 :])


def main() -> int:
    venv = Path(os.environ.get("ENGINE_VENV") or ROOT / ".venv-engine")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", help="a running vLLM; left out, the tiny hybrid is served on the CPU")
    parser.add_argument("--model", help="its name; by default the first that it serves")
    parser.add_argument("--tokenizer", type=Path, help="the model's folder, for `vllm bench serve`")
    parser.add_argument("--vllm", type=Path, default=venv / "bin" / "vllm", help="the program")
    for name, default in (("input", 128), ("output", 128), ("streams", 16), ("requests", 128), ("pairs", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--bound", type=float, default=0.05)
    parser.add_argument("--out", type=Path, help="keep the run folders and `vllm bench serve`'s results there")
    asked = parser.parse_args()
    if asked.endpoint and not asked.tokenizer:
        parser.error("--endpoint needs --tokenizer, the folder of the model that is served")
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.out or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        vllm = asked.vllm.absolute()
        with server(asked, vllm, folder) as (url, model, tokenizer):
            load = peers.Load(url, model, tokenizer, asked.streams, asked.requests, asked.output, asked.input)
            them, us = compare(vllm, load, asked.pairs, folder)

    def ratio(key: str) -> PairedRatio:
        return ratio_of_pairs([getattr(f, key) for f in them], [getattr(f, key) for f in us])

    work = ratio("prompt_tok").ratio
    if abs(work - 1) > SAME_WORK:
        print(f"NOT THE SAME WORK: our prompts have {work:.3f} times the tokens of theirs; no verdict")
        return 1
    code = verdict("output tok/s", ratio("tok_s"), asked.bound)
    verdict("TTFT p50, from the call", ratio("ttft_p50_ms"), None)
    verdict("TPOT mean", ratio("tpot_mean_ms"), None)
    verdict("server's CPU a token", ratio("server_us"), None)
    return code


if __name__ == "__main__":
    sys.exit(main())
