"""How the agent reconciles: supplier by supplier, then the statements, then both together."""

from __future__ import annotations

import shlex
from pathlib import Path as FilePath

from simulator.core.action import Command
from simulator.tasks import words

from .._kit_documents.case import Case
from .._kit_documents.code import quoted, render
from .._kit_documents.house import money
from .._kit_documents.paper import Paper
from .._kit_documents.path import Path
from .papers import advice_path, invoice_path, statement_path
from .world import Invoice, Supplier, World

_FILES = FilePath(__file__).parent / "files"
#: how the bank marks a debit -> (what an amount looks like, how it is read)
_SIGNED = {
    "after": (r"[\d.,']+-?", "return $cents(text)"),
    "before": (r"-?[\d.,']+", "return $cents(text)"),
    "letter": (r"[\d.,']+ [CD]", 'return $cents(text[:-2]) * (-1 if text.endswith("D") else 1)'),
}


def tell(p: Path, world: World, case: Case) -> str:
    papers = {paper.path: paper for paper in case.papers}
    slips = {"small": 1, "medium": 2, "long": 3}[p.size]
    chosen = p.r.sample(["credit", "sign", "late"], slips)
    _invoices(p, world, papers, "credit" in chosen)
    _statements(p, world, papers, "sign" in chosen)
    _matching(p, world, papers, "late" in chosen)
    return _closing(world, case)


def _module(p: Path, world: World, suppliers: int, credit: bool) -> str:
    rows = []
    for s in world.suppliers[:suppliers]:
        labels = [s.labels[name] for name in ("number", "issued", "gross", "refers")]
        rows.append(f"    {quoted(s.company.name)}: ({', '.join(map(quoted, labels))}),\n")
    titles = "|".join(sorted({s.labels["credit"] for s in world.suppliers[:suppliers]}))
    title = f'CREDIT = re.compile(r"^(?:{titles})$", re.M)\n\n' if credit else "\n"
    credits = "labelled(text, refers) if CREDIT.search(text) else None" if credit else "None"
    doc = "Invoices and credit notes of our suppliers, from their PDF files."
    return render(_FILES, "invoices", p.n, doc=doc, labels="".join(rows), title_line=title, credits=credits)


def _invoices(p: Path, world: World, papers: dict[str, Paper], slip: bool) -> None:
    p.chapter("Read invoices and credit notes")
    job, module = p.house.job(p.n["invoices"]), p.n["invoices"]
    step = max(1, len(world.suppliers) // (1 if p.size == "small" else 4))
    count = 0
    for k, (s, own) in enumerate(zip(world.suppliers, world.invoices, strict=True), 1):
        first, paper = own[0], papers[invoice_path(world, s, own[0].number)]
        values = _invoice_values(s, first)
        p.read("invoice_read", paper, weight=0.0 if k <= 2 or p.size == "long" else 5.0, **values)
        for other in own[1:]:
            more = papers[invoice_path(world, s, other.number)]
            p.read("invoice_more", more, weight=0.35, **_invoice_values(s, other))
        if k % step and k < len(world.suppliers):
            continue
        source = _module(p, world, k, not slip)
        if not count:
            p.write("invoices_write", job, source, **values)
        else:
            p.mend("invoices_extend", job, source, suppliers=k, **values)
        count = k
        p.do(
            "invoices_run",
            Command(f"python -m {p.n['work']}.{module}"),
            weight=0.0 if k == len(world.suppliers) else 1.2,
            saw="credit_seen" if slip and k == len(world.suppliers) else "",
            **values,
        )
    credited = [(s, i) for s, i in world.pairs() if i.credit]
    s, i = credited[0]
    assert i.credit
    values = _invoice_values(s, i) | {"note": i.credit[0], "title": s.labels["credit"], "credited": money(i.credit[1])}
    if slip:
        p.read(
            "credit_read",
            papers[invoice_path(world, s, i.credit[0])],
            weight=0.0 if p.size != "small" else 3.0,
            **values,
        )
        p.mend("credit_mend", job, _module(p, world, len(world.suppliers), True), **values)
        p.do("invoices_rerun", Command(f"python -m {p.n['work']}.{module}"), **values)
    else:
        p.read("credit_read", papers[invoice_path(world, s, i.credit[0])], weight=2.0, **values)


def _invoice_values(s: Supplier, i: Invoice) -> dict[str, object]:
    terms = f"{s.discount_tenths / 10:g} % within {s.discount_days} days" if s.discount_tenths else "no cash discount"
    return {
        "supplier": s.company.short,
        "number": i.number,
        "issued": s.date(i.issued),
        "gross": money(i.gross),
        "lines": len(i.lines),
        "terms": terms,
        "label": s.labels["number"],
        "total": s.labels["gross"],
        "carried": s.labels["carried"],
        "city": s.company.address.city,
    }


def _statement_module(p: Path, world: World, slip: bool) -> str:
    amount, body = _SIGNED[world.bank["sign"]]
    body = 'return $cents(text.strip("-CD "))' if slip else body
    body = "    " + body.replace("$cents", p.n["cents"])
    key = words.plain(world.bank["name"].split()[0])
    doc = "Movements of our account, from the bank's monthly statements."
    return render(_FILES, "statement", p.n, doc=doc, amount=amount, signed=body, bank_files=f"{key}_*.pdf")


def _statements(p: Path, world: World, papers: dict[str, Paper], slip: bool) -> None:
    p.chapter("Read the bank statements")
    job, module = p.house.job(p.n["statement"]), p.n["statement"]
    signs = {
        "after": "a trailing minus",
        "before": "a leading minus",
        "letter": "a D behind debits and a C behind credits",
    }
    values = {"sign": signs[world.bank["sign"]], "sheets": len(world.months)}
    for k, month in enumerate(world.months):
        p.read(
            "statement_read",
            papers[statement_path(world, month)],
            weight=0.0 if not k else 1.0,
            month=f"{month:%B %Y}",
            **values,
        )
    p.write("statement_write", job, _statement_module(p, world, slip), **values)
    command = Command(f"python -m {p.n['work']}.{module}")
    p.do("statement_run", command, saw="sign_seen" if slip else "", **values)
    if slip:
        p.mend("sign_mend", job, _statement_module(p, world, False), **values)
        p.do("statement_rerun", command, **values)
    for s in world.suppliers:
        look = Command(f"python -m {p.n['work']}.{module} {shlex.quote(s.company.name)}")
        p.do("moves_look", look, weight=1.2, supplier=s.company.short, **values)


def _match_module(p: Path, slip: bool) -> str:
    in_time = "" if slip else ' and (last - bill["issued"]).days <= bill["within"]'
    doc = "Which invoices are paid, which with discount, what is left of the others."
    return render(_FILES, "match", p.n, doc=doc, in_time=in_time)


def _matching(p: Path, world: World, papers: dict[str, Paper], slip: bool) -> None:
    p.chapter("Match payments with invoices")
    job, module, pairs = p.house.job(p.n["match"]), p.n["match"], world.pairs()
    number, (s, day, parts) = next(iter(world.transfers.items()))
    values: dict[str, object] = {
        "transfer": number,
        "supplier": s.company.short,
        "parts": len(parts),
        "day": day.isoformat(),
        "total": money(sum(c for _, c in parts)),
    }
    p.search("advice_search", "Remittance advice|transfer", f"{p.n['inbox']}/*.eml", weight=1.5, **values)
    for k, name in enumerate(world.transfers):
        p.read(
            "advice_read", papers[advice_path(world, name)], weight=0.0 if not k else 1.2, **values | {"transfer": name}
        )
    late_s, late = next((x, i) for x, i in pairs if i.outcome == "late")
    gap = (late.paid[-1][0] - late.issued).days
    values |= {
        "late": late.number,
        "late_days": gap,
        "allowed": late_s.discount_days,
        "late_supplier": late_s.company.short,
    }
    p.write("match_write", job, _match_module(p, slip), **values)
    p.run("match_run", module, saw="late_seen" if slip else "", **values)
    if slip:
        p.mend("late_mend", job, _match_module(p, False), **values)
        p.run("match_rerun", module, **values)
    out = p.house.out("reconciliation.json")
    for x, i in p.r.sample(pairs, len(pairs)):
        p.spot(papers[invoice_path(world, x, i.number)], i.number, out, finding=_finding(x, i))
        look = Command(f"python -m {p.n['work']}.{p.n['statement']} {i.number} | tail -3")
        p.do("bank_look", look, weight=0.8, number=i.number, payment=_paid_words(i), supplier=x.company.short)
    total = f"d = json.load(open('{out}')); print(len(d), sorted({{v['status'] for v in d.values()}}))"
    p.do("status_count", Command(f'python -c "import json; {total}"'), weight=1.5, **values)
    p.do(
        "unmatched_read",
        Command(f"cat {p.house.out('unmatched.csv')}"),
        weight=2.0,
        unnamed=len(world.unnamed),
        **values,
    )


def _paid_words(i: Invoice) -> str:
    if not i.paid:
        return "nothing was paid"
    return " and ".join(f"{money(c)} on {d.isoformat()}" + (f" as part of {t}" if t else "") for d, c, t in i.paid)


def _finding(s: Supplier, i: Invoice) -> str:
    start = f"{i.number} of {i.issued.isoformat()} is for {money(i.gross)}"
    credit = f", less {money(i.credit[1])} by {i.credit[0]}" if i.credit else ""
    grants = (
        f" with {s.discount_tenths / 10:g} % within {s.discount_days} days"
        if s.discount_tenths
        else " without a discount"
    )
    return f"{start}{credit}{grants}"


def _closing(world: World, case: Case) -> str:
    rows = case.results[world.house.out("reconciliation.json")]
    by_status: dict[str, list[str]] = {}
    for number, row in rows.items():
        by_status.setdefault(row["status"], []).append(number)
    lines = [f"{len(rows)} invoices are reconciled with {len(world.months)} statements, whose balances agree.", ""]
    for status, numbers in sorted(by_status.items()):
        shown = ", ".join(f"{n} ({rows[n]['rest']})" if status in ("short", "overpaid", "open") else n for n in numbers)
        lines.append(f"- {status}: {shown}")
    lines += ["", f"{len(world.unnamed)} payments to suppliers name no invoice; they are in unmatched.csv."]
    lines += ["Discounts that were taken after their time are left as a rest. Please decide whether to pay them."]
    return "\n".join(lines)
