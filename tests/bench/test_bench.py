"""The bench itself: our client's records are matched with the server's truth, and agree with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import ours
import peers
import pytest
from bench import CROWD, line
from crowd import slope
from measure import Cost, run, serving


def test_our_records_and_the_servers_truth(tmp_path: Path) -> None:
    shape = {"streams": 8, "requests": 16, "tok": 24}
    with serving(60, 4, "--spread", "2", "--chunk-tok", "3") as server:
        outcome = ours.sim(server, tmp_path / "run", **shape)
        truths = server.truth().of(24)
    pairs = ours.matched(outcome, truths, model="reference", **shape)
    assert len(pairs) == 16 == len(truths) - ours.WARMUPS
    for record, truth in pairs:
        assert (record["output_tok"], record["chunks"], record["outcome"]) == (truth["tok"], truth["chunks"], "ok")
    # requests with a TTFT of 60 to 180 ms of their own: each of ours follows its own, not the mean
    said = [r["t_first_s"] - r["t_sent_s"] for r, _ in pairs]
    true = [t["t_first_s"] - t["t_received_s"] for _, t in pairs]
    assert np.corrcoef(said, true)[0, 1] > 0.8
    assert ours.ttft_error_ms(pairs).min() > -1.0, "nothing is seen before it was written"
    assert np.median(ours.tpot_ratio(pairs)) == pytest.approx(1, rel=0.1)


def test_a_small_crowd(tmp_path: Path) -> None:
    with serving(50, 0.5) as server:
        settings = ["--sessions", "4", "--seconds", "2", "--turn-s", "0.1", "--body-kb", "20"]
        cost = run([sys.executable, str(CROWD), "--url", server.url, "--out", str(tmp_path / "c"), *settings],
                   60.0, {"PYTHONPATH": str(ours.ROOT)})  # fmt: skip
        served = len(server.truth().requests)
    told = json.loads(cost.output.splitlines()[-1])
    assert told["answered"] == served > 8 and told["failed"] == 0 and told["loop_lag_s"]["p99"] is not None


def test_memory_that_grows_with_requests_has_a_slope() -> None:
    flat, steep = ([(n, 10**8 + grown * n) for n in range(40)] for grown in (0, 3_000))
    assert slope(flat) == pytest.approx(0, abs=1e-6) and slope(steep) == pytest.approx(3_000)
    assert slope([(0, 1), (1, 1)]) is None


def test_a_peer_that_is_not_there_is_said_and_one_that_fails_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_PEERS", str(tmp_path))
    assert peers.installed() == []
    program = peers.PEERS[0].path
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho no such model\nexit 7\n")
    program.chmod(0o755)
    assert [peer.name for peer in peers.installed()] == [peers.PEERS[0].name]
    load = peers.Load("http://127.0.0.1:1", "m", tmp_path, 1, 1, 1)
    with pytest.raises(RuntimeError, match="exit 7: no such model"):
        peers.PEERS[0].measure(load, tmp_path / "out")


def test_a_line_puts_what_was_said_beside_what_was_true() -> None:
    truth = {"t_received_s": 0.0, "t_first_s": 0.1, "t_last_s": 2.1, "tok": 320, "first_tok": 1, "done": True}
    truths = type("Truths", (), {"of": lambda self, tok: [truth] * 3})()
    said = peers.Report(3, None, 140.0, 6.27, 300.0)
    assert line("x", 25.4, truths, said) == "| x | 25 | - / 100 | 140 / 100 | 6.27 / 6.27 | 300 / 457 | 3 |"
    assert Cost(0, 1.5, 0.5, 1.0, 1.0, "").cpu_s == 2.0
