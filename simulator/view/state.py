"""What the live view knows: a fold over the lines of a growing run folder, in whatever order they turn up.

Lines come in as decoded JSON (docs/run_folder.md); nothing here reads a file or a clock. `now_s` is run time, seconds.
Only what a screen needs is kept: minutes of rates, the last requests, seconds of engine samples.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.core.certify import LIMITS
from simulator.core.limit import limit
from simulator.core.record import SlotState
from simulator.view.gauges import Gauges, read_gauges

RECENT_S = 60.0
#: a rate is over so many seconds, and none is told over fewer than RATE_LEAST_S; likewise a limit, over ten at most
RATE_S, RATE_LEAST_S, LIMIT_LEAST_S = 3.0, 2.0, 5.0
LAG_LIMIT_MS = round(1e3 * LIMITS["loop_lag_p99_s"])
#: a pulse this near to a scrape tells what was open then
OPEN_NEAR_S = 1.0

#: busiest first; what is not listed comes last
RANK = {"decode": 0, "prefill": 1, "queue": 1, "tool": 2, "backoff": 3, "setup": 3, "think": 4, "idle": 5, "done": 6}
_SLOT = ("slot", "session", "task", "turn", "turns", "phase", "context_tok", "ttft_s", "tok_s")


@dataclass(frozen=True, slots=True)
class Interval:
    """What passed between two pulses. tok: streamed output tokens; lag_s, cpu_share: the client's own health; ticks,
    late: moments at which the loop's lag was taken, and how many of them found it past its limit."""

    t_s: float
    span_s: float
    tok: float | None
    lag_s: float
    cpu_share: float
    ticks: int = 0
    late: int = 0


@dataclass(frozen=True, slots=True)
class Latencies:
    """Over requests that ended in the last minute, seconds; None without any. n: how many."""

    n: int = 0
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    e2el_p50_s: float | None = None


@dataclass(slots=True)
class LiveState:
    """slots: the sessions of the last pulse, in slot order. stage_since_s: None when its beginning was not seen.
    load_since_s: when this load began, 0 when that was not seen: a warm-up is another load than what comes after it."""

    manifest: Mapping[str, Any] = field(default_factory=dict)
    windows: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    pulse: Mapping[str, Any] = field(default_factory=dict)
    slots: tuple[SlotState, ...] = ()
    stage_since_s: float | None = None
    stage_since_tok: int = 0
    stage_since_requests: int = 0
    load_since_s: float = 0.0
    intervals: deque[Interval] = field(default_factory=lambda: deque(maxlen=2000))
    verified: Counter[bool | None] = field(default_factory=Counter)
    last_failure: Mapping[str, Any] = field(default_factory=dict)
    _phases: deque[tuple[float, Mapping[int, str]]] = field(default_factory=lambda: deque(maxlen=400))
    _requests: deque[tuple[float, float, float, str]] = field(default_factory=lambda: deque(maxlen=8192))
    _samples: deque[tuple[float, Mapping[str, float]]] = field(default_factory=lambda: deque(maxlen=64))
    _open: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=128))
    _engine_error: tuple[float, str] = (float("-inf"), "")

    # ---- folding

    def on_pulse(self, line: Mapping[str, Any]) -> None:
        last = self.pulse
        slots = tuple(sorted((SlotState(**{k: s[k] for k in _SLOT}) for s in line["slots"]), key=lambda s: s.slot))
        if last.get("stage") != line["stage"]:
            # The first pulse read may be from the middle of its stage; then the start is not known.
            self.stage_since_s = line["t_s"] if last or line["t_s"] < 2 else None
            self.stage_since_tok = line["output_tok"]
            self.stage_since_requests = line["requests_done"] + line["requests_failed"]
        same_load = bool(last) and _load(last) == _load(line)
        if last and not same_load:
            self.load_since_s = line["t_s"]
        if last and line["t_s"] > last["t_s"]:
            # A difference below 0 is a correction: estimates of running replies were too high. It must count.
            self.intervals.append(
                Interval(
                    line["t_s"],
                    line["t_s"] - last["t_s"],
                    line["output_tok"] - last["output_tok"] if same_load else None,
                    line["loop_lag_s"],
                    line["cpu_share"],
                    line.get("lag_ticks", 0),
                    line.get(f"lag_over_{LAG_LIMIT_MS}ms", 0),
                )
            )
        self.pulse, self.slots = line, slots
        self._open.append((line["t_s"], line["in_flight"]))
        gauges = self.gauges()
        self._phases.append((line["t_s"], {s.slot: self.shown_phase(s, gauges) for s in slots}))

    def on_record(self, line: Mapping[str, Any]) -> None:
        if line["outcome"] == "failed":
            self.last_failure = line
        elif line["outcome"] == "ok" and line["purpose"] != "warmup" and line["t_sent_s"] is not None:
            first, last = line["t_first_s"], line["t_last_s"]
            if first is not None and last is not None:
                sent = line["t_sent_s"]
                self._requests.append((line["t_end_s"], first - sent, last - sent, line["kind"]))

    def on_session(self, line: Mapping[str, Any]) -> None:
        if line["outcome"] == "completed":
            self.verified[line["verified"]] += 1

    def on_engine(self, line: Mapping[str, Any]) -> None:
        if line.get("error"):
            self._engine_error = (line["t_s"], line["error"])
        else:
            self._samples.append((line["t_s"], line["values"]))

    # ---- reading

    @property
    def stage(self) -> str:
        return str(self.pulse.get("stage", "setup"))

    @property
    def ended(self) -> bool:
        return bool(self.manifest.get("ended"))

    def shown_phase(self, slot: SlotState, gauges: Gauges) -> str:
        """A request without its first chunk is in the engine's queue or in prefill; the client cannot tell them apart,
        the engine can as long as nothing waits at all."""
        return "prefill" if slot.phase == "queue" and gauges.waiting == 0 else slot.phase

    def output_rate(self) -> float | None:
        """Output tok/s over the last seconds of this load; None before there are enough of them: what comes first is a
        burst, and of the load before."""
        end = self.pulse.get("t_s", 0.0)
        tok = span = 0.0
        for one in reversed(self.intervals):
            if one.t_s <= end - RATE_S or one.tok is None:
                break
            tok, span = tok + one.tok, span + one.span_s
        return max(0.0, tok / span) if span >= RATE_LEAST_S else None

    @property
    def stage_start_s(self) -> float | None:
        """When the stage began; for the agents' window also if only windows.json still knows it."""
        if self.stage_since_s is None and self.stage == "window":
            window = self.windows.get("agent")
            return window.get("start_s") if isinstance(window, Mapping) else None
        return self.stage_since_s

    @property
    def stage_requests(self) -> int:
        """Requests that ended, well or not, since the stage began."""
        return int(self.pulse["requests_done"] + self.pulse["requests_failed"]) - self.stage_since_requests

    def stage_rate(self) -> float | None:
        """Output tok/s since the stage began; None when its beginning was not seen."""
        if self.stage_since_s is None or self.pulse["t_s"] <= self.stage_since_s:
            return None
        return float(self.pulse["output_tok"] - self.stage_since_tok) / (self.pulse["t_s"] - self.stage_since_s)

    def history(self, columns: int, bucket_s: float) -> list[float | None]:
        """Output tok/s in `columns` steps of `bucket_s` up to now, oldest first. Steps lie on a fixed grid in run time,
        so that the picture moves by whole columns and a column's height stays what it was."""
        if not self.intervals:
            return [None] * columns
        tok = [0.0] * columns
        span = [0.0] * columns
        last = int(self.intervals[-1].t_s / bucket_s)
        for one in reversed(self.intervals):
            column = columns - 1 - (last - int(one.t_s / bucket_s))
            if column < 0:
                break
            if one.tok is not None:
                tok[column] += one.tok
                span[column] += one.span_s
        return [max(0.0, t / s) if s else None for t, s in zip(tok, span, strict=True)]

    def phases(self, columns: int, bucket_s: float) -> list[Mapping[int, str]]:
        """Slot -> phase, on the same grid as `history`; the last pulse within a column stands for it."""
        found: list[Mapping[int, str]] = [{}] * columns
        if self._phases:
            last = int(self._phases[-1][0] / bucket_s)
            for t_s, phases in self._phases:
                column = columns - 1 - (last - int(t_s / bucket_s))
                if column >= 0:
                    found[column] = phases
        return found

    def health(self) -> tuple[float, float] | None:
        """(largest loop lag in seconds, mean CPU share) of the client over the last five seconds."""
        end = self.pulse.get("t_s", 0.0)
        recent = [one for one in list(self.intervals)[-20:] if one.t_s > end - 5]
        if not recent:
            return None
        span = sum(one.span_s for one in recent)
        return max(one.lag_s for one in recent), sum(one.cpu_share * one.span_s for one in recent) / span

    def latencies(self) -> Latencies:
        end, kind = self.pulse.get("t_s", 0.0), self.pulse.get("kind", "agent")
        recent = [r for r in self._requests if r[0] > end - RECENT_S and r[3] == kind]
        if not recent:
            return Latencies()
        ttft = sorted(r[1] for r in recent)
        e2el = sorted(r[2] for r in recent)
        return Latencies(len(recent), _quantile(ttft, 0.5), _quantile(ttft, 0.95), _quantile(e2el, 0.5))

    def gauges(self) -> Gauges:
        """The engine's gauges at the last pulse."""
        end = self.pulse.get("t_s", 0.0)
        return read_gauges(self._samples, self._engine_error, end, self._open_at, self.load_since_s)

    def _open_at(self, t_s: float) -> int | None:
        nearest = min(self._open, key=lambda one: abs(one[0] - t_s), default=None)
        return None if nearest is None or abs(nearest[0] - t_s) > OPEN_NEAR_S else nearest[1]

    def limit(self, gauges: Gauges) -> Mapping[str, Any] | None:
        """Where the limit is now (core/limit.py), over the last ten seconds of this load; None before there are enough
        of them."""
        end = self.pulse.get("t_s", 0.0)
        recent = [one for one in list(self.intervals)[-40:] if one.t_s > max(end - 10, self.load_since_s)]
        if not recent or end - self.load_since_s < LIMIT_LEAST_S:
            return None
        return limit(replace(gauges.signs, client=_client_reasons(recent)))


def _load(pulse: Mapping[str, Any]) -> tuple[str, bool]:
    return pulse["kind"], pulse["stage"] == "warmup"


def _client_reasons(recent: Sequence[Interval]) -> tuple[str, ...]:
    """Why the client is past its limits, () when it is not."""
    ticks, late = sum(one.ticks for one in recent), sum(one.late for one in recent)
    worst = max(one.lag_s for one in recent)
    lagging = late > 0.01 * ticks if ticks else worst > LIMITS["loop_lag_p99_s"]
    cpu = sum(one.cpu_share * one.span_s for one in recent) / sum(one.span_s for one in recent)
    found = [f"event-loop lag up to {1e3 * worst:.0f} ms"] if lagging else []
    found += [f"{100 * cpu:.0f} % of a core"] if cpu > LIMITS["cpu_share_mean"] else []
    return tuple(found)


def busiest(slots: tuple[SlotState, ...]) -> list[SlotState]:
    """Decoding sessions first, then those that wait for their first token, tools, thinking, idle; faster ones first."""
    return sorted(slots, key=lambda s: (RANK.get(s.phase, 9), -s.tok_s, s.slot))


def _quantile(ordered: list[float], q: float) -> float:
    """Linear interpolation between order statistics, as NumPy's default."""
    place = q * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
