"""`sim shape`: what traffic looks like, how unlike other traffic it is, and a scenario that sends such traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simulator.cli.outputs import Outputs
from simulator.cli.shape_run import run_traffic
from simulator.core.traffic.call import Traffic
from simulator.core.traffic.fold import Shape, fold
from simulator.core.traffic.unlike import fixed_samples, unlike
from simulator.errors import UsageError
from simulator.store.manifest import write_whole
from simulator.trace.scenario_out import Facts, scenario_text, write_shape
from simulator.trace.traffic import read_traffic
from simulator.view.shape import as_json, document

SYNTHETIC = "512/512"
#: within which a written scenario's p50 and p90 must be
TOLERANCE = 0.10
WINDOW_S = 150.0


@dataclass(frozen=True, slots=True)
class Question:
    """What the command line said. against: traces, runs, or "512/512", which is always there."""

    source: Path
    against: tuple[Path, ...]
    kv_tok: tuple[int, ...]
    scenario_out: Path | None
    outputs: Outputs


def main(question: Question) -> int:
    question.outputs.check()
    if question.scenario_out is not None:
        _check_scenario(question.scenario_out)
    traffic = traffic_of(question.source)
    shape = fold(traffic, question.kv_tok)
    others = [fold(traffic_of(path)) for path in question.against if str(path) != SYNTHETIC]
    compared = [unlike(shape, other.samples, other.name) for other in others]
    compared.append(unlike(shape, fixed_samples(), SYNTHETIC))
    question.outputs.give(document(shape, compared), as_json(shape, compared))
    if question.scenario_out is not None:
        print(write_scenario(traffic, shape, question.scenario_out))
    return 0


def traffic_of(path: Path) -> Traffic:
    """A trace or a run folder."""
    return run_traffic(path) if path.is_dir() else read_traffic(path)


def _check_scenario(path: Path) -> None:
    if path.suffix not in (".yaml", ".yml"):
        raise UsageError(f"--scenario-out {path}: give a file that ends in .yaml; its trace is written beside it")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--scenario-out {path} lies in no folder that exists")


def write_scenario(traffic: Traffic, shape: Shape, path: Path) -> str:
    """Writes both files; says how near the written traffic is to the given one."""
    trace = path.with_name(f"{path.stem}.shape.jsonl")
    write_shape(traffic, trace)
    gaps = shape.samples["gap_s"]
    facts = Facts(
        sessions=shape.sessions,
        at_once=shape.at_once.sessions_mean if shape.at_once is not None else None,
        longest_tok=max(call.prompt_tok + call.output_tok for call in traffic.calls),
        longest_gap_s=float(np.quantile(gaps, 0.95)) if gaps else 0.0,
    )
    name = "".join(c if c.isalnum() or c in "_.-" else "-" for c in path.stem)[:64].lstrip("_.-") or "shape"
    text = scenario_text(name, trace.name, facts, WINDOW_S)
    write_whole(path, text.encode())
    off, where = worst(shape, fold(read_traffic(trace), (1,)))
    return "\n".join((_checked(path, trace, off, where), *_of_gaps(traffic, len(gaps), off, where), _drawn(facts)))


def _checked(path: Path, trace: Path, off: float, where: str) -> str:
    if off > TOLERANCE:
        return f"written: {path} and {trace}; its {where} is {off:.0%} off, more than {TOLERANCE:.0%}"
    return f"written: {path} and {trace}; p50 and p90 of every quantity are within {off:.1%} ({where})"


def _of_gaps(traffic: Traffic, known: int, off: float, where: str) -> Iterator[str]:
    """What the source does not say of its times, and what can be done."""
    following = len(traffic.calls) - len({(call.session, call.branch) for call in traffic.calls})
    if not known and following:
        yield "the source has no times, so nothing waits between calls: give `think` in the scenario"
    elif known < following:
        told = f"{following - known:,} of {following:,} gaps are not in the source and were given the others' values"
        cure = "; import what has times apart from what has none" if off > TOLERANCE and where.endswith("gap_s") else ""
        yield told + cure


def _drawn(facts: Facts) -> str:
    if facts.sessions <= facts.slots:
        return f"a run meets all {facts.sessions} sessions at its start"
    return (
        f"{facts.slots} of the source's {facts.sessions} sessions are met at the start, others as those end: a run has "
        "the whole's figures once it has drawn them all; raise `window_s` for that, `sim plan` counts them"
    )


def worst(shape: Shape, again: Shape) -> tuple[float, str]:
    """The largest deviation of a p50 or p90, and whose it is."""
    found = [(0.0, "none")]
    for name in ("turns", "first_prompt_tok", "prompt_tok", "growth_tok", "output_tok", "gap_s"):
        a, b = shape.spreads[name], again.spreads[name]
        if a is None or b is None:
            continue
        for label, x, y in (("p50", a.p50, b.p50), ("p90", a.p90, b.p90)):
            found.append((abs(y - x) / x if x > 1e-3 else abs(y - x), f"{label} of {name}"))
    return max(found)
