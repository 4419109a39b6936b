"""`python -m simulator.engine.embedded --port P --params FILE`: serves until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

import orjson
import uvloop
from aiohttp import web

from simulator.engine.embedded.brain.rates import Rates, checked, parse_rates
from simulator.engine.embedded.config import DEFAULT_PARAMS, load_params
from simulator.engine.embedded.faults import load_faults
from simulator.engine.embedded.server import Brain, Server
from simulator.errors import SimError, UsageError


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="simulator.engine.embedded", description="An emulated OpenAI-compatible engine."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0 lets the system choose")
    parser.add_argument("--params", type=Path, default=DEFAULT_PARAMS, help="engine settings, YAML")
    parser.add_argument("--faults", type=Path, help="fault schedule, YAML")
    parser.add_argument("--brain", choices=("filler", "oracle"), default="filler", help="what replies say")
    parser.add_argument("--solutions", type=Path, help="the oracle's: recorded solutions, JSON lines; may still grow")
    parser.add_argument("--oracle-log", type=Path, help="the oracle's: where it tells what it said, JSON lines")
    parser.add_argument("--oracle", metavar="RATES", help="the oracle's mistakes, e.g. malformed=0.05,loop=0.1")
    parser.add_argument("--seed", type=int, default=0, help="of replies and draft acceptance")
    parser.add_argument("--api-key-env", metavar="NAME", help="environment variable that holds the API key")
    parser.add_argument("--ready-fd", type=int, help="where to write one JSON line once the port listens")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input closes")
    return parser.parse_args(argv)


def build(args: argparse.Namespace) -> Server:
    params = load_params(args.params)
    if args.oracle is not None:
        rates = {**(params.oracle or Rates()).model_dump(), **parse_rates(args.oracle, "--oracle")}
        params = params.model_copy(update={"oracle": checked(rates, "--oracle")})
    named = args.faults or (args.params.parent / params.faults if params.faults else None)
    api_key = None
    if args.api_key_env:
        api_key = os.environ.get(args.api_key_env)
        if not api_key:
            raise UsageError(f"--api-key-env: the environment variable {args.api_key_env} is not set or empty")
    faults = load_faults(named) if named else None
    return Server(
        params, seed=args.seed, api_key=api_key, faults=faults, params_name=args.params.name, brain=_brain(args)
    )


def _brain(args: argparse.Namespace) -> Brain | None:
    if args.brain == "oracle":
        if args.solutions is None:
            raise UsageError("--brain oracle needs --solutions FILE; `sim plan SCENARIO --solutions FILE` makes it")
        return Brain(args.solutions, args.oracle_log)
    for option in ("solutions", "oracle_log", "oracle"):
        if getattr(args, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')} belongs to --brain oracle; give that too")
    return None


async def serve(server: Server, args: argparse.Namespace) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if args.with_parent:
        loop.add_reader(sys.stdin.fileno(), _stop_at_eof, loop, stop)
        _stop_when_adopted(loop, stop, os.getppid())
    # a client that goes away cancels its handler, which frees its blocks
    runner = web.AppRunner(server.app(), access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, args.host, args.port, backlog=1024)
        try:
            await site.start()
        except OSError as error:
            raise UsageError(
                f"cannot listen on {args.host}:{args.port} ({error.strerror}); choose another --port"
            ) from None
        port = runner.addresses[0][1]
        if args.ready_fd is not None:
            ready = {"port": port, "pid": os.getpid(), "model": server.params.model}
            with os.fdopen(args.ready_fd, "wb") as pipe:
                pipe.write(orjson.dumps(ready) + b"\n")
        sys.stderr.write(f"emulated engine {server.params.model} on http://{args.host}:{port}\n")
        gc.collect()
        gc.freeze()  # the vocabulary's tables need no collector's attention
        await stop.wait()
    finally:
        await runner.cleanup()


def _stop_at_eof(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        loop.remove_reader(sys.stdin.fileno())
        stop.set()


def _stop_when_adopted(loop: asyncio.AbstractEventLoop, stop: asyncio.Event, parent: int) -> None:
    """The pipe stays open when the parent's forked children hold it too; a change of parents gives it away as well."""
    if os.getppid() != parent:
        stop.set()
    else:
        loop.call_later(0.5, _stop_when_adopted, loop, stop, parent)


def main() -> int:
    args = parse()
    try:
        uvloop.run(serve(build(args), args))
    except SimError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
