"""Tests that the agent writes for its own scripts, with figures worked out from the data and not by the scripts."""

from __future__ import annotations

from ..._kit_finance import arith
from ..._kit_finance.arith import plain, shown
from ..._kit_finance.journal import Journal
from .consolidation import Consolidation, six
from .group import RESULT
from .house import test_names
from .loans import Loans
from .returns import Position, Returns
from .texts import render


def on_loans(c: Loans, j: Journal) -> None:
    n, w, where = c.n, c.w, f"tests/test_{c.n['calc']}_{c.n['mod_loans']}.py"
    sample = c.loans[::2] if w.size != "long" else c.loans
    first = {x.id: w.cents(x.principal * x.rate(x.start) * arith.span(x.start, x.first, x.basis)) for x in sample}
    ends = {x.id: arith.shift(x.first, (x.terms - 1) * x.months) for x in c.loans}
    names = (
        test_names(w)
        | n
        | {
            "first_interest": "\n".join(f'    "{k}": "{arith.plain(v)}",' for k, v in first.items()),
            "contract_end": "\n".join(f'    "{k}": "{v}",' for k, v in ends.items()),
        }
    )
    names["y1"], names["feb"] = str(int(names["y0"]) + 1), str(29 if (int(names["y0"]) + 1) % 4 == 0 else 28)
    key, value = next(iter(first.items()))
    j.write(
        where,
        render(j.r, "test_loans.py", names),
        (
            "«Before I write the result I pin it down|What the letters cannot show is the rest of each schedule», so "
            f"I add tests with figures that I worked out from the contracts: {key} starts with {shown(value)} of "
            f"interest, {c.loans[-1].id} may not run past {ends[c.loans[-1].id]}. Every loan has to be repaid to "
            "zero, and every balance carried on unchanged."
        ),
    )
    j.run(
        f"python3 -m unittest tests.test_{n['calc']}_{n['mod_loans']}" + ("" if j.style.echo_after_edit else " -v"),
        (
            f"The tests use {n['f_schedule']} directly, on the real terms rather than on toy loans. I run only this "
            "module, verbosely, to see that all five are picked up and that the subtests for "
            f"{', '.join(list(first)[:3])} hold."
        ),
    )


def on_returns(c: Returns, j: Journal) -> None:
    n, r = c.n, c.w.part("returns tests")

    def total(p: Position, kind: str) -> int:
        return sum(x[2] for x in p.flows if x[1] == kind and x[0] <= c.w.year_end)

    stake, grown = r.randint(10, 900) * 100, r.randint(103, 119)
    names = (
        test_names(c.w)
        | n
        | {
            "sums": "\n".join(
                f'    "{p.slug}": ("{plain(total(p, "call"))}", "{plain(total(p, "fee"))}", '
                f'"{plain(total(p, "back"))}"),'
                for p in c.positions
            ),
            "stake": str(stake),
            "half": str(stake // 2),
            "grown": str(grown),
            "pct": str(grown - 100),
        }
    )
    p = c.positions[-1]
    j.write(
        f"tests/test_{n['calc']}_{n['mod_returns']}.py",
        render(j.r, "test_returns.py", names),
        (
            f"The statement says nothing about rates. So I write tests with known answers: {shown(stake * 100)} that "
            f"grows by {grown - 100} per cent in a year, a halved stake, and for every position the value at its own "
            f"rate. The sums of {p.slug} are in as well: {shown(total(p, 'call'))} called, {shown(total(p, 'fee'))} "
            f"of fees, {shown(total(p, 'back'))} back."
        ),
    )
    j.run(
        f"python3 -m unittest tests.test_{n['calc']}_{n['mod_returns']}" + ("" if j.style.echo_after_edit else " -v"),
        (
            "Only these tests, with names, since a solver that stops early would pass the statement and still be "
            f"wrong in the fifth decimal; {c.positions[0].slug} with {len(c.positions[0].flows)} entries is the "
            "hardest of them."
        ),
    )


def on_group(c: Consolidation, j: Journal) -> None:
    n, b, r = c.n, c.books, c.w.part("group tests")
    samples = {}
    for e in b.entities:
        single = [x for x in e.rows if not x[2] and x[1] not in ("capital", "earnings")]
        for account, line, _, cents in r.sample(single, 4):
            samples[e.code, account] = c.w.cents(cents * (b.average if line in RESULT else b.closing)[e.currency])
    names = (
        test_names(c.w)
        | n
        | {
            "samples": "\n".join(
                f'    ("{code}", "{account}"): "{plain(v)}",' for (code, account), v in samples.items()
            )
        }
    )
    (code, account), value = next(iter(samples.items()))
    j.write(
        f"tests/test_{n['calc']}_{n['mod_group']}.py",
        render(j.r, "test_group.py", names),
        (
            f"Six totals are few for {sum(len(e.rows) for e in b.entities)} rows, so I add tests: {len(samples)} rows "
            f"translated by hand, such as {code} {account} with {shown(value)}, the local balance of each trial "
            f"balance, no reserve for entities in {c.w.currency}, and every internal pair down to cents."
        ),
    )
    j.run(
        f"python3 -m unittest tests.test_{n['calc']}_{n['mod_group']}" + ("" if j.style.echo_after_edit else " -v"),
        (
            f"I run this module alone. If a sample fails it will be a rate of the wrong kind; {b.entities[-1].code} "
            f"in {b.entities[-1].currency} is the one to watch, its average and closing rates differ by "
            f"{six(abs(b.average[b.entities[-1].currency] - b.closing[b.entities[-1].currency]))}."
        ),
    )
