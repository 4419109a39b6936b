"""A simulated run as an ordinary run folder."""

from __future__ import annotations

from simulator.store.folder import RunWriter
from simulator.store.writer import TOOLS
from simulator.virtual.pulses import pulses
from simulator.virtual.simulate import Simulated
from simulator.virtual.spool import in_order

#: records written between two flushes
BATCH = 10_000


def write(result: Simulated, writer: RunWriter) -> None:
    """Numbers the requests and writes everything but the manifest's end. Of a run with a spool, its records are read
    from there one by one."""
    log = result.log
    log.sort(writer.path.name)
    for number, (record, gaps_us, tokens) in enumerate(log.requests):
        writer.request(record, gaps_us, tokens)
        _now_and_then(number, writer)
    for number, (row, packed) in enumerate(in_order(log.sheets, "requests")):
        row["run"], row["request"] = writer.path.name, number
        writer.take_request(row, packed)
        _now_and_then(number, writer)
    for call in log.tools:
        writer.tool(call)
    for number, (row, _nothing) in enumerate(in_order(log.sheets, "tools")):
        writer.take(TOOLS, row)
        _now_and_then(number, writer)
    for session in log.sessions:
        writer.session(session)
    writer.flush()
    for sample in log.samples:
        writer.engine(sample)
    for pulse in pulses(result):
        writer.pulse(pulse)
    for kind, (start_s, end_s) in result.windows.items():
        writer.window(kind, start_s, end_s)
    writer.flush()


def _now_and_then(number: int, writer: RunWriter) -> None:
    if number % BATCH == 0:
        writer.flush()
