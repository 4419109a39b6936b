"""How the agent rolls the asset register forward and agrees it with the ledger."""

from __future__ import annotations

from ..._kit_finance.arith import plain, shown
from ..._kit_finance.journal import Journal
from .assets import Asset, Assets, by_class, written
from .house import policy_path
from .texts import render


def _stop(c: Assets) -> str:
    n = c.n
    return (
        f"    if {n['f_gone']}(asset, day):\n"
        f'        return date.fromisoformat(asset["{n["k_out"]}"]).replace(day=1) - timedelta(days=1)\n'
    )


def _low(c: Assets) -> str:
    return "    if cost <= LOW_VALUE:\n        return cost\n"


def _gaps(c: Assets, kinds: list[str]) -> list[tuple[str, str, int]]:
    """(class, key, ours minus ledger) while these mistakes stand."""
    wrong = by_class(c.assets, c.w, c.threshold, c.lag, stop="stop" not in kinds, low="low" not in kinds)
    found = []
    for name, x in c.right.items():
        y = wrong[name]
        for key, mine in (("cost", y["cost"]), ("opening", y["opening"]), ("written", y["written"])):
            if mine != x[key]:
                found.append((name, key, mine - x[key]))
    return found


def _notes(c: Assets) -> list[str]:
    w, n, found = c.w, c.n, []
    for a in c.assets[::2]:
        if a.out:
            found.append(
                f"{a.id}, a {a.text} for {shown(a.cost)}, «left on|went on» {a.out} for {shown(a.proceeds)}"
                + (
                    ", «before the year began, so it must not appear at all|already last year, hence no movement»."
                    if a.out <= w.prev_end
                    else ", «so its year ends a month earlier|and its depreciation with it»."
                )
            )
        elif a.cost <= c.threshold:
            found.append(
                f"{a.id} ({a.text}) cost {shown(a.cost)}, «below|under» the {n['threshold']} of the policy, «gone at "
                "once|no plan needed»."
            )
        else:
            now, before = (written(a, d, w, threshold=c.threshold, lag=c.lag) for d in (w.year_end, w.prev_end))
            found.append(
                f"«For the memory|As a sample»: {a.id}, {a.text}, {shown(a.cost)} over {a.life} months since {a.since}"
                + (f", {shown(a.residual)} left at the end" if a.residual else "")
                + f"; «a month is|that makes» {shown(w.cents((a.cost - a.residual) // a.life))} «a month|» «and|, so» "
                f"{shown(now - before)} for the year."
            )
    return found


def _kinds(c: Assets) -> list[str]:
    kinds = [k for k in ("low", "stop") if _gaps(c, [k])]
    return c.w.part("asset mistakes").sample(kinds, len(kinds))


def _fix(c: Assets, j: Journal, kind: str, path: str, gaps: list[tuple[str, str, int]]) -> None:
    n = c.n
    name, key, gap = gaps[0]
    if kind == "low":
        small = [a for a in c.assets if a.cost <= c.threshold]
        head = f"    months, life = {n['f_months']}("
        j.edit(
            path,
            (
                f"{name}: {n['o_' + key]} is {shown(gap)} away, and "
                f"{'the other classes lean the same way' if len(gaps) > 1 else 'nothing else is'}. {len(small)} items "
                f"cost {n['threshold']} or less, {small[0].id} with {shown(small[0].cost)} among them, and I spread "
                "them over their lives instead of writing them off at once. `LOW_VALUE` is defined but never used."
            ),
            (head, _low(c) + head),
            again=f"The place in `{n['f_written']}` once more; the low-value branch has to come after "
            "the date test, or "
            f"an item bought after {c.w.prev_end} would be written off too early.",
        )
    else:
        gone = [a for a in c.assets if a.out and c.w.prev_end < a.out <= c.w.year_end]
        place = '    """«x»'
        text = j.files[path]
        start = text.index(f"def {n['f_last']}(")
        place = text[start : text.index("    return day\n", start) + len("    return day\n")]
        j.edit(
            path,
            (
                f"What is left sits in {name} ({shown(gap)} in "
                f"{n['o_' + key]}){' and others' if len(gaps) > 1 else ''}. Disposals, then: {len(gone)} items left "
                f"during the year, for example {gone[0].id} on {gone[0].out}, and `{n['f_last']}` still returns the "
                "reporting date for them. It has to be the last day of the month before they went."
            ),
            (place, place.replace("    return day\n", _stop(c) + "    return day\n")),
            again=f"`{n['f_last']}` in its final form: for {gone[0].id} it must give the last day before "
            f"{gone[0].out.replace(day=1)}.",
        )


def _disposals(c: Assets) -> list[Asset]:
    return [a for a in c.assets if a.out and c.w.prev_end < a.out <= c.w.year_end]


def _script(c: Assets, j: Journal, kinds: list[str], path: str) -> None:
    n, base = c.n, c.n["folder"] + "/"
    j.read(
        base + n["file_register"],
        (
            f"«Fixed assets are next.|Then the asset register.» {len(c.assets)} lines, which I want to see once in "
            f"full: classes, `{n['k_residual']}` values, and how a disposal looks, since `{n['k_out']}` and "
            f"`{n['k_proceeds']}` will be empty for most of them. The policy lets a month of purchase "
            f"{'not count' if c.lag else 'count in full'}."
        ),
    )
    j.remember(_notes(c))
    gone = _disposals(c)
    j.search(
        f"{gone[0].out}|{gone[-1].out}|{gone[0].id}",
        (
            f"The classes are {', '.join(c.right)}. By my count {len(gone)} items left within the year, {gone[0].id} "
            f"on {gone[0].out} first in the list. «I search for its line and a later one|A search for two of them» "
            "shows whether the proceeds are gross amounts or already a result."
        ),
        c.n["folder"],
        "*.csv",
    )
    j.section(
        policy_path(c.w),
        c.title(),
        (
            f"{gone[-1].id} left for {shown(gone[-1].proceeds)}, which is a price and not a result. Before writing I "
            "look up how the policy treats the month of a disposal and what it calls low value "
            f"({n['threshold']} {c.w.currency} if I remember well)."
        ),
    )
    names = n | {"line_stop": "" if "stop" in kinds else _stop(c), "line_low": "" if "low" in kinds else _low(c)}
    j.write(
        path,
        render(j.r, "assets.py", names),
        (
            f"Proceeds are plain amounts. I write the movement per asset and add up by `{n['k_class']}`: "
            f"{n['o_opening']} at {c.w.prev_end}, {n['o_charge']} as a difference of two accumulated amounts, so that "
            "rounding can never drift, and disposals released from both."
        ),
    )


def _finish(c: Assets, j: Journal) -> None:
    n, first = c.n, next(iter(c.right))
    last = max(c.right, key=lambda k: abs(c.right[k]["result"]))
    j.run(
        j.short(f"python3 -m {n['calc']}.{n['mod_assets']} --{n['opt_class']} {last}", "| tail -n 22"),
        (
            f"Before I look at the totals again, the items of {last}, where the disposals weigh most "
            f"({shown(c.right[last]['result'])} by my reckoning). Columns: remaining cost, opening, charge, released, "
            "result."
        ),
    )
    j.run(
        f"python3 -m {n['calc']}.{n['mod_check']} | tail -n 1; python3 -m {n['calc']}.{n['mod_assets']} "
        f"--{n['opt_write']} {n['file_out']} > /dev/null && head -c 600 {n['file_out']}",
        (
            f"The list is consistent, no asset with more depreciation than cost. I write {n['file_out']}, show its "
            f"beginning and only the verdict of the comparison; {n['o_book']} of {first} has to be "
            f"{shown(c.right[first]['book'])}."
        ),
        effects=True,
    )
    a = next(x for x in c.assets if not x.out and x.cost > c.threshold)
    value = written(a, c.w.year_end, c.w, threshold=c.threshold, lag=c.lag)
    j.run(
        f'python3 -c "from {n["calc"]}.{n["mod_assets"]} import *; a = next(x for x in '
        f"{n['f_rows']}(REGISTER) if x['{n['k_id']}'] == '{a.id}'); print({n['f_written']}(a, YEAR_END), "
        f'{n["f_written"]}(a, PREVIOUS), {n["f_move"]}(a))"',
        (
            f"A spot check on one live item, {a.id}, {a.text}: by hand I get {plain(value)} written off at "
            f"{c.w.year_end}, from {shown(a.cost - a.residual)} over {a.life} months with the purchase month "
            f"{'left out' if c.lag else 'counted'}."
        ),
    )
    j.tick(c.label)


def play(c: Assets, j: Journal) -> None:
    n, kinds = c.n, _kinds(c)
    path, check = f"{n['calc']}/{n['mod_assets']}.py", f"{n['calc']}/{n['mod_check']}.py"
    _script(c, j, kinds, path)
    first = next(iter(c.right))
    j.run(
        f"python3 -m {n['calc']}.{n['mod_assets']}",
        (
            f"«First totals by class|A run for the totals». {first} should have a cost of "
            f"{shown(c.right[first]['cost'])} at the end, which needs no depreciation at all to be right; the rest I "
            "judge against the ledger."
        ),
    )
    j.read(
        f"{n['folder']}/{n['file_ledger']}",
        (
            f"Cost of {first} is what I expected. Now {n['file_ledger']}, «three balances a class|which has three "
            "balances for each class»; the opening one is the most useful, since only old assets and the method can "
            "move it."
        ),
    )
    j.write(
        check,
        render(j.r, "assets_check.py", n),
        (
            f"The ledger has {shown(c.right[first]['written'])} of depreciation on {first}. With {3 * len(c.right)} "
            "balances I let a script compare, naming class and figure of each difference at the end, six at most."
        ),
    )
    for k, kind in enumerate(kinds):
        j.run(
            f"python3 -m {n['calc']}.{n['mod_check']}" + (" | sort -k5 | tail -n 14" if k else ""),
            (
                f"Register against ledger, all of {', '.join(c.right)}."
                if not k
                else "Once more after the change, sorted this time so that lines of one kind stand together; "
                f"{len(_gaps(c, kinds[k:]))} differences should remain."
            ),
        )
        only = [g for g in _gaps(c, kinds[k:]) if any(g[:2] == x[:2] for x in _gaps(c, [kind]))]
        _fix(c, j, kind, path, only)
    _finish(c, j)
