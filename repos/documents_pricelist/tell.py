"""How the agent makes the list: pages first, the letters, then rules and exceptions over both."""

from __future__ import annotations

from pathlib import Path as FilePath

from simulator.core.action import Command

from .._kit_documents.case import Case
from .._kit_documents.code import render
from .._kit_documents.house import money
from .._kit_documents.paper import Paper
from .._kit_documents.path import Path
from .papers import letter_path, page_path
from .world import Article, Group, Maker, World, discount_of

_FILES = FilePath(__file__).parent / "files"


def tell(p: Path, world: World, case: Case) -> str:
    papers = {paper.path: paper for paper in case.papers}
    slips = set(p.r.sample(["nested", "struck", "per", "dates"], {"small": 1, "medium": 2, "long": 3}[p.size]))
    _pages(p, world, papers, slips)
    _letters(p, world, papers)
    _prices(p, world, papers, case, slips)
    return _closing(world, case)


def _catalogue(p: Path, slips: set[str]) -> str:
    struck = "" if "struck" in slips else '        elif self._at == "s":\n            pass  # a former price\n'
    return render(
        _FILES,
        "catalogue",
        p.n,
        doc="Articles on the catalogue pages of our manufacturers.",
        struck=struck,
        own_table="self._open" if "nested" in slips else "self.inside()",
        per="1" if "per" in slips else '100 if "per 100" in price else 1',
    )


def _pages(p: Path, world: World, papers: dict[str, Paper], slips: set[str]) -> None:
    p.chapter("Read the catalogue pages")
    for m in world.makers:
        for k, groups in enumerate(m.pages):
            must = m is world.makers[0] and k == 0
            p.read("page_read", papers[page_path(world, m, k)], weight=0.0 if must else 1.6, **_values(m, groups))
    own = slips & {"nested", "struck", "per"}
    job, run = p.house.job(p.n["catalogue"]), f"python -m {p.n['work']}.{p.n['catalogue']}"
    p.write("catalogue_write", job, _catalogue(p, own))
    p.do(
        "catalogue_run",
        Command(run),
        weight=0.0 if p.size != "small" else 2.0,
        pages=sum(len(m.pages) for m in world.makers),
    )
    maker = world.makers[0]
    group = maker.pages[0][0]
    samples = [a.code for a in group.articles[:3]]
    old = group.articles[1]
    values = {
        "hundred": samples[0],
        "reduced": samples[1],
        "requested": samples[2],
        "maker": maker.company.short,
        "old": money(old.old_cents),
        "now": money(old.list_cents),
    }
    order = [slip for slip in ("nested", "struck", "per") if slip in own]
    p.do("samples_run", Command(f"{run} {' '.join(samples)}"), saw=f"{order[0]}_seen" if order else "", **values)
    for slip, following in zip(order, [*order, ""][1:], strict=True):
        own.discard(slip)
        p.mend(f"{slip}_mend", job, _catalogue(p, own), **values)
        shown = " ".join(p.r.sample(samples, len(samples)))
        p.do("samples_rerun", Command(f"{run} {shown}"), saw=f"{following}_seen" if following else "", **values)
    for m in world.makers[1:]:
        codes = [a.code for g in m.groups() for a in g.articles[:2]][:4]
        p.do(
            "codes_look",
            Command(f"{run} {' '.join(codes)} | grep -v catalogue"),
            weight=0.9,
            maker=m.company.short,
            number=len(codes),
        )


def _values(m: Maker, groups: tuple[Group, ...]) -> dict[str, object]:
    articles = [a for g in groups for a in g.articles]
    return {
        "maker": m.company.short,
        "articles": len(articles),
        "groups": " and ".join(f'"{g.name}"' for g in groups),
        "old": sum(bool(a.old_cents) for a in articles),
        "hundreds": sum(a.per == 100 for a in articles),
        "requests": sum(a.on_request for a in articles),
        "city": m.company.address.city,
    }


def _letters(p: Path, world: World, papers: dict[str, Paper]) -> None:
    p.chapter("Read the conditions")
    for k, m in enumerate(world.makers):
        values = {
            "maker": m.company.short,
            "default": m.default_percent,
            "specials": len(m.specials),
            "dropped": len(m.dropped),
            "fixed": ", ".join(g.name for g in m.groups() if g.fixed) or "none",
            "first": m.specials[0].code,
            "until": m.specials[0].last.isoformat(),
        }
        p.read("letter_read", papers[letter_path(world, m)], weight=0.0 if not k or p.size == "long" else 4.0, **values)
    p.write(
        "terms_write",
        p.house.job(p.n["terms"]),
        render(_FILES, "terms", p.n, doc="Conditions that manufacturers gave us."),
    )
    run = Command(f"python -m {p.n['work']}.{p.n['terms']}")
    p.do("terms_run", run, weight=0.0 if p.size != "small" else 3.0, makers=len(world.makers))


def _price_module(p: Path, world: World, *, dates: bool) -> str:
    return render(
        _FILES,
        "price",
        p.n,
        doc="Our price list, from pages and conditions.",
        valid_on=world.day.isoformat(),
        step=world.step_cents,
        markup=repr(list(world.markup)),
        in_time=" and special[1] <= DAY <= special[2]" if dates else "",
    )


def _prices(p: Path, world: World, papers: dict[str, Paper], case: Case, slips: set[str]) -> None:
    p.chapter("Apply conditions and exceptions")
    maker = world.makers[0]
    ended, later = maker.specials[0], maker.specials[1]
    values: dict[str, object] = {
        "ended": ended.code,
        "until": ended.last.isoformat(),
        "later": later.code,
        "day": world.day.isoformat(),
        "maker": maker.company.short,
        "step": money(world.step_cents),
    }
    job, slip = p.house.job(p.n["price"]), "dates" in slips
    p.write("price_write", job, _price_module(p, world, dates=not slip), **values)
    p.run("price_run", p.n["price"], **values)
    prices, left = p.house.out("prices.csv"), p.house.out("left_out.csv")
    p.grep("ended_look", ended.code, prices, weight=0.0 if slip else 2.5, saw="dates_seen" if slip else "", **values)
    if slip:
        p.mend("dates_mend", job, _price_module(p, world, dates=True), **values)
        p.run("price_rerun", p.n["price"], **values)
    rows = {row["code"]: row for row in case.results[prices]}
    chosen = [(m, g, k, a) for m in world.makers for k, page in enumerate(m.pages) for g in page for a in g.articles]
    chosen = p.r.sample(chosen, min(len(chosen), 8 if p.size != "long" else 40))
    for m, g, k, a in chosen:
        where = prices if a.code in rows else left
        p.spot(papers[page_path(world, m, k)], a.code, where, finding=_finding(m, g, a), weight=0.5)
        p.grep(
            "code_search",
            a.code,
            papers[page_path(world, m, k)].path,
            where,
            weight=0.9,
            code=a.code,
            maker=m.company.short,
            fact=_finding(m, g, a),
        )
    for m in world.makers:
        p.grep("dropped_look", m.dropped[0], prices, left, weight=1.0, code=m.dropped[0], maker=m.company.short)
    count = f"cut -d, -f8 {prices} | sort | uniq -c"
    p.do("basis_count", Command(count), weight=1.2)


def _finding(m: Maker, g: Group, a: Article) -> str:
    if a.on_request:
        return f'{a.code} has no price, only "on request"'
    per = " per 100" if a.per == 100 else ""
    old = f" (formerly {money(a.old_cents)})" if a.old_cents else ""
    special = next((f", with a special price until {s.last.isoformat()}" for s in m.specials if s.code == a.code), "")
    dropped = ", no longer delivered" if a.code in m.dropped else ""
    return f"{a.code} lists at {money(a.list_cents)}{per}{old} in {g.name}, {discount_of(m, g)} % off{special}{dropped}"


def _closing(world: World, case: Case) -> str:
    rows = case.results[world.house.out("prices.csv")]
    left = case.results[world.house.out("left_out.csv")]
    lines = [f"The list for {world.day.isoformat()} has {len(rows)} articles of {len(world.makers)} manufacturers.", ""]
    for m in world.makers:
        own = [row for row in rows if row["maker"] == m.company.name]
        special = sum(row["basis"] == "special" for row in own)
        lines.append(f"- {m.company.name}: {len(own)} articles, {special} at a special net price")
    requested = sum(row["reason"] == "on request" for row in left)
    lines += [
        "",
        f"Left out: {requested} on request and {len(left) - requested} no longer delivered, see left_out.csv.",
    ]
    lines.append("Special prices that ended before that day or begin later were not used.")
    return "\n".join(lines)
