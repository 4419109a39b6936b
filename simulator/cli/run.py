"""`sim run`: reads the scenario, starts what is needed, plans, and hands over to the conductor."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
import uvloop

from simulator.cli.conduct import Conductor, Target
from simulator.cli.describe import host, versions
from simulator.cli.report import write_report
from simulator.cli.screen import PlanningScreen, Screen
from simulator.core.scenario import Scenario, parse, scenario_hash
from simulator.engine.launch import start_embedded
from simulator.engine.scrape import identify
from simulator.errors import UsageError
from simulator.store.folder import RunFolder
from simulator.tokenizer import NAME as TOKENIZER

if TYPE_CHECKING:
    from simulator.cli.planning import Planning

RUNS = Path("reports/runs")


@dataclass(frozen=True, slots=True)
class Options:
    scenario: Path
    endpoint: str | None
    model: str | None
    engine: str | None
    out: Path | None
    seed: int | None
    label: str
    plain: bool
    keep: bool
    overrides: tuple[str, ...]


def main(options: Options) -> int:
    """The exit code. Raises SimError before anything was measured."""
    text = read_scenario(options.scenario)
    scenario = _with_options(parse(text, str(options.scenario), options.overrides), options)
    out = options.out or _fresh_folder(scenario.name)
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give --out a new folder, old runs are never overwritten")
    return uvloop.run(_run(options, scenario, text, out))


async def _run(options: Options, scenario: Scenario, text: str, out: Path) -> int:
    log = out.parent / f".{out.name}.engine.log"
    async with _target(options, scenario, log) as target:
        planning = await _planning(scenario, target.model, options.plain) if scenario.sessions else None
        try:
            writer = RunFolder.create(out, _manifest(options, scenario, text, target))
            conductor = Conductor(scenario, target, planning, writer, keep=options.keep)
            try:
                async with Screen(out, plain=options.plain, stopping=lambda: bool(conductor.ending.stopped)):
                    ending = await conductor.run()
                    writer.finish(asdict(ending))
            finally:
                writer.finish({"stopped": "failed"})
        finally:
            if planning is not None:
                await asyncio.to_thread(planning.close)
    if log.exists():
        log.replace(out / "engine.log")
    return write_report(out, show=True) or ending.exit_code


def read_scenario(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        near = sorted(p.name for p in Path("scenarios").glob("*.yaml"))
        hint = f"; scenarios/ has {', '.join(near)}" if near else ""
        raise UsageError(f"{path}: no such scenario file{hint}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as UTF-8 text: {error}") from None


def _with_options(scenario: Scenario, options: Options) -> Scenario:
    if options.endpoint and options.engine:
        raise UsageError("--endpoint and --engine exclude each other: one engine is measured at a time")
    if options.engine not in (None, "embedded"):
        raise UsageError(
            f"--engine {options.engine}: only 'embedded' can be started; --endpoint takes a running server"
        )
    if options.seed is not None:
        if options.seed < 0:
            raise UsageError(f"--seed {options.seed}: a seed is 0 or above")
        scenario = scenario.model_copy(update={"seed": options.seed})
    return scenario


def _fresh_folder(name: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = RUNS / f"{stamp}-{name}"
    number = 1
    while path.exists():
        number += 1
        path = RUNS / f"{stamp}-{name}-{number}"
    return path


@asynccontextmanager
async def _target(options: Options, scenario: Scenario, log: Path) -> AsyncIterator[Target]:
    """The server to measure: the one that was named, or an embedded engine of our own, stopped at the end."""
    url = options.endpoint or (scenario.endpoint.url if scenario.endpoint and not options.engine else None)
    if url is None:
        log.parent.mkdir(parents=True, exist_ok=True)
        engine = await start_embedded(None, log, seed=scenario.seed)
        try:
            yield Target(engine.base_url, engine.model, "", "emulated", engine.identity(), scenario.request_timeout_s)
        finally:
            await engine.stop()
        return
    key_env = scenario.endpoint.api_key_env if scenario.endpoint else "OPENAI_API_KEY"
    key = os.environ.get(key_env, "")
    base_url = normal_url(url)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        identity = await identify(session, base_url)
    model, window = _model(
        identity, base_url, options.model or (scenario.endpoint.model if scenario.endpoint else None)
    )
    if scenario.sessions and window is not None and window < scenario.context_window_tok:
        raise UsageError(
            f"{base_url} takes {window:,} tokens and the scenario's agents believe in {scenario.context_window_tok:,}: "
            f"serve with a larger --max-model-len, or --set context_window_tok={window}"
        )
    kind = "emulated" if identity.get("emulated") else "real"
    yield Target(base_url, model, key, kind, identity, scenario.request_timeout_s)


def _model(identity: Mapping[str, Any], base_url: str, wanted: str | None) -> tuple[str, int | None]:
    """The model to ask for and the window that it is served with, where that is told."""
    served = {str(m["id"]): m.get("max_model_len") for m in identity["models"]}
    if wanted is None:
        if len(served) != 1:
            raise UsageError(f"{base_url} serves {', '.join(served) or 'no model'}: say which with --model")
        wanted = next(iter(served))
    elif served and wanted not in served:
        raise UsageError(f"{base_url} does not serve `{wanted}`; it serves {', '.join(served)}")
    return wanted, served.get(wanted)


def normal_url(url: str) -> str:
    """http(s)://host[:port][/path]/v1, whatever of it was left out."""
    if "://" not in url:
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 80) > 0
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"{url}: not an HTTP address; write it as http://127.0.0.1:8000/v1")
    url = url.rstrip("/")
    return url if re.search(r"/v\d+$", url) else f"{url}/v1"


async def _planning(scenario: Scenario, model: str, plain: bool) -> Planning:
    """Returns as soon as every slot has its first session."""
    from simulator.cli.planning import Planning  # pulls in document libraries that synthetic traffic does not need

    with PlanningScreen(plain=plain) as screen:
        planning = await asyncio.to_thread(Planning, scenario, model, screen.progress)
        try:
            await asyncio.to_thread(planning.wait_first)
        except BaseException:
            await asyncio.to_thread(planning.close)
            raise
        return planning


def _manifest(options: Options, scenario: Scenario, text: str, target: Target) -> dict[str, Any]:
    return {
        "scenario_name": scenario.name,
        "scenario_file": str(options.scenario),
        "scenario_text": text,
        "overrides": list(options.overrides),
        "scenario": scenario.model_dump(mode="json"),
        "scenario_hash": scenario_hash(scenario),
        "seed": scenario.seed,
        "label": options.label,
        "mode": scenario.mode,
        "plan_hash": "",
        "tokenizer": TOKENIZER,
        "slo": scenario.slo.model_dump(exclude_none=True),
        "versions": versions(),
        "host": host(),
        "engine": {
            **target.identity,
            "kind": target.kind,
            "base_url": mask_url(target.base_url),
            "model": target.model,
        },
        "command": [mask_url(part) for part in ["sim", *sys.argv[1:]]],
        "pid": os.getpid(),
        "t0_unix_s": time.time(),
    }


def mask_url(text: str) -> str:
    """Without a user's name and password in an address."""
    return re.sub(r"(https?://)[^/@\s]+@", r"\1***@", text)
