"""One frame of the live view: exactly `height` lines of exactly `width` cells, for any size of terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from simulator.view import header
from simulator.view.cells import UNICODE, Glyphs, Part, clean, clip, segments, spread, width_of
from simulator.view.state import LiveState
from simulator.view.table import more_line, table

#: a failed request is worth a line for as long
_FAILURE_S = 30.0
Lines = list[list[Segment]]


def frame(
    state: LiveState, *, width: int, height: int, now_s: float, glyphs: Glyphs = UNICODE, notice: str = ""
) -> Lines:
    """notice: a sentence that takes the progress bar's place (the run is silent, or over)."""
    gauges = state.gauges()
    tall, wide = height >= 36, width >= 150
    lines = [
        header.title(state, now_s, width, glyphs),
        header.stage(state, now_s, width, glyphs, notice),
    ]
    gap: list[list[Part]] = [[]] if tall else []
    lines += gap + header.throughput(state, width, 3 if height >= 20 and width >= 64 else 1, glyphs) + gap
    stats = [
        header.requests(state, width // 2 if wide else width, glyphs),
        header.engine(gauges, width // 2 if wide else width, glyphs),
        header.sessions(state, width // 2 if wide else width),
        header.client(state, width // 2 if wide else width),
    ]
    if wide:
        lines += [_halves(stats[0], stats[1], width), _halves(stats[2], stats[3], width), *gap]
    elif height >= 20:
        lines += [*stats, *gap]
    else:
        lines += [stats[0], stats[1], stats[3]]
    rows = height - len(lines) - 2
    hidden = list(state.slots)
    if rows > 0 and state.slots:
        body, hidden = table(state, gauges, width, rows, glyphs)
        lines += body
    elif rows > 0:
        lines += [[], [(" no agent sessions in this stage", "dim")]]
    lines = lines[: height - 1] + [[]] * (height - 1 - len(lines))
    lines.append(_footer(state, more_line(state, hidden, gauges), now_s, width, glyphs))
    return [segments(line, width) for line in lines[-height:]]


def _halves(left: list[Part], right: list[Part], width: int) -> list[Part]:
    return [*left, (" " * max(0, width // 2 - width_of(left)), ""), *right]


def _footer(state: LiveState, more: list[Part], now_s: float, width: int, glyphs: Glyphs) -> list[Part]:
    keys: list[Part] = [("q ", "bold"), ("quit ", "dim")]
    failure = state.last_failure
    room = width - width_of(more) - width_of(keys) - 3
    if failure and now_s - failure["t_end_s"] < _FAILURE_S and room > 20:
        what = f"{failure['session']} failed: {failure['error']} {failure.get('detail', '')}"
        more = [*more, ("  " if more else " ", ""), (clip(clean(what), room, glyphs.more).rstrip(), "red")]
    return spread(more, keys, width)


@dataclass(frozen=True, slots=True)
class Frame:
    """A rich renderable of ready lines."""

    lines: Lines = field(default_factory=list)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, line in enumerate(self.lines):
            if number:
                yield Segment.line()
            yield from line
