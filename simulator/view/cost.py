"""The answer of `sim cost` for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from simulator.core.cost import Against, Own, Tokens
from simulator.view.cells import clean
from simulator.view.final import Hanging
from simulator.view.format import DASH, count, digits, dollars, percent
from simulator.view.identity import RANDOM_WEIGHTS

#: finished sessions below which a cost per session says little
FEW_SESSIONS = 20


@dataclass(frozen=True, slots=True)
class Traffic:
    """One kind of traffic, priced. name: for people; kind: its key in summary.json, or "given"."""

    kind: str
    name: str
    tokens: Tokens
    own: Own
    apis: Sequence[Against]


@dataclass(frozen=True, slots=True)
class Answer:
    """title: what was priced; emulation: how an emulated run is marked, "" for a real one; random: of the weights;
    usd_h: of all GPUs; paid: where it comes from, in words; read: API -> when its price was read."""

    title: str
    emulation: str
    random: bool
    usd_h: float
    paid: str
    utilisation: float
    traffic: Sequence[Traffic]
    read: Mapping[str, str]
    notes: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        kind = "emulated" if self.emulation else "real"
        return {
            "schema": 1,
            "engine_kind": kind if any(t.kind != "given" for t in self.traffic) else "none",
            "engine": "EMULATED" if self.emulation else None,
            "random_weights": self.random,
            "what": self.title,
            "usd_h": self.usd_h,
            "paid": self.paid,
            "utilisation": self.utilisation,
            "traffic": {each.kind: traffic_json(each) for each in self.traffic},
            "notes": list(self.notes),
        }


def traffic_json(traffic: Traffic) -> dict[str, Any]:
    apis = {
        each.api: {**asdict(each), "bill": {**asdict(each.bill), "usd": each.bill.usd, "shares": each.bill.shares()}}
        for each in traffic.apis
    }
    return {"tokens": asdict(traffic.tokens), "own_at_100": asdict(traffic.own), "apis": apis}


def table(answer: Answer) -> RenderableType:
    """For 80 columns: what was delivered, what it costs on own GPUs, and each API beside it."""
    parts: list[RenderableType] = []
    if answer.emulation:
        parts.append(Text(f" {answer.emulation}: what a model of a server would cost ", style="bold white on red"))
    if answer.random:
        parts.append(Text(f" {RANDOM_WEIGHTS} ", style="bold black on yellow"))
    parts += [Text(answer.title, style="bold"), Hanging(Text(f"{'own':11}{answer.paid}"))]
    parts += [Text(), _own(answer), Text(), _apis(answer), Text()]
    return Group(*parts, *(Hanging(Text(f"{'note':11}{note}")) for note in answer.notes))


def cost_grid(*heads: str, first: int) -> Table:
    """first: cells of the first column at least."""
    grid = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for n, head in enumerate(heads):
        grid.add_column(head, justify="right" if n else "left", no_wrap=True, min_width=0 if n else first)
    return grid


def _own(answer: Answer) -> Table:
    grid = cost_grid("", *(each.name for each in answer.traffic), first=30)
    tokens, own = [each.tokens for each in answer.traffic], [each.own for each in answer.traffic]
    grid.add_row("output tokens a second", *(digits(each.output_tok / each.window_s) for each in tokens))
    grid.add_row("input tokens a second", *(digits(each.input_tok / each.window_s) for each in tokens))
    grid.add_row("input : cached : output", *(_mix(each) for each in tokens))
    grid.add_row(Text("own cost at 100 % utilisation"))
    grid.add_row("  a million output tokens", *(dollars(each.usd_per_mtok_output) for each in own), style="bold")
    grid.add_row("  a million of all tokens", *(dollars(each.usd_per_mtok_blended) for each in own))
    if any(each.requests is not None for each in tokens):
        grid.add_row("  a thousand requests", *(dollars(each.usd_per_1000_requests) for each in own))
    if any(each.sessions is not None for each in tokens):
        pairs = zip(own, tokens, strict=True)
        grid.add_row("  a session", *(_per(o.usd_per_session, t.sessions) for o, t in pairs))
        pairs = zip(own, tokens, strict=True)
        grid.add_row("  a solved task", *(_per(o.usd_per_solved, t.solved) for o, t in pairs))
    return grid


def _mix(tokens: Tokens) -> str:
    """ "5.2 : 94.1 : 0.7 %" of all tokens."""
    parts = (tokens.uncached_tok, tokens.cached_tok or 0.0, tokens.output_tok)
    return " : ".join(f"{100 * part / tokens.total_tok:.1f}" for part in parts) + " %"


def _per(usd: float | None, n: int | None) -> str:
    return DASH if n is None else f"{dollars(usd)} (of {count(n)})"


def _apis(answer: Answer) -> Table:
    at = f"{100 * answer.utilisation:g} %"
    heads = ("the same tokens at an API", "$/Mtok", "saved at 100 %", f"at {at}", "even at")
    grid = cost_grid(*heads, first=30)
    for name in dict.fromkeys(each.api for traffic in answer.traffic for each in traffic.apis):
        grid.add_row(Text(clean(name), style="bold"))
        for traffic in answer.traffic:
            for row in _api_rows(traffic, next(each for each in traffic.apis if each.api == name)):
                grid.add_row(*row)
    return grid


def _api_rows(traffic: Traffic, each: Against) -> list[tuple[str, ...]]:
    """The whole bill, and what it is for; and output tokens alone, where there is more than these."""
    asks = digits(each.bill.blended_usd_mtok)
    rows: list[tuple[str, ...]] = [(f"  {traffic.name}", asks, *saved(each.saving, each.saving_at, each.break_even))]
    if traffic.tokens.input_tok:
        shares = ", ".join(f"{name} {100 * share:.0f}" for name, share in each.bill.shares().items() if share)
        output = (each.output_saving, each.output_saving_at, each.output_break_even)
        price = digits(each.bill.output_usd / traffic.tokens.output_tok * 1e6)
        rows += [(f"    {shares} %",), ("    output tokens alone", price, *saved(*output))]
    if each.usd_per_solved is not None:
        rows.append((f"    a solved task costs {dollars(each.usd_per_solved)} there",))
    return rows


def saved(whole: float | None, at: float | None, even: float | None) -> tuple[str, str, str]:
    """Cells: saved at 100 %, at the utilisation that was asked for, and where both cost the same."""
    reached = DASH if even is None else percent(even) if even <= 1 else "never"
    return _whole(whole), _whole(at), reached


def _whole(share: float | None) -> str:
    """Per cent without decimals: prices have two digits, so a saving has no more."""
    return DASH if share is None else f"{round(100 * share):,} %"
