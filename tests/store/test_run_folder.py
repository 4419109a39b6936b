"""Run folders: whole, killed, torn, and things that are none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import orjson
import pytest
from fixtures_fold import failure, pulse, reply, scrape, session, tool

from simulator.core.record import Request
from simulator.core.summary import summarise
from simulator.errors import UsageError
from simulator.store.folder import RunFolder

MakeRun = Callable[..., Path]
STREAM = [(200.0, 1), (20.0, 3), (70_000.0, 2)]


def put(writer: object, *, sent_s: float = 1.0, **fields: object) -> Request:
    record = reply(sent_s, STREAM, **fields).request
    writer.request(record, [round(ms * 1e3) for ms, _ in STREAM], [tok for _, tok in STREAM])  # type: ignore[attr-defined]
    return record


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    writer = RunFolder.create(tmp_path / "deep" / "run", {"seed": 7, "label": "a"})
    first, second = put(writer), put(writer, sent_s=2.0, session="s0001")
    lost = failure(3.0, "refused", t_sent_s=None).request
    writer.request(lost, [], [])
    writer.tool(tool(1.0, 1.1, 1.2, matched=False, difference="line 1"))
    writer.session(session("s0001", 0, 9, verified=True))
    writer.engine(scrape(1.0, num_requests_running=3))
    writer.pulse(pulse(0.5, in_flight=2))
    writer.window("agent", 1.0, 9.0)
    writer.diff("s0001", "--- a\n+++ b\n")
    writer.finish({"stopped": "interrupted"})
    writer.finish()

    run = RunFolder.open(tmp_path / "deep" / "run")
    assert (first.chunks, first.chunks_at, second.chunks_at, lost.chunks_at) == (3, 0, 18, -1)
    assert run.manifest["schema"] == 1 and run.manifest["seed"] == 7 and run.manifest["stopped"] == "interrupted"
    assert run.ended and abs(run.manifest["ended"] - time.time()) < 600
    assert run.requests["t_sent_s"].tolist()[:2] == [1.0, 2.0] and np.isnan(run.requests["t_sent_s"][2])
    slabs = list(run.chunks.slabs(run.requests, np.ones(3, dtype=bool)))
    assert [s.tok.tolist() for s in slabs] == [[1, 3, 2, 1, 3, 2]]
    assert slabs[0].gap_us.tolist() == [200_000, 20_000, 70_000_000] * 2
    assert run.tools.text("difference").at(0) == "line 1" and run.tools["matched"].tolist() == [0.0]
    assert run.sessions == (session("s0001", 0, 9, verified=True),)
    assert run.engine == (scrape(1.0, num_requests_running=3),)
    assert run.pulses["in_flight"].tolist() == [2.0]
    assert run.windows == {"agent": (1.0, 9.0)}
    assert (run.path / "diffs" / "s0001.patch").read_text() == "--- a\n+++ b\n"
    assert run.data().damage == {}


def test_summary_and_report_are_written_whole(make_run: MakeRun) -> None:
    run = RunFolder.open(make_run(slots=2, window_s=5, synthetic=0))
    assert run.summary is None
    run.write_summary(summarise(run.data()))
    run.write_report("# run\n")
    assert run.summary == orjson.loads(orjson.dumps(summarise(run.data())))
    assert (run.path / "report.md").read_text() == "# run\n"
    assert [p.name for p in run.path.iterdir() if p.name.startswith(".")] == []


def test_a_folder_is_never_overwritten(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", {})
    with pytest.raises(UsageError, match="is not empty; choose a new folder"):
        RunFolder.create(tmp_path / "run", {})
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="choose another place"):
        RunFolder.create(tmp_path / "file", {})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "is empty, so it is no run folder"),
        (b"", "is not a JSON object"),
        (b'{"schema": 1', "is not a JSON object"),
        (b"[1]", "is not a JSON object"),
        (b"{}", "states no schema version"),
        (b'{"schema": "1"}', "states no schema version"),
        (b'{"schema": 2}', "reads up to 1; upgrade agent-sim"),
    ],
)
def test_what_is_no_run_folder_is_refused(tmp_path: Path, content: bytes | None, complaint: str) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(UsageError, match=complaint) as caught:
        RunFolder.open(tmp_path)
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)


def test_other_places_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    for place, complaint in (
        (tmp_path, "holds no manifest.json"),
        (tmp_path / "notes.txt", "is a file"),
        (tmp_path / "gone", "does not exist"),
    ):
        with pytest.raises(UsageError, match=complaint):
            RunFolder.open(place)


def test_a_run_that_had_time_for_its_manifest_only(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b'{"schema": 1}')
    run = RunFolder.open(tmp_path)
    summary = summarise(run.data())
    assert (run.requests.n, run.ended, summary["agent"]) == (0, False, None)


def test_torn_and_broken_lines_cost_only_themselves(make_run: MakeRun) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    whole = RunFolder.open(folder).requests.n
    path = folder / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b"\x00\x00\x00\n"
    lines[2] = b'{"turn": "x"}\n'
    lines[3] = b"17\n"
    path.write_bytes(b"".join(lines) + lines[0].rstrip(b"\n"))  # parses, yet nobody knows whether it is all
    with (folder / "pulse.jsonl").open("ab") as file:
        file.write(b'{"t_s": 3')
    with (folder / "sessions.jsonl").open("ab") as file:
        file.write(b'{"session": "s1"}\n')
    (folder / "windows.json").write_bytes(b'{"agent": {"start_s": 1}}')
    run = RunFolder.open(folder)
    data = run.data()
    assert run.requests.n == whole - 3
    assert data.damage == {"records.jsonl": 4, "pulse.jsonl": 1, "sessions.jsonl": 1, "windows.json": 1}
    assert "damage" in {w["code"] for w in summarise(data)["warnings"]}


def test_torn_chunks_are_counted_and_their_requests_still_deliver(make_run: MakeRun) -> None:
    folder = make_run(slots=4, window_s=10, synthetic=0)
    before = summarise(RunFolder.open(folder).data())["agent"]
    path = folder / "chunks.bin"
    os.truncate(path, path.stat().st_size // 2 + 1)
    run = RunFolder.open(folder)
    after = summarise(run.data())["agent"]
    lost = run.damage["chunks.bin"]
    assert 0 < lost < run.requests.n
    assert run.requests["chunks_at"].tolist().count(-1.0) >= lost
    assert after["output_tok_s"] == pytest.approx(before["output_tok_s"], rel=0.05)
    assert after["itl_s"]["requests"] < before["itl_s"]["requests"]
    assert after["ttft_s"] == before["ttft_s"]
    path.unlink()
    assert summarise(RunFolder.open(folder).data())["agent"]["itl_s"]["mean"] is None


def test_fields_of_other_versions(make_run: MakeRun) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    path = folder / "records.jsonl"
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    for row in rows:
        row["from_the_future"] = {"x": 1}
    rows[0].pop("server_ttft_s")
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    run = RunFolder.open(folder)
    assert run.requests.n == len(rows) and run.damage == {}


WRITER = """
import sys, time
sys.path.insert(0, "tests")
from fixtures_fold import reply
from simulator.store.folder import RunFolder
writer = RunFolder.create(sys.argv[1], {})
for i in range(10_000_000):
    writer.request(reply(i * 0.01, [(200.0, 1)] * 50).request, [200_000] * 50, [1] * 50)
    if i % 100 == 99:
        writer.flush()
        print(i + 1, flush=True)
"""


def test_a_killed_writer_leaves_all_that_was_flushed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    flushed = [int(child.stdout.readline()) for _ in range(5)][-1]
    child.send_signal(signal.SIGKILL)
    rest = child.communicate()[0].split()
    run = RunFolder.open(folder)
    assert run.requests.n >= max([flushed, *map(int, rest)])
    assert not run.ended
    assert run.chunks.present(run.requests).all()  # a line that can be read has its chunks
    assert sum(run.damage.values()) <= 1
    assert summarise(run.data())["agent"]["window"]["note"] == "the run stopped before its window"


def test_a_full_disk_is_one_sentence() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    from simulator.store.writer import _Appender

    full = _Appender(Path("/dev/full"))
    full.line(asdict(pulse(1.0)))
    with pytest.raises(UsageError, match="cannot write /dev/full: No space left on device"):
        full.flush()
    full.close()


def test_flushing_is_far_cheaper_than_what_it_flushes(tmp_path: Path) -> None:
    """The loop's flush is a plain write: it costs a fraction of serialising the same records."""
    writer = RunFolder.create(tmp_path / "run", {})
    records = [reply(float(i), STREAM).request for i in range(1_000)]
    deltas, tokens = [20_000] * 300, [2] * 300
    spent, flushes = 0.0, []
    for _ in range(5):
        started = time.perf_counter()
        for record in records:
            writer.request(record, deltas, tokens)
        spent += time.perf_counter() - started
        started = time.perf_counter()
        writer.flush()
        flushes.append(time.perf_counter() - started)
    assert min(flushes) < spent / 5
    writer.finish()
