"""How the agent comes to the fund returns: flows, script, statement, a sign or a cut-off put right."""

from __future__ import annotations

from ..._kit_finance.arith import shown
from ..._kit_finance.journal import Journal
from . import own_tests
from .house import policy_path
from .remarks import on_returns
from .returns import Position, Returns, measure
from .texts import render


def _out(c: Returns, fees: bool) -> str:
    n = c.n
    return f'("{n["w_call"]}", "{n["w_fee"]}")' if fees else f'("{n["w_call"]}",)'


def _cut(c: Returns) -> str:
    return "        if day > YEAR_END:\n            continue\n"


def _pct(c: Returns, p: Position) -> str:
    return f"{100 * c.right[p.slug].irr:.4f} %"


def _mistakes(c: Returns) -> list[str]:
    late = [p for p in c.positions if p.flows[-1][0] > c.w.year_end]
    kinds = ["fees"] + (["cut"] if late else [])
    return kinds if c.w.size == "long" else [c.w.part("returns mistakes").choice(kinds)]


def _study(c: Returns, j: Journal) -> None:
    n = c.n
    listed = j.optional()
    if listed:
        j.list(
            n["folder"],
            (
                "«The fund positions have a folder of their own|Now the holdings». Before opening anything in "
                f"{n['folder']} I want the file names, because the result is keyed by them: the request speaks of "
                f"{len(c.positions)} positions and {n['file_out']} «has to have just as many entries|must not miss "
                "one»."
            ),
        )
    count = c.w.part("files read").randint(1, 3) + (not j.style.echo_after_edit) if c.w.size != "long" else 5
    files: list[tuple[str, str]] = []
    before: Position | None = None
    for p in c.positions[:count]:
        if before is None:
            say = (
                f"«{'As announced|There they are' if listed else 'Now the holdings|The fund positions next'}»: "
                f"{len(c.positions)} files. I start with {p.name}: «does the file carry signs|are amounts signed», "
                f"how are `{n['w_fee']}` lines marked, and is anything dated after {c.w.year_end}?"
            )
        else:
            calls = [x for x in before.flows if x[1] == "call"]
            say = (
                f"{before.slug} opens with {shown(before.flows[0][2])} on {before.flows[0][0]} and has {len(calls)} "
                f"entries of kind {n['w_call']}, the last {calls[-1][3]} over {shown(calls[-1][2])}; its {n['w_nav']} "
                f"is {shown(next(x[2] for x in before.flows if x[1] == 'nav'))}. «The next file, to see whether the "
                f"layout holds|One more of them, for comparison»: {p.slug}."
            )
        files.append((f"{n['folder']}/{p.slug}.csv", say))
        before = p
    j.read_set(files)
    assert before is not None
    j.remember(on_returns(c))
    late = [p for p in c.positions if p.flows[-1][0] > c.w.year_end]
    when = late[0].flows[-1][0] if late else c.w.year_end
    pattern = f"{when.year}-{when.month:02d}-" if late else n["w_nav"]
    if not j.optional():
        return
    j.search(
        pattern,
        (
            f"In {before.slug} the {n['w_fee']} lines add up to "
            f"{shown(sum(x[2] for x in before.flows if x[1] == 'fee'))}, too much to be careless with. «What about "
            "the tail|One more property matters»: which files carry lines around or after the reporting date? I "
            f"search for {pattern} in all of them instead of reading every file to its end."
        ),
        n["folder"],
        "*.csv",
    )


def _gap(c: Returns, kinds: list[str]) -> list[tuple[Position, str, int]]:
    """(position, key, ours minus statement) for what differs while these mistakes stand."""
    found = []
    for p in c.positions:
        wrong = measure(p, c.w, c.hurdle, fees="fees" not in kinds, cut="cut" not in kinds)
        for key in ("paid", "back"):
            gap = getattr(wrong, key) - getattr(c.right[p.slug], key)
            if gap:
                found.append((p, key, gap))
    return found


def _fix(c: Returns, j: Journal, kind: str, path: str, found: list[tuple[Position, str, int]]) -> None:
    n = c.n
    if kind == "fees":
        p, _, gap = next(x for x in found if x[1] == "paid")
        j.edit(
            path,
            (
                f"{n['o_paid']} of {p.slug} is short by {shown(-gap)}, «which is exactly|and that is to the cent» the "
                f"sum of its {n['w_fee']} lines: I treated them as money coming back. The policy counts a "
                f"{n['w_fee']} as paid-in, so it belongs in OUTFLOWS, and both multiples and the rate will fall."
            ),
            (f"OUTFLOWS = {_out(c, False)}\n", f"OUTFLOWS = {_out(c, True)}\n"),
        )
    else:
        p, _, gap = next(x for x in found if x[1] == "back")
        j.edit(
            path,
            (
                f"{p.slug} shows {shown(gap)} too much in {n['o_back']}. The file ends with {p.flows[-1][3]} on "
                f"{p.flows[-1][0]}, after {c.w.year_end}: «I let next year's payout in|a posting of the new year». "
                f"`{n['f_flows']}` has to skip such lines, otherwise the rate is flattered as well."
            ),
            (
                f'        day = date.fromisoformat({n["row"]}["{n["k_day"]}"])\n',
                f'        day = date.fromisoformat({n["row"]}["{n["k_day"]}"])\n{_cut(c)}',
            ),
            again=f"A quick look at `{n['f_flows']}` as it is now; the {n['w_nav']} of {p.slug} on {c.w.year_end} "
            "itself must survive the cut.",
        )


def _finish(c: Returns, j: Journal) -> None:
    n = c.n
    if j.optional(2):
        own_tests.on_returns(c, j)
    best = max(c.positions, key=lambda p: c.right[p.slug].irr)
    j.run(
        f"python3 -m {n['calc']}.{n['mod_check']} --{n['opt_brief']} | tail -n 5 && python3 "
        f"-m {n['calc']}.{n['mod_returns']} --{n['opt_write']} "
        f"{n['file_out']}",
        (
            f"With that the comparison must be empty of gaps, and I write {n['file_out']} in the same go. By my "
            f"estimate {best.name} leads with about {_pct(c, best)}, {n['o_tvpi']} {c.right[best.slug].tvpi}."
        ),
        effects=True,
    )
    p = c.positions[len(c.positions) // 2]
    if not j.optional():
        j.tick(c.label)
        return
    j.run(
        j.short(f"python3 -m {n['calc']}.{n['mod_returns']} --{n['opt_flows']} {p.slug}", "| tail -n 12"),
        (
            "All paid-in and distributed totals agree. A last look at one position with signs and a running balance, "
            f"{p.name}: {_pct(c, p)} is only credible if early outflows carry most of the "
            f"{shown(c.right[p.slug].paid)} and the {n['w_nav']} closes the list."
        ),
    )
    if c.w.size == "long":
        _second_method(c, j, p)
    j.tick(c.label)


def play(c: Returns, j: Journal) -> None:
    n, kinds = c.n, _mistakes(c)
    _study(c, j)
    path, check = f"{n['calc']}/{n['mod_returns']}.py", f"{n['calc']}/{n['mod_check']}.py"
    j.section(
        policy_path(c.w),
        c.title(),
        (
            "Before I decide on signs I look up the policy's words on them: what counts as paid-in, what a "
            f"{n['w_fee']} is, and where the {n['w_nav']} goes. {c.positions[0].slug} has all of these, and "
            f"{n['o_irr']} is only as good as the signs."
        ),
    )
    names = n | {"outflows": _out(c, "fees" not in kinds), "line_cut": "" if "cut" in kinds else _cut(c)}
    j.write(
        path,
        render(j.r, "returns.py", names),
        (
            "The layout is the same everywhere, so one reader will do. I solve the rate with Newton steps, held "
            f"inside a bracket so that a losing position cannot run away, and take the {n['o_npv']} at {n['hurdle']} "
            "in Decimal, since it is wanted to the cent; the rate itself only needs six decimals."
        ),
    )
    first, last = c.positions[0], c.positions[-1]
    j.run(
        f"python3 -m {n['calc']}.{n['mod_returns']}",
        (
            f"«Now a run over all files|First figures»: {first.slug} to {last.slug}. A rate near the bracket's ends "
            "or a multiple below zero would tell me that a sign is wrong; everything else needs the statement."
        ),
    )
    j.read(
        n["statement"],
        (
            f"The output has all {len(c.positions)} positions. «Before I believe it|Next the other side»: "
            f"{n['statement'].rsplit('/', 1)[1]}, with `{n['s_paid']}` and `{n['s_back']}` from the managers. These "
            "two totals test the signs; the rate follows from them."
        ),
    )
    j.write(
        check,
        render(j.r, "returns_check.py", n),
        (
            f"{first.name} should come to {shown(c.right[first.slug].paid)} paid and "
            f"{shown(c.right[first.slug].back)} returned. «I set both sides next to each other in a short script|A "
            "short comparison script» that prints every gap, so that I can rerun it after each change."
        ),
    )
    for k, kind in enumerate(kinds):
        j.run(
            j.short(f"python3 -m {n['calc']}.{n['mod_check']}", f"--{n['opt_brief']}") + (" | tail -n 9" if k else ""),
            (
                f"«Ours against theirs|Statement against flows», {2 * len(c.positions)} lines."
                if not k
                else f"One reason is out of the way; what remains should be only {len(_gap(c, kinds[k:]))} "
                "lines of one "
                "kind."
            )
            + f" The last of them, {last.slug}, has {shown(c.right[last.slug].back)} on the managers' side.",
        )
        _fix(c, j, kind, path, _gap(c, kinds[k:]))
    _finish(c, j)


def _second_method(c: Returns, j: Journal, p: Position) -> None:
    n = c.n
    module = f"{n['calc']}.{n['mod_returns']}"
    j.run(
        f"python3 -c \"from {module} import *; f = {n['f_flows']}(FOLDER / '{p.slug}.csv'); r = {n['f_irr']}(f); "
        f"print(r, {n['f_npv']}(f, r), {n['f_npv']}(f, r + Decimal('1e-6')))\"",
        (
            f"To have the rate confirmed by another road I discount {p.slug} in Decimal at its own {n['o_irr']}: the "
            "value has to vanish to within a few cents, and a millionth more must turn it negative. Newton worked in "
            f"floats, so this is a true second opinion on {_pct(c, p)}."
        ),
    )
    j.read(
        n["file_out"],
        (
            f"The discounted value at {_pct(c, p)} vanishes as it should. Then the file itself, to see that "
            f"{n['o_irr']} has its decimals and that {n['o_dpi']} of {p.slug} is stored as {c.right[p.slug].dpi}, "
            "four places, not rounded away."
        ),
    )
