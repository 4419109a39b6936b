"""`sim serve`: an engine by its configuration, in the foreground, until Ctrl-C or its own end."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from pathlib import Path

import uvloop

from simulator.cli.conduct import SIGNALS
from simulator.core.wording import counted
from simulator.engine.serving.arguments import without_secrets
from simulator.engine.serving.config import EngineConfig, load_config
from simulator.engine.serving.gpu import gpus
from simulator.engine.serving.life import Engine, command_line, started
from simulator.engine.serving.memory import Estimate
from simulator.engine.serving.prepare import Prepared, prepare
from simulator.errors import EngineError

ASK_S = 0.5
#: in a dry run without --port; a start takes a free one
USUAL_PORT = 8000


def main(named: str, port: int | None, log: Path | None) -> int:
    """0 after Ctrl-C. Raises SimError when it does not start, or ends by itself."""
    config = load_config(named)
    if log is None:
        handle, name = tempfile.mkstemp(prefix=f"sim-{config.name}-", suffix=".log")
        open(handle, "wb").close()
        log = Path(name)
    return uvloop.run(_serve(config, port, log))


def dry(named: str, gpu_mib: int | None, port: int | None = None) -> int:
    """What would be started, as it can be typed, its memory, and what speaks against it: 2 when it would be refused."""
    config = load_config(named)
    print(f"{config.name} ({config.source}): {config.why or 'says nothing about why'}")
    before = None if config.embedded else asyncio.run(_prepared(config, gpu_mib))
    print(f"  environment  {shlex.join(f'{k}={v}' for k, v in without_secrets(config.env).items()) or 'nothing'}")
    print(f"  command      {shlex.join(command_line(config, before.model if before else '', port or USUAL_PORT))}")
    if before is None:
        print("  model        " + config.model.served + ", EMULATED")
        return 0
    weights = ", RANDOM WEIGHTS" if config.random_weights else ""
    print(f"  model        {before.model} as {config.model.served}{weights}")
    print(f"  vLLM         {before.there.version or 'not found here'}; meant for {config.vllm or 'any version'}")
    for line in _memory(before.memory):
        print(f"  {line}")
    for doubt in before.doubts:
        print(f"  note         {doubt}")
    for each in before.refused:
        print(f"  refused      {each}")
    return 2 if before.refused else 0


async def _prepared(config: EngineConfig, gpu_mib: int | None) -> Prepared:
    env = {**os.environ, **config.env}
    return await prepare(config, env, await gpus(env), None if gpu_mib is None else [gpu_mib], parse=True)


def _memory(found: Estimate | None) -> list[str]:
    if found is None:
        return ["memory       not estimated: no GPU here (--gpu-mib says one), or a shape that is not understood"]
    gib, mib = 1 << 30, 1 << 20
    state = f"{found.copies} states of {found.state_bytes / mib:.1f} MiB and " if found.copies else ""
    fits = ", ".join(f"{n:,} of {tok:,}" for tok, n in found.seqs)
    return [
        f"memory       {found.total_bytes / gib:.1f} GiB may be used: weights {found.weight_bytes / gib:.1f}, KV cache "
        f"{found.kv_bytes / gib:.1f} (an estimate)",
        f"             {counted(found.n_blocks, 'block')} of {found.block_tok:,} tokens; a sequence takes {state}"
        f"{found.kv_tok_bytes / 1024:g} KiB a token",
        f"             sequences that fit, by tokens: {fits}; max-num-seqs is {found.max_num_seqs:,}",
    ]


async def _serve(config: EngineConfig, port: int | None, log: Path) -> int:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    serving = asyncio.current_task()
    assert serving is not None
    print(f"starting {config.name}; its output: {log}", flush=True)
    up = False

    def asked() -> None:
        stop.set()
        if not up:
            serving.cancel()

    for name in SIGNALS:
        loop.add_signal_handler(name, asked)
    try:
        async with started(config, port=port, log=log, say=lambda what: print(what, flush=True)) as engine:
            up = True
            _tell(engine)
            while not stop.is_set() and engine.alive:
                await asyncio.wait([asyncio.ensure_future(stop.wait())], timeout=ASK_S)
            if not stop.is_set():
                raise EngineError(f"{config.name}: the engine {engine.death()}")
            print("stopping", flush=True)
    except asyncio.CancelledError:
        print("stopped before it was ready", flush=True)
        return 130
    return 0


def _tell(engine: Engine) -> None:
    told = engine.identity
    mark = "EMULATED ENGINE" if told["kind"] == "emulated" else f"vLLM {told['version']}"
    mark += ", RANDOM WEIGHTS" if told["random_weights"] else ""
    where = f" on {told['gpu']}" if told["gpu"] else ""
    print(f"{mark}{where}: {engine.config.name} serves {engine.model} at {engine.url} after {told['start_s']:g} s")
    print(f"  process {engine.pid}: {shlex.join(told['argv'])}")
    print("Ctrl-C stops it", flush=True)
