"""The server to measure: one that is named, one that is started by its configuration, or an embedded engine."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import aiohttp

from simulator.core.scenario import Scenario
from simulator.engine.embedded.brain.rates import parse_rates
from simulator.engine.launch import OracleFiles, start_embedded
from simulator.engine.scrape import identify
from simulator.engine.serving.config import load_config
from simulator.engine.serving.identity import TOLD, differences
from simulator.engine.serving.life import started
from simulator.engine.vocabulary import FIRST_ID, LAST_ID, last_id
from simulator.errors import EngineError, UsageError
from simulator.store.manifest import ENGINE_LOG, ORACLE_LOG, SOLUTIONS

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class Target:
    """The server to measure. kind: "emulated" | "real". api_key is sent and never written down. last_id: the highest
    token id that random prompts are made of. solutions: what its oracle reads, None where there is no oracle."""

    base_url: str
    model: str
    api_key: str = field(repr=False)
    kind: str
    identity: Mapping[str, Any]
    timeout_s: float
    last_id: int = LAST_ID
    solutions: Path | None = None

    @property
    def root(self) -> str:
        """Where /metrics and /reset_prefix_cache are."""
        return self.base_url.rsplit("/v", 1)[0]


class Own(Protocol):
    """An engine that was started for a run. death: how it ended by itself, "" when it did not. changed: what of its
    identity is not as it was at the start, a clause each."""

    @property
    def alive(self) -> bool: ...
    def death(self) -> str: ...
    async def changed(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Opened:
    """engine: the one that was started for it, None when another serves."""

    target: Target
    engine: Own | None = None

    def lives(self) -> bool:
        """False once an engine of ours has ended; of others nothing is known here."""
        return self.engine is None or self.engine.alive

    async def changed(self) -> list[str]:
        """What of the server's identity is not as it was at the start, a clause each."""
        if self.engine is not None:
            return await self.engine.changed()
        if not TOLD & self.target.identity.keys():
            return []  # virtual time, or a server that tells nothing
        key = self.target.api_key
        try:
            async with _session(key) as session:
                return differences(self.target.identity, await identify(session, self.target.base_url))
        except EngineError:
            return []  # it answered as long as it was asked

    def death(self) -> str:
        """How an engine of ours ended by itself and why, a clause that begins with its verb; "" when it did not."""
        return self.engine.death() if self.engine is not None else ""

    def gone(self) -> str:
        """That the engine is there no more, a sentence with the cause where it is known."""
        death = self.death()
        return f"{mask_url(self.target.base_url)} stopped taking connections{f'; the engine {death}' if death else ''}"


@asynccontextmanager
async def open_target(
    scenario: Scenario, endpoint: str | None, model: str | None, engine: str | None, log: Path,
    faults: Path | None = None, settings: Path | None = None, rates: str = "",
) -> AsyncIterator[Opened]:  # fmt: skip
    """The server to measure: the one that was named, or one of our own, stopped at the end. engine: None or `embedded`,
    else a configuration. faults: what an embedded one does wrong on purpose; settings: its file, None for the default;
    rates: of its oracle's mistakes. Live agents of an embedded engine are answered by its oracle."""
    oracle = _oracle(scenario, log, rates)
    if engine not in (None, EMBEDDED):
        config = load_config(engine)
        oracle = oracle if config.embedded else None
        async with started(config, log=log, seed=scenario.seed, faults=faults, say=_say, oracle=oracle) as own:
            async with _session(own.api_key) as session:
                target = await _target(session, own.url, model, own.api_key, own.identity, scenario)
            yield Opened(_with_oracle(target, oracle), own)
        return
    url = endpoint or (scenario.endpoint.url if scenario.endpoint and not engine else None)
    if url is None:
        log.parent.mkdir(parents=True, exist_ok=True)
        embedded = await start_embedded(settings, log, seed=scenario.seed, faults=faults, oracle=oracle)
        try:
            told = embedded.identity()
            target = Target(embedded.base_url, embedded.model, "", "emulated", told, scenario.request_timeout_s)
            yield Opened(_with_oracle(target, oracle), embedded)
        finally:
            await embedded.stop()
        return
    if settings is not None:
        raise UsageError(
            f"--engine-params is for the embedded engine, not for {mask_url(url)}; leave one of the two out"
        )
    if faults is not None:
        raise UsageError(f"--faults is for the embedded engine, not for {mask_url(url)}; leave one of the two out")
    key_env = scenario.endpoint.api_key_env if scenario.endpoint else "OPENAI_API_KEY"
    key = os.environ.get(key_env, "")
    base_url = normal_url(url)
    async with _session(key) as session:
        identity = await identify(session, base_url)
        wanted = model or (scenario.endpoint.model if scenario.endpoint else None)
        if scenario.mode != "live":
            identity.pop(
                "oracle", None
            )  # the lengths of a replay's replies are forced, so nothing of it is an oracle's
        target = await _target(session, base_url, wanted, key, identity, scenario)
    yield Opened(target)


def _oracle(scenario: Scenario, log: Path, rates: str) -> OracleFiles | None:
    """Its files lie beside the engine's log, and the truth about its mistakes with them."""
    if scenario.mode != "live":
        return None
    prefix = "" if log.name == ENGINE_LOG else f"{log.stem}_"
    return OracleFiles(log.with_name(prefix + SOLUTIONS), log.with_name(prefix + ORACLE_LOG), rates)


def _with_oracle(target: Target, oracle: OracleFiles | None) -> Target:
    """With the mistakes that it makes, those of the command line before those of the settings, in the identity."""
    if oracle is None:
        return target
    stated = target.identity.get("settings")
    rates = dict(stated.get("oracle") or {}) if isinstance(stated, Mapping) else {}
    rates |= parse_rates(oracle.rates, "--oracle")
    told = {**target.identity, "oracle": {name: rate for name, rate in rates.items() if rate}}
    return replace(target, solutions=oracle.solutions, identity=told)


async def _target(
    session: aiohttp.ClientSession, base_url: str, wanted: str | None, key: str, identity: dict[str, Any],
    scenario: Scenario,
) -> Target:  # fmt: skip
    """Of a server that answers. Raises UsageError when it cannot serve the scenario."""
    name, window = _model(identity, base_url, wanted)
    if scenario.sessions and window is not None and window < scenario.context_window_tok:
        raise UsageError(_too_short(base_url, window, scenario))
    kind = "emulated" if identity.get("emulated") else "real"
    last = LAST_ID if kind == "emulated" else await last_id(session, base_url, name)
    if last != LAST_ID:
        identity["prompt_ids"] = [FIRST_ID, last]
    return Target(base_url, name, key, kind, identity, scenario.request_timeout_s, last)


def check_engine(scenario: Scenario, engine: str, settings: Path | None, faults: Path | None) -> None:
    """Before anything takes time: whether that configuration is there and can serve the scenario. Raises UsageError."""
    config = load_config(engine)
    if settings is not None:
        raise UsageError(f"--engine-params and --engine {engine} exclude each other: the file says what is started")
    if faults is not None and not config.embedded:
        raise UsageError(f"--faults is for the embedded engine, and {engine} is vLLM; leave one of the two out")
    window = config.max_model_len
    if scenario.sessions and window is not None and window < scenario.context_window_tok:
        raise UsageError(_too_short(str(config.source), window, scenario))


def check_oracle(scenario: Scenario, rates: str, endpoint: str | None, engine: str | None) -> None:
    """Before anything takes time: whether an oracle will answer, and whether the rates are any. Raises UsageError."""
    parse_rates(rates, "--oracle")
    if scenario.mode != "live":
        raise UsageError("--oracle is about the replies of live agents; give a scenario with `mode: live`")
    named = endpoint or (scenario.endpoint.url if scenario.endpoint and not engine else None)
    if named is not None:
        raise UsageError(f"--oracle is for the embedded engine, not for {mask_url(named)}; leave one of the two out")
    if engine not in (None, EMBEDDED) and not load_config(engine).embedded:
        raise UsageError(f"--oracle is for the embedded engine, and {engine} is vLLM; leave one of the two out")


def _too_short(what: str, window: int, scenario: Scenario) -> str:
    return (
        f"{what} takes {window:,} tokens and the scenario's agents believe in {scenario.context_window_tok:,}: "
        f"serve with a larger --max-model-len, or --set context_window_tok={window}"
    )


def _session(key: str) -> aiohttp.ClientSession:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=20))


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


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
    if good and (parts.username or parts.password):
        raise UsageError("an address with a user or password in it: give the key in the environment instead")
    if not good:
        raise UsageError(f"{mask_url(url)}: not an HTTP address; write it as http://127.0.0.1:8000/v1")
    url = url.rstrip("/")
    return url if re.search(r"/v\d+$", url) else f"{url}/v1"


def mask_url(text: str) -> str:
    """Without a user's name and password in an address."""
    return re.sub(r"(https?://)[^/@\s]+@", r"\1***@", text)
