"""Probes answer for the engine that they met: another one, a restarted one and another label are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from simulator.cli.probing import Prober, loads
from simulator.cli.run import Options, run_manifest
from simulator.cli.same_engine import differences, named
from simulator.cli.target import Opened, Target
from simulator.core.scenario_file import parse
from simulator.engine.embedded.config import load_params
from simulator.errors import UsageError
from simulator.store.folder import RunFolder
from simulator.store.manifest import write_json

TEXT = "name: few\nsessions: 2\nwindow_s: 5\n"
REAL: dict[str, Any] = {
    "models": [{"id": "m", "max_model_len": 131072}],
    "version": "0.25.1",
    "cache_config": {"block_size": "16", "num_gpu_blocks": "4096"},
    "process_start_time_s": 1_764_000_000.25,
    "emulated": False,
}
UNTOLD = {**REAL, "process_start_time_s": None}
OWN: dict[str, Any] = {"params_sha256": "ab", "settings": load_params().model_dump(mode="json"), "pid": 7, "seed": 1}
VIRTUAL: dict[str, Any] = {"virtual": True, "hardware": "h", "settings": load_params().model_dump(exclude={"hardware"})}


def prober(out: Path, identity: dict[str, Any], label: str = "", url: str = "http://127.0.0.1:8000/v1") -> Prober:
    options = Options(Path("few.yaml"), None, None, None, out, None, label, True, False, ())
    target = Target(url, "m", "", "real" if "version" in identity else "emulated", identity, 300.0)
    asked = loads(parse(TEXT, "f"), rate=False, window_s=None)
    return Prober(asked, Opened(target), options, TEXT, out, lambda _what: None, Console())


def probe(out: Path, identity: dict[str, Any], label: str = "", url: str = "http://127.0.0.1:8000/v1") -> None:
    """A probe of two agents that has ended."""
    found = prober(out, identity, label, url)
    scenario = found._loads.at(2.0)
    made = run_manifest(found._options, scenario, TEXT, found._target)
    writer = RunFolder.create(out / "probes" / "0002-1", {**made, "probe": {"point": 2.0, "rate": False}})
    writer.finish({"stopped": ""})
    write_json(writer.path / "summary.json", {"agent": {}})


@pytest.mark.parametrize("identity", [REAL, UNTOLD, OWN, VIRTUAL])
def test_the_same_engine_is_known_again(tmp_path: Path, identity: dict[str, Any]) -> None:
    probe(tmp_path, identity, "a")
    again = prober(tmp_path, {**identity, "pid": 8}, "a")
    assert [point for point, _, _ in again.known()] == [2.0] and again.foreign == 0
    assert again.provable == (identity is not UNTOLD), "a start that is not told proves nothing"


@pytest.mark.parametrize(
    ("then", "change", "said"),
    [
        (REAL, {"process_start_time_s": 1_764_000_100.5},
         "started 2025-11-24 16:00:00.25 UTC then, 2025-11-24 16:01:40.50 UTC now"),
        (REAL, {"process_start_time_s": None}, "16:00:00.25 UTC then, not told now"),
        (REAL, {"version": "0.26.0"}, "version 0.25.1 then, 0.26.0 now"),
        (UNTOLD, {"cache_config": {"block_size": "32"}}, "cache_config.block_size 16 then, 32 now"),
        (UNTOLD, {"cache_config": {}}, "cache_config.num_gpu_blocks 4096 then, not told now"),
        (UNTOLD, {"models": [{"id": "m", "max_model_len": 8192}]}, "'max_model_len': 8192}] now"),
        (OWN, {"settings": {**OWN["settings"], "max_num_seqs": 128}, "params_sha256": "cd"},
         "(settings.max_num_seqs 256 then, 128 now)"),
        (OWN, {"params_sha256": "cd"}, "params_sha256 ab then, cd now"),
        (VIRTUAL, {"resolved_sha256": "cd"}, "resolved_sha256 not told then, cd now"),
        (VIRTUAL, {"hardware": "other"}, "hardware h then, other now"),
    ],
)  # fmt: skip
def test_another_engine_s_probes_are_refused(
    tmp_path: Path, then: dict[str, Any], change: dict[str, Any], said: str
) -> None:
    probe(tmp_path, then)
    with pytest.raises(UsageError) as caught:
        prober(tmp_path, {**then, **change}).known()
    assert said in str(caught.value) and str(caught.value).endswith("give another --out")
    assert "0002-1 is a probe of another engine" in str(caught.value)


def test_another_label_and_another_address_are_refused(tmp_path: Path) -> None:
    probe(tmp_path, REAL, "mtp1")
    with pytest.raises(UsageError, match="label `mtp1` then, `mtp3` now"):
        prober(tmp_path, REAL, "mtp3").known()
    with pytest.raises(UsageError, match=r"base_url http://127.0.0.1:8000/v1 then, http://127.0.0.1:9000/v1 now"):
        prober(tmp_path, REAL, "mtp1", "http://127.0.0.1:9000/v1").known()


def test_no_more_differences_are_named_than_help() -> None:
    many = differences({"cache_config": {str(n): n for n in range(9)}}, {"cache_config": {}}, own=False)
    assert len(many) == 9 and named(many).endswith("cache_config.2 2 then, not told now and 6 more")
    assert differences(REAL, dict(REAL), own=False) == []
