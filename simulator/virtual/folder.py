"""A simulated run as an ordinary run folder."""

from __future__ import annotations

from simulator.store.folder import RunWriter
from simulator.virtual.pulses import pulses
from simulator.virtual.simulate import Simulated

#: records written between two flushes
BATCH = 10_000


def write(result: Simulated, writer: RunWriter) -> None:
    """Numbers the requests and writes everything but the manifest's end."""
    log = result.log
    log.sort(writer.path.name)
    for number, (record, gaps_us, tokens) in enumerate(log.requests):
        writer.request(record, gaps_us, tokens)
        if number % BATCH == 0:
            writer.flush()
    for call in log.tools:
        writer.tool(call)
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
