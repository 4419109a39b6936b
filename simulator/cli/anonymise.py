"""`sim anonymise`: a trace that can be given away, written beside the one that cannot."""

from __future__ import annotations

import secrets
from pathlib import Path

from simulator.core.wording import counted
from simulator.errors import UsageError
from simulator.trace.anonymise.lines import Anonymiser
from simulator.trace.trace_file import Writer, header, sessions


def main(trace: Path, out: Path, secret: str) -> int:
    """0. secret: the same one gives the same words; "", a new one that nobody is told."""
    if out.exists() and out.samefile(trace):
        raise UsageError(f"-o {out} is the trace itself; give another name")
    old = header(trace)
    starts = [each.line.start_s for each in sessions(trace) if each.line.clock == "unix" and each.line.start_s]
    anonymiser = Anonymiser(secret.encode() or secrets.token_bytes(32), min(starts, default=0.0))
    with Writer(out, anonymiser.header(old)) as writer:
        for each in sessions(trace):
            writer.session(*anonymiser.session(each))
    print(f"{out}: {counted(anonymiser.sessions, 'session')}, {counted(anonymiser.turns, 'turn')}")
    if anonymiser.unequal:
        print(
            f"{counted(anonymiser.unequal, 'message or tool list costs', 'messages or tool lists cost')} a few tokens "
            "more or less than before"
        )
    print(
        "Declared tools' names, token counts and times are those of the trace; look through it before you give it away."
    )
    return 0
