"""A comparison in sentences and in cells of a table: the same on a terminal, in Markdown and on a page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from simulator.core.compare.comparable import ALLOWABLE, OneRun
from simulator.core.compare.comparison import Comparison, Part, Row
from simulator.core.compare.pairing import INTERLEAVED, ONE_FIRST
from simulator.core.compare.pairs import outliers
from simulator.core.compare.verdict import LEVEL, Verdict
from simulator.core.limit import NONE
from simulator.core.metric import LATENCY, OUTPUT, SOLVED_HOUR
from simulator.view.cells import clean
from simulator.view.diff.figures import interval, p_text, share, signed
from simulator.view.diff.solved import sentence
from simulator.view.format import DASH, measure
from simulator.view.identity import RANDOM, SAID_OF_RANDOM, emulation, is_emulated, is_random
from simulator.view.verdict import KINDS, WHO

PAIR_HEADS = ("seed", "A", "B", "A's value", "B's value", "B/A %")
#: a change below this is what is left of a calculation between equal figures
ALIKE = 1e-12
#: rows of the short table, by keys of summary.json
SHORT = frozenset(
    {
        "quality.per_hour", "quality.tok_per_solved",
        "output_tok_s", "total_tok_s", "ttft_s.p50", "ttft_s.p95", "tpot_s.p50", "itl_s.p95", "turn_latency_s.p50",
        "turn_latency_s.p95", "e2el_s.p50", "e2el_s.p95", "tok_s_user.p50", "goodput.requests_s", "sessions.per_hour",
        "cached_share.all", "fairness.jain", "acceptance_length", "requests.failed",
    }
)  # fmt: skip


def marks(found: Comparison) -> list[str]:
    """What must not be missed: emulated figures, random weights; each once, and of which side if not of both."""
    told: list[str] = []
    for mark, holds in (
        (None, lambda run: is_emulated(run.manifest)),
        (RANDOM, lambda run: is_random(run.manifest)),
    ):
        sides = [side for side, runs in zip("AB", (found.a, found.b), strict=True) if any(map(holds, runs))]
        runs = [run for run in (*found.a, *found.b) if holds(run)]
        if sides:
            which = "" if len(sides) == 2 else f" (side {sides[0]})"
            told.append(f"{mark or emulation(runs[0].manifest)}{which}")
    return told


def caution(found: Comparison) -> list[str]:
    """The marks as sentences."""
    return [f"{mark}: {SAID_OF_RANDOM if mark.startswith(RANDOM) else 'not a GPU'}" for mark in marks(found)]


def side(runs: Sequence[OneRun]) -> str:
    """ "baseline, 6 runs, seeds 1 to 6"."""
    labels = dict.fromkeys(clean(str(run.manifest.get("label") or run.name)) for run in runs)
    seeds = sorted({seed for run in runs if isinstance(seed := run.manifest.get("seed"), int)})
    names = ", ".join(list(labels)[:3]) + ", ..." * (len(labels) > 3)
    told = [names, f"{len(runs)} runs" if len(runs) > 1 else "1 run"]
    if seeds:
        run = seeds[-1] - seeds[0] == len(seeds) - 1 and len(seeds) > 2
        each = f"{seeds[0]} to {seeds[-1]}" if run else ", ".join(map(str, seeds[:6])) + ", ..." * (len(seeds) > 6)
        told.append(f"seed{'s' * (len(seeds) > 1)} {each}")
    return "; ".join(told)


def headline(found: Comparison) -> str:
    """The one sentence to decide by."""
    row, word = found.primary, found.word
    if found.solving is not None and found.solving.word is Verdict.WORSE:
        other = f"; {_primary(found, row)}" if row is not None and row.found is not None else ""
        return f"{sentence(found.solving)}{other}"
    if word is Verdict.INCOMPARABLE:
        return f"Incomparable: {refusal(found)}"
    assert row is not None
    if word is Verdict.CLIENT_LIMITED:
        part = next(part for part in found.parts if part.kind == found.kind)
        return (
            f"Client-limited: {names(part.limited)} measured the load generator, so no verdict may be drawn; "
            "give the client more cores or processes (--procs) and run again"
        )
    return _primary(found, row)


def _primary(found: Comparison, row: Row) -> str:
    return f"{_what(found, row)} ({_sure(found, row)}): {row.word}{_more(row)}"


def refusal(found: Comparison) -> str:
    against = [each for each in found.refused if each.kind in ("", found.kind)]
    if not against:
        return f"{found.question.primary.label} has no ratio: on one side it is not known, or 0"
    ways = [each.aspect for each in against if each.aspect in ALLOWABLE]
    cure = (
        f"; if that is what you compare, --allow {','.join(dict.fromkeys(ways))}" if len(ways) == len(against) else ""
    )
    return clean("; ".join(each.told for each in against) + cure)


def _what(found: Comparison, row: Row) -> str:
    """ "B is 6.8 % faster than A on agents' output tok/s"."""
    assert row.found is not None
    change = row.found.ratio - 1
    seems = "is" if row.word in (Verdict.BETTER, Verdict.WORSE) else "looks"
    if row.word is Verdict.EQUIVALENT:
        seems = "is"
    who = whose(found.kind)
    if abs(change) < ALIKE:
        if row.metric == SOLVED_HOUR:
            return "A and B solve equally many tasks an hour"
        return f"A and B are equal in {who} {row.metric.label}{' tok/s' * (row.metric == OUTPUT)}"
    if row.metric == OUTPUT:
        other = " of other work" if found.live and found.kind == "agent" else ""
        faster = "faster" if change >= 0 else "slower"
        return f"B {seems} {share(abs(change))} {faster} than A on {who} output tok/s{other}"
    if row.metric == SOLVED_HOUR:
        does = "seems to solve" if seems == "looks" else "solves"
        return f"B {does} {share(abs(change))} {'more' if change >= 0 else 'fewer'} tasks an hour than A"
    more = ("longer", "shorter") if row.metric in LATENCY and row.metric.unit == "s" else ("higher", "lower")
    return f"B's {who} {row.metric.label} {seems} {share(abs(change))} {more[change < 0]} than A's"


def whose(kind: str) -> str:
    return {"agent": "agents'", "synthetic": "synthetic"}.get(kind, kind)


def _sure(found: Comparison, row: Row) -> str:
    assert row.found is not None
    if row.found.n == 1 and not found.one_pair:
        return f"one of {len(found.pairs)} pairs has a value on both sides"
    if found.one_pair:
        sure = f", within-run 95 % {interval(row)} %" if row.found.low is not None else ""
        return f"one run a side{sure}"
    of = f" of {len(found.pairs)}" * (row.found.n < len(found.pairs))
    told = [f"95 % {interval(row)} %", f"{row.found.n}{of} pairs", f"p {p_text(row.found.p)}"]
    least = 2 / 2**row.found.n
    if row.found.p is not None and least > LEVEL and math.isclose(row.found.p, least):
        told.append("the least that so few can have")
    return ", ".join(told)


def _more(row: Row) -> str:
    if row.word is Verdict.SUGGESTIVE:
        few = row.found is not None and row.found.n > 1
        why = (
            "two pairs do not tell how much runs differ"
            if few
            else "how much runs differ from one another is not known"
        )
        return f", no verdict: {why}"
    if row.more is None or row.found is None:
        return ""
    if row.more.pairs is None:
        return "; if the difference is what it seems, more pairs than anybody would run"
    extra = row.more.pairs - row.found.n
    what = "show it" if row.more.towards == "different" else "show them equivalent"
    return f"; about {extra} more pair{'s' * (extra > 1)} would {what}, if it is what it seems"


def names(of: Sequence[str], most: int = 4) -> str:
    return clean(", ".join(of[:most]) + (f" and {len(of) - most} more" if len(of) > most else ""))


def finds(found: Comparison) -> str:
    """What the primary metric's pairs could have found at all; "" of one run a side."""
    row = found.primary
    if row is None or row.found is None or row.found.mde is None or row.found.cv is None:
        return ""
    return (
        f"smallest difference that {row.found.n} pairs find four times out of five at this spread "
        f"(run-to-run CV {share(row.found.cv)}): {share(row.found.mde)}"
    )


def design(found: Comparison) -> str:
    n = len(found.pairs)
    if n == 1:
        return "one pair: the interval is within the runs, and knows nothing of how runs differ"
    how = {INTERLEAVED: ", interleaved", ONE_FIRST: ", interleaved"}.get(found.order.how, "")
    letters = found.order.letters if len(found.order.letters) <= 24 else f"{found.order.letters[:24]}..."
    return f"{n} pairs by seed{how}" + (f"; order {letters}" if letters else "")


def limits(found: Comparison) -> list[str]:
    """Why not more: what was the limit, "agents: nobody; of B the engine", one line a kind of traffic."""
    told = []
    for part in found.parts:
        sides = [_limit(part.kind, side) for side in zip(*found.pairs, strict=True)]
        if sides[0] and sides[1]:
            both = sides[0] if sides[0] == sides[1] else f"of A {sides[0]}, of B {sides[1]}"
            told.append(f"{title(part)}: {both}" + ("; nothing queues" if sides == [NOBODY, NOBODY] else ""))
    return told


NOBODY = WHO[NONE]


def _limit(kind: str, runs: Sequence[OneRun]) -> str:
    """ "the engine", or "nobody (4 runs) and the engine (2)"."""
    counted = Counter(WHO.get(where, clean(where)) for run in runs if (where := run.limit(kind)))
    if len(counted) < 2:
        return "".join(counted)
    return " and ".join(f"{who} ({n} of {len(runs)})" for who, n in counted.most_common())


def each_pair(row: Row) -> list[str]:
    """The change of each pair, an outlier with a star."""
    if row.found is None:
        return []
    odd = set(outliers(row.found.logs))
    return [f"{signed(math.exp(each))}{'*' * (n in odd)}" for n, each in enumerate(row.found.logs)]


def outlying(found: Comparison) -> str:
    """A sentence about the primary metric's outliers; "" without any."""
    row = found.primary
    odd = outliers(row.found.logs) if row is not None and row.found is not None else []
    if not odd:
        return ""
    seeds = ", ".join(str(found.pairs[n][0].manifest.get("seed")) for n in odd)
    return (
        f"pair {', '.join(str(n + 1) for n in odd)} (seed {seeds}) lies far from the others (*); it is kept: look at it"
    )


def by_pair(found: Comparison) -> list[tuple[str, ...]]:
    """The primary metric pair by pair, PAIR_HEADS; [] when it has no ratio."""
    row = found.primary
    if row is None:
        return []
    rows = []
    changes = iter(each_pair(row))
    for (a, b), (left, right) in zip(found.pairs, row.values, strict=True):
        known = left is not None and right is not None and row.found is not None
        cells = (DASH if each is None else measure(each, row.metric.unit, 4) for each in (left, right))
        rows.append((str(a.manifest.get("seed")), a.name, b.name, *cells, next(changes) if known else DASH))
    return rows


def legend(found: Comparison) -> str:
    """What the columns of a table are."""
    if found.one_pair:
        return (
            "95 %: within the two runs, by batch means and by bootstrap over sessions; it knows nothing of other runs."
        )
    return (
        "95 %, p: Student's t over pairs of ln(B/A). Other metrics than the deciding one have p after Holm, and are "
        "better or worse only below 0.05. The p of the first line is the exact sign flip's of the deciding one."
    )


def against(part: Part) -> list[str]:
    """Why no verdict may be drawn from this traffic."""
    told = [clean(each) for each in part.reasons]
    return told + [f"client-limited: {names(part.limited)}"] * bool(part.limited)


def shown(part: Part, *, short: bool, primary: Row | None) -> list[tuple[str, list[Row]]]:
    """Groups of rows with something in them: what neither side has, and what nobody failed, is left out."""
    found = []
    for block in part.blocks:
        rows = [
            row
            for row in block.rows
            if (row.a is not None or row.b is not None)
            and not (row.metric.path == ("requests", "failed") and not row.a and not row.b)
            and (not short or ".".join(row.metric.path) in SHORT or row is primary)
        ]
        if rows:
            found.append((block.title, rows))
    return found


def settings(found: Comparison, *, short: bool) -> tuple[list[tuple[str, str, str, str]], int]:
    """(place, name, A, B) of each difference, and how many were left out. short: without what an engine told of its
    cache when the command line already explains it."""
    told = [each for each in found.settings if not (short and each.place == "seen")]
    if not any(each.place in ("flag", "environment", "setting") for each in told):
        told = list(found.settings)
    most = 20 if short else len(told)
    rows = [(each.place, each.name, each.left or DASH, each.right or DASH) for each in told[:most]]
    return [tuple(clean(cell) for cell in row) for row in rows], len(found.settings) - len(rows)  # type: ignore[misc]


def title(part: Part) -> str:
    return KINDS[part.kind]
