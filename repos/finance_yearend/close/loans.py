"""Borrowings: the loans of the group, their schedules in whole cents, and what the lenders confirm."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction

from ..._kit_finance import arith
from .world import CENT, Truth, World, csv_text

BASES = ("ACT/365", "ACT/360", "30E/360")


@dataclass(frozen=True, slots=True)
class Loan:
    """principal in cents; rates: (valid from, per cent x 1000), first one from the start; extra: due date -> cents."""

    id: str
    lender: str
    style: str
    principal: int
    basis: str
    start: date
    first: date
    months: int
    terms: int
    rates: tuple[tuple[date, int], ...]
    extra: dict[date, int] = field(default_factory=dict)

    def rate(self, day: date) -> Fraction:
        return Fraction([pct for since, pct in self.rates if since <= day][-1], 100_000)


def _loan(r: random.Random, w: World, key: str, lender: str, style: str, first_one: bool) -> Loan:
    months = r.choice((1, 1, 3, 6)) if style != "bullet" else r.choice((3, 6, 12))
    if style == "annuity" and first_one:
        months = 1
    start = w.year_end - timedelta(days=r.randint(450, 1900))
    first = arith.shift(date(2000, 1, r.choice((15, 28, 30, 31))), (start.year - 2000) * 12 + start.month - 1 + months)
    elapsed = (w.year_end - first).days // 30 // months
    terms = elapsed + max(3, r.randint(14, 46) // months)
    rates = [(start, r.randint(1900, 7600))]
    if style != "annuity":
        for _ in range(r.randint(3, 8)):
            if rates[-1][0] > w.year_end:
                break  # nobody knows later resets yet
            rates.append((max(day for day, _ in rates) + timedelta(days=r.randint(90, 300)), r.randint(1900, 7900)))
    loan = Loan(
        key,
        lender,
        style,
        r.randint(4, 90) * 10_000_000 + r.randint(0, 99) * 100_000,
        r.choice(BASES),
        start,
        first,
        months,
        terms,
        tuple(rates),
    )
    if style == "annuity" or r.random() < 0.4:
        for number in r.sample(range(1, max(2, min(elapsed, terms - 3))), 1):
            loan.extra[arith.shift(first, number * months)] = loan.principal // r.randint(12, 30) // 100_000 * 100_000
    return loan


Row = tuple[date, Fraction, Fraction, Fraction, Fraction, Fraction]


def schedule(loan: Loan, w: World, *, exact: bool = False, extras: bool = True) -> list[Row]:
    """(due, before, interest, principal, extra, after) in cents. exact: interest left unrounded; extras: special
    repayments taken in. The defaults are right, the others are the mistakes of the recorded path."""
    balance, since, rows = Fraction(loan.principal), loan.start, []
    fixed = Fraction(0)
    if loan.style == "linear":
        fixed = Fraction(w.cents(Fraction(loan.principal, loan.terms)))
    elif loan.style == "annuity":
        i = loan.rate(loan.start) * loan.months / 12
        growth = (1 + i) ** loan.terms
        fixed = Fraction(w.cents(loan.principal * i * growth / (growth - 1)))
    for number in range(loan.terms):
        due = arith.shift(loan.first, number * loan.months)
        interest = balance * loan.rate(since) * arith.span(since, due, loan.basis)
        interest = interest.limit_denominator(10**9) if exact else Fraction(w.cents(interest))
        part = fixed - interest if loan.style == "annuity" else fixed
        if number == loan.terms - 1 or part > balance:
            part = balance
        extra = min(Fraction(loan.extra.get(due, 0)) if extras else Fraction(0), balance - part)
        after = balance - part - extra
        rows.append((due, balance, interest, part, extra, after))
        if after == 0:
            break
        balance, since = after, due
    return rows


def figures(loan: Loan, w: World, **mistake: bool) -> dict[str, int]:
    """balance, accrued, expense, current, total: cents, rounded."""
    rows = schedule(loan, w, **mistake)

    def at(day: date) -> tuple[Fraction, int]:
        if day < loan.start:
            return Fraction(0), 0
        balance, since = Fraction(loan.principal), loan.start
        for row in rows:
            if row[0] <= day:
                balance, since = row[5], row[0]
        return balance, w.cents(balance * loan.rate(since) * arith.span(since, day, loan.basis))

    balance, accrued = at(w.year_end)
    paid = sum((x[2] for x in rows if w.prev_end < x[0] <= w.year_end), Fraction(0))
    horizon = arith.shift(w.year_end, 12)
    return {
        "balance": w.cents(balance),
        "accrued": accrued,
        "expense": w.cents(paid + accrued - at(w.prev_end)[1]),
        "current": w.cents(sum((x[3] + x[4] for x in rows if w.year_end < x[0] <= horizon), Fraction(0))),
        "total": w.cents(sum((x[2] for x in rows), Fraction(0))),
    }


def names(r: random.Random, w: World) -> dict[str, str]:
    def pick(words: str) -> str:
        return r.choice(words.split())

    return w.names | {
        "folder": f"{w.names['data']}/{pick('loans borrowings debt financing lenders')}",
        "mod_loans": pick("loans borrowings debt_book schedules loan_book liabilities financing"),
        "mod_check": pick("confirmations lender_check letters bank_check compare_lenders"),
        "file_terms": pick("terms.csv loan_terms.csv contracts.csv facilities.csv"),
        "file_rates": pick("rates.csv rate_steps.csv interest_rates.csv resets.csv"),
        "file_extra": pick("special_repayments.csv extra_payments.csv prepayments.csv unscheduled.csv"),
        "file_letters": pick("confirmations.csv lender_letters.csv bank_balances.csv"),
        "file_out": "out/" + pick("loans.json borrowings.json debt.json loan_figures.json"),
        "k_id": pick("loan facility loan_no contract ref"),
        "k_amount": pick("amount paid value payment"),
        "k_principal": pick("principal nominal drawn face_amount"),
        "k_terms": pick("instalments number_of_terms payments periods n_terms"),
        "k_months": pick("every_months interval_months months_between step_months"),
        "k_style": pick("repayment style profile repayment_type"),
        "k_first": pick("first_due first_payment first_instalment"),
        "k_start": pick("drawdown start_date value_date paid_out"),
        "k_basis": pick("day_basis daycount interest_basis basis"),
        "o_balance": pick("closing_balance balance outstanding carrying_amount"),
        "o_accrued": pick("accrued_interest accrued interest_accrued"),
        "o_expense": pick("interest_expense expense_for_year year_interest finance_cost"),
        "o_current": pick("current_portion due_within_year short_term_part"),
        "o_total": pick("lifetime_interest total_interest interest_over_life"),
        "opt_loan": pick("loan show schedule detail only"),
        "opt_save": pick("save keep table csv"),
        "opt_write": pick("out write target json to"),
        "f_shift": pick("add_months month_later shifted plus_months due_after"),
        "f_load": pick("load_loans loan_book read_book all_loans contracts"),
        "f_rate": pick("rate_on rate_at current_rate valid_rate"),
        "f_instalment": pick("instalment regular_payment fixed_part level_payment"),
        "f_schedule": pick("schedule plan_of run_off amortise payment_plan"),
        "f_at": pick("position owed_at status_on standing state_at"),
        "f_figures": pick("figures_of key_figures summary_of disclose measure"),
    }


def tables(w: World, r: random.Random, n: dict[str, str], loans: list[Loan]) -> dict[str, str]:
    terms = [
        {
            n["k_id"]: x.id,
            "lender": x.lender,
            n["k_style"]: x.style,
            n["k_principal"]: arith.plain(x.principal),
            n["k_basis"]: x.basis,
            n["k_start"]: x.start.isoformat(),
            n["k_first"]: x.first.isoformat(),
            n["k_months"]: str(x.months),
            n["k_terms"]: str(x.terms),
            "currency": w.currency,
        }
        for x in loans
    ]
    rates = [
        {n["k_id"]: x.id, "valid_from": d.isoformat(), "rate_pct": f"{p / 1000:.3f}"} for x in loans for d, p in x.rates
    ]
    extra = [
        {n["k_id"]: x.id, "value_date": d.isoformat(), n["k_amount"]: arith.plain(c)}
        for x in loans
        for d, c in x.extra.items()
    ]
    letters = []
    for x in loans:
        f = figures(x, w)
        letters.append(
            {
                n["k_id"]: x.id,
                "lender": x.lender,
                "confirmed_balance": arith.plain(f["balance"]),
                "confirmed_accrued": arith.plain(f["accrued"]),
                "contact": w.others[len(letters) % 20].domain,
            }
        )
    base = n["folder"] + "/"
    return {
        base + n["file_terms"]: csv_text(r, list(terms[0]), terms),
        base + n["file_rates"]: csv_text(r, list(rates[0]), rates),
        base + n["file_extra"]: csv_text(r, list(extra[0]), extra),
        base + n["file_letters"]: csv_text(r, list(letters[0]), letters),
    }


class Loans:
    def __init__(self, w: World) -> None:
        r = w.part("loans")
        self.w, self.n = w, names(r, w)
        count = r.randint(5, 7) if w.size != "long" else r.randint(9, 12)
        prefix = r.choice(("L", "FA", "KR", "LN", "D", "TL"))
        number = r.randint(100, 800)
        self.loans = []
        for k in range(count):
            number += r.randint(1, 19)
            style = (
                ("annuity", "annuity", "linear", "bullet")[k % 4]
                if k < 4
                else r.choice(("annuity", "linear", "bullet"))
            )
            self.loans.append(_loan(r, w, f"{prefix}-{number}", w.others[k % 29].short, style, k == 0))
        self.right = {x.id: figures(x, w) for x in self.loans}
        self._files = tables(w, r, self.n, self.loans)
        self.label = r.choice(
            ("Loan schedules and accruals", "Borrowings agreed with lenders", "Debt schedules, lenders reconciled")
        )

    def files(self) -> dict[str, str]:
        return self._files

    def title(self) -> str:
        return "Borrowings"

    def policy(self) -> str:
        n = self.n
        return (
            "- «Interest of a period is the balance at its start times the annual rate times the share of a year|A "
            "period's interest: opening balance x annual rate x share of the year», «in the loan's day basis|on the "
            f"day basis of the contract (`{n['k_basis']}`)». The first period starts on `{n['k_start']}`.\n- «Each "
            "interest amount is rounded to the cent when it falls due, and the next balance is built on the rounded "
            "amount.|Interest is rounded once a due date; balances carry rounded amounts on.»\n- Bases: ACT/365 and "
            "ACT/360 count calendar days; 30E/360 treats «a day 31 as day 30 at both ends|both dates' day 31 as day "
            f"30».\n- `{n['file_rates']}`: «the rate in force on the first day of a period holds for the whole "
            "period|a period keeps the rate valid on its first day».\n- annuity: «level instalment from the first "
            "rate, rate x months / 12 a term, rounded to the cent|the instalment comes from the initial rate (rate x "
            "months / 12 a term) and is rounded once». linear: principal / number of terms, rounded. bullet: all at "
            "the last due date. «The last instalment clears the balance.|Whatever is left falls due with the last "
            f"instalment.»\n- `{n['file_extra']}`: special repayments fall on a due date and reduce the balance after "
            "that date's instalment; «the instalment stays, the loan ends sooner|later instalments are unchanged, "
            f"the term shortens».\n- `{n['o_accrued']}` «runs from the last due date to the reporting date|covers "
            f"last due date to reporting date», on the balance then open. `{n['o_expense']}` = interest due in the "
            f"year + accrual at its end - accrual at the end of the year before. `{n['o_current']}`: repayments due "
            f"within twelve months after the reporting date. `{n['o_total']}`: interest of the whole schedule.\n"
        )

    def ask(self) -> str:
        n = self.n
        return (
            f"«Borrowings|Loans|Debt»: {len(self.loans)} facilities in `{n['folder']}/`. «I need|Please give me|We "
            f"need» {n['file_out']}, an object by `{n['k_id']}` with {n['o_balance']}, {n['o_accrued']}, "
            f"{n['o_expense']}, {n['o_current']} and {n['o_total']}. «The lenders' letters are in the same folder and "
            "have to agree to the cent.|Agree balances and accruals with the letters in that folder, to the cent; "
            "they are right.»"
        )

    def truth(self) -> Truth:
        n = self.n
        return {
            n["file_out"]: [
                ([key, n["o_" + name]], arith.plain(cents), CENT)
                for key, f in self.right.items()
                for name, cents in f.items()
            ]
        }

    def headlines(self) -> list[tuple[str, str]]:
        total = {k: sum(f[k] for f in self.right.values()) for k in ("balance", "accrued", "expense", "current")}
        return [
            ("Borrowings outstanding", arith.shown(total["balance"])),
            ("of which due within twelve months", arith.shown(total["current"])),
            ("Interest accrued on borrowings", arith.shown(total["accrued"])),
            ("Interest expense on borrowings", arith.shown(total["expense"])),
        ]
