"""Whether two runs may be compared at all, and if not, why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from simulator.core.certify import FAILED_SHARE, LIMITED
from simulator.core.compare.delivered import TOLERANCE, Delivered, Match, match
from simulator.core.compare.rows import FAILED, value_of
from simulator.core.compare.same import Identity
from simulator.core.compare.solving import Tasks
from simulator.core.compare.within import Within
from simulator.core.run import KINDS
from simulator.core.scenario import Scenario
from simulator.core.usage import BEFORE

#: differences that a user may ask for
ALLOWABLE = ("seed", "scenario", "plan", "model", "gpu", "kind", "client", "failed")
NAMED = {"agent": "agents", "synthetic": "synthetic"}
LIVE = "live"


@dataclass(frozen=True, slots=True)
class OneRun:
    """What a comparison needs of a run, its records already folded away. name: short, its own among all runs; path:
    where it is. ended: it came to an end, whatever ended it. delivered, within: by kind of traffic; `within` is
    empty unless it was asked for. unreadable: lines of its records that are damaged. tasks: of a live run, what
    its checks said; {} of a replay. unsound: why its records are not all there once, a clause each.
    same: what tells it from other runs."""

    name: str
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]
    ended: bool
    delivered: Mapping[str, Delivered]
    within: Mapping[str, Within]
    path: str = ""
    unreadable: int = 0
    tasks: Tasks = field(default_factory=dict)
    unsound: tuple[str, ...] = ()
    same: Identity | None = None

    @property
    def live(self) -> bool:
        return self.manifest.get("mode") == LIVE

    @property
    def engine(self) -> Mapping[str, Any]:
        engine = self.manifest.get("engine")
        return engine if isinstance(engine, Mapping) else {}

    def part(self, kind: str) -> Mapping[str, Any] | None:
        part = self.summary.get(kind)
        return part if isinstance(part, Mapping) else None

    def limit(self, kind: str) -> str | None:
        """Where the limit of that traffic was (core/limit.py); None where that was not judged."""
        limits = self.summary.get("limit")
        found = limits.get(kind) if isinstance(limits, Mapping) else None
        where = found.get("where") if isinstance(found, Mapping) else None
        return None if where is None else str(where)

    def limited(self, kind: str) -> bool:
        """Whether the client was what was measured."""
        client = self.summary.get("client")
        health = client.get(kind) if isinstance(client, Mapping) else None
        return isinstance(health, Mapping) and health.get("verdict") == LIMITED


@dataclass(frozen=True, slots=True)
class Reason:
    """aspect: one of ALLOWABLE, or "mode" (live and replay are never compared), "cut", "damaged", "unfinished",
    "delivered", "traffic". told: a clause. kind: the only traffic that it is about, "" for all."""

    aspect: str
    told: str
    kind: str = ""


Couple = tuple[OneRun, OneRun]


def reasons(pairs: Sequence[Couple]) -> list[Reason]:
    """Each aspect once, of the first pair that shows it."""
    found: dict[tuple[str, str], Reason] = {}
    for each in _all(pairs):
        found.setdefault((each.aspect, each.kind), each)
    return list(found.values())


def _all(pairs: Sequence[Couple]) -> Iterator[Reason]:
    for a, b in pairs:
        for run in (a, b):
            yield from _cut(run)
        yield from _work(a, b)
    runs = [run for pair in pairs for run in pair]
    for aspect, what, told in _FACTS:
        first = runs[0]
        for run in runs[1:]:  # runs of one side, too: a mean over two models is of neither
            before, now = told(first), told(run)
            if before is not None and now is not None and before != now:
                yield Reason(aspect, f"the {what} differs: {before} in {first.name}, {now} in {run.name}")
    for kind in KINDS:
        yield from _of_traffic(kind, pairs)
    if not any(all(run.part(kind) is not None for run in runs) for kind in KINDS):
        yield Reason("traffic", "no kind of traffic was sent by all of them")


def _cut(run: OneRun) -> Iterator[Reason]:
    if not run.ended:
        yield Reason("cut", f"{run.name} was killed, or still goes on")
    elif run.manifest.get("stopped"):
        yield Reason("cut", f"{run.name} was cut short ({run.manifest['stopped']})")
    elif run.manifest.get("engine_changed"):
        yield Reason("cut", f"{run.name} met another engine at its end than at its start")
    if run.unreadable:
        lines = f"{run.unreadable:,} lines of its records" if run.unreadable > 1 else "a line of its records"
        yield Reason("damaged", f"{run.name} is damaged: {lines} cannot be read")
    for clause in run.unsound[:1]:
        yield Reason("damaged", f"{run.name} is damaged: {clause}")


def _work(a: OneRun, b: OneRun) -> Iterator[Reason]:
    seeds = a.manifest.get("seed"), b.manifest.get("seed")
    if seeds[0] != seeds[1]:
        yield Reason("seed", f"the seed differs: {seeds[0]} in {a.name}, {seeds[1]} in {b.name}")
    if told := other_scenario(a, b):
        yield Reason("scenario", told)
    elif seeds[0] == seeds[1]:
        yield from _plan(a, b)


def _plan(a: OneRun, b: OneRun) -> Iterator[Reason]:
    """Of one scenario and seed each machine plans the same sessions, unless it cannot play some templates."""
    plans = [run.manifest.get("plan_hash") for run in (a, b)]
    if not all(plans) or plans[0] == plans[1]:
        return
    told = [
        f"{name} was left out of {run.name}, for it needs {why}"
        for run, other in ((a, b), (b, a))
        for name, why in _left_out(run).items()
        if name not in _left_out(other)
    ]
    if told:
        yield Reason("plan", "the sessions differ: " + "; ".join(told))
    elif all(what(a) == what(b) for what in (kind_of, _text("model", of_engine=True), _client)):
        yield Reason("plan", f"the sessions of {a.name} and {b.name} differ, though scenario and seed do not")


def _left_out(run: OneRun) -> Mapping[str, Any]:
    found = run.manifest.get("templates_left_out")
    return found if isinstance(found, Mapping) else {}


def other_scenario(a: OneRun, b: OneRun) -> str:
    """In what the scenarios of two runs differ, a clause; "" when they are the same."""
    if same_scenario(a, b):
        return ""
    keys = _changed(_asked(a), _asked(b))
    what = f" in {', '.join(keys[:3])}{' and more' * (len(keys) > 3)}" if keys else ""
    return f"the scenarios of {a.name} and {b.name} differ{what}"


def same_scenario(a: OneRun, b: OneRun) -> bool:
    """But for the seed, and for keys that one of them is too old to know and the other has as they always were."""
    if a.manifest.get("scenario_hash") == b.manifest.get("scenario_hash"):
        return True
    asked = _asked(a), _asked(b)
    return bool(asked[0]) and not _changed(*asked)


def _asked(run: OneRun) -> Mapping[str, Any]:
    scenario = run.manifest.get("scenario")
    return scenario if isinstance(scenario, Mapping) else {}


def _changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    same = {"seed", "name", "endpoint", "drain_s"}
    keys = (key for key in dict.fromkeys((*a, *b)) if key not in same)
    return [str(key) for key in keys if a.get(key, _default(key)) != b.get(key, _default(key))]


def _default(key: str) -> Any:
    if key == "usage":
        return BEFORE
    field = Scenario.model_fields.get(key)
    value = None if field is None else field.get_default(call_default_factory=True)
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def kind_of(run: OneRun) -> str:
    """What stood at the other end: "real", "real, random weights", "emulated, virtual time" and the like."""
    engine = run.engine
    parts = [str(engine.get("kind") or run.summary.get("engine_kind") or "unknown")]
    parts += ["virtual time"] * (engine.get("virtual") is True)
    parts += ["random weights"] * (engine.get("random_weights") is True)
    parts += ["faults on purpose"] * bool(engine.get("faults"))
    parts += ["solutions from an oracle"] * (engine.get("oracle") is not None)
    return ", ".join(parts)


def gpu_of(run: OneRun) -> str | None:
    """The GPU's name, of an emulated engine the name of its hardware file; None where it does not say."""
    settings = run.engine.get("settings")
    hardware = settings.get("hardware") if isinstance(settings, Mapping) else None
    told = [run.engine.get("gpu"), run.engine.get("hardware"), hardware]
    found = next((each for each in told if each), None)
    if isinstance(found, Mapping):
        found = found.get("name")
    return None if found is None else str(found)


def _client(run: OneRun) -> str | None:
    versions = run.manifest.get("versions")
    if not isinstance(versions, Mapping) or not versions.get("agent-sim"):
        return None
    commit = versions.get("commit")
    return f"{versions['agent-sim']} ({commit})" if commit else str(versions["agent-sim"])


def _text(key: str, of_engine: bool = False) -> Any:
    def told(run: OneRun) -> str | None:
        value = (run.engine if of_engine else run.manifest).get(key)
        return str(value) if value else None

    return told


#: aspect, its name in a sentence, and what a run says of it
_FACTS = (
    ("kind", "kind of engine", kind_of),
    ("model", "model", _text("model", of_engine=True)),
    ("gpu", "GPU", gpu_of),
    ("mode", "mode", _text("mode")),
    ("client", "client's version", _client),
)


def _of_traffic(kind: str, pairs: Sequence[Couple]) -> Iterator[Reason]:
    for run in (run for pair in pairs for run in pair):
        part = run.part(kind)
        requests = part.get("requests") if part is not None else None
        if isinstance(requests, Mapping) and not requests.get("ok"):
            yield Reason("unfinished", f"no {NAMED[kind]} request of {run.name} was finished", kind)
    for a, b in pairs:
        shares = [value_of(run.part(kind), FAILED) or 0.0 for run in (a, b)]
        if abs(shares[0] - shares[1]) > FAILED_SHARE:
            told = " and ".join(f"{100 * share:.1f} % of {run.name}" for share, run in zip(shares, (a, b), strict=True))
            yield Reason(
                "failed", f"of the {NAMED[kind]} requests failed {told}: what fails costs an engine nothing", kind
            )
        found = matched(kind, a, b)
        if found is None:
            continue
        if not found.requests and found.of:
            yield Reason("delivered", f"no {NAMED[kind]} request of {a.name} is in {b.name}", kind)
        elif found.difference is not None and abs(found.difference) > TOLERANCE:
            yield Reason(
                "delivered",
                f"they did not deliver the same work: {b.name} has {100 * found.difference:+.1f} % output tokens of "
                f"{a.name} over {found.requests:,} matched {NAMED[kind]} requests (limit {100 * TOLERANCE:.0f} %)",
                kind,
            )


def matched(kind: str, a: OneRun, b: OneRun) -> Match | None:
    """None where it would say nothing: a live run writes what it likes, other work is other requests."""
    told = [run.manifest.get("mode") for run in (a, b)]
    other_work = a.manifest.get("seed") != b.manifest.get("seed") or not same_scenario(a, b)
    if LIVE in told or other_work or any(kind not in run.delivered for run in (a, b)):
        return None
    return match(a.delivered[kind], b.delivered[kind])
