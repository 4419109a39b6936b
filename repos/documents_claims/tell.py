"""How the agent settles: conditions, messages with what is attached, then the rules, and samples against the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from simulator.core.action import Command

from .._kit_documents.case import Case
from .._kit_documents.code import render
from .._kit_documents.house import money
from .._kit_documents.paper import Paper
from .._kit_documents.path import Path
from .papers import conditions_path, mail_path, policies_path
from .world import Claim, World

_FILES = FilePath(__file__).parent / "files"
_ESTABLISHED = """        elif name.startswith("report_"):
            claim["cause"] = re.search(r"^Cause established: (.+)$", pdf_text(name, data), re.M)[1].strip()
"""
_LIMITED = '        value = min(value, LIMITS.get(item["category"], value))\n'


def tell(p: Path, world: World, case: Case, attached: Mapping[str, Sequence[Paper]]) -> str:
    papers = {paper.path: paper for paper in case.papers}
    slips = set(p.r.sample(["encoding", "cause", "years", "limit"], {"small": 1, "medium": 2, "long": 3}[p.size]))
    _terms(p, world, papers)
    _messages(p, world, papers, attached, slips)
    _assess(p, world, papers, case, attached, slips)
    return _closing(world, case)


def _terms(p: Path, world: World, papers: Mapping[str, Paper]) -> None:
    p.chapter("Read conditions and policies")
    k = world.conditions
    values = {
        "days": k.report_days,
        "late": k.late_percent,
        "floor": k.floor,
        "cash": money(k.limits["cash"]),
        "jewellery": money(k.limits["jewellery"]),
        "yearly": k.yearly["electronics"],
        "policies": len(world.policies),
    }
    p.read("conditions_read", papers[conditions_path(world)], **values)
    p.read("policies_read", papers[policies_path(world)], weight=3.0, **values)


def _values(c: Claim) -> dict[str, object]:
    work = f"an estimate of {money(sum(x for _, x in c.works))} net" if c.works else "no estimate"
    kind = "a business" if c.policy.business else "a private"
    differs = (
        f"the expert found {c.established} instead" if c.established != c.claimed else "the expert agrees on the cause"
    )
    return {
        "claim": c.number,
        "policy": c.policy.number,
        "loss": c.loss.isoformat(),
        "cause": c.claimed,
        "items": len(c.items),
        "work": work,
        "days": (c.reported - c.loss).days,
        "kind": kind,
        "differs": differs,
        "found": c.established,
        "unknown": sum(i.bought is None for i in c.items),
        "holder": c.policy.holder,
    }


def _folder(c: Claim) -> str:
    return f"tmp/{c.number.lower()}"


def _unpack(p: Path, world: World, c: Claim, attached: Sequence[Paper], *, weight: float) -> None:
    """A message's attachments, unpacked and read; all of it or nothing."""
    group, values = p.group(), _values(c)
    show = f"python {p.house.tool('show')}"
    mail = mail_path(world, c)
    p.do("mail_show", Command(f"{show} {mail}"), weight=weight, group=group, **{**values, "file": mail})
    p.do("unpack", Command(f"{show} --unpack {mail} {_folder(c)}", effects=True), weight=weight, group=group, **values)
    for part in attached:
        beat = {"l": "list_read", "r": "report_read", "e": "estimate_read"}[part.path[0]]
        p.read(beat, replace(part, path=f"{_folder(c)}/{part.path}"), weight=weight, group=group, **values)


def _mails(p: Path, slips: set[str]) -> str:
    return render(
        _FILES,
        "mails",
        p.n,
        doc="Claims as they were reported, with what is attached to the messages.",
        encoding="utf-8" if "encoding" in slips else "cp1252",
        established="" if "cause" in slips else _ESTABLISHED,
    )


def _messages(
    p: Path, world: World, papers: Mapping[str, Paper], attached: Mapping[str, Sequence[Paper]], slips: set[str]
) -> None:
    p.chapter("Read the claims and what is attached")
    p.read("mail_raw", papers[mail_path(world, world.claims[0])], weight=1.0, **_values(world.claims[0]))
    p.need_show()
    _unpack(p, world, world.claims[0], attached[world.claims[0].number], weight=6.0 if p.size == "small" else 0.0)
    for c in world.claims[1:]:
        _unpack(p, world, c, attached[c.number], weight=3.0)
    job, run = p.house.job(p.n["mails"]), f"python -m {p.n['work']}.{p.n['mails']}"
    other = next(c for c in world.claims if c.established != c.claimed)
    values = _values(other) | {"count": len(world.claims)}
    own = [slip for slip in ("encoding", "cause") if slip in slips]
    p.write("mails_write", job, _mails(p, set(own)), **values)
    p.do("mails_run", Command(run), saw=f"{own[0]}_seen" if own else "", **values)
    for slip, following in zip(list(own), [*own, ""][1:], strict=True):
        own.remove(slip)
        p.mend(f"{slip}_mend", job, _mails(p, set(own)), **values)
        p.do("mails_rerun", Command(run), saw=f"{following}_seen" if following else "", **values)
    for c in world.claims:
        p.do("items_look", Command(f"{run} {c.number} | grep -A60 '^{c.number}'"), weight=0.8, **_values(c))


def _module(p: Path, world: World, slips: set[str]) -> str:
    k = world.conditions
    birthday = " - ((loss.month, loss.day) < (bought.month, bought.day))"
    return render(
        _FILES,
        "assess",
        p.n,
        doc="What is paid for each claim, by the conditions of the policy.",
        deductible=repr(dict(k.deductible)).replace("'", '"'),
        yearly=repr(dict(k.yearly)).replace("'", '"'),
        floor=k.floor,
        limits=repr(dict(k.limits)).replace("'", '"'),
        report_days=k.report_days,
        late_percent=k.late_percent,
        policies_path=policies_path(world),
        age=f"    return loss.year - bought.year{'' if 'years' in slips else birthday}",
        limit_item=_LIMITED if "limit" in slips else "",
        limit_sum="sum(sums.values())"
        if "limit" in slips
        else "sum(min(n, LIMITS.get(category, n)) for category, n in sums.items())",
    )


def _assess(
    p: Path,
    world: World,
    papers: Mapping[str, Paper],
    case: Case,
    attached: Mapping[str, Sequence[Paper]],
    slips: set[str],
) -> None:
    p.chapter("Assess by the conditions")
    first, out = world.claims[0], p.house.out("claims.json")
    tv = first.items[0]
    assert tv.bought
    values: dict[str, object] = {
        "claim": first.number,
        "bought": tv.bought.isoformat(),
        "loss": first.loss.isoformat(),
        "goods": case.results[out][first.number]["goods"],
        "jewellery": money(world.conditions.limits["jewellery"]),
        "thing": tv.name,
    }
    own = [slip for slip in ("years", "limit") if slip in slips]
    job, module = p.house.job(p.n["assess"]), p.n["assess"]
    p.write("assess_write", job, _module(p, world, set(own)), **values)
    p.run("assess_run", module, saw=f"{own[0]}_seen" if own else "", **values)
    for slip, following in zip(list(own), [*own, ""][1:], strict=True):
        own.remove(slip)
        p.mend(f"{slip}_mend", job, _module(p, world, set(own)), **values)
        p.run("assess_rerun", module, saw=f"{following}_seen" if following else "", **values)
    queries = p.house.out("queries.csv")
    for c in p.r.sample(world.claims, len(world.claims)):
        row, more = case.results[out][c.number], _values(c)
        p.grep(
            "claim_result",
            f'"{c.number}"',
            out,
            after=10,
            weight=1.0,
            paid=row["paid"],
            reason=row["reason"] or "nothing against it",
            **more,
        )
        p.do("claim_mail", Command(f"python {p.house.tool('show')} {mail_path(world, c)} 1 30"), weight=0.8, **more)
        if c.established != c.claimed:
            p.spot(
                papers[mail_path(world, c)],
                c.number,
                out,
                finding=f"{c.number} was reported as {c.claimed}",
                weight=0.5,
            )
        if any(i.bought is None for i in c.items):
            p.grep("queries_look", c.number, queries, weight=0.6, **more)
        _by_hand(p, c, row)
    p.do("clean_tmp", Command("rm -rf tmp", effects=True), weight=0.0 if p.size != "small" else 2.0)


def _by_hand(p: Path, c: Claim, row: Mapping[str, str]) -> None:
    """The sum after deductions, with the figures of the result."""
    before = f"round({row['goods']} + {row['repair']} - {row['late']}, 2)"
    figures = f"print({before}, {row['deductible']}, '{row['reason']}')"
    p.do("by_hand", Command(f'python -c "{figures}"'), weight=0.5, paid=row["paid"], **_values(c))


def _closing(world: World, case: Case) -> str:
    rows = case.results[world.house.out("claims.json")]
    lines = [f"{len(rows)} claims are assessed:", ""]
    for number, row in rows.items():
        why = f", {row['reason']}" if row["reason"] else ""
        late = f", {row['late']} less for the late report" if row["late"] != "0.00" else ""
        lines.append(f"- {number} ({row['holder']}, {row['cause']}): {row['paid']}{why}{late}")
    changed = [c.number for c in world.claims if c.established != c.claimed]
    asked = len(case.results[world.house.out("queries.csv")])
    lines += [
        "",
        f"In {', '.join(changed)} the expert's cause differs from the holder's; the expert's was taken.",
        f"{asked} things have no date of purchase and are listed in queries.csv.",
    ]
    return "\n".join(lines)
