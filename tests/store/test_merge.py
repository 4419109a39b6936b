"""Parts that several processes write, followed into one run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
from fixtures_fold import failure, pulse, reply, session, tool

from simulator.store.folder import RunFolder
from simulator.store.merge import Merger, PartWriter, part_folder

STREAM = [(200.0, 1), (20.0, 3), (70.0, 2)]
EMULATED = {"engine": {"kind": "emulated"}}


def put(part: PartWriter, number: int, sent_s: float, chunks: int = 3) -> None:
    stream = STREAM[:chunks]
    record = (reply if stream else failure)(sent_s, *([stream] if stream else []), request=number).request
    part.request(record, [round(ms * 1e3) for ms, _ in stream], [tok for _, tok in stream])


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (folder / name).read_bytes().splitlines()]


def test_parts_become_the_files_of_one_run(tmp_path: Path) -> None:
    writer = RunFolder.create(tmp_path / "run", {**EMULATED, "seed": 7})
    told: list[tuple[Any, ...]] = []
    parts = [PartWriter(tmp_path / "run", index, told.append) for index in range(2)]
    merger = Merger(writer, 2, 0.5)
    put(parts[0], 0, 1.0)
    put(parts[1], 0, 0.5, chunks=2)
    put(parts[1], 1, 4.0, chunks=0)
    parts[0].tool(tool(1.0, 1.1, 1.2))
    parts[1].session(session("s0001", 0, 9))
    for part in parts:
        part.flush()
    merger.poll()
    seen = rows(tmp_path / "run", "records.jsonl")
    assert len({row["request"] for row in seen}) == 3, "unique already while the run goes on"
    put(parts[0], 1, 3.0, chunks=1)
    put(parts[0], 2, 0.2)
    parts[0].diff("s0000", "--- a\n")
    parts[0].said("s0000", b'{"turn":0}')
    parts[0].flush()
    parts[0].said("s0000", b'{"turn":1}')
    parts[1].window("agent", 1.0, 2.0)
    parts[1].amend({"arrivals": {}})
    for part in parts:
        part.finish()
    merger.finish()
    writer.finish()

    assert told == [("window", "agent", 1.0, 2.0), ("amend", {"arrivals": {}})]
    assert not (tmp_path / "run" / "parts").exists()
    assert (tmp_path / "run" / "diffs" / "s0000.patch").read_text() == "--- a\n"
    assert [row["turn"] for row in rows(tmp_path / "run" / "transcripts", "s0000.jsonl")] == [0, 1]
    seen = rows(tmp_path / "run", "records.jsonl")
    assert [row["request"] for row in sorted(seen, key=lambda row: row["t_call_s"])] == [0, 1, 2, 3, 4]
    for name in ("records.jsonl", "tools.jsonl", "sessions.jsonl"):
        assert {row["engine"] for row in rows(writer.path, name)} == {"EMULATED"}
    assert {row["engine"] for row in rows(writer.path / "transcripts", "s0000.jsonl")} == {"EMULATED"}
    run = RunFolder.open(writer.path)
    data = run.data()
    assert data.damage == {} and run.tools.n == 1 and len(run.sessions) == 1
    offsets = {row["t_sent_s"]: (row["chunks_at"], row["chunks"]) for row in seen}
    assert offsets[4.0] == (-1, 0)
    spans = sorted((at, at + 6 * n) for at, n in offsets.values() if n)
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    raw = (writer.path / "chunks.bin").read_bytes()
    at, n = offsets[0.5]
    assert np.frombuffer(raw, "<u4", n, at).tolist() == [200_000, 20_000]
    assert np.frombuffer(raw, "<u2", n, at + 4 * n).tolist() == [1, 3]


def test_pulses_of_one_beat_are_put_together_and_a_stalled_process_is_waited_for_a_little(tmp_path: Path) -> None:
    writer = RunFolder.create(tmp_path / "run", {})
    one, two = (PartWriter(tmp_path / "run", index, lambda told: None) for index in range(2))
    merger = Merger(writer, 2, 0.5)

    def beat(part: PartWriter, number: int, tok: int) -> None:
        part.pulse(pulse(number * 0.5 + 0.001, output_tok=tok, lag_ticks=50))
        part.flush()

    def shown() -> list[tuple[int, int]]:
        merger.poll()
        return [(row["output_tok"], row["lag_ticks"]) for row in rows(writer.path, "pulse.jsonl")]

    beat(one, 1, 10)
    assert shown() == [], "the other is about to write its own"
    beat(two, 1, 5)
    assert shown() == [(15, 50)], "the worst one's ticks, no sum"
    beat(one, 2, 20)
    beat(one, 3, 30)
    assert shown() == [(15, 50)]
    beat(one, 4, 40)
    assert shown() == [(15, 50)]
    beat(one, 5, 50)
    assert shown() == [(15, 50), (25, 50)], "three beats of patience, then without it"
    beat(two, 5, 8)
    assert shown()[2:] == [(35, 50), (45, 50), (58, 50)]
    beat(one, 6, 60)
    merger.finish()
    assert rows(writer.path, "pulse.jsonl")[-1]["output_tok"] == 68, "the last look takes what there is"


def test_the_run_is_alive_while_its_processes_start_and_time_never_turns_back(tmp_path: Path) -> None:
    writer = RunFolder.create(tmp_path / "run", {})
    part = PartWriter(tmp_path / "run", 0, lambda told: None)
    merger = Merger(writer, 1, 0.5)
    merger.starting(pulse(0.6, stage="setup"))
    part.pulse(pulse(0.502, output_tok=1))
    part.pulse(pulse(1.001, output_tok=2))
    part.flush()
    merger.poll()
    merger.starting(pulse(1.1, stage="setup"))
    shown = [(row["t_s"], row["output_tok"]) for row in rows(writer.path, "pulse.jsonl")]
    assert shown == [(0.6, 0), (0.6, 1), (1.001, 2)]


def test_a_torn_line_of_a_killed_process_is_left_out(tmp_path: Path) -> None:
    writer = RunFolder.create(tmp_path / "run", {})
    part = PartWriter(tmp_path / "run", 0, lambda told: None)
    put(part, 0, 1.0)
    part.flush()
    with (part_folder(tmp_path / "run", 0) / "records.jsonl").open("ab") as file:
        file.write(b'{"run":"x","kin')
    merger = Merger(writer, 1, 0.5)
    merger.finish()
    writer.finish()
    run = RunFolder.open(writer.path)
    assert run.requests.n == 1 and run.data().damage == {}
