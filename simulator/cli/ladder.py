"""`sim ladder`: engine configurations one after the other, each on a fresh server under both kinds of traffic, repeated
in pairs; gone on with where it was left."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from simulator.cli.absent import sentences
from simulator.cli.ladder_asked import ENDS_FIRST, Asked, floor_s, lanes, levels, load, overrides, rungs, scenario_of
from simulator.cli.ladder_journal import Journal, entry_name
from simulator.cli.ladder_lanes import Ended, Lanes, Work
from simulator.cli.ladder_marks import clear
from simulator.cli.ladder_report import load_sentences, write_ladder_report
from simulator.cli.run import fresh_folder
from simulator.cli.screen import whole_lines
from simulator.cli.target import mask_url
from simulator.core.ladder.identity import MADE_BY, SCHEMA, refusal
from simulator.core.ladder.result import rows
from simulator.core.ladder.schedule import Life, schedule
from simulator.core.scenario import Scenario, scenario_hash
from simulator.core.wording import counted
from simulator.engine.serving.arguments import without_secrets
from simulator.engine.serving.config import EngineConfig
from simulator.engine.serving.ladder_file import load_ladder
from simulator.errors import EngineError, SimError, UsageError
from simulator.store.ladder import LadderFolder
from simulator.view.ladder import Lines, final, marks


def main(asked: Asked) -> int:
    """0 when all that was asked for is there (or the budget ended), 1 when a recorded solution did not verify, 3 when a
    rung failed, 130 interrupted. Raises SimError before anything was started."""
    begun_unix_s = time.time()
    ladder = load_ladder(asked.file)
    chosen = rungs(ladder, asked.only)
    source, scenario = scenario_of(asked, ladder)
    side_by_side = lanes(asked, chosen)
    lives = schedule(
        len(chosen),
        asked.pairs,
        lanes=len(side_by_side),
        repeats_per_life=asked.repeats_per_life,
        ends_first=asked.ends_first,
    )
    used = {life.lane for life in lives}
    loads = levels(asked.concurrency, scenario)
    work = Work(
        scenario=str(source),
        names=tuple(rung.name for rung in chosen),
        engines=tuple(f"{ladder.source}:{rung.name}" for rung in chosen),
        levels=loads,
        loads={level: load(level, scenario, asked.overrides) for level in loads},
        lives=lives,
        lanes=tuple(lane for lane in side_by_side if lane.number in used),
        overrides=overrides(asked),
        seed=scenario.seed,
        floor_s=floor_s(scenario),
        deadline_unix_s=None if asked.budget_s is None else begun_unix_s + asked.budget_s,
        keep_going=asked.keep_going,
        procs=asked.procs,
        command=tuple(mask_url(part) for part in ["sim", *sys.argv[1:]]),
    )
    return _climb(asked, scenario, chosen, work, asked.out or fresh_folder(f"{scenario.name}-ladder"))


def _climb(asked: Asked, scenario: Scenario, chosen: Sequence[EngineConfig], work: Work, out: Path) -> int:
    console = whole_lines()
    folder = held(out, lambda text: console.print(text, markup=False))
    try:
        before = folder.load()
        head, entries = _head(asked, scenario, chosen, work), _entries(chosen, work.levels)
        if before is not None and (why := refusal(before, {**head, "rungs": entries})):
            raise UsageError(f"{out}: {why}; give another --out")
        journal = Journal(folder, head, entries, before)
        wanted = _wanted(work)
        _adopt(folder, journal, wanted)
        journal.save(left_out=[], complete=False)
        done = sum(journal.done(entry, pair) for entry, pair, _ in wanted)
        with Lines(console, total=len(wanted), done=done, marks=marks(journal.told)) as lines:
            lines.say(
                f"{out}: {counted(len(wanted), 'run')} of {counted(len(chosen), 'rung')}, {done} of them done before"
            )
            for line in sentences(scenario):
                lines.say(line)
            ended = asyncio.run(_all(work, folder, journal, lines))
        left = [name for entry, pair, name in wanted if not journal.done(entry, pair)]
        journal.save(left_out=left, complete=not left, engines_met=journal.met())
        console.print(final(journal.told, str(out), load_sentences(journal.told)))
        if not (ended.interrupted or ended.late):  # who waits for its end does not wait for a picture
            _report(out, console)
    finally:
        folder.close()
    return _code(ended, journal, out)


async def _all(work: Work, folder: LadderFolder, journal: Journal, lines: Lines) -> Ended:
    return await Lanes(work, folder, journal, lines).run()


def _report(out: Path, console: Console) -> None:
    """What was measured is on disk, so a report that cannot be made fails nothing."""
    try:
        write_ladder_report(out)
    except SimError as why:
        console.print(f"no report: {why}", markup=False)


def _code(ended: Ended, journal: Journal, out: Path) -> int:
    if ended.interrupted:
        return 130
    if ended.failed:
        raise EngineError(
            f"not every rung could be measured, see above; {out} has what could, the same command goes on"
        )
    return int(any("did not verify" in doubt for row in rows(journal.told) for doubt in row.doubts))


def held(out: Path, say: Any) -> LadderFolder:
    """The folder, for this process alone. Only once the earlier ladder's own process is gone is anything ended that it
    left behind: its children carry the same marks while it lives."""
    folder = LadderFolder.open(out)
    try:
        clear(out, say)
        if not folder.take():
            raise UsageError(
                f"processes of an earlier ladder still work in {out}; wait for their end, or give another --out"
            )
    except BaseException:
        folder.close()
        raise
    return folder


def _wanted(work: Work) -> list[tuple[str, int, str]]:
    """(entry, pair, run) of every run, the most important first."""
    found = []
    for life in work.lives:
        for pair in life.pairs:
            for level in work.levels:
                entry = entry_name(work.names[life.rung], level)
                found.append((entry, pair, f"{entry}-{pair}"))
    return found


def _adopt(folder: LadderFolder, journal: Journal, wanted: Sequence[tuple[str, int, str]]) -> None:
    """Runs that came to their end just before the ladder was killed."""
    for entry, pair, name in wanted:
        if not journal.done(entry, pair) and (run := folder.whole(name)) is not None:
            journal.add(entry, pair, run, {})


def _entries(chosen: Sequence[EngineConfig], loads: Sequence[int | None]) -> list[dict[str, Any]]:
    return [
        {
            "name": entry_name(rung.name, level),
            "rung": rung.name,
            **({} if level is None else {"concurrency": level}),
            "config": str(rung.source),
            "digest": rung.digest,
            "argv": list(rung.argv),
            "env": without_secrets(rung.env),
            "why": rung.why,
        }
        for level in loads
        for rung in chosen
    ]


def _head(asked: Asked, scenario: Scenario, chosen: Sequence[EngineConfig], work: Work) -> dict[str, Any]:
    synthetic = scenario.synthetic
    return {
        "schema": SCHEMA,
        "made_by": MADE_BY,
        "scenario": scenario.name,
        "scenario_file": work.scenario,
        "scenario_hash": scenario_hash(scenario),
        "synthetic_shape": f"{synthetic.input_tok}/{synthetic.output_tok}" if synthetic else None,
        "seed": scenario.seed,
        "engine_kind": "emulated" if chosen[0].embedded else "real",
        **({"engine": "EMULATED"} if chosen[0].embedded else {}),
        "random_weights": chosen[0].random_weights,
        "pairs": asked.pairs,
        "repeats_per_life": asked.repeats_per_life,
        "order": ENDS_FIRST if asked.ends_first else "file",
        "budget_s": asked.budget_s,
        "lanes": [{"lane": lane.number, "gpus": lane.gpus, "cores": lane.cores} for lane in work.lanes],
        "interleaving": _interleaving(work.lives, work.names, len(work.lanes)),
        "command": list(work.command),
    }


def _interleaving(lives: Sequence[Life], names: Sequence[str], lanes: int) -> str:
    """The order in words: `baseline, top | top, baseline`, a bar between rounds."""
    told: list[str] = []
    before: Life | None = None
    for life in lives[:12]:
        if before is not None:
            told.append(" | " if life.pairs != before.pairs else ", ")
        told.append(names[life.rung] + (f" x{len(life.pairs)}" if len(life.pairs) > 1 else ""))
        before = life
    more = ", ..." if len(lives) > 12 else ""
    beside = f", on {lanes} lanes side by side, which the rungs swap" if lanes > 1 else ""
    return f"{''.join(told)}{more}{beside}"
