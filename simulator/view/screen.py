"""One frame of the live view: exactly `height` lines of exactly `width` cells, for any size of terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from simulator.view import header
from simulator.view.cells import ASCII, UNICODE, Glyphs, Part, clean, clip, segments, spread, width_of
from simulator.view.state import LiveState
from simulator.view.table import legend, more_line, table

#: a failed request is worth a line for as long
_FAILURE_S = 30.0
#: lines of the throughput chart where there is room
_CHART = 8
KEYS: tuple[Part, ...] = (("q ", "bold"), ("quit ", "dim"))
Lines = list[list[Segment]]


def frame(
    state: LiveState, *, width: int, height: int, now_s: float, glyphs: Glyphs = UNICODE, notice: str = ""
) -> Lines:
    """The screen, ready to print. notice: a sentence in the progress bar's place (the run is silent)."""
    lines = compose(state, width=width, height=height, now_s=now_s, glyphs=glyphs, notice=notice)
    return [segments(line, width, ascii_only=glyphs is ASCII) for line in lines]


def final_frame(result: Lines, *, width: int, height: int, notice: str, glyphs: Glyphs = UNICODE) -> Lines:
    """A finished run: `result`, its rendered headline, below the notice; what does not fit is left out at the end."""
    top: list[list[Part]] = [[(clip(f" the run {notice}", width, glyphs.more), "bold green")], []]
    lines = [segments(line, width, ascii_only=glyphs is ASCII) for line in top]
    lines += [Segment.adjust_line_length(line, width) for line in result]
    lines = lines[: height - 1] + [segments([], width)] * (height - 1 - len(lines))
    return [*lines, segments(spread([(" ", "")], list(KEYS), width), width)][:height]


def compose(
    state: LiveState, *, width: int, height: int, now_s: float, glyphs: Glyphs = UNICODE, notice: str = ""
) -> list[list[Part]]:
    """The same before it is cut to size. From 40 columns on, no line is longer than `width`."""
    gauges = state.gauges()
    tall, wide = height >= 36, width >= 150
    lines = [
        header.title(state, now_s, width, glyphs),
        header.stage(state, now_s, width, glyphs, notice),
    ]
    half = width // 2 if wide else width
    stats = [
        header.requests(state, half, glyphs),
        header.engine(gauges, half, glyphs),
        header.sessions(state, half),
        header.client(state, gauges, half),
    ]
    if wide:
        stats = [_halves(stats[0], stats[1], width), _halves(stats[2], stats[3], width)]
    elif height < 20:
        del stats[2]
    gap: list[list[Part]] = [[]] if tall else []
    chart = 3 if height >= 20 and width >= 64 else 1
    if tall and chart > 1:
        chart = min(_CHART, max(chart, height - len(lines) - len(stats) - 5 - len(state.slots)))
    lines += gap + header.throughput(state, width, chart, glyphs) + gap + stats + gap
    rows = height - len(lines) - 2
    hidden, told = list(state.slots), []
    if rows > 0 and state.slots:
        body, hidden = table(state, gauges, width, rows, glyphs)
        lines += body
        told = legend(state, width, len(state.slots), rows, glyphs)
    elif rows > 0:
        lines += [[], [(" no agent sessions in this stage", "dim")]]
    lines = lines[: height - 1] + [[]] * (height - 1 - len(lines))
    more = more_line(state, hidden, gauges, width - 8)
    if more and width_of(more) + width_of(told) + width_of(KEYS) + 2 > width:
        told = []
    lines.append(_footer(state, [*more, *told], now_s, width, glyphs))
    return lines[:height]


def _halves(left: list[Part], right: list[Part], width: int) -> list[Part]:
    return [*left, (" " * max(0, width // 2 - width_of(left)), ""), *right]


def _footer(state: LiveState, more: list[Part], now_s: float, width: int, glyphs: Glyphs) -> list[Part]:
    failure = state.last_failure
    room = width - width_of(more) - width_of(KEYS) - 3
    if failure and now_s - failure["t_end_s"] < _FAILURE_S and room > 20:
        what = f"{failure['session']} failed: {failure['error']} {failure.get('detail', '')}"
        more = [*more, ("  " if more else " ", ""), (clip(clean(what), room, glyphs.more).rstrip(), "red")]
    return spread(more, list(KEYS), width)


@dataclass(frozen=True, slots=True)
class Frame:
    """A rich renderable of ready lines."""

    lines: Lines = field(default_factory=list)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, line in enumerate(self.lines):
            if number:
                yield Segment.line()
            yield from line
