"""Probes in virtual time: the same search without an engine, a client or their noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simulator.cli.probing import Prober
from simulator.cli.scripts import scripts
from simulator.cli.virtual import play
from simulator.engine.embedded.config import DEFAULT_PARAMS, load_params
from simulator.store.folder import RunFolder
from simulator.virtual.library import DISTINCT
from simulator.virtual.simulate import check

if TYPE_CHECKING:
    from simulator.cli.planning import Planning


class VirtualProber(Prober):
    """Of a large load only a library of sessions is planned; slots beyond it play them again, as sessions of their
    own."""

    def _slots(self, point: float) -> int:
        return min(super()._slots(point), DISTINCT)

    async def _measure(self, point: float, planning: Planning, path: Path) -> str:
        virtual, scenario = self._options.virtual, self._loads.at(point)
        assert virtual is not None
        params = load_params(virtual.params or DEFAULT_PARAMS)
        check(scenario, params, virtual.replicas)
        played = scripts(planning.folder, self._slots(point), params.block_size)
        told = {"plan_hash": planning.folder.hash, "planned_sessions": len(planning.folder.sessions)}
        writer = RunFolder.create(path, {**self._manifest(point), **told})

        def progress(now_s: float) -> None:
            self._say(f"{now_s:,.0f} s simulated")

        return str(play(scenario, params, played, virtual.replicas, writer, progress)["stopped"])
