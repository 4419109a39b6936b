"""The session table of the live screen: a row a slot, as many as fit, side by side where the screen is wide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len

from simulator.core.record import SlotState
from simulator.view.cells import Glyphs, Part, clean, clip, clock, count, rate, seconds, width_of
from simulator.view.gauges import Gauges
from simulator.view.header import engine_field
from simulator.view.sparkline import bar, grid
from simulator.view.state import LiveState, busiest

PHASE_STYLE = {
    "decode": "bold green",
    "prefill": "bold cyan",
    "queue": "bold yellow",
    "tool": "magenta",
    "think": "bright_blue",
    "backoff": "bold red",
    "setup": "yellow",
    "done": "dim green",
    "idle": "dim",
}
#: a session's last minute, a character a column: the more the engine works for it, the higher
TRAIL = {"decode": "▇", "prefill": "▆", "queue": "▅", "backoff": "▅", "tool": "▃", "setup": "▂", "think": "▁"}
TRAIL_ASCII = {"decode": "#", "prefill": "+", "queue": "?", "backoff": "!", "tool": "=", "setup": "~", "think": "."}
#: rows of sessions that do nothing on the engine stand back
_QUIET = ("think", "idle", "done", "setup")
_PHASE = 7
_CONTEXT = 7
_TTFT = 7
_RATE = 6
_PANE = 76
_TRAIL_FROM = 28
_GUTTER = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells; 0: the column is left out. context_window: tokens that fill the bar."""

    slot: int
    session: int
    task: int
    turn: int
    context: int
    bar: int
    ttft: int
    rate: int
    trail: int
    context_window: int


def table(
    state: LiveState, gauges: Gauges, width: int, rows: int, glyphs: Glyphs
) -> tuple[list[list[Part]], list[SlotState]]:
    """Lines (one of headings, then at most `rows`) and the sessions that found no room. In slot order when all fit, so
    that rows stay where they are; busiest first when not."""
    slots = state.slots
    panes, pane_width = _panes(len(slots), width, rows)
    fits = len(slots) <= rows * panes
    ordered = list(slots) if fits else busiest(slots)
    shown, hidden = ordered[: rows * panes], ordered[rows * panes :]
    columns = layout(state, pane_width)
    deep = -(-len(shown) // panes) if fits else rows
    trails = state.phases(columns.trail, grid(columns.trail))
    lines = [_side_by_side([headings(columns)] * panes)]
    for row in range(deep):
        cells = [
            [*_row(one, state, gauges, columns, glyphs), *_trail(one.slot, trails, glyphs)]
            for one in shown[row::deep][:panes]
        ]
        lines.append(_side_by_side(cells))
    return lines, hidden


def _panes(slots: int, width: int, rows: int) -> tuple[int, int]:
    """(tables side by side, cells of each)."""
    panes = 1
    if slots > rows:
        panes = max(1, min(-(-slots // max(1, rows)), (width + _GUTTER) // (_PANE + _GUTTER)))
    return panes, (width - _GUTTER * (panes - 1)) // panes


def layout(state: LiveState, width: int) -> Columns:
    """Columns for a pane of `width`: the least telling ones go first until the task has room for its name."""
    slots = state.slots
    slot = max(4, len(str(max((s.slot for s in slots), default=0))) + 1)
    turn = max(5, 2 * len(str(max((s.turns for s in slots), default=0))) + 1)
    session = max((cell_len(clean(s.session)) for s in slots), default=0)
    fields = {
        "session": min(max(session, 7), 12),
        "bar": 8,
        "ttft": _TTFT,
        "turn": turn,
        "context": _CONTEXT,
        "rate": _RATE,
    }
    if width < 100:
        del fields["session"]

    def left() -> int:
        return width - slot - _PHASE - 3 - sum(fields.values()) - len(fields)

    for name in ("bar", "session", "ttft", "turn", "context", "rate"):
        if left() < 12:
            fields.pop(name, None)
    task = max(4, min(left(), max((cell_len(clean(s.task)) for s in slots), default=4), 40))
    spare = max(0, left() - task)
    trail = 0
    if "bar" in fields:
        trail = min(120, spare * 3 // 4) if spare >= _TRAIL_FROM else 0
        fields["bar"] += min(24, spare - trail - bool(trail))
    return Columns(
        slot=slot,
        task=task,
        trail=trail,
        context_window=_context_window(state),
        **{name: fields.get(name, 0) for name in ("session", "turn", "context", "bar", "ttft", "rate")},
    )


def headings(columns: Columns) -> list[Part]:
    named = [
        ("slot".rjust(columns.slot), columns.slot),
        ("session".ljust(columns.session)[: columns.session], columns.session),
        ("task".ljust(columns.task), columns.task),
        ("turn".rjust(columns.turn), columns.turn),
        ("phase".ljust(_PHASE), _PHASE),
        ("context".rjust(columns.context), columns.context),
        (clip(f"of {count(columns.context_window, 6)}", columns.bar), columns.bar),
        ("TTFT".rjust(columns.ttft), columns.ttft),
        ("tok/s".rjust(columns.rate), columns.rate),
        (clip(f"last {clock(columns.trail * grid(columns.trail))}", columns.trail), columns.trail),
    ]
    return [(" ".join(text for text, width in named if width) + " ", "dim underline")]


def legend(state: LiveState, width: int, slots: int, rows: int, glyphs: Glyphs) -> list[Part]:
    """What the columns of a session's last minutes mean; nothing where they are not shown."""
    _, pane_width = _panes(slots, width, rows)
    if not layout(state, pane_width).trail:
        return []
    chars = TRAIL if glyphs.big else TRAIL_ASCII
    parts: list[Part] = [(" history:", "dim")]
    for phase in ("decode", "prefill", "queue", "tool", "think", "setup", "backoff"):
        parts += [(f" {chars[phase]}", PHASE_STYLE[phase].removeprefix("bold ")), (f" {phase}", "dim")]
    return parts if width_of(parts) + 10 <= width else []


def more_line(state: LiveState, hidden: Sequence[SlotState], gauges: Gauges, width: int) -> list[Part]:
    """`+12 more (8 think, 4 tool)`, the phases if they fit; nothing when all sessions are shown."""
    if not hidden:
        return []
    phases = Counter(state.shown_phase(s, gauges) for s in hidden)
    what = ", ".join(f"{n} {clean(phase)}" for phase, n in phases.most_common())
    much: list[Part] = [(f" +{len(hidden)} more ", "bold")]
    return much if cell_len(what) + width_of(much) + 2 > width else [*much, (f"({what})", "dim")]


def _row(slot: SlotState, state: LiveState, gauges: Gauges, columns: Columns, glyphs: Glyphs) -> list[Part]:
    phase = state.shown_phase(slot, gauges)
    plain = "dim" if phase in _QUIET else ""
    turn = min(slot.turn + (phase != "done"), slot.turns)
    before = str(slot.slot).rjust(columns.slot) + " "
    if columns.session:
        before += clip(slot.session, columns.session, glyphs.more) + " "
    before += clip(slot.task, columns.task, glyphs.more) + " "
    if columns.turn:
        before += f"{turn}/{slot.turns}".rjust(columns.turn) + " "
    parts: list[Part] = [(before, plain), (clip(phase, _PHASE, glyphs.more), PHASE_STYLE.get(phase, ""))]
    if columns.context:
        parts.append((" " + count(slot.context_tok, _CONTEXT).rjust(columns.context), plain))
    if columns.bar:
        share = slot.context_tok / columns.context_window
        filled, rest = bar(share, columns.bar, glyphs)
        colour = "red" if share > 0.95 else "yellow" if share > 0.8 else "blue" if plain else "green"
        parts += [(" ", ""), (filled, colour), (rest, "dim")]
    after = ""
    if columns.ttft:
        after += " " + seconds(slot.ttft_s, glyphs.dash).rjust(columns.ttft)
    if columns.rate:
        after += " " + (rate(slot.tok_s) if phase == "decode" else glyphs.dash).rjust(columns.rate)
    return [*parts, (after + " ", plain)]


def _trail(slot: int, trails: Sequence[Mapping[int, str]], glyphs: Glyphs) -> list[Part]:
    chars = TRAIL if glyphs.big else TRAIL_ASCII
    runs = ((phase, len(list(same))) for phase, same in groupby(phases.get(slot, "") for phases in trails))
    return [(chars.get(phase, " ") * n, PHASE_STYLE.get(phase, "").removeprefix("bold ")) for phase, n in runs]


def _side_by_side(panes: list[list[Part]]) -> list[Part]:
    line = list(panes[0])
    for pane in panes[1:]:
        line += [(" " * _GUTTER, ""), *pane]
    return line


def _context_window(state: LiveState) -> int:
    """The engine's window in tokens; where the manifest is silent, the power of two above the longest context."""
    window = engine_field(state.manifest, "max_model_len")
    if isinstance(window, int) and window > 0:
        return window
    longest = max((s.context_tok for s in state.slots), default=0)
    return max(8192, 1 << max(0, longest - 1).bit_length())
