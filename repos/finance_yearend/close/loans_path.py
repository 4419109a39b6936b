"""How the agent comes to the loan figures: terms, script, schedules, lenders' letters, mistakes put right."""

from __future__ import annotations

from ..._kit_finance.arith import shown
from ..._kit_finance.journal import Journal
from . import own_tests
from .house import policy_path
from .loans import Loans, figures, schedule
from .remarks import on_loans
from .texts import render

_EVERY = {1: "month", 3: "quarter", 6: "half-year", 12: "year"}
WRONG_EXTRA = "Decimal(0)"
_WALKS = (
    "«To trust the schedule I walk through one loan|A row by row look at one loan comes first»",
    "«Another style of loan|A second pair of eyes on a different profile»",
)


def _lines(c: Loans) -> tuple[str, str, str]:
    """(rounded interest, unrounded interest, extra) as the script has them."""
    n = c.n
    raw = f'{n["f_frac"]}({n["opening"]} * {n["f_rate"]}(loan, since), since, due, loan["{n["k_basis"]}"])'
    extra = f'min(loan["extra"].get(due, Decimal(0)), {n["opening"]} - {n["principal"]})'
    return f"{n['f_round']}({raw})", raw, extra


def _study(c: Loans, j: Journal) -> None:
    n, first, last = c.n, c.loans[0], c.loans[-1]
    j.read(
        f"{n['folder']}/{n['file_terms']}",
        (
            "«Next come the borrowings.|The loan book is next.|I now turn to the debt.» «The contracts decide "
            f"everything here|All later figures hang on the terms», so I read {n['file_terms']} «in full before "
            "writing a line of code|from top to bottom first»: I «need to know|want to see» which of the "
            f"{len(c.loans)} facilities are annuities, what sits in `{n['k_basis']}`, and whether `{n['k_first']}` "
            "falls on a month end, «because a 31 is where 30E/360 and the calendar part ways|since month ends are "
            "where the day bases differ»."
        ),
    )
    styles = {s: [x.id for x in c.loans if x.style == s] for s in ("annuity", "linear", "bullet")}
    j.read(
        f"{n['folder']}/{n['file_rates']}",
        (
            f"«The terms are clear|That is a readable set of terms»: annuities are {', '.join(styles['annuity'])}, "
            f"linear {', '.join(styles['linear']) or 'none'}, bullet {', '.join(styles['bullet']) or 'none'}. "
            f"{first.id} from {first.lender} started at {shown(first.principal)} {c.w.currency} on {first.start}, "
            f"{first.terms} terms, one every {_EVERY[first.months]}, on {first.basis}; {last.id} pays from "
            f"{last.first}. «Now the rate steps|Rates are kept apart from the terms, so {n['file_rates']} is next»: "
            "what matters is which step holds on the first day of each period, not on its due date."
        ),
    )
    floating = max(c.loans, key=lambda x: len(x.rates))
    j.remember(on_loans(c))
    with_extra = [x for x in c.loans if x.extra]
    j.read(
        f"{n['folder']}/{n['file_extra']}",
        (
            f"{floating.id} has {len(floating.rates)} steps, from {floating.rates[0][1] / 1000:.3f} % to "
            f"{floating.rates[-1][1] / 1000:.3f} % as of {floating.rates[-1][0]}; «the annuities keep one rate, as "
            "expected|no annuity is repriced, good, so one instalment each is right». «Third input|One table is "
            "left»: the special repayments, which shorten a loan «without changing its instalment|while the "
            "instalment stays put»."
        ),
    )
    if with_extra and j.optional():
        x = with_extra[0]
        day, cents = next(iter(x.extra.items()))
        j.search(
            f"{n['f_frac']}|{n['f_round']}",
            (
                f"{len(with_extra)} of {len(c.loans)} loans were paid down early, {x.id} by {shown(cents)} on {day} "
                "for one. Before I write the schedule I check «who else uses|where the code base already calls» "
                f"`{n['f_frac']}` and `{n['f_round']}`, «so that I call them with the same argument order|to follow "
                "the calling order in use», and that nobody divides by 360 by hand."
            ),
            ".",
            "*.py",
        )


def _mistakes(c: Loans) -> list[str]:
    """Kinds of first-draft mistakes that really change a balance, in the order they are found."""
    kinds = [k for k in ("extras", "exact") if _off(c, [k])]
    return kinds if c.w.size == "long" else [c.w.part("loan mistakes").choice(kinds)]


def _off(c: Loans, kinds: list[str]) -> dict[str, int]:
    """Loan -> our balance minus the lender's, in cents, while these mistakes are in the script."""
    wrong = {x.id: figures(x, c.w, exact="exact" in kinds, extras="extras" not in kinds)["balance"] for x in c.loans}
    return {k: v - c.right[k]["balance"] for k, v in wrong.items() if v != c.right[k]["balance"]}


def _fix(c: Loans, j: Journal, kind: str, path: str, found: dict[str, int]) -> None:
    n = c.n
    good, raw, extra = _lines(c)
    key, gap = next(iter(found.items()))
    if kind == "exact":
        j.edit(
            path,
            (
                f"{len(found)} balances «miss the letters by cents|are off by small amounts», {key} by {shown(gap)}: "
                "«the signature of a rounding that comes too late|that is not a wrong rate, that is rounding». I "
                "carried interest unrounded through the schedule and rounded only what is shown. The policy rounds "
                f"at every due date, and the next `{n['opening']}` builds on it, so `{n['f_round']}` belongs «inside "
                "the loop|on the interest line itself»."
            ),
            (f"{n['interest']} = {raw}\n", f"{n['interest']} = {good}\n"),
            again=f"I look at the loop again to be sure that {n['principal']} for {key} is now taken from the rounded "
            f"{n['interest']} and that no second rounding has crept in below it.",
        )
    else:
        j.edit(
            path,
            (
                f"{key} differs by {shown(gap)}, «far too much for rounding|which no rounding explains», and the "
                f"loans that differ ({', '.join(found)}) are «exactly those|just the ones» in {n['file_extra']} with "
                f"dates before {c.w.year_end}. I left the special repayments as a zero placeholder in "
                f"`{n['f_schedule']}`; they must be looked up by due date and may not exceed what is left after the "
                "instalment."
            ),
            (f"extra = {WRONG_EXTRA}\n", f"extra = {extra}\n"),
            again=f"Checking the corrected line for {key} in place: the cap has to use the balance less "
            f"{n['principal']}, not the opening one.",
        )


def _confirm(c: Loans, j: Journal, path: str) -> None:
    n, kinds = c.n, _mistakes(c)
    check = f"{n['calc']}/{n['mod_check']}.py"
    j.read(
        f"{n['folder']}/{n['file_letters']}",
        (
            f"«The schedules look plausible|Nothing looks absurd», but plausible is not agreed. {n['file_letters']} "
            f"holds what the lenders say at {c.w.year_end}, balance and accrued interest for each `{n['k_id']}`; «I "
            "read it before comparing by machine|a look first», so that I know its columns and whether anyone "
            "reports another currency."
        ),
    )
    j.write(
        check,
        render(j.r, "loans_check.py", n),
        (
            f"A comparison by eye over {2 * len(c.loans)} figures «would be careless|is how errors slip by». I write "
            f"a small check that imports `{n['f_figures']}` from {n['mod_loans']} and prints ours, the lender's and "
            f"the gap; the first letter, {c.loans[0].lender}, gives {shown(c.right[c.loans[0].id]['balance'])} for "
            f"{c.loans[0].id}."
        ),
    )
    for k, kind in enumerate(kinds):
        x = c.loans[-1 - k]
        found = _off(c, kinds[k:])
        j.run(
            f"python3 -m {n['calc']}.{n['mod_check']}"
            + (" | grep -v ' 0.00$'" if k or j.style.echo_after_edit else ""),
            (
                "«Now the moment of truth|Let us see where we stand» against the letters."
                if not k
                else "«That should settle the first kind of difference|One cause is gone»; I run the comparison again "
                f"and hide the lines without a gap. {len(found)} loans can still differ if the second cause is "
                "real."
            )
            + f" I expect {x.id} at {shown(c.right[x.id]['balance'])} and accrued interest of "
            f"{shown(c.right[x.id]['accrued'])} if its day basis {x.basis} is applied well.",
        )
        _fix(c, j, kind, path, _only_extra(c, found) if kind == "extras" else found)


def _only_extra(c: Loans, found: dict[str, int]) -> dict[str, int]:
    early = {x.id for x in c.loans if any(day <= c.w.year_end for day in x.extra)}
    return {k: v for k, v in found.items() if k in early}


def _schedules(c: Loans, j: Journal) -> None:
    module = f"python3 -m {c.n['calc']}.{c.n['mod_loans']} --{c.n['opt_loan']}"
    shown_loans = c.loans[:1] if c.w.size != "long" else [c.loans[0], c.loans[1], c.loans[-1]]
    for k, x in enumerate(shown_loans):
        f, rows = c.right[x.id], schedule(x, c.w)
        j.run(
            j.short(f"{module} {x.id}", f"| {('head', 'tail')[k % 2]} -n {11 + 3 * k}"),
            (
                f"{_WALKS[min(k, 1)]}: {x.id}, {x.style}, {x.basis}, {x.terms} terms. By hand its first period from "
                f"{x.start} to {rows[0][0]} bears {shown(c.w.cents(rows[0][2]))} on {shown(x.principal)}; the table "
                f"«has to start with that|must open with this figure», and by {c.w.year_end} I look for a balance "
                f"near {shown(f['balance'])}."
            ),
        )


def _finish(c: Loans, j: Journal) -> None:
    n = c.n
    worst = max(c.right.items(), key=lambda kv: kv[1]["expense"])
    last = 3 if j.style.echo_after_edit else 2 * len(c.loans) + 1
    j.run(
        f"python3 -m {n['calc']}.{n['mod_loans']} --{n['opt_write']} {n['file_out']} > /dev/null && python3 -m "
        f"{n['calc']}.{n['mod_check']} --{n['opt_save']} out/{n['mod_check']}.csv | tail -n {last}",
        (
            "«With that the letters should agree to the cent|All causes found are fixed», so this run writes "
            f"{n['file_out']} and repeats the comparison right after it. The largest {n['o_expense']} ought to be "
            f"{worst[0]} with {shown(worst[1]['expense'])}, of which {shown(worst[1]['accrued'])} is the accrual at "
            f"{c.w.year_end}."
        ),
        effects=True,
    )
    if c.w.size == "long":
        j.read(
            n["file_out"],
            (
                f"No gap is left in {2 * len(c.loans)} comparisons. I read the file back as the next reader gets it: "
                f"the keys {n['o_balance']}, {n['o_accrued']}, {n['o_expense']}, {n['o_current']}, {n['o_total']}, "
                f"amounts as text with two decimals. {c.loans[1].id} must say "
                f"{shown(c.right[c.loans[1].id]['current'])} for {n['o_current']}."
            ),
        )
    j.tick(c.label)


def play(c: Loans, j: Journal) -> None:
    n, kinds = c.n, _mistakes(c)
    _study(c, j)
    j.section(
        policy_path(c.w),
        c.title(),
        (
            f"All inputs of the loan book are read. The policy's section on it once more, with {c.loans[0].id} and "
            f"{c.loans[-1].id} in mind: which amounts are rounded and when, what `{n['o_current']}` takes in, and "
            "from which day the accrual runs are rules that I want before my eyes, not in my memory."
        ),
    )
    good, raw, extra = _lines(c)
    path = f"{n['calc']}/{n['mod_loans']}.py"
    names = n | {
        "line_interest": raw if "exact" in kinds else good,
        "line_extra": WRONG_EXTRA if "extras" in kinds else extra,
    }
    j.write(
        path,
        render(j.r, "loans.py", names),
        (
            f"«That is enough to write the calculation|Now I can write it down». `{n['f_schedule']}` builds one row a "
            f"due date, `{n['f_at']}` gives balance and accrual on any day, so the {n['o_expense']} falls out of "
            f"{c.w.prev_end} and {c.w.year_end}. «Month arithmetic goes from the first due date|Due dates always "
            f"count from `{n['k_first']}`», so that a 31 returns after February."
        ),
    )
    j.run(
        f"python3 -m {n['calc']}.{n['mod_loans']}",
        (
            f"First run over all {len(c.loans)} facilities, nothing written yet. «Rough expectations|What I expect»: "
            f"balances below the drawn {shown(sum(x.principal for x in c.loans))} {c.w.currency} in total, bullets "
            "untouched, and accruals of at most one period's interest each."
        ),
    )
    if c.w.size == "long":
        _schedules(c, j)
    _confirm(c, j, path)
    if c.w.size == "medium":
        _schedules(c, j)
    if j.optional(2):
        own_tests.on_loans(c, j)
    _finish(c, j)
