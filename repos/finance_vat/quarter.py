"""A registration's quarter and its return, in cents and exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Document:
    """kind: "sale", "till" (amount with tax), "asset", "credit" (of a sale), "purchase", "abroad". code: of a sale
    "S", "R", "Z" or "E"; of a purchase what it serves: "T" taxable, "X" exempt, "M" both. amount, tax: cents."""

    issued: date
    supplied: date
    number: str
    kind: str
    partner: str
    code: str
    amount: int
    tax: int


@dataclass(frozen=True, slots=True)
class Quarter:
    """lost: (document, gross in cents) of sales that will not be paid. corrections: of earlier returns, cents; they are
    only taken up here when their sum, without its sign, is at most `limit` cents."""

    trade: str
    documents: tuple[Document, ...]
    lost: tuple[tuple[str, int], ...]
    corrections: tuple[tuple[str, int], ...]
    limit: int


@dataclass(frozen=True, slots=True)
class Sums:
    """Of the documents that count: turnover by code, assets' part of it, purchases' tax by what they serve, and the net
    of purchases from abroad; fractions of cents."""

    turnover: dict[str, Fraction]
    assets: Fraction
    input: dict[str, int]
    abroad: int


def sums(q: Quarter, end: date, rates: dict[str, int], on: frozenset[str]) -> Sums:
    turnover = dict.fromkeys("SRZE", Fraction(0))
    assets, abroad = Fraction(0), 0
    tax = dict.fromkeys("TXM", 0)
    for d in q.documents:
        if (d.supplied if "point" in on else d.issued) > end:
            continue
        if d.kind == "purchase":
            tax[d.code] += d.tax
        elif d.kind == "abroad":
            abroad += d.amount
        elif d.kind == "till" and "till" in on:
            turnover[d.code] += Fraction(d.amount * 100, 100 + rates[d.code])
        else:
            turnover[d.code] += -d.amount if d.kind == "credit" and "credit" in on else d.amount
            assets += d.amount if d.kind == "asset" else 0
    return Sums(turnover, assets, tax, abroad)


def figures(
    q: Quarter, end: date, rates: dict[str, int], on: frozenset[str], cents: Callable[[Fraction], int]
) -> dict[str, int]:
    s = sums(q, end, rates, on)
    out = sum(cents(s.turnover[code] * rates[code] / 100) for code in "SR")
    if "lost" in on:
        out -= sum(cents(Fraction(gross * rates["S"], 100 + rates["S"])) for _, gross in q.lost)
    acquired = cents(Fraction(s.abroad * rates["S"], 100)) if "abroad" in on else 0
    taxable = s.turnover["S"] + s.turnover["R"] + s.turnover["Z"] - (s.assets if "asset" in on else 0)
    share = 100 * taxable / (taxable + s.turnover["E"])
    if "up" in on:
        share = Fraction(-(-share.numerator // share.denominator))
    deducted = s.input["T"] + cents(s.input["M"] * share / 100) + acquired
    correction = sum(c for _, c in q.corrections)
    if "limit" in on and abs(correction) > q.limit:
        correction = 0
    return {
        "out": out, "acquired": acquired, "share": cents(share), "in": deducted, "correction": correction,
        "payable": out + acquired - deducted + correction,
    }  # fmt: skip
