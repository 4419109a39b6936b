"""ladder.json while a ladder goes on: what is done, told again on disk after every step, so that a ladder that is ended
in any way is gone on with where it was."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simulator.cli.report import current
from simulator.core.ladder.result import doubts, figures
from simulator.core.ladder.schedule import Took
from simulator.store.folder import Run
from simulator.store.ladder import RUNS, LadderFolder

#: of an engine's identity, what must be the same in all repeats
MET = ("version", "gpu", "driver")


def entry_name(rung: str, level: int | None) -> str:
    """A rung's name in ladder.json, and that of its run folders but for the pair."""
    return rung if level is None else f"{rung}@{level}"


def _beside_s(life: Mapping[str, Any]) -> float:
    """What a life took beside its runs: its start, and its stop once that is known."""
    if life.get("wall_s") is None:
        return float(life["start_s"])
    return float(max(life["start_s"], life["wall_s"] - sum(life["runs_s"])))


class Journal:
    """head: what ladder.json says besides its rungs. entries: its rungs, without repeats. Repeats and lives that
    `before` has of the same names are kept."""

    def __init__(
        self, folder: LadderFolder, head: Mapping[str, Any], entries: Sequence[Mapping[str, Any]],
        before: Mapping[str, Any] | None,
    ) -> None:  # fmt: skip
        self._folder = folder
        kept = {rung["name"]: rung for rung in (before or {}).get("rungs") or ()}
        self._rungs = {each["name"]: {**each, "repeats": []} for each in entries}
        for name, rung in kept.items():  # also of rungs that are not asked for this time
            self._rungs.setdefault(name, rung)["repeats"] = list(rung.get("repeats") or ())
        self._lives: list[dict[str, Any]] = list((before or {}).get("lives") or ())
        began = (before or {}).get("started_unix_s") or time.time()
        self._head = {**head, "started_unix_s": began}
        self._asked = [each["name"] for each in entries]

    @property
    def told(self) -> dict[str, Any]:
        order = [*self._asked, *(name for name in self._rungs if name not in self._asked)]
        return {
            **self._head,
            "updated_unix_s": time.time(),
            "rungs": [self._rungs[name] for name in order],
            "lives": self._lives,
        }

    def save(self, **head: Any) -> None:
        self._head |= head
        self._folder.save(self.told)

    def done(self, entry: str, pair: int) -> bool:
        return any(each["pair"] == pair and not each.get("error") for each in self._rungs[entry]["repeats"])

    def took(self, names: Sequence[str]) -> list[Took]:
        """Of the lives that are over; names: of the rungs, by place."""
        return [
            Took(names.index(each["rung"]), _beside_s(each), tuple(map(float, each["runs_s"])))
            for each in self._lives
            if each["rung"] in names and each.get("start_s") is not None
        ]

    def next_life(self) -> int:
        """A number that no life had yet."""
        number = 1 + max((int(each["life"]) for each in self._lives), default=-1)
        self._lives.append({"life": number, "rung": "", "lane": None, "start_s": None, "runs_s": []})
        return number

    def life(self, number: int, **more: Any) -> None:
        next(each for each in self._lives if each["life"] == number).update(more)

    def ran(self, number: int, took_s: float) -> None:
        next(each for each in self._lives if each["life"] == number)["runs_s"].append(round(took_s, 2))

    def add(self, entry: str, pair: int, run: Run, more: Mapping[str, Any]) -> dict[str, Any]:
        """A repeat that came to its end. more: life, lane and seconds, where they are known."""
        manifest, summary = run.manifest, current(run)
        engine, place = manifest.get("engine") or {}, manifest.get("ladder") or {}
        found = doubts(summary, manifest)
        repeat = {
            "pair": pair, "lane": place.get("lane", 0), "life": place.get("life"), "run": f"{RUNS}/{run.path.name}",
            "seed": manifest.get("seed"), "started_unix_s": manifest.get("t0_unix_s"), **figures(summary),
            "client_verdict": (summary.get("client") or {}).get("verdict"), "certified": not found, "doubts": found,
            "engine": {key: engine.get(key) for key in MET if engine.get(key) is not None}, "error": None, **more,
        }  # fmt: skip
        rung = self._rungs[entry]
        stated = engine.get("env") or {}
        rung["env"] = {key: str(stated.get(key, value)) for key, value in (rung.get("env") or {}).items()}
        self._put(entry, repeat)
        return repeat

    def fail(self, entry: str, pair: int, error: str, more: Mapping[str, Any]) -> None:
        """A repeat that did not. Takes the place of an earlier failure of the same pair."""
        keys = ("life", "run", "seed", "started_unix_s", "agents", "synthetic", "client_verdict")
        place = {"pair": pair, "lane": 0, **dict.fromkeys(keys), "certified": False, "doubts": [], "engine": {}}
        self._put(entry, {**place, "error": error, **more})

    def _put(self, entry: str, repeat: dict[str, Any]) -> None:
        repeats = [each for each in self._rungs[entry]["repeats"] if each["pair"] != repeat["pair"]]
        self._rungs[entry]["repeats"] = sorted([*repeats, repeat], key=lambda each: int(each["pair"]))

    def met(self) -> list[str]:
        """Versions, GPUs and drivers of which there were several, a clause each."""
        found = []
        for key in MET:
            values = sorted(
                {str(each["engine"][key]) for each in self._repeats() if (each.get("engine") or {}).get(key)}
            )
            if len(values) > 1:
                found.append(f"{key}: {', '.join(values)}")
        return found

    def _repeats(self) -> Iterator[Mapping[str, Any]]:
        for rung in self._rungs.values():
            yield from rung["repeats"]
