"""How the agent consolidates: sheets person by person, the card exports, the rates, then the rules over all of it."""

from __future__ import annotations

from pathlib import Path as FilePath

from simulator.core.action import Command
from simulator.tasks import words

from .._kit_documents.case import Case
from .._kit_documents.code import quoted, render
from .._kit_documents.house import money
from .._kit_documents.paper import Paper
from .._kit_documents.path import Path
from .papers import EXPORTS, card_path, rates_path, sheet_path
from .world import Traveller, World

_FILES = FilePath(__file__).parent / "files"


def tell(p: Path, world: World, case: Case) -> str:
    papers = {paper.path: paper for paper in case.papers}
    slips = p.r.sample(["merged", "encoding", "weekend", "cap"], {"small": 1, "medium": 2, "long": 3}[p.size])
    _sheets(p, world, papers, "merged" in slips)
    _cards(p, world, papers, "encoding" in slips)
    _total(p, world, papers, case, slips)
    return _closing(world, case)


def _sheets_module(p: Path, world: World, count: int, *, merged: bool) -> str:
    lines = []
    for column in world.travellers[0].heads:
        names = list(dict.fromkeys(t.heads[column] for t in world.travellers[:count]))
        lines.append(f"    {quoted(column)}: ({', '.join(map(quoted, names))},),")
    kind = '        kind = cell["kind"] or kind' if merged else '        kind = cell["kind"]'
    doc = "Expense sheets of our people, items and mileage."
    return render(_FILES, "sheets", p.n, doc=doc, heads="\n".join(sorted(lines)), kind_line=kind)


def _sheets(p: Path, world: World, papers: dict[str, Paper], slip: bool) -> None:
    p.chapter("Read the expense sheets")
    job, n = p.house.job(p.n["sheets"]), len(world.travellers)
    run = f"python -m {p.n['work']}.{p.n['sheets']}"
    batch, count = 1 if p.size == "small" else max(2, n // 4), 0
    for k, t in enumerate(world.travellers, 1):
        values = _values(t)
        must = k == 1 or (p.size == "long" and k % 2 == 0)
        p.read("sheet_read", papers[sheet_path(world, t)], weight=0.0 if must else 2.0, **values)
        if k != n and (k % batch or p.size == "small"):
            continue
        source = _sheets_module(p, world, k, merged=not slip)
        if not count:
            p.write("sheets_write", job, source, **values)
        elif source != _sheets_module(p, world, count, merged=not slip):
            p.mend("sheets_extend", job, source, people=k, **values)
        count = k
        if k == n:
            p.do("sheets_run", Command(run), saw="merged_seen" if slip else "", **values)
    if slip:
        p.mend("merged_mend", job, _sheets_module(p, world, n, merged=True))
        p.do("sheets_rerun", Command(run))
    for t in world.travellers:
        p.do("items_look", Command(f"{run} {t.person.last}"), weight=1.1, **_values(t))


def _values(t: Traveller) -> dict[str, object]:
    foreign = sorted({i.currency for i in t.items} - {"EUR"})
    return {
        "person": t.person.name,
        "centre": t.centre,
        "items": len(t.items),
        "foreign": ", ".join(foreign) or "no foreign money",
        "heads": ", ".join(f'"{h}"' for h in list(t.heads.values())[:4]),
        "km": sum(x.km for x in t.trips),
        "private": sum(i.private for i in t.items),
        "carded": sum(i.card for i in t.items),
    }


def _cards_module(p: Path, world: World, *, right: bool) -> str:
    lines = []
    for k in sorted({c.issuer for c in world.charges}):
        encoding, sep = (EXPORTS[k][0], EXPORTS[k][1]) if right else ("utf-8", EXPORTS[k][1])
        name = card_path(world, k).rsplit("/", 1)[-1].split("_")[0]
        lines.append(f"    {quoted(name)}: ({quoted(encoding)}, {quoted(sep)}),")
    return render(
        _FILES, "cards", p.n, doc="Card payments, from the exports of the card companies.", exports="\n".join(lines)
    )


def _cards(p: Path, world: World, papers: dict[str, Paper], slip: bool) -> None:
    p.chapter("Read the card exports")
    job, run = p.house.job(p.n["cards"]), f"python -m {p.n['work']}.{p.n['cards']}"
    notes = (
        "UTF-8 with a mark, commas, points in amounts",
        "Windows-1252, semicolons, decimal commas",
        "UTF-16, tabs, decimal commas",
    )
    used = sorted({c.issuer for c in world.charges})
    files = " ".join(card_path(world, k) for k in used)
    p.do("cards_head", Command(f"head -c 160 {files} | cat -v | head -20"), weight=2.0)
    for k in used:
        values = {"issuer": world.issuers[k], "form": notes[k]}
        p.read("card_read", papers[card_path(world, k)], weight=0.0 if k == used[0] else 1.6, **values)
    p.write("cards_write", job, _cards_module(p, world, right=not slip), exports=len(used))
    p.do("cards_run", Command(run), saw="encoding_seen" if slip else "", exports=len(used))
    if slip:
        p.mend("encoding_mend", job, _cards_module(p, world, right=True))
        p.do("cards_rerun", Command(run), exports=len(used))


def _rates_module(p: Path, world: World, *, right: bool) -> str:
    search = "    while day not in known:\n        day -= timedelta(days=1)\n" if right else ""
    or_before = " or of the last one before that has one" if right else ""
    doc = "Foreign money in euros, at the reference rates."
    return render(_FILES, "rates", p.n, doc=doc, rates_path=rates_path(world), or_before=or_before, search=search)


def _total_module(p: Path, world: World, *, cap: bool) -> str:
    private = '        if item["private"]:\n            continue\n'
    key, loop = (
        ('item["day"]', 'item in person["items"]') if cap else ("number", 'number, item in enumerate(person["items"])')
    )
    return render(
        _FILES,
        "total",
        p.n,
        doc="What everybody gets back, what the cards paid, what no sheet explains.",
        cap=world.cap_cents,
        loop=loop,
        private=private,
        meal_key=key,
    )


def _total(p: Path, world: World, papers: dict[str, Paper], case: Case, slips: list[str]) -> None:
    p.chapter("Convert, apply the rules, add up")
    first = world.travellers[0]
    sunday = next(i for i in first.items if i.kind == "hotel" and i.currency == "CHF" and i.day.weekday() == 6)
    values: dict[str, object] = {
        "cap": money(world.cap_cents),
        "sunday": sunday.day.isoformat(),
        "person": first.person.name,
        "cut": case.results[world.house.out("expenses.json")][first.person.name]["cut"],
    }
    p.read("rates_read", papers[rates_path(world)], weight=0.0 if p.size != "small" else 3.0, **values)
    rates, total = p.house.job(p.n["rates"]), p.house.job(p.n["total"])
    p.write("rates_write", rates, _rates_module(p, world, right="weekend" not in slips), **values)
    p.write("total_write", total, _total_module(p, world, cap="cap" not in slips), **values)
    seen = "weekend_seen" if "weekend" in slips else "cap_seen" if "cap" in slips else ""
    p.run("total_run", p.n["total"], saw=seen, **values)
    if "weekend" in slips:
        p.mend("weekend_mend", rates, _rates_module(p, world, right=True), **values)
        p.run("total_rerun", p.n["total"], saw="cap_seen" if "cap" in slips else "", **values)
    if "cap" in slips:
        p.mend("cap_mend", total, _total_module(p, world, cap=True), **values)
        p.run("total_again", p.n["total"], **values)
    out, missing = p.house.out("expenses.json"), p.house.out("missing.csv")
    for t in p.r.sample(world.travellers, len(world.travellers)):
        p.spot(papers[sheet_path(world, t)], t.person.name, out, finding=_finding(t))
        p.grep(
            "missing_look",
            t.person.name,
            missing,
            weight=1.0 if _unclaimed(world, t) else 0.01,
            person=t.person.name,
            left=_unclaimed(world, t),
        )
    searched = [c for c in world.charges if EXPORTS[c.issuer][0] != "utf-16"]  # searches pass that one over
    for c in p.r.sample(searched, min(len(searched), 3 if p.size != "long" else 24)):
        p.search(
            "merchant_search",
            words.say(p.r, c.merchant).replace(".", r"\."),
            card_path(world, c.issuer),
            weight=0.7,
            merchant=c.merchant,
            holder=c.holder,
            amount=f"{money(c.cents)} {c.currency}",
            claimed="an item in the sheet goes with it" if c.claimed else "no sheet has an item for it",
        )
    p.do("missing_count", Command(f"wc -l {missing}"), weight=1.0, left=sum(not c.claimed for c in world.charges))


def _unclaimed(world: World, t: Traveller) -> int:
    return sum(not c.claimed and c.holder == t.person.name for c in world.charges)


def _finding(t: Traveller) -> str:
    v = _values(t)
    parts = f"{v['private']} of them private and {v['carded']} on a card"
    return f"{v['person']} has {v['items']} items, {parts}, and {v['km']} km"


def _closing(world: World, case: Case) -> str:
    rows = case.results[world.house.out("expenses.json")]
    lines = [f"The sheets of {len(rows)} people are consolidated:", ""]
    for name, row in rows.items():
        cut = f", {row['cut']} above the limit for meals" if row["cut"] != "0.00" else ""
        lines.append(f"- {name} ({row['cost_centre']}): gets back {row['reimburse']}, cards paid {row['card']}{cut}")
    left = len(case.results[world.house.out("missing.csv")])
    lines += [
        "",
        f"{left} card payments have no item in any sheet; they are listed in missing.csv.",
        "The totals printed in the sheets mix currencies and were not used.",
    ]
    return "\n".join(lines)
