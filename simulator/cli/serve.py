"""`sim serve`: an engine by its configuration, in the foreground, until Ctrl-C or its own end."""

from __future__ import annotations

import asyncio
import shlex
import tempfile
from pathlib import Path

import uvloop

from simulator.cli.conduct import SIGNALS
from simulator.engine.serving.config import EngineConfig, load_config
from simulator.engine.serving.life import Engine, started
from simulator.errors import EngineError

ASK_S = 0.5


def main(named: str, port: int | None, log: Path | None) -> int:
    """0 after Ctrl-C. Raises SimError when it does not start, or ends by itself."""
    config = load_config(named)
    if log is None:
        handle, name = tempfile.mkstemp(prefix=f"sim-{config.name}-", suffix=".log")
        open(handle, "wb").close()
        log = Path(name)
    return uvloop.run(_serve(config, port, log))


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
