"""The figures that finance tasks take for right, against SciPy, NumPy and textbook examples: none of the code that made
them."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from simulator.core.action import Ran
from simulator.core.task import CLASSIC_STYLE
from simulator.drive.commands import ShellRunner
from simulator.drive.toolbox import Toolbox
from simulator.drive.workspace import Repository
from simulator.drive.zygote import ZygoteRunner
from simulator.tasks import catalog


def module(template: str, name: str) -> Any:
    return importlib.import_module(f"{catalog.load(template).__package__}.{name}")


def kit(name: str) -> Any:
    catalog.load("finance_bonds")
    return importlib.import_module(f"sim_repos._kit_finance.{name}")


def case(template: str, kind: str, seed: int, size: str = "long") -> Any:
    folder = catalog.REPOS / template
    return getattr(module(template, "case"), kind)(kit("world").build(template, seed, size), folder)


@pytest.mark.parametrize("seed", [1, 2])
def test_yields_against_brentq(seed: int) -> None:
    bonds, bond = case("finance_bonds", "Bonds", seed), module("finance_bonds", "bond")
    for unit in bonds.units:
        b, on = unit.facts, bonds.features
        left, paid = bond.flows(b, bonds.w.day, on)
        dirty = b.price / 1000 + float(bond.accrued(b, bonds.w.day, on))
        amounts, times = np.array([float(p) for p in paid]), float(left) + np.arange(len(paid))

        def gap(
            y: float, amounts: Any = amounts, times: Any = times, freq: int = b.freq, dirty: float = dirty
        ) -> float:
            return float(amounts @ (1 + y / freq) ** -times) - dirty

        wanted = brentq(gap, -0.8, 4.0, xtol=1e-13)
        if len(paid) == 1:
            wanted = (amounts[0] / dirty - 1) * b.freq / times[0]
        assert abs(bonds.right(unit)["yield"] / 1e6 - wanted) < 6e-7


def test_day_counts_of_textbooks() -> None:
    """A half-yearly 6 % paper, 15 January to 30 March 2023: 75 days of 360, 74 of 365; ICMA 74 over twice 181."""
    bond = module("finance_bonds", "bond")
    b = bond.Bond("x", 6_000, 2, date(2015, 1, 15), date(2030, 1, 15), "30E/360", 100_000, 0, None, (), ())
    on = frozenset(t.key for t in case("finance_bonds", "Bonds", 1, "small").twists)
    day = date(2023, 3, 30)
    shares = {"30E/360": Fraction(75, 360), "ACT/365": Fraction(74, 365), "ACT/ACT": Fraction(74, 362)}
    for basis, share in shares.items():
        assert bond.accrued(replace(b, basis=basis), day, on) == 6 * share
    late = replace(b, maturity=date(2030, 8, 31), basis="ACT/365")
    assert bond.period(late, day, on).before == date(2023, 2, 28), "a paper that matures at a month's end pays at ends"


@pytest.mark.parametrize("seed", [1, 2])
def test_leases_against_annuities(seed: int) -> None:
    """First values by NumPy's powers; liabilities by rolling in floats; interest and payments explain every change."""
    leases, lease = case("finance_leases", "Leases", seed), module("finance_leases", "lease")
    for unit in leases.units:
        x, on, right = unit.facts, leases.features, leases.right(unit)
        due = np.array(lease.payments(x, on, leases.w.cents), dtype=float)
        rate, n = x.rate / 1_200_000, len(due)
        times = np.arange(n) + (0 if x.advance else 1)
        first = due @ (1 + rate) ** -times + x.option * (1 + rate) ** -n
        assert abs(right["initial"] - first) < 0.51
        assert right["current"] <= right["liability"] <= due.sum() * 1.2 + x.option
        if x.index is None:
            gone = leases.elapsed(x)
            later = due[gone:] @ (1 + rate) ** -(times[gone:] - gone) + x.option * (1 + rate) ** -(n - gone)
            assert abs(right["liability"] - later) < 1.0 * gone


def test_taxes_against_an_integral() -> None:
    """The tax is the integral of the marginal rate: a sum over small steps comes close."""
    payroll, month = case("finance_payroll", "Payroll", 3, "small"), module("finance_payroll", "month")
    scheme = payroll.scheme
    starts = np.array([s for s, _ in scheme.brackets])
    rates = np.array([r for _, r in scheme.brackets]) / 100
    for amount in (0, 900_000, 2_500_000, 9_000_000):
        grid = (np.arange(200_000) + 0.5) * amount / 200_000
        total = rates[np.searchsorted(starts, grid, side="right") - 1].sum() * amount / 200_000
        assert abs(float(month.yearly_tax(scheme, Fraction(amount))) - total) <= 50 + amount * 1e-5


def test_fifo_and_average_of_textbooks() -> None:
    """10 at 1.00, 10 at 2.00, 15 out: FIFO leaves 5 at 2.00, the average 5 at 1.50; a lower price writes down."""
    article = module("finance_inventory", "article")
    stock = case("finance_inventory", "Stock", 1, "small")
    d = date(2024, 1, 1)

    def move(k: int, kind: str, quantity: int, price: int) -> Any:
        return article.Move(d, d, f"M{k}", kind, quantity, 1, price, "", False)

    moves = (move(1, "receipt", 10, 100), move(2, "receipt", 10, 200), move(3, "issue", 15, 0))
    for method, cost in (("fifo", 1_000), ("average", 750)):
        a = article.Article("x", method, moves, (), 0, 120, 0)
        found = article.figures(a, d, stock.features, stock.w.cents)
        assert (found["cost"], found["issued"], found["value"]) == (cost, 3_000 - cost, 600)


def test_a_vat_return_by_hand() -> None:
    """Sales 100.00 at the standard rate and 100.00 exempt, mixed input tax 10.00: the share is 50 per cent."""
    quarter, d = module("finance_vat", "quarter"), date(2024, 3, 31)
    vat = case("finance_vat", "Returns", 1, "small")
    rates = {"S": 20, "R": 5, "Z": 0, "E": 0}
    documents = tuple(
        quarter.Document(d, d, str(k), kind, "x", code, amount, tax)
        for k, (kind, code, amount, tax) in enumerate(
            (
                ("sale", "S", 10_000, 0),
                ("sale", "E", 10_000, 0),
                ("purchase", "M", 5_000, 1_000),
                ("abroad", "T", 2_000, 0),
            )
        )
    )
    found = quarter.figures(quarter.Quarter("x", documents, (), (), 0), d, rates, vat.features, vat.w.cents)
    assert found == {"out": 2_000, "acquired": 400, "share": 50, "in": 900, "correction": 0, "payable": 1_500}


def test_rates_that_are_quoted_in_other_ways() -> None:
    ledger, d = module("finance_fx", "ledger"), date(2024, 3, 29)
    on = case("finance_fx", "Ledgers", 1, "small").features
    quotes = (
        ledger.Quote(d, "USD", "local", 1, 900_000), ledger.Quote(d, "JPY", "local", 100, 600_000),
        ledger.Quote(d, "AUD", "foreign", 1, 1_600_000), ledger.Quote(d, "THB", "cross", 1, 28_000),
        ledger.Quote(date(2024, 4, 2), "USD", "local", 1, 999_000),
    )  # fmt: skip
    m = ledger.Market(quotes, {}, "USD")
    rates = {c: ledger.rate(m, c, date(2024, 3, 31), on) for c in ("USD", "JPY", "AUD", "THB")}
    assert rates == {
        "USD": Fraction(9, 10), "JPY": Fraction(6, 1000), "AUD": Fraction(10, 16), "THB": Fraction(252, 10_000),
    }  # fmt: skip


CASES = {
    "finance_bonds": "Bonds", "finance_vat": "Returns", "finance_payroll": "Payroll", "finance_leases": "Leases",
    "finance_fx": "Ledgers", "finance_inventory": "Stock", "finance_bankrec": "Accounts",
}  # fmt: skip


@pytest.mark.parametrize("template", CASES)
def test_the_scripts_really_give_what_the_recipe_expects_of_them(template: str, tmp_path: Path) -> None:
    """The first comparison shows the wrong figures that a script without the rule must have, the second none; two
    arithmetics that share no code, one in fractions and one in decimals."""
    one = case(template, CASES[template], 4, "small")
    task = catalog.make(template, 4, "small", CLASSIC_STYLE)
    Repository.create(tmp_path / "bare.git", task.history).checkout(tmp_path / "work", "s")
    runner = ZygoteRunner(ShellRunner())
    toolbox = Toolbox(tmp_path / "work", "/home/dev/x", runner)
    shown = []
    for step in task.steps:
        outcome = toolbox.do(step.actions[0])
        if isinstance(outcome, Ran) and f".{one.n['m_compare']} " in getattr(step.actions[0], "command", "") + " ":
            shown.append(outcome)
    runner.close()
    gaps = one.gaps(one.units[0])
    assert gaps and [ran.exit_code for ran in shown] == [1, 0]
    for key, ours, stated in gaps:
        line = next(x for x in shown[0].output.splitlines() if f" {one.n[f'o_{key}']} " in x)
        numbers = [float(x.replace(",", "")) for x in re.findall(r"-?[\d,]+(?:\.\d+)?(?!\S)", line)][-3:]
        scale = 10 ** one.decimals.get(key, 2)
        assert [round(n * scale) for n in numbers] == [ours, stated, ours - stated], line
