"""How the agent consolidates: scope and rates, trial balances, script, control totals, a missed elimination."""

from __future__ import annotations

from ..._kit_finance.arith import shown
from ..._kit_finance.journal import Journal
from . import own_tests
from .consolidation import Consolidation, six
from .group import RESULT, Entity, consolidate
from .house import policy_path
from .remarks import on_group
from .texts import render


def _tuple(words: list[str]) -> str:
    return ", ".join(f'"{x}"' for x in words) + ("," if len(words) == 1 else "")


def _internal(c: Consolidation, keys: tuple[str, ...]) -> str:
    return _tuple([c.books.internal[k] for k in keys])


def _mistakes(c: Consolidation) -> list[str]:
    return ["historic", "result"] if c.w.size == "long" else [c.w.part("group mistakes").choice(["historic", "result"])]


def _study(c: Consolidation, j: Journal) -> None:
    n, b, base = c.n, c.books, c.n["folder"] + "/"
    top, last = b.entities[0], b.entities[-1]
    j.read(
        base + n["file_entities"],
        (
            "«On to the consolidation.|The group accounts now.» I begin with the scope: which companies belong to "
            f"{top.name}, who holds whom, and at which `{n['k_hist']}` the equity of each was bought. "
            f"«{len(b.entities)} trial balances are announced|The request names {len(b.entities)} companies»."
        ),
    )
    j.read(
        base + n["file_rates"],
        (
            f"{top.code} is the parent, the other {len(b.entities) - 1} are held by it; {last.name} reports in "
            f"{last.currency} with a historical rate of {six(last.historic)}. «Rates next|The rate table comes next»: "
            f"I want to know its direction, since {c.w.currency} per unit and units per {c.w.currency} are easily "
            "mixed up."
        ),
    )
    e = next((x for x in b.entities if x.currency != c.w.currency), last)
    j.read(
        base + n["file_map"],
        (
            f"{e.currency} closes at {six(b.closing[e.currency])} after {six(b.average[e.currency])} on average, so "
            f"multiply, not divide. The mapping from `{n['k_account']}` to `{n['k_line']}` decides which of the rates "
            f"an account gets; the internal accounts {b.internal['sales']} and {b.internal['purchases']} deserve a "
            "look, «as they map to ordinary lines|they may hide in ordinary lines»."
        ),
    )
    _books(c, j)


def _books(c: Consolidation, j: Journal) -> None:
    n, b, base = c.n, c.books, c.n["folder"] + "/"
    files: list[tuple[str, str]] = []
    before = None
    for x in b.entities[
        : c.w.part("books read").randint(2, 3) + (not j.style.echo_after_edit) if c.w.size != "long" else 4
    ]:
        if before is None:
            say = (
                f"{len(b.accounts)} accounts, {b.internal['receivable']} to {b.internal['earnings']} at the end for "
                f"group matters. Now the books of {x.name}, the {'parent' if not x.parent else 'subsidiary'}: debit "
                "and credit columns, partner codes, and whether they balance."
            )
        else:
            inside = [y for y in before.rows if y[2]]
            say = (
                f"{before.code} has {len(before.rows)} rows, {len(inside)} of them with a `{n['k_partner']}`, among "
                f"others {shown(abs(inside[0][3]))} {before.currency} on {inside[0][0]} with {inside[0][2]}. «Its "
                f"counterpart should show in|The other side must be in» the balances of the partners; next {x.code}, "
                f"in {x.currency}."
            )
        files.append((base + c.path_of(x), say))
        before = x
    j.read_set(files)
    assert before is not None
    j.remember(on_group(c))
    pair = next(y for y in before.rows if y[2])
    account = pair[0]
    if not j.optional():
        return
    j.search(
        f"^{account},",
        (
            f"Profit brought forward of {before.code} is {shown(-before.rows[-1][3])} {before.currency} on "
            f"{before.rows[-1][0]}. «Rather than reading the rest line by line|For the others» I search all packages "
            f"for account {account}: who uses it, and with which partner, tells me if {shown(abs(pair[3]))} finds its "
            "match."
        ),
        n["folder"],
        "*.csv",
    )


def _gaps(c: Consolidation, kinds: list[str]) -> dict[str, int]:
    wrong, _ = consolidate(c.books, c.w, result="result" not in kinds, historic="historic" not in kinds)
    keys = ("revenue", "cost", "fixed", "goodwill", "reserve", "earnings")
    return {k: wrong.get(k, 0) - c.lines[k] for k in keys if wrong.get(k, 0) != c.lines[k]}


def _fix(c: Consolidation, j: Journal, kind: str, path: str, kinds: list[str]) -> None:
    n, gaps = c.n, _gaps(c, kinds)
    if kind == "historic":
        j.edit(
            path,
            (
                f"{n['w_reserve']} is off by {shown(gaps.get('reserve', 0))}, {n['w_earnings']} by "
                f"{shown(gaps.get('earnings', 0))}: equity, and only equity. «My tuple {n['c_historic']} is still "
                f"empty|I had left {n['c_historic']} empty», so capital and earnings went at `{n['k_closing']}`. The "
                f"policy wants `{n['k_hist']}` for {n['w_capital']} and {n['w_earnings']}."
            ),
            (f"{n['c_historic']} = ()\n", f"{n['c_historic']} = ({_tuple([n['w_capital'], n['w_earnings']])})\n"),
            again=f"The constants once more: {n['c_historic']} must name exactly {n['w_capital']} and "
            f"{n['w_earnings']}, spelled as in {n['file_map']}.",
        )
    else:
        old, new = (
            _internal(c, k) for k in (("receivable", "payable"), ("receivable", "payable", "sales", "purchases"))
        )
        inside, key = sum(1 for e in c.books.entities for x in e.rows if x[2]), c.books.internal
        j.edit(
            path,
            (
                f"{n['w_revenue']} is {shown(gaps.get('revenue', 0))} away from the reporting tool and {n['w_cost']} "
                f"{shown(gaps.get('cost', 0))}, «nearly mirror images|almost the same with opposite sign»: a missed "
                f"elimination. Of the {inside} rows with a partner I only took out {key['receivable']} and "
                f"{key['payable']}; {key['sales']} and {key['purchases']} stayed in. They go into {n['c_internal']}, "
                f"the cents that remain to {n['w_diff_pl']}."
            ),
            (f"{n['c_internal']} = ({old})\n", f"{n['c_internal']} = ({new})\n"),
            again=f"I check the head of the module after the change, {n['c_internal']} with its four accounts beside "
            f"{n['c_result']}.",
        )


def _agree(c: Consolidation, j: Journal, path: str) -> None:
    n, kinds, base = c.n, _mistakes(c), c.n["folder"] + "/"
    check = f"{n['calc']}/{n['mod_check']}.py"
    j.read(
        base + n["file_controls"],
        (
            f"The lines add up to zero, as they must by construction, so that proves little. {n['file_controls']} is "
            f"the independent side; «six totals, I read them|I read its six totals» and compare {n['w_revenue']} and "
            f"{n['w_goodwill']} with the run above first."
        ),
    )
    j.write(
        check,
        render(j.r, "consolidate_check.py", n),
        (
            f"The tool has {shown(c.lines['revenue'])} for {n['w_revenue']} (credit, hence negative) and "
            f"{shown(c.lines['goodwill'])} for {n['w_goodwill']}. I put the comparison in a script with a "
            f"--{n['opt_strict']} switch, so that the final run can fail loudly."
        ),
    )
    for k, kind in enumerate(kinds):
        rest = _gaps(c, kinds[k:])
        j.run(
            f"python3 -m {n['calc']}.{n['mod_check']}" + (" | grep -v ' 0.00$'" if k else ""),
            (
                "«Against the totals|Control totals, first attempt»: I would be surprised if all of them matched at "
                f"once, with {len(c.books.entities)} companies and three kinds of rates."
                if not k
                else f"Equity is settled. The same comparison without the lines that agree should leave {len(rest)} of "
                "six, and none of them on the balance sheet."
            ),
        )
        _fix(c, j, kind, path, kinds[k:])


def _finish(c: Consolidation, j: Journal, e: Entity) -> None:
    n, b = c.n, c.books
    if j.optional(2):
        own_tests.on_group(c, j)
    paired = j.optional()
    if paired:
        j.run(
            j.short(
                f"python3 -m {n['calc']}.{n['mod_group']} --{n['opt_pairs']}", f"| grep '{c.books.entities[0].code}'"
            ),
            (
                "Next the internal rows side by side. Each pair should cancel to cents; what does not cancel ends in "
                f"{n['w_diff_bs']}, where I expect {shown(c.lines['diff_bs'])}, and in {n['w_diff_pl']} with "
                f"{shown(c.lines['diff_pl'])}."
            ),
        )
    j.run(
        f"python3 -m {n['calc']}.{n['mod_check']} --{n['opt_strict']} && python3 -m {n['calc']}.{n['mod_group']} "
        f"--{n['opt_write']} {n['file_out']} | tail -n 1",
        (
            f"{'The pairs cancel. ' if paired else ''}«Strict comparison, then the file|Now strictly»: only if all "
            f"six totals agree is {n['file_out']} written. {n['o_result']} should be {shown(c.result)} "
            f"{c.w.currency}, and {e.code} carries the largest translation effect with {shown(c.reserve[e.code])}."
        ),
        effects=True,
    )
    if c.w.size == "long":
        j.read(
            n["file_out"],
            (
                f"Written. I read it once as the recipient would: `{n['o_reserve']}` with {len(b.entities)} entries "
                f"that add up to {shown(c.lines['reserve'])}, and `{n['o_lines']}` with {len(c.lines)} lines, "
                f"{n['w_stock']} at {shown(c.lines['stock'])} among them."
            ),
        )
    j.tick(c.label)


def play(c: Consolidation, j: Journal) -> None:
    n, kinds, b = c.n, _mistakes(c), c.books
    _study(c, j)
    j.section(
        policy_path(c.w),
        c.title(),
        (
            "Three rates, two kinds of eliminations and a residual: I read the policy's section on the consolidation "
            f"a second time before coding, above all for what goes at `{n['k_hist']}` and for the fate of accounts "
            f"{b.internal['sales']} and {b.internal['payable']}."
        ),
    )
    path = f"{n['calc']}/{n['mod_group']}.py"
    capital = [] if "historic" in kinds else [n["w_capital"], n["w_earnings"]]
    inside = ("receivable", "payable") if "result" in kinds else ("receivable", "payable", "sales", "purchases")
    names = n | {
        "historic": _tuple(capital),
        "internal": _internal(c, inside),
        "pl_lines": _tuple([n["w_" + k] for k in RESULT]),
    }
    j.write(
        path,
        render(j.r, "consolidate.py", names),
        (
            "«Both sides of the internal trade are booked|The internal balances do have counterparts», so "
            "elimination by account works. The script translates row by row, rounds each, puts what is left of an "
            f"entity into {n['w_reserve']}, and sets {n['w_shares']} of {b.entities[0].code} off against "
            f"{n['w_capital']} of the others. Options show one entity or the internal rows."
        ),
    )
    j.run(
        f"python3 -m {n['calc']}.{n['mod_group']}",
        (
            "A first roll-up. The sum must be zero «since the reserve takes up the slack|by design»; more telling is "
            f"whether {n['w_goodwill']} is small beside the {sum(1 for e in b.entities[0].rows if e[1] == 'shares')} "
            f"investments of {b.entities[0].code}."
        ),
    )
    e = max(b.entities, key=lambda x: abs(c.reserve[x.code]))
    shows = ([e] if j.optional() else []) if c.w.size != "long" else [e, next(x for x in b.entities if x is not e)]
    for k, x in enumerate(shows):
        j.run(
            j.short(f"python3 -m {n['calc']}.{n['mod_group']} --{n['opt_entity']} {x.code}", "| head -n 14"),
            (
                f"{'One company row by row' if not k else 'A second one for contrast'}: {x.code}, {x.currency} at "
                f"{six(b.closing[x.currency])} and {six(b.average[x.currency])}. Account {x.rows[0][0]} with "
                f"{shown(x.rows[0][3])} must become {shown(c.w.cents(x.rows[0][3] * b.closing[x.currency]))} "
                f"{c.w.currency}; «I check a few more by head|a sample of others by head»."
            ),
        )
    _agree(c, j, path)
    _finish(c, j, e)
