"""The rungs of a ladder: out of ladder.json, or of a folder of run folders that somebody laid out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.cli.reading import Opened, opened
from simulator.core.choice.choice import OUTPUT, Repeat, Rung
from simulator.core.choice.ladder_file import parse
from simulator.core.compare.comparable import OneRun, other_scenario
from simulator.core.compare.same import distinct
from simulator.core.limit import CLIENT
from simulator.core.run import KINDS
from simulator.errors import Incomparable, UsageError
from simulator.store.manifest import MANIFEST
from simulator.store.reader import WHOLE

LADDER = "ladder.json"
#: figure of a repeat -> where summary.json has it
_SUMMARY = {
    OUTPUT: ("output_tok_s",),
    "ttft_p50_s": ("ttft_s", "p50"),
    "tpot_p50_s": ("tpot_s", "p50"),
    "turn_p50_s": ("turn_latency_s", "p50"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """first: a run with both kinds of traffic, to show what they are. shape: of the synthetic traffic, where a ladder
    tells it. said: what is to be known of its runs, a sentence each."""

    name: str
    rungs: tuple[Rung, ...]
    emulated: bool
    random_weights: bool
    first: Opened | None
    scenario: str = ""
    shape: str = ""
    said: tuple[str, ...] = ()

    @property
    def synthetic(self) -> str:
        """How its synthetic traffic is called in a sentence."""
        return self.shape or "the synthetic test"


def is_run(path: Path) -> bool:
    return (path / MANIFEST).exists()


def find(path: Path) -> Found:
    """UsageError when nothing there is a ladder or a run."""
    file = path / LADDER if path.is_dir() else path
    if file.is_file():
        return _of_file(file)
    if not path.exists():
        raise UsageError(f"{path} does not exist; give a run folder, a ladder's folder or a folder of run folders")
    folders = sorted(each for each in path.iterdir() if each.is_dir() and is_run(each)) if path.is_dir() else []
    if not folders:
        raise UsageError(f"{path} holds no {LADDER} and no run folders; give what `sim run` or `sim ladder` wrote")
    return _of_folders(path, folders)


def _of_file(file: Path) -> Found:
    ladder = parse(file.read_bytes(), str(file))
    if not ladder.rungs:
        raise UsageError(f"{file} has no rungs; climb the ladder first")
    runs = [file.parent / run for held in ladder.runs.values() for run in held]
    first = next((each for run in runs if is_run(run) and _both(each := opened(run))), None)
    name = file.resolve().parent.name
    return Found(name, ladder.rungs, ladder.emulated, ladder.random_weights, first, ladder.scenario, ladder.shape)


def _both(run: Opened) -> bool:
    return all(run.summary[kind] is not None for kind in KINDS)


def _of_folders(path: Path, folders: list[Path]) -> Found:
    found = [opened(each) for each in folders]
    places, again = distinct([run.same for run in found])
    runs = [found[place] for place in places]
    _one_model(path, runs)
    _one_mode(path, runs)
    _one_scenario(path, runs)
    rungs: dict[str, list[Opened]] = {}
    for run in runs:
        rungs.setdefault(_rung_name(run), []).append(run)
    made = tuple(_rung(name, held) for name, held in rungs.items())
    engines = [_engine(run.manifest) for run in runs]
    return Found(
        name=path.resolve().name,
        rungs=made,
        emulated=any(engine.get("kind") == "emulated" for engine in engines),
        random_weights=any(engine.get("random_weights") is True for engine in engines),
        first=next((run for run in runs if _whole(run) and _both(run)), None),
        scenario=str(runs[0].manifest.get("scenario_name") or ""),
        said=tuple(again),
    )


def _rung(name: str, held: list[Opened]) -> Rung:
    whole = [run for run in held if _whole(run)]
    return Rung(_short(name, held), _repeats(whole), failed=len(held) - len(whole))


def _whole(run: Opened) -> bool:
    """Came to its end on the engine that it began with; a part of a run is no repeat."""
    told = run.manifest
    return "ended" in told and told.get("stopped", "") in WHOLE and not told.get("engine_changed")


def _rung_name(run: Opened) -> str:
    """Runs of one configuration, by its name or by the label that their user gave, are one rung."""
    return str(_engine(run.manifest).get("config") or run.manifest.get("label") or run.name)


def _short(name: str, held: list[Opened]) -> str:
    """A lone run's folder says it more shortly than its label may."""
    return held[0].name if len(held) == 1 else name


def _engine(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    engine = manifest.get("engine")
    return engine if isinstance(engine, Mapping) else {}


def _one_model(path: Path, runs: list[Opened]) -> None:
    for fact, what in (("model", "models"), ("kind", "kinds of engine")):
        seen = sorted({str(value) for run in runs if (value := _engine(run.manifest).get(fact))})
        if len(seen) > 1:
            raise Incomparable(
                f"{path} holds runs of several {what} ({', '.join(seen[:3])}), between which no traffic can choose; "
                "give a folder for each"
            )


def _one_mode(path: Path, runs: list[Opened]) -> None:
    if len({str(run.manifest.get("mode") or "replay") for run in runs}) > 1:
        raise Incomparable(f"{path} holds live runs and replays, which are other work; give a folder for each")


def _one_scenario(path: Path, runs: list[Opened]) -> None:
    first, *others = (OneRun(run.name, run.manifest, run.summary, True, {}, {}) for run in runs)
    if told := next((told for run in others if (told := other_scenario(first, run))), ""):
        raise Incomparable(f"{path}: {told}, so what differs may be the work's; give a folder for each scenario")


def _repeats(runs: list[Opened]) -> tuple[Repeat, ...]:
    """Runs of one seed are a pair with the other rungs' of that seed; of several with one seed, the earliest with the
    earliest."""
    seen: dict[int, int] = {}
    found = []
    for run in sorted(runs, key=lambda each: float(each.manifest.get("t0_unix_s") or 0.0)):
        seed = int(run.manifest.get("seed") or 0)
        nth = seen[seed] = seen.get(seed, -1) + 1
        limits = [(run.summary["limit"].get(kind) or {}).get("where") for kind in KINDS]
        found.append(
            Repeat(
                pair=seed * 10_000 + nth,
                agents=_figures(run.summary["agent"]),
                synthetic=_figures(run.summary["synthetic"]),
                limited=CLIENT in limits,
            )
        )
    return tuple(found)


def _figures(part: Mapping[str, Any] | None) -> dict[str, float | None] | None:
    if part is None:
        return None
    found: dict[str, float | None] = {}
    for name, path in _SUMMARY.items():
        value: Any = part
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        found[name] = value
    return found
