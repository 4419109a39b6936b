"""How the agent ages the open items and comes to credit control's allowance."""

from __future__ import annotations

from collections import Counter

from ..._kit_finance.arith import shown
from ..._kit_finance.journal import Journal
from .house import policy_path
from .receivables import Receivables, allowance, bucket_of, item_age
from .texts import render


def _base(c: Receivables, net: bool) -> str:
    return "gross / (1 + TAX / 100)" if net else "gross"


def _gaps(c: Receivables, kinds: list[str]) -> dict[str, tuple[int, int]]:
    wrong = c.age(net="net" not in kinds, edge="edge" not in kinds)
    return {k: (wrong[k][0] - g, wrong[k][1] - a) for k, (g, a) in c.right.items() if wrong[k] != (g, a)}


def _notes(c: Receivables) -> list[str]:
    w, found = c.w, []
    for x in c.items[::2]:
        days = item_age(x, w)
        when = (
            f"{days} days late" if days > 0 else ("due on the day itself" if not days else f"not due for {-days} days")
        )
        found.append(
            f"{x.invoice}, {x.customer.name}, {shown(x.open)} {x.currency}, is {when} at {w.year_end}"
            + (
                f"; {x.customer.cover} % of it «insured|under cover»."
                if x.customer.cover
                else ", «no cover|uninsured»."
            )
        )
    counts = Counter(x.customer.number for x in c.items)
    for p in c.customers:
        if p.specific is not None:
            found.append(
                f"{p.name} ({p.number}) has a rate of its own, {p.specific} %, «over» {counts[p.number]} items; «the "
                "bucket does not matter there|its ageing is of no consequence»."
            )
    return found


def _study(c: Receivables, j: Journal) -> None:
    n, base = c.n, c.n["folder"] + "/"
    j.read(
        base + n["file_customers"],
        (
            f"«Receivables now.|Next the open items.» I take the customers first, {len(c.customers)} of them: "
            f"`{n['k_cover']}` and `{n['k_specific']}` change the allowance of every item they own, and empty cells "
            "in the latter need to be told apart from a zero."
        ),
    )
    special = [p for p in c.customers if p.specific is not None]
    j.read(
        base + n["file_items"],
        (
            f"{len(special)} customers have their own rate "
            f"({', '.join(f'{p.name} {p.specific} %' for p in special)}), {sum(1 for p in c.customers if p.cover)} "
            "are insured in part. Then the items; I look for credit notes, currencies and dates that sit right on a "
            "limit."
        ),
    )
    j.remember(_notes(c))
    notes = [x for x in c.items if x.open < 0]
    j.search(
        f"^({'|'.join(x.invoice for x in notes[:6])}),",
        (
            f"{len(c.items)} items, {len(notes)} of them credit notes such as {notes[0].invoice} over "
            f"{shown(notes[0].open)} {notes[0].currency}. A search for those shows who they belong to; by the policy "
            f"they lower {n['o_gross']} but never {n['o_loss']}."
        ),
        c.n["folder"],
        n["file_items"],
    )
    j.read(
        base + n["file_rates"],
        (
            f"Credit notes are spread over the buckets, {notes[-1].invoice} for instance lies in "
            f"{bucket_of(notes[-1], c.buckets, c.w)[1]}. The last input is the small rate table, "
            f"{', '.join(c.rates)}; I want to be sure it is {c.w.currency} per unit here as well."
        ),
    )


def _fix(c: Receivables, j: Journal, kind: str, path: str, gaps: dict[str, tuple[int, int]]) -> None:
    n = c.n
    if kind == "edge":
        name, (gross, _) = next((k, v) for k, v in gaps.items() if v[0])
        edge = next(x for x in c.items if item_age(x, c.w) in [b[0] for b in c.buckets])
        j.edit(
            path,
            (
                f"{n['o_gross']} of {name} is {shown(gross)} off, and the buckets make it up among themselves: items "
                f"on a limit fall into the wrong one. {edge.invoice} is {item_age(edge, c.w)} days overdue, which the "
                f"policy puts into `{bucket_of(edge, c.buckets, c.w)[1]}`, the limit included. `{n['f_bucket']}` has "
                "to compare with <=."
            ),
            ("overdue < limit:", "overdue <= limit:"),
            again=f"The comparison in `{n['f_bucket']}`, as saved: for {edge.invoice} the loop must stop one bucket "
            "earlier than before, and the last bucket still needs its None.",
        )
    else:
        name, (_, loss) = max(gaps.items(), key=lambda kv: abs(kv[1][1]))
        j.edit(
            path,
            (
                f"All {n['o_gross']} figures {'agree now' if c.w.size == 'long' else 'agree'}, but every "
                f"{n['o_loss']} is too high, {name} by {shown(loss)}. The ratio is {1 + c.tax / 100:.2f} wherever I "
                f"look: I took the allowance on the amount with {c.tax} % tax, which comes back if the customer "
                "fails. The base has to be net."
            ),
            (f"return {n['f_round']}({_base(c, False)} * (1", f"return {n['f_round']}({_base(c, True)} * (1"),
            again=f"A look at `{n['f_loss']}` again: tax out first, then insurance, then the rate, and one rounding "
            "around all of it.",
        )


def _finish(c: Receivables, j: Journal) -> None:
    n, gross_loss = c.n, c.total()
    p = max(c.customers, key=lambda q: sum(x.open for x in c.items if x.customer is q))
    j.run(
        f"python3 -m {n['calc']}.{n['mod_receivables']} --{n['opt_people']} | sort -k2 -t' ' | head -n "
        f"{len(c.customers)}",
        (
            "Before writing anything I look at it by customer, an angle that credit control's list does not have. "
            f"{p.name} ({p.number}) should be the largest; "
            f"{'insured by ' + str(p.cover) + ' %' if p.cover else 'without insurance'}, so its share of the "
            "allowance tells whether the cover works."
        ),
    )
    j.run(
        f"python3 -m {n['calc']}.{n['mod_check']} | tail -n 3 && python3 -m {n['calc']}.{n['mod_receivables']} "
        f"--{n['opt_write']} {n['file_out']}",
        (
            f"Plausible by customer. The comparison's last lines and the result file in one go: {n['o_total']} has to "
            f"read {shown(gross_loss[0])} and {shown(gross_loss[1])}."
        ),
        effects=True,
    )
    x = next(y for y in c.items if y.open > 0 and y.customer.cover)
    g = c.w.cents(x.open * c.rates[x.currency])
    _, name, rate = bucket_of(x, c.buckets, c.w)
    j.run(
        f"python3 -m {n['calc']}.{n['mod_receivables']} --{n['opt_customer']} {x.customer.number} | tail -n 12 "
        f"&& grep -c {x.currency} {n['folder']}/{n['file_items']}",
        (
            f"No gap left. One insured item by hand to close with: {x.invoice}, {shown(g)} in {name}, net of tax and "
            f"with {x.customer.cover} % cover that leaves an allowance of "
            f"{shown(allowance(g, x.customer, rate, c.tax, c.w))}; the last items of {x.customer.name} follow."
        ),
    )
    j.tick(c.label)


def play(c: Receivables, j: Journal) -> None:
    n, gross_loss = c.n, c.total()
    kinds = [k for k in ("edge", "net") if _gaps(c, [k])]
    path, check = f"{n['calc']}/{n['mod_receivables']}.py", f"{n['calc']}/{n['mod_check']}.py"
    _study(c, j)
    j.section(
        policy_path(c.w),
        c.title(),
        (
            f"Rates are {c.w.currency} per unit. One more look at the policy's table of buckets, "
            "because of the limits: "
            f"is an item of exactly {c.buckets[1][0]} days still in `{c.buckets[1][1]}`, and in which order do tax, "
            "cover and rate apply?"
        ),
    )
    buckets = "\n".join(f'    ({limit}, "{name}", Decimal("{rate / 100:.2f}")),' for limit, name, rate in c.buckets)
    names = n | {"buckets": buckets, "compare": "<" if "edge" in kinds else "<=", "base": _base(c, "net" not in kinds)}
    j.write(
        path,
        render(j.r, "receivables.py", names),
        (
            f"Now the script. {len(c.buckets)} buckets as a table, one function for the age and one for the loss, so "
            f"that each rule of the policy has one place; {n['file_items']} is valued item by item and summed "
            "afterwards, since rounding is per item."
        ),
    )
    oldest = max(c.items, key=lambda x: item_age(x, c.w))
    j.run(
        j.short(
            f"python3 -m {n['calc']}.{n['mod_receivables']} --{n['opt_customer']} ALL",
            f"| grep -E '{c.buckets[-1][1]}|{c.buckets[-2][1]}'",
        ),
        (
            f"I print items before any total. {oldest.invoice} of {oldest.customer.name}, "
            f"{item_age(oldest, c.w)} days overdue, must be in {c.buckets[-1][1]}, and "
            f"{c.w.cents(oldest.open * c.rates[oldest.currency]) / 100:,.2f} {c.w.currency} is what I get for it by "
            "hand."
        ),
    )
    j.read(
        f"{n['folder']}/{n['file_control']}",
        (
            f"The items read well. For comparison {n['file_control']}: {len(c.buckets)} buckets with gross and "
            "allowance, both agreed with the auditors, so a gap means that I am wrong and not they."
        ),
    )
    j.write(
        check,
        render(j.r, "receivables_check.py", n),
        (
            f"Their total is {shown(gross_loss[0])} gross with {shown(gross_loss[1])} allowed for. A small script "
            "compares bucket by bucket and names the largest gap in its last line."
        ),
    )
    for k, kind in enumerate(kinds):
        j.run(
            f"python3 -m {n['calc']}.{n['mod_check']}" + (" | grep -v ' 0.00$'" if k else ""),
            (
                f"Ours against credit control's. The sum of the {n['o_gross']} column can hardly be wrong, its split "
                "can."
                if not k
                else "The split should be right by now; I show only lines that differ, "
                f"{sum(1 for v in _gaps(c, kinds[k:]).values() if v[1])} allowances if I read the first table well."
            ),
        )
        _fix(c, j, kind, path, _gaps(c, kinds[k:]))
    _finish(c, j)
