"""Remarks on the inputs of a chapter, as someone makes them who checks figures while reading. Each holds figures that
the files show or that follow from them by one sum, so it is true at any moment after the reading."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from ..._kit_finance import arith
from ..._kit_finance.arith import shown
from .consolidation import Consolidation, six
from .group import RESULT
from .loans import Loans
from .returns import Returns


def on_loans(c: Loans) -> list[str]:
    w, n, found = c.w, c.n, []
    for k, x in enumerate(c.loans):
        rate = x.rates[0][1]
        first = w.cents(x.principal * x.rate(x.start) * arith.span(x.start, x.first, x.basis))
        found.append(
            f"«In plain figures|To have a yardstick», {rate / 1000:.3f} % on {shown(x.principal)} makes "
            f"{shown(w.cents(Fraction(x.principal * rate, 100_000)))} a year for {x.id}; the days from {x.start} to "
            f"{x.first} on {x.basis} bear {shown(first)} of it."
        )
        end = arith.shift(x.first, (x.terms - 1) * x.months)
        found.append(
            f"«The contract of|By its terms» {x.id} runs until {end}, "
            f"{'well ' if (end - w.year_end).days > 500 else ''}after {w.year_end}, so `{n['o_current']}` «takes "
            f"in|covers» at most {12 // x.months} of its dates, "
            f"{'all without principal until the end' if x.style == 'bullet' else 'each with a part of the principal'}."
        )
        for a, b in zip(x.rates, x.rates[1:], strict=False):
            found.append(
                f"{x.id} «steps|moves|goes» from {a[1] / 1000:.3f} % to {b[1] / 1000:.3f} % on {b[0]}: «a period "
                "under way on that day keeps the old rate|whatever period has begun before that day stays at the old "
                f"rate», a difference of {shown(w.cents(Fraction(x.principal * abs(a[1] - b[1]), 100_000)))} a year "
                f"on the full {shown(x.principal)}."
            )
        for day, cents in x.extra.items():
            share = Fraction(100 * cents, x.principal)
            found.append(
                f"The {shown(cents)} paid on {day} for {x.id} «are|make up» {float(share):.1f} % of its principal, "
                "«too much to hide in rounding|so forgetting them would show at once», and they «save|spare» about "
                f"{shown(w.cents(Fraction(cents * rate, 100_000)))} of interest a year."
            )
        other = c.loans[(k + 1) % len(c.loans)]
        if other.basis != x.basis:
            found.append(
                f"{x.lender} ({x.id}, {x.basis}) and {other.lender} ({other.id}, {other.basis}) «are a good pair to "
                f"compare|show two ways of counting»: the {(x.first - x.start).days} calendar days of the one's first "
                f"period against {(other.first - other.start).days} of the other's."
            )
        if x.style == "linear":
            found.append(
                f"Linear means {shown(w.cents(Fraction(x.principal, x.terms)))} per date for {x.id}, «{x.terms} times "
                "but for the last|with a last one that takes the cents»."
            )
    return found


def on_returns(c: Returns) -> list[str]:
    found = []
    for p in c.positions:
        years: dict[tuple[int, str], int] = defaultdict(int)
        for day, kind, cents, _ in p.flows:
            years[day.year, kind] += cents
        for (year, kind), cents in years.items():
            if kind == "call":
                found.append(
                    f"«In {year} alone|During {year}» {p.name} called {shown(cents)}"
                    + (
                        f" and paid back {shown(years[year, 'back'])}, «a net change of|net» "
                        f"{shown(years[year, 'back'] - cents)}."
                        if (year, "back") in years
                        else ", «without any payout yet|and nothing came back in that year»."
                    )
                )
            elif kind == "fee":
                found.append(
                    f"{c.n['w_fee']} lines of {p.slug} in {year}: {shown(cents)}, «which only counts if the sign is "
                    "right|small, but part of paid-in|to be paid on top of the calls|no return of capital whatever "
                    "they are called»."
                )
        calls = [x for x in p.flows if x[1] == "call"]
        backs = [x for x in p.flows if x[1] == "back"]
        big = max(p.flows, key=lambda x: x[2])
        found.append(
            f"The «first|earliest» payout «of|from» {p.slug} came on {backs[0][0]} ({backs[0][3]}, "
            f"{shown(backs[0][2])}), {(backs[0][0] - calls[0][0]).days} days after the first call «of|over» "
            f"{shown(calls[0][2])}."
        )
        found.append(
            f"The «largest|biggest» entry of {p.slug} is {big[3]} on {big[0]} with {shown(big[2])}; «the rate leans "
            "on it|a wrong date there would move the rate most»."
        )
        found.append(
            f"{p.slug} spans {(p.flows[-1][0] - p.flows[0][0]).days / 365:.1f} years with {len(p.flows)} entries, "
            f"{len(calls)} calls averaging {shown(sum(x[2] for x in calls) // len(calls))}."
        )
    return found


_TIES = (
    "«{partner} ought to show the same but for a few cents|at {partner} the other side must be there, cents aside»",
    "«{partner} has to carry the mirror of it|its mirror belongs to {partner}», «to the cent or nearly so|cents "
    "excepted»",
    "«a figure to be found again at {partner}|one that {partner} must know as well»",
    "which {partner} «booked at its own rounding|will have rounded in its own currency»",
)
_SUMS = (
    "{who} «has|shows» {local} of `{line}`{group}",
    "`{line}` of {who} «adds up to|comes to|totals» {local}{group}",
    "«Adding up|Summing» `{line}` for {who} «gives|yields» {local}{group}",
    "For `{line}`, {who} «brings|contributes» {local}{group}",
)
_WHY = (
    "; «a yardstick for the matrix|I will look for it in the matrix»",
    ", «before rounding row by row|single rows may shift a cent»",
    "; «the wrong kind of rate would show here|with another kind of rate it would stand out»",
    "",
    ", «one of the larger items|not a small item» there",
)


def on_group(c: Consolidation) -> list[str]:
    w, n, b, found = c.w, c.n, c.books, []
    for e in b.entities:
        sums: dict[str, int] = defaultdict(int)
        for account, line, partner, cents in e.rows:
            if not partner:
                sums[line] += cents
            elif cents > 0 and account != b.internal["shares"]:
                at = (b.average if line in RESULT else b.closing)[e.currency]
                abroad = "" if at == 1 else f", {shown(w.cents(cents * at))} {w.currency} at {six(at)}"
                tie = _TIES[len(found) % len(_TIES)].format(partner=partner)
                found.append(f"{e.code} has {shown(cents)} {e.currency} on {account} with {partner}{abroad}: {tie}.")
        for line, cents in list(sums.items())[:: 1 if len(b.entities) < 5 else 2]:
            if line in ("capital", "earnings"):
                continue
            at = (b.average if line in RESULT else b.closing)[e.currency]
            group = "" if at == 1 else f", or {shown(w.cents(cents * at))} {w.currency} at {six(at)}"
            text = _SUMS[len(found) % len(_SUMS)] + _WHY[len(found) % len(_WHY)] + "."
            found.append(
                text.format(who=e.code, local=f"{shown(cents)} {e.currency}", line=n["w_" + line], group=group)
            )
    return found
