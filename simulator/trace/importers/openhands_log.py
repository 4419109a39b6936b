"""OpenHands' log of model calls: a file each, {messages, tools, kwargs, response, timestamp, latency_sec, cost}. All
files of a folder belong together; which session each is of follows from its messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.trace.asked import Asked
from simulator.trace.chains import linked, session
from simulator.trace.draft import Draft
from simulator.trace.messages import mapping
from simulator.trace.text import Bad, members
from simulator.trace.when import number

#: of `kwargs`, what is no field of a request
_NOT_SENT = ("tools", "extra_headers", "timeout", "metadata")


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    files = [path, *(p for p in sorted(path.parent.glob("*.json")) if p != path and _is_log(p))]
    asked.used.update(files)
    order = sorted(files, key=lambda p: (_sent_s(p, asked), p.name))
    links = linked(((p, _record(p)) for p in order), path.parent.name, asked, lambda p: (p, 0))

    def load(where: Path) -> tuple[dict[str, Any], Path, int]:
        found = _record(where)
        assert not isinstance(found, Bad)  # it was read before
        return found, where, 0

    for family in links.families():
        draft = session("openhands-log", family, load, asked)
        if draft is not None:
            draft.client = "openhands"
            yield draft


def _is_log(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(2_000_000)
    return b'"messages"' in head and b'"latency_sec"' in head + _tail(path)


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_536))
        return file.read()


def _sent_s(path: Path, asked: Asked) -> float:
    found = _record(path)
    return 0.0 if isinstance(found, Bad) else float(found["ts"] or 0.0)


def _record(path: Path) -> dict[str, Any] | Bad:
    """As a line of a request log."""
    lists: dict[str, list[Any]] = {"messages": [], "tools": []}
    about: dict[str, Any] = {}
    try:
        for key, value in members(path):
            if key in lists:
                lists[key].append(value)
            else:
                about[key] = value
    except Bad as why:
        return why
    kwargs = mapping(about.get("kwargs"))
    response = mapping(about.get("response"))
    request: dict[str, Any] = {"model": str(response.get("model") or ""), "messages": lists["messages"]}
    request |= {key: value for key, value in kwargs.items() if key not in _NOT_SENT}
    if lists["tools"]:
        request["tools"] = lists["tools"]
    end, took = number(about.get("timestamp")), number(about.get("latency_sec"))
    sent = None if end is None else end - (took or 0.0)
    return {"ts": sent, "request": request, "response": response, "t_end_s": took}
