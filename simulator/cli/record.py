"""`sim record`: starts the listener, and says at the end what was recorded and what was not."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

import uvloop

from simulator.core.wording import counted
from simulator.errors import CheckFailed
from simulator.record.proxy import Settings, Told, record
from simulator.record.upstream import read_upstream

LOG_NAME = "requests.jsonl"


def main(
    upstream: str, host: str, port: int, out: Path | None, session_header: str, ca: Path | None, *, chunks: bool
) -> int:
    """0, or 1 (CheckFailed) when something passed that should be in the log and is not."""
    to = read_upstream(upstream)
    log = _log(out)
    settings = Settings(to, host, port, log, session_header, chunks, ca)

    def ready(port: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        print(f"http://{shown}:{port}/v1 passes everything on to {to.url}/v1 and records into {log}; Ctrl-C ends it")
        sys.stdout.flush()

    told = uvloop.run(record(settings, _say, ready))
    print(_summary(told, log), flush=True)
    if not told.written or told.written["error"]:
        why = told.written.get("error") or "the process that writes has died"
        raise CheckFailed(f"{log} is not whole: {why}; see that there is space, and record again")
    if told.lost:
        raise CheckFailed(f"{log} lacks {told.lost} of {counted(told.exchanges, 'request')}; record to a faster disk")
    return 0


def _say(what: str) -> None:
    print(f"sim: {what}", file=sys.stderr, flush=True)


def _log(out: Path | None) -> Path:
    if out is None:
        return Path(time.strftime("record-%Y%m%d-%H%M%S.jsonl"))
    return out / LOG_NAME if out.is_dir() else out


def _summary(told: Told, log: Path) -> str:
    written = told.written
    if not written:
        return f"{counted(told.exchanges, 'request')} passed"
    lines = [
        f"{counted(written['lines'], 'request')} of {counted(written['sessions'], 'session')} in {log} "
        f"({written['bytes'] / 1e6:.1f} MB)" + _counted(", ", written["by"], "by ")
    ]
    if written["failed"]:
        lines.append(f"{written['failed']} of them without a good reply")
    if written["unread"]:
        lines.append(
            f"{counted(written['unread'], 'line has', 'lines have')} notes on what could not be read or was left out"
        )
    if told.passed:
        lines.append("passed and not recorded" + _counted(": ", told.passed, ""))
    return "\n".join(lines)


def _counted(before: str, counts: Mapping[str, int], word: str) -> str:
    most = sorted(counts.items(), key=lambda each: -each[1])
    shown = ", ".join(f"{word}{name} {count}" for name, count in most[:8])
    return f"{before}{shown}{', ...' if len(most) > 8 else ''}" if shown else ""
