"""How the agent works through the minute book: clean text, items, and the state that follows from them."""

from __future__ import annotations

from pathlib import Path as FilePath

from simulator.core.action import Command, ReadFile

from .._kit_documents.case import Case
from .._kit_documents.code import render
from .._kit_documents.paper import Paper
from .._kit_documents.path import Path
from .papers import volume_path
from .world import Meeting, World

_FILES = FilePath(__file__).parent / "files"
_PAGES = r"""    text = re.sub(r"(?:^|\n\n)[^\n]*Folio +\d+\n_+\n", "\n", text)
"""
_NUMBER = '    return int(text.replace("O", "0").replace("l", "1"))'


def tell(p: Path, world: World, case: Case) -> str:
    papers = {paper.path: paper for paper in case.papers}
    slips = set(p.r.sample(["page", "ocr", "refused", "quorum"], {"small": 1, "medium": 2, "long": 3}[p.size]))
    _reading(p, world, papers)
    _items(p, world, slips)
    _state(p, world, case, slips)
    return _closing(world, case)


def _book(p: Path, slips: set[str]) -> str:
    return render(
        _FILES,
        "book",
        p.n,
        doc="The minute book as data: meetings and the items that concern shares and offices.",
        pages="" if "page" in slips else _PAGES,
        number="    return int(text)" if "ocr" in slips else _NUMBER,
    )


def _reading(p: Path, world: World, papers: dict[str, Paper]) -> None:
    p.chapter("Read the minute book")
    for k, volume in enumerate(world.volumes):
        values = {
            "first": volume[0].number,
            "last": volume[-1].number,
            "volume": k + 1,
            "from": volume[0].day.isoformat(),
            "firm_name": world.company.short,
        }
        p.read(
            "volume_read", papers[volume_path(world, k)], weight=0.0 if k == 0 or p.size == "long" else 2.6, **values
        )
    book = f"{p.n['inbox']}/minutes_volume_*.txt"
    p.search(
        "corrections_search",
        "were read and corrected",
        book,
        weight=2.0,
        corrected=sum(bool(m.corrects) for m in world.meetings),
    )
    p.do("heads_look", Command(f"grep -c Folio {book}; grep -h Folio {book} | head -3"), weight=1.5)
    p.search("refused_search", r"not carried|was lost", book, weight=1.6)


def _items(p: Path, world: World, slips: set[str]) -> None:
    p.chapter("Turn the text into items")
    job, run = p.house.job(p.n["book"]), f"python -m {p.n['work']}.{p.n['book']}"
    own = [slip for slip in ("ocr", "page") if slip in slips]
    values = {"meetings": len(world.meetings), "volumes": len(world.volumes)}
    p.write("book_write", job, _book(p, set(own)), **values)
    p.do("book_run", Command(run), saw=f"{own[0]}_seen" if own else "", **values)
    for slip, following in zip(list(own), [*own, ""][1:], strict=True):
        own.remove(slip)
        p.mend(f"{slip}_mend", job, _book(p, set(own)), **values)
        p.do("book_rerun", Command(run), saw=f"{following}_seen" if following else "", **values)
    for m in p.r.sample(
        world.meetings, min(len(world.meetings), 4 if p.size == "small" else 9 if p.size == "medium" else 34)
    ):
        k = next(k for k, volume in enumerate(world.volumes) if m in volume)
        group = p.group()
        values = {"number": m.number, "day": m.day.isoformat(), "there": len(m.present), "what": _what(m)}
        p.search(
            "meeting_search",
            rf"meeting no\. {m.number} held|^{m.number}\.\d+ ",
            volume_path(world, k),
            weight=0.9,
            group=group,
            **values,
        )
        p.do("meeting_look", Command(f"{run} {m.number}"), weight=0.9, group=group, **values)


def _what(m: Meeting) -> str:
    words = {
        "issue": "an issue",
        "transfer": "a transfer",
        "cancel": "a buy-back",
        "appoint": "an appointment",
        "resign": "a resignation",
    }
    found = ", ".join(words[x.kind] + (" (not carried)" if x.refused else "") for x in m.moves)
    return found + (f", and a correction of meeting no. {m.corrects[0]}" if m.corrects else "")


def _state_module(p: Path, world: World, slips: set[str]) -> str:
    quorum = '[m for m in meetings if len(m["present"]) >= QUORUM]'
    refused = '            if move["refused"]:\n                continue\n'
    return render(
        _FILES,
        "state",
        p.n,
        doc="Shares and offices after the last meeting, item by item.",
        quorum=world.quorum,
        counted="list(meetings)" if "quorum" in slips else quorum,
        refused="" if "refused" in slips else refused,
    )


def _state(p: Path, world: World, case: Case, slips: set[str]) -> None:
    p.chapter("Follow shares and offices")
    job, module = p.house.job(p.n["state"]), p.n["state"]
    few = next(m for m in world.meetings if not m.quorate)
    lost = next((m, k) for m in world.meetings for k, x in enumerate(m.moves) if x.refused)
    holders, officers = p.house.out("holders.json"), p.house.out("officers.csv")
    rows = case.results[holders]
    values: dict[str, object] = {
        "few": few.number,
        "there": len(few.present),
        "item": f"{lost[0].number}.{lost[0].places[lost[1]]}",
        "total": sum(row["shares"] for row in rows.values()),
        "holders": len(rows),
        "offices": len(case.results[officers]),
    }
    own = [slip for slip in ("refused", "quorum") if slip in slips]
    p.write("state_write", job, _state_module(p, world, set(own)), **values)
    p.run("state_run", module, saw=f"{own[0]}_seen" if own else "", **values)
    for slip, following in zip(list(own), [*own, ""][1:], strict=True):
        own.remove(slip)
        p.mend(f"{slip}_mend", job, _state_module(p, world, set(own)), **values)
        p.run("state_rerun", module, saw=f"{following}_seen" if following else "", **values)
    book = f"{p.n['inbox']}/minutes_volume_*.txt"
    for name in p.r.sample(sorted(rows), len(rows)):
        more = {"name": name, "shares": rows[name]["shares"], "percent": rows[name]["percent"]}
        p.do("name_grep", Command(f"grep -hn -B1 -A2 '{name}' {book} | head -150"), weight=1.2, **more)
        p.do("name_trace", Command(f"python -m {p.n['work']}.{module} '{name}'"), weight=1.4, **more)
        p.grep("name_result", name, holders, weight=0.9, after=3, **more)
    for row in case.results[officers]:
        more = {"name": row["name"], "office": row["office"], "since": row["since"], "meeting": row["meeting"]}
        p.do(
            "officer_look",
            Command(f"grep -hn -A1 '{row['name']}' {book} | grep -iE 'appoint|resign|{row['office']}'"),
            weight=0.8,
            **more,
        )
    for k in range(len(world.volumes)):
        first = p.r.randint(60, 120)
        p.do(
            "volume_again",
            ReadFile(volume_path(world, k), first, first + p.r.randint(70, 110)),
            weight=0.7,
            volume=k + 1,
        )
    total = f"print(sum(v['shares'] for v in json.load(open('{holders}')).values()))"
    p.do("total_check", Command(f'python -c "import json; {total}"'), weight=1.5, **values)


def _closing(world: World, case: Case) -> str:
    rows = case.results[world.house.out("holders.json")]
    officers = case.results[world.house.out("officers.csv")]
    last, total = world.meetings[-1], sum(row["shares"] for row in rows.values())
    head = f"After meeting no. {last.number} of {last.day.isoformat()} {total} shares are held by {len(rows)} people:"
    lines = [head, ""]
    lines += [f"- {name}: {row['shares']} ({row['percent']} %)" for name, row in rows.items()]
    lines += ["", "Offices: " + "; ".join(f"{o['name']}, {o['office']} since {o['since']}" for o in officers) + "."]
    few = ", ".join(str(m.number) for m in world.meetings if not m.quorate)
    fixed = ", ".join(f"{m.corrects[0]} (by no. {m.number})" for m in world.meetings if m.corrects)
    lines.append(f"Without effect for want of a quorum: meetings no. {few}. Corrected later: {fixed}.")
    return "\n".join(lines)
