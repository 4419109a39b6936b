"""How the agent makes the register: agreements, what amends them, what is in force, and the dates that follow."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

from simulator.core.action import Command

from .._kit_documents.case import Case
from .._kit_documents.code import render
from .._kit_documents.paper import Paper
from .._kit_documents.path import Path
from .answers import AHEAD_DAYS
from .papers import agreement_path, amendment_path, notice_path
from .world import Agreement, Amendment, World

_FILES = FilePath(__file__).parent / "files"
_DAYS = r"(?:[\w-]+ \()?(\d+)\)? days"
#: field -> the patterns that the agent finds, one a way of saying it
WAYS = {
    "payment_days": ("payable within {DAYS} of receipt", "Customer pays {DAYS} after", "due {DAYS} after receipt"),
    "price_cap": (
        r"no more than ([\d.]+) per cent",
        r"exceed ([\d.]+) per cent in any",
        r"limited to ([\d.]+) per cent",
    ),
    "liability_cap": (
        r"limited to EUR ([\d,.]+) a year",
        r"up to EUR ([\d,.]+) in a contract",
        r"more than EUR ([\d,.]+) for all",
    ),
    "notice_days": ("at least {DAYS} before the end", "with notice of {DAYS}", "needs {DAYS} to the end"),
    "renewal_months": (r"extended by (\d+) months", r"for a further (\d+) months", r"further term of (\d+) months"),
}
_NAMES = {
    "payment_days": "payment",
    "price_cap": "prices",
    "liability_cap": "liability",
    "notice_days": "notice",
    "renewal_months": "renewal",
}


def tell(p: Path, world: World, case: Case) -> str:
    papers = {paper.path: paper for paper in case.papers}
    slips = set(p.r.sample(["variant", "draft", "future", "number"], {"small": 1, "medium": 2, "long": 3}[p.size]))
    _agreements(p, world, papers, "variant" in slips)
    _amendments(p, world, papers)
    _register(p, world, papers, case, slips)
    return _closing(world, case)


def _values(a: Agreement) -> dict[str, object]:
    t = a.terms
    return {
        "number": a.number,
        "partner": a.partner.short,
        "title": a.title,
        "starts": a.starts.isoformat(),
        "months": a.term_months,
        "payment": t["payment_days"],
        "notice": t["notice_days"],
        "amendments": len(a.amendments),
        "renewal": f"renewed by {t['renewal_months']} months" if t["renewal_months"] else "not renewed",
        "city": a.partner.address.city,
    }


def _module(p: Path, left_out: tuple[str, int] | None) -> str:
    lines = []
    for field, ways in WAYS.items():
        kept = [w for k, w in enumerate(ways) if (field, k) != left_out]
        lines.append(f'    "{field}": (\n' + "".join(f'        rf"{w}",\n' for w in kept) + "    ),")
    doc = "What agreements and amendments say, clause by clause."
    return render(_FILES, "agreements", p.n, doc=doc, patterns="\n".join(lines))


def _missed(world: World, papers: dict[str, Paper]) -> tuple[tuple[str, int], Agreement] | None:
    """A way of saying something that the first agreement does not use and a later one does."""
    first = papers[agreement_path(world, world.agreements[0])].text
    for a in reversed(world.agreements[1:]):
        text = papers[agreement_path(world, a)].text
        for field, ways in WAYS.items():
            for k, way in enumerate(ways):
                pattern = way.replace("{DAYS}", _DAYS)
                if re.search(pattern, text) and not re.search(pattern, first):
                    return (field, k), a
    return None


def _agreements(p: Path, world: World, papers: dict[str, Paper], slip: bool) -> None:
    p.chapter("Read the agreements")
    for k, a in enumerate(world.agreements):
        must = k == 0 or (p.size == "long" and k % 3 == 0)
        p.read("agreement_read", papers[agreement_path(world, a)], weight=0.0 if must else 2.2, **_values(a))
    missed = _missed(world, papers) if slip else None
    job, run = p.house.job(p.n["agreements"]), f"python -m {p.n['work']}.{p.n['agreements']}"
    values = _values(world.agreements[0]) | {"count": len(world.agreements)}
    p.write("agreements_write", job, _module(p, missed[0] if missed else None), **values)
    if missed:
        (field, _), a = missed
        values |= {"missed": a.number, "clause": _NAMES[field]}
    p.do("agreements_run", Command(run), saw="variant_seen" if missed else "", **values)
    if missed:
        (field, _), a = missed
        p.read("variant_read", papers[agreement_path(world, a)], weight=3.0, **values)
        p.mend("variant_mend", job, _module(p, None), **values)
        p.do("agreements_rerun", Command(run), **values)
    for a in world.agreements:
        p.do("one_look", Command(f"{run} {a.number}"), weight=0.8, **_values(a))


def _amendments(p: Path, world: World, papers: dict[str, Paper]) -> None:
    p.chapter("Read amendments and notices")
    seen = 0
    for a in world.agreements:
        for x in a.amendments:
            odd = x.state != "signed"
            weight = 0.0 if odd and not seen else 2.4 if odd or x.effective > world.day else 1.3
            seen += odd
            p.read(
                "amendment_read", papers[amendment_path(world, a, x)], weight=weight, **_values(a), **_amended(world, x)
            )
        if a.notice:
            p.read(
                "notice_read", papers[notice_path(world, a)], weight=2.0, received=a.notice.isoformat(), **_values(a)
            )
    inbox = p.n["inbox"]
    p.do(
        "amendments_list",
        Command(f"ls {inbox} | grep -c amendment; ls {inbox} | grep amendment"),
        weight=1.5,
        count=sum(len(a.amendments) for a in world.agreements),
    )


def _amended(world: World, x: Amendment) -> dict[str, object]:
    state = {
        "signed": "signed by both sides",
        "draft": "a draft without signatures",
        "unsigned": "signed by one side only",
    }[x.state]
    if x.state == "signed" and x.effective > world.day:
        state += ", but not in force yet"
    return {
        "no": x.number,
        "effective": x.effective.isoformat(),
        "changed": " and ".join(_NAMES[f] for f in x.changes),
        "state": state,
    }


def _register_module(p: Path, world: World, slips: set[str]) -> str:
    counts = [
        text
        for text, slip in (('change["signed"]', "draft"), ('change["effective"] <= DAY', "future"))
        if slip not in slips
    ]
    return render(
        _FILES,
        "register",
        p.n,
        doc="What is in force on the day asked for, and the dates that come next.",
        key_day=world.day.isoformat(),
        ahead=AHEAD_DAYS,
        counts=" and ".join(counts) or "True",
        order='a["amendment"]' if "number" in slips else '(a["effective"], a["amendment"])',
    )


def _register(p: Path, world: World, papers: dict[str, Paper], case: Case, slips: set[str]) -> None:
    p.chapter("What is in force")
    one, two, three = world.agreements[:3]
    late, early = one.amendments
    values: dict[str, object] = {
        "day": world.day.isoformat(),
        "first": one.number,
        "drafted": two.number,
        "future": three.number,
        "late": late.effective.isoformat(),
        "early": early.effective.isoformat(),
        "later": three.amendments[1].effective.isoformat(),
    }
    own = [slip for slip in ("draft", "future", "number") if slip in slips]
    job = p.house.job(p.n["register"])
    p.write("register_write", job, _register_module(p, world, set(own)), **values)
    p.run("register_run", p.n["register"], saw=f"{own[0]}_seen" if own else "", **values)
    for slip, following in zip(list(own), [*own, ""][1:], strict=True):
        own.remove(slip)
        p.mend(f"{slip}_mend", job, _register_module(p, world, set(own)), **values)
        p.run("register_rerun", p.n["register"], saw=f"{following}_seen" if following else "", **values)
    register, calendar = p.house.out("register.json"), p.house.out("calendar.csv")
    for a in p.r.sample(world.agreements, len(world.agreements)):
        p.spot(papers[agreement_path(world, a)], a.number, register, finding=_finding(a))
        e = case.results[register][a.number]
        p.do(
            "entry_look",
            Command(f"grep -nF -A20 '\"{a.number}\"' {register}"),
            weight=0.9,
            number=a.number,
            status=e["status"],
            ends=e["ends"],
            partner=a.partner.short,
        )
        for x in a.amendments:
            source = f"amendment {x.number}"
            used = [f for f, s in e["sources"].items() if s == source]
            p.read(
                "amendment_check",
                papers[amendment_path(world, a, x)],
                weight=0.5,
                **_values(a),
                **_amended(world, x),
                used=" and ".join(_NAMES[f] for f in used) or "nothing",
            )
    p.do("calendar_read", Command(f"cat {calendar}"), weight=2.0, dates=len(case.results[calendar]), **values)


def _finding(a: Agreement) -> str:
    v = _values(a)
    term = f"from {v['starts']} for {v['months']} months"
    return f"{a.number} runs {term}, {v['renewal']}, with {v['payment']} days for payment"


def _closing(world: World, case: Case) -> str:
    register = case.results[world.house.out("register.json")]
    lines = [f"The register for {world.day.isoformat()} has {len(register)} agreements.", ""]
    for number, e in register.items():
        changed = sorted({s for s in e["sources"].values() if s != "agreement"})
        until = f", notice until {e['notice_until']}" if e["notice_until"] else ""
        by = f"; changed by {', '.join(changed)}" if changed else ""
        lines.append(f"- {number} ({e['partner']}): {e['status']}, term ends {e['ends']}{until}{by}")
    waiting = [
        f"{a.number} no. {x.number}"
        for a in world.agreements
        for x in a.amendments
        if x.state != "signed" or x.effective > world.day
    ]
    lines += ["", f"Not applied, because unsigned or not yet in force: {', '.join(waiting)}."]
    lines.append(f"{len(case.results[world.house.out('calendar.csv')])} dates fall into the next {AHEAD_DAYS} days.")
    return "\n".join(lines)
