"""`sim whatif`: one scenario on several emulated engines with several numbers of agents, in virtual time."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path

from simulator.cli.absent import sentences
from simulator.cli.live import replay_only
from simulator.cli.screen import PlanningScreen, whole_lines
from simulator.cli.scripts import library_only, planned, scripts
from simulator.cli.tracing import drawn_only, with_recording
from simulator.cli.virtual import say
from simulator.cli.workers import pool
from simulator.core.objective import parse_slo, to_block
from simulator.core.scenario import Scenario, Slo
from simulator.core.scenario_file import parse
from simulator.engine.embedded.config import EngineParams, find_settings, load_params
from simulator.errors import UsageError
from simulator.store.manifest import write_json, write_whole
from simulator.view.cells import clock
from simulator.view.whatif import Answer, markdown, table
from simulator.virtual.calibration import Errors, checked
from simulator.virtual.children import unheard
from simulator.virtual.simulate import check
from simulator.virtual.whatif import Cell, cell, verdict

MOST_AGENTS = 32_768
#: a word at least so often while cells are simulated
EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Question:
    """engines: names of shipped settings, or files. agents: numbers of agents, "8,32,128". slo: "ttft_s=5,tpot_s=0.05"
    or "ttft_p95<5s,tpot_p95<50ms" instead of the scenario's; None, the scenario's."""

    scenario: Path
    engines: tuple[str, ...]
    agents: str
    slo: str | None
    minutes: float
    out: Path | None
    overrides: tuple[str, ...]


def main(question: Question, text: str) -> int:
    """Prints the table; with an output folder writes whatif.md and whatif.json, too."""
    scenario, counts = _scenario(question, text), _counts(question.agents)
    engines = {_name(each): load_params(find_settings(each, "--engines")) for each in question.engines}
    if len(engines) < len(question.engines):
        raise UsageError("--engines: two of them have the same name; give each file a name of its own")
    if question.minutes <= 0:
        raise UsageError(f"--minutes {question.minutes:g}: give simulated minutes above 0")
    for params in engines.values():
        check(scenario.model_copy(update={"synthetic": None}), params, 1)
    if question.out is not None:
        _make(question.out)
    cells = _cells(scenario, engines, counts, question.minutes * 60)
    checks, by_goodput = checked(engines.values()), bool(scenario.slo.model_dump(exclude_none=True))
    errors = Errors.of(checks, engines.values())
    rows = [[c for c in cells if c.agents == n] for n in counts]
    answer = Answer(
        scenario=scenario.name,
        seed=scenario.seed,
        minutes=question.minutes,
        slo=scenario.slo.model_dump(exclude_none=True),
        rows=rows,
        verdicts=[verdict(row, errors, by_goodput=by_goodput) for row in rows],
        checks=checks,
        errors=errors,
    )
    whole_lines().print(table(answer))
    if question.out is not None:
        write_json(question.out / "whatif.json", answer.as_json())
        write_whole(question.out / "whatif.md", markdown(answer).encode())
        print(f"table: {question.out / 'whatif.md'}")
    return 0


def _scenario(question: Question, text: str) -> Scenario:
    scenario = with_recording(parse(text, str(question.scenario), question.overrides), question.scenario)
    replay_only(scenario, "`sim whatif`")
    drawn_only(scenario, question.scenario, "`sim whatif`")
    if not scenario.sessions:
        raise UsageError(f"{question.scenario} has no agents to ask about: its `sessions` is 0")
    if question.slo is None:
        return scenario
    return scenario.model_copy(update={"slo": Slo(**_limits(question.slo))})


def _limits(slo: str) -> dict[str, float]:
    """By name in a scenario's `slo` block. An objective on the 95th percentile, as `sim saturate` takes it, is the
    limit for each request."""
    if "<" in slo or ">" in slo:
        return to_block(parse_slo(slo))
    stated: dict[str, float] = {}
    for part in slo.split(","):
        name, equals, value = part.strip().partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = 0.0
        if name not in Slo.model_fields or not equals or not 0 < limit < float("inf"):
            raise UsageError(
                f"--slo {part.strip() or slo!r}: write objectives as name=seconds, some of "
                f"{', '.join(Slo.model_fields)}, for example ttft_s=5,tpot_s=0.05; or as ttft_p95<5s,tpot_p95<50ms"
            )
        stated[name] = limit
    return stated


def _counts(agents: str) -> list[int]:
    try:
        found = sorted({int(part) for part in agents.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1 or found[-1] > MOST_AGENTS:
        raise UsageError(f"--agents {agents}: give whole numbers from 1 to {MOST_AGENTS:,}, for example 8,32,128")
    return found


def _name(engine: str) -> str:
    return Path(engine).stem if engine.endswith((".yaml", ".yml")) else engine


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise UsageError(f"--out {out} is not empty; give a new folder")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}; give a new folder") from None


def _cells(scenario: Scenario, engines: dict[str, EngineParams], counts: Sequence[int], window_s: float) -> list[Cell]:
    """By number of agents, then engine; each in a process, on all cores."""
    widest = scenario.model_copy(update={"sessions": max(counts), "window_s": window_s, "refill": True})
    few = library_only(widest)
    model = next(iter(engines.values())).model
    for line in sentences(scenario):
        print(line)
    with PlanningScreen(plain=False, emulated=True) as screen:
        folder = planned(few, model, screen.progress)
    with tempfile.TemporaryDirectory(prefix="sim-whatif-") as kept:
        say(f"loading {len(folder.sessions)} plans")
        for size in {params.block_size for params in engines.values()}:
            (Path(kept) / str(size)).write_bytes(pickle.dumps(scripts(folder, few.sessions, size)))
        common = few is not widest
        tasks = [(scenario, name, engines[name], n, window_s, kept, common) for n in counts for name in engines]
        with pool(min(len(tasks), os.cpu_count() or 1)) as workers:
            with unheard():  # a worker is started with a task
                waiting = {workers.submit(_cell, *task): n for n, task in enumerate(tasks)}
            done = _awaited(waiting, [task[3] for task in tasks], window_s)
    return [done[n] for n in range(len(tasks))]


def _cell(
    scenario: Scenario, name: str, params: EngineParams, agents: int, window_s: float, kept: str, common: bool
) -> Cell:
    played = pickle.loads((Path(kept) / str(params.block_size)).read_bytes())
    return cell(scenario, name, params, played, agents, window_s, common=common)


def _awaited(waiting: dict[Future[Cell], int], agents: Sequence[int], window_s: float) -> dict[int, Cell]:
    """Cells by their place, told as they get done, and now and then while none does. agents: of each."""
    began_s = time.monotonic()
    say(f"simulating {len(waiting)} cells, {window_s / 60:g} minutes each")
    done: dict[int, Cell] = {}
    left = set(waiting)
    while left:
        ended, left = wait(left, timeout=EVERY_S, return_when=FIRST_COMPLETED)
        for future in ended:
            done[waiting[future]] = found = future.result()
            speed = "" if found.output_tok_s is None else f", {found.output_tok_s:,.0f} tok/s"
            say(f"{len(done)} of {len(waiting)} cells: {found.agents} agents on {found.engine}{speed}")
        if left and not ended:
            took_s = time.monotonic() - began_s
            say(f"{len(done)} of {len(waiting)} cells in {clock(took_s)}{_to_go(done, agents, took_s)}")
    return done


def _to_go(done: Iterable[int], agents: Sequence[int], took_s: float) -> str:
    """A cell takes about as long as it has agents."""
    played = sum(agents[place] for place in done)
    return f", about {clock(took_s * (sum(agents) / played - 1))} left" if played else ""
