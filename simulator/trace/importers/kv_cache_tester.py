"""kv-cache-tester: a session's requests with token counts, 64-token block hashes and times; no text.

{"id", "models", "block_size", "hash_id_scope", "tool_tokens", "system_tokens", "requests": [{t, type, in, out,
hash_ids, stop, api_time, ttft, think_time} | {type: "subagent", ..., requests: [...]}]}
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.format import Call, Totals
from simulator.trace.messages import mapping
from simulator.trace.text import Bad, members
from simulator.trace.when import count, number

KEYS = {"id", "block_size", "requests"}


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    about: dict[str, Any] = {}
    requests: list[Any] = []
    for key, value in members(path):
        if key == "requests":
            requests.append(value)
        elif key != "models" or key not in about:
            about[key] = value
    block = count(about.get("block_size"))
    if not block:
        raise Bad(f"its block_size is {about.get('block_size')!r}")
    tokens = mapping(mapping(about.get("totals")).get("parent_tokens"))
    draft = Draft(
        format="kv-cache-tester", session=str(about.get("id") or path.stem), client="claude-code",
        model=str(about.get("models") or ""), clock="session", stored=True, block_tok=block,
        block_scope="trace" if about.get("hash_id_scope") == "global" else "session",
        totals=Totals(prompt_tok=count(tokens.get("input")), output_tok=count(tokens.get("output"))),
        estimated={"calls": "one a reply that stopped for a tool; names are not known"},
    )  # fmt: skip
    _Reading(draft, path, asked).conversation(requests, 0, 0.0)
    yield draft


class _Reading:
    def __init__(self, draft: Draft, path: Path, asked: Asked) -> None:
        self._draft, self._path, self._asked = draft, path, asked
        self._branches = 0

    def conversation(self, requests: list[Any], branch: int, offset_s: float) -> int | None:
        """Gives the row of its first turn."""
        row = first = None
        for number_, (request, after) in enumerate(zip(requests, [*requests[1:], None], strict=True), 1):
            if not isinstance(request, dict):
                self._asked.leave(self._path, f"request {number_} is no object")
            elif isinstance(request.get("requests"), list):
                self._subagent(request, row, branch, offset_s)
            elif not count(request.get("in")):
                self._asked.leave(self._path, f"request {number_} has no prompt tokens (`in`)")
            else:
                row = self._turn(request, _took_s(request, after), branch, offset_s)
                first = row if first is None else first
        return first

    def _turn(self, request: dict[str, Any], took: float | None, branch: int, offset_s: float) -> int:
        ids = request.get("hash_ids")
        blocks = [v for v in ids if isinstance(v, int)] if isinstance(ids, list) else None
        t = number(request.get("t"))
        sent = None if t is None else t + offset_s
        ttft = number(request.get("ttft"))
        row = self._draft.shape(
            blocks,
            Figures(
                sent_s=sent,
                first_s=None if sent is None or ttft is None else sent + ttft,
                end_s=None if sent is None or took is None else sent + took,
                prompt_tok=count(request.get("in")),
                output_tok=count(request.get("out")),
                finish=str(request.get("stop") or ""),
            ),
            branch=branch,
        )
        if request.get("stop") == "tool_use":
            self._draft.call(row, Call(tool="unknown"))
        return row

    def _subagent(self, request: dict[str, Any], row: int | None, branch: int, offset_s: float) -> None:
        """One of a sub-agent is taken for one of its parent's turn: branches are the session's own."""
        if row is None or branch:
            self._asked.leave(self._path, "a sub-agent begins before its parent's first request, or inside another one")
            return
        self._branches += 1
        inner = request["requests"]
        times = [number(r.get("t")) for r in inner if isinstance(r, dict)]
        start = number(request.get("t")) or 0.0
        own_clock = bool(times) and times[0] is not None and times[0] < start
        if self.conversation(inner, self._branches, offset_s + (start if own_clock else 0.0)) is None:
            self._branches -= 1
            self._asked.leave(self._path, "a sub-agent of it holds no request")
        else:
            self._draft.spawn(row, self._branches)


def _took_s(request: dict[str, Any], after: Any) -> float | None:
    """How long the server took; where it does not say, what the next request's pause leaves of the time between."""
    took = number(request.get("api_time"))
    if took is not None or not isinstance(after, dict):
        return took
    t, then, pause = number(request.get("t")), number(after.get("t")), number(after.get("think_time"))
    return None if t is None or then is None or pause is None else max(0.0, then - t - pause)
