"""How the agent answers: an index of the data room, question by question with the paper in hand, then all together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from simulator.core.action import Command, ReadFile

from .._kit_documents.case import Case
from .._kit_documents.code import grammar, render
from .._kit_documents.paper import Paper
from .._kit_documents.path import Path
from .answers import chosen
from .papers import sheet_path
from .world import TOPICS, Question, Sheet, World, answer, printed_value

_FILES = FilePath(__file__).parent / "files"
#: questions that are answered together
BATCH = {"small": 5, "medium": 5, "long": 6}


def tell(p: Path, world: World, case: Case) -> str:
    papers = {paper.path: paper for paper in case.papers}
    _survey(p, world)
    slips = _slips(p, world)
    size = BATCH[p.size]
    batches = [world.questions[i : i + size] for i in range(0, len(world.questions), size)]
    for number, batch in enumerate(batches, 1):
        _batch(p, world, papers, number, batch, slips)
    _together(p, world, papers, case, slips, batches)
    return _closing(world, case)


def questions_path(p: Path) -> str:
    return f"{p.n['docs']}/questions.csv"


def _survey(p: Path, world: World) -> None:
    p.chapter("Survey the data room")
    values = {"count": len(world.questions), "companies": len(world.companies), "sister": world.sister}
    p.do("questions_read", ReadFile(questions_path(p)), **values)
    doc = "What there is in the data room: date, company, draft or not."
    p.write("index_write", p.house.job(p.n["index"]), render(_FILES, "index", p.n, doc=doc), **values)
    p.do(
        "index_run",
        Command(f"python -m {p.n['work']}.{p.n['index']}"),
        drafts=sum(s.standing == "draft" for s in world.sheets),
        **values,
    )


def _slips(p: Path, world: World) -> dict[str, tuple[str, dict[str, str]]]:
    """Question -> (what is wrong with the first answer, that answer)."""
    out: dict[str, tuple[str, dict[str, str]]] = {}
    for slip in p.r.sample(["draft", "older", "form"], {"small": 1, "medium": 2, "long": 3}[p.size]):
        fitting = [q for q in world.questions if q.number not in out and _fits(world, q, slip)]
        if fitting:
            q = p.r.choice(fitting)
            out[q.number] = (slip, _wrong(world, q, slip))
    return out


def _fits(world: World, q: Question, slip: str) -> bool:
    if slip == "form":
        return TOPICS[q.topic][0] in ("thousand", "million", "percent", "money")
    return any(s.standing == slip for s in world.papers_of(q))


def _row(world: World, s: Sheet) -> dict[str, str]:
    return {"answer": answer(s.topic, s.value), "source": sheet_path(world, s), "dated": s.day.isoformat()}


def _wrong(world: World, q: Question, slip: str) -> dict[str, str]:
    right = chosen(world, q)
    if slip == "form":
        return _row(world, right) | {"answer": printed_value(q.topic, right.value)}
    return _row(world, next(s for s in world.papers_of(q) if s.standing == slip))


def _values(world: World, q: Question) -> dict[str, object]:
    s = chosen(world, q)
    asked = grammar(_FILES / "topics.yaml")["topics"][q.topic]["question"].format(company=q.company)
    others = [x for x in world.papers_of(q) if x != s]
    kinds = {"older": "an older one", "draft": "a draft"}
    beside = " and ".join(dict.fromkeys(kinds[x.standing] for x in others))
    return {
        "number": q.number,
        "asked": asked[0].lower() + asked[1:],
        "company": q.company,
        "topic": q.topic,
        "said": printed_value(q.topic, s.value),
        "dated": s.day.isoformat(),
        "form": answer(q.topic, s.value),
        "beside": f"besides there is {beside}" if beside else "it is the only one on the subject",
        "source_file": sheet_path(world, s),
    }


def _batch(
    p: Path,
    world: World,
    papers: Mapping[str, Paper],
    number: int,
    batch: tuple[Question, ...],
    slips: Mapping[str, tuple[str, dict[str, str]]],
) -> None:
    p.chapter(f"Answer {batch[0].number} to {batch[-1].number}")
    index = f"python -m {p.n['work']}.{p.n['index']}"
    for q in batch:
        values = _values(world, q)
        key = sheet_path(world, chosen(world, q)).rsplit("/", 1)[-1].rsplit("_", 1)[0]
        p.do("index_look", Command(f"{index} {key}"), weight=1.0, **values)
        p.read(
            "answer_read",
            papers[sheet_path(world, chosen(world, q))],
            weight=0.0 if p.size != "small" else 9.0,
            **values,
        )
        for s in world.papers_of(q):
            if s != chosen(world, q):
                more = {
                    "standing": "an older paper" if s.standing == "older" else "a draft",
                    "their": printed_value(s.topic, s.value),
                    "theirs": s.day.isoformat(),
                }
                p.read("other_read", papers[sheet_path(world, s)], weight=2.5, **values, **more)
    rows: dict[str, Any] = {q.number: _row(world, chosen(world, q)) for q in batch}
    rows |= {q.number: slips[q.number][1] for q in batch if q.number in slips}
    p.write(
        "part_write", _part(p, number), _shown(rows), first=batch[0].number, last=batch[-1].number, count=len(batch)
    )


def _part(p: Path, number: int) -> str:
    return f"{p.n['work']}/{p.n['part']}_{number:02d}.json"


def _shown(rows: Mapping[str, Any]) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def _together(
    p: Path,
    world: World,
    papers: Mapping[str, Paper],
    case: Case,
    slips: Mapping[str, tuple[str, dict[str, str]]],
    batches: list[tuple[Question, ...]],
) -> None:
    p.chapter("Put the answers together")
    job, out = p.house.job(p.n["merge"]), p.house.out("answers.json")
    values: dict[str, object] = {"count": len(world.questions)}
    doc = "All answers in one file, checked against the index and the questions."
    p.write("merge_write", job, render(_FILES, "merge", p.n, doc=doc, questions_path=questions_path(p)), **values)
    open_ = dict(slips)
    first = next((s for s, _ in open_.values()), "")
    p.run("merge_run", p.n["merge"], saw=f"{first}_seen" if first else "", **values, **(_first(world, open_)))
    while open_:
        number, (slip, _) = next(iter(open_.items()))
        k, batch = next((k, b) for k, b in enumerate(batches, 1) if number in {q.number for q in b})
        told = _first(world, open_)
        q = next(q for q in batch if q.number == number)
        del open_[number]
        rows = {x.number: open_[x.number][1] if x.number in open_ else _row(world, chosen(world, x)) for x in batch}
        if slip != "form":
            p.read("source_again", papers[sheet_path(world, chosen(world, q))], weight=2.5, **_values(world, q))
        p.mend(f"{slip}_mend", _part(p, k), _shown(rows), **values, **told)
        following = next((s for s, _ in open_.values()), "")
        p.run(
            "merge_rerun",
            p.n["merge"],
            saw=f"{following}_seen" if following else "",
            **values,
            **(_first(world, open_) or told),
        )
    for q in p.r.sample(world.questions, min(len(world.questions), 8 if p.size != "long" else 26)):
        s = chosen(world, q)
        more = _values(world, q)
        finding = f"{q.number} reads {printed_value(q.topic, s.value)} in the paper of {s.day.isoformat()}"
        p.spot(papers[sheet_path(world, s)], q.number, out, finding=finding, weight=0.7)
        if TOPICS[q.topic][1] in ("txt", "html", "eml", "csv"):
            word = printed_value(q.topic, s.value).split()[
                1 if TOPICS[q.topic][0] in ("money", "thousand", "million") else 0
            ]
            p.grep("value_grep", word, sheet_path(world, s), weight=0.8, **more)


def _first(world: World, slips: Mapping[str, tuple[str, dict[str, str]]]) -> dict[str, object]:
    if not slips:
        return {}
    number, (_, row) = next(iter(slips.items()))
    q = next(q for q in world.questions if q.number == number)
    return {
        "number": number,
        "wrong": row["source"],
        "typed": row["answer"],
        "right": sheet_path(world, chosen(world, q)),
        "form": answer(q.topic, chosen(world, q).value),
    }


def _closing(world: World, case: Case) -> str:
    rows = case.results[world.house.out("answers.json")]
    lines = [f"All {len(rows)} questions are answered with their sources:", ""]
    for q in world.questions:
        row = rows[q.number]
        lines.append(
            f"- {q.number} ({q.company.split()[1]}, {q.topic}): {row['answer']} ({row['source'].rsplit('/', 1)[-1]})"
        )
    drafts = sum(s.standing == "draft" for s in world.sheets)
    older = sum(s.standing == "older" for s in world.sheets)
    lines += [
        "",
        f"{drafts} drafts are newer than the papers used and were not relied on; {older} papers are superseded.",
        f"Papers about {world.sister} are in the room as well; nobody asked about that company.",
    ]
    return "\n".join(lines)
