"""The chapters that concern all suppliers: goods-in workbook, bank and ledger exports, crosscheck."""

from __future__ import annotations

from simulator.core.action import Edit, ReadFile, Write
from simulator.tasks import words

from . import scripts
from .findings import evidence, flagged, missing
from .setting import counted
from .story import Story, search
from .world import Invoice


def goods_chapter(s: Story) -> None:
    r, spec, world = s.r, s.spec, s.world
    path = spec.paths["goods"]
    first = world.invoices()[0][1]
    rows = sum(len(i.deliveries) for _, i in world.invoices())
    values = {
        "file": path,
        "order": first.order.number,
        "rows": f"Of ours there are {rows}, so a few hundred",
        "short_words": _short_words(s),
    }
    months = sorted({(d.day.year, d.day.month) for _, i in world.invoices() for d in i.deliveries})
    s.dump("goods-in workbook", [path])
    s.do("goods_read", s.document(path, 1, 130), **values)
    if s.raw and s.may(0.6):
        s.do("goods_more", s.document(path, 131, 250), **values)
    possible = ["returns"] if any(d.returned for _, i in world.invoices() for d in i.deliveries) else []
    if len(months) > 1:
        possible.append("sheet")
    slips = r.sample(possible, 1) if possible and s.may(0.7, 2) else []
    doc = words.say(
        r, "[What really arrived|Deliveries and returns] [for each order|order by order], from the goods-in workbook."
    )
    source = scripts.goods_module(spec, doc, slips)
    s.do("goods_write", Write(s.path("goods"), source), **values)
    s.step("goods_run", s.module(spec.code["goods"], path), **values)
    if slips:
        s.do(
            f"slip_{slips[0]}", Edit(s.path("goods"), scripts.repair(source, scripts.goods_module(spec, doc))), **values
        )
        s.do("goods_rerun", s.module(spec.code["goods"], path), **values)
    else:
        s.saw("goods_run", **values)
    s.done("Goods-in workbook")


def _short_words(s: Story) -> str:
    short = [i for x, i in s.world.invoices() if s.spec.flags["quantity"] in s.truth["out/crosscheck.json"][i.number]]
    if not short:
        return "every order arrived completely, returns included"
    return "; ".join(
        f"{i.order.number} is short of {missing(i)[0]} ({missing(i)[2]} of {missing(i)[1]})" for i in short
    )


def payments_chapter(s: Story) -> None:
    r, spec = s.r, s.spec
    bank, ledger = spec.paths["bank"], spec.paths["ledger"]
    invoices = [i for _, i in s.world.invoices()]
    sample = r.choice(invoices)
    times = ("not at all", "once", "twice")[len(sample.payments)]
    hits = f"once in the ledger and {times} in the bank export"
    values = {
        "number": sample.number,
        "hits_words": hits,
        "around": _around(sample),
        "posted": sample.posted.isoformat(),
        "cost_centre": sample.cost_centre,
        "paid_words": _paid_words(s, invoices),
    }
    folder = bank.rsplit("/", 1)[0]
    s.do("bank_search", search(_escaped(sample.number), f"{folder}/*.csv"), **values)
    span = (1, 115) if s.raw else (None, None)
    if s.size == "long" and not s.raw:
        span = (1, r.choice((180, 220, 240)))
    s.do("bank_read", ReadFile(bank, *span), file=bank, **values)
    if s.raw and s.may(0.6):
        s.do("bank_more", ReadFile(bank, 116, 220), file=bank, **values)
    s.do(
        "ledger_read",
        ReadFile(ledger, *span) if s.raw else ReadFile(ledger, 1, r.choice((60, 80, 100))),
        file=ledger,
        **values,
    )
    slips = []
    if s.may(0.7, 2):
        exact = any(p.reference != i.number for i in invoices for p in i.payments)
        slips = [r.choice(["encoding", "exact"] if exact else ["encoding"])]
    doc = words.say(r, "[Postings and payments of each invoice|When an invoice was posted and what was paid for it].")
    source = scripts.bank_module(spec, doc, slips)
    s.do("bank_write", Write(s.path("bank"), source), **values)
    s.step("bank_run", s.module(spec.code["bank"]), **values)
    if slips:
        s.saw({"encoding": "bank_error", "exact": "bank_exact"}[slips[0]], **values)
        s.do(f"slip_{slips[0]}", Edit(s.path("bank"), scripts.repair(source, scripts.bank_module(spec, doc))), **values)
        s.do("bank_rerun", s.module(spec.code["bank"]), **values)
    else:
        s.saw("bank_run", **values)
    s.done("Payments and postings")


def _around(invoice: Invoice) -> str:
    if not invoice.payments:
        return "Unpaid, it seems, unless the bank writes the number differently."
    if all(p.reference == invoice.number for p in invoice.payments):
        return "Here the reference is the bare number; whether that is so everywhere I have to see."
    return "The reference has more than the number in it, so equality will not do."


def _escaped(number: str) -> str:
    return number.replace(".", r"\.")


def _paid_words(s: Story, invoices: list[Invoice]) -> str:
    full = sum(1 for i in invoices if sum(p.cents for p in i.payments) == i.gross_cents)
    odd = [i.number for i in invoices if sum(p.cents for p in i.payments) != i.gross_cents]
    rest = f", the others are {', '.join(odd)}" if odd else ""
    return f"{full} of {len(invoices)} invoices are paid exactly{rest}"


def crosscheck_chapter(s: Story) -> None:
    r, spec = s.r, s.spec
    found = flagged(s)
    by_number: dict[str, list[str]] = {}
    for _, i, code in found:
        by_number.setdefault(i.number, []).append(code)
    listed = "; ".join(f"{n} {' and '.join(c)}" for n, c in by_number.items()) or "no invoice deviates"
    clean = counted(len(s.world.invoices()) - len(by_number), "invoice")
    values = {"flag_words": f"{listed}; {clean} without any code"}
    slips = ["part"] if any(code == spec.flags["unpaid"] for _, _, code in found) and s.may(0.7, 2) else []
    doc = words.say(
        r, "[Compares invoices with agreements, orders, deliveries and payments|Deviations of each invoice]."
    )
    source = scripts.cross_module(spec, doc, slips)
    s.do("cross_write", Write(s.path("cross"), source))
    s.step("cross_run", s.module(spec.code["cross"]))
    if slips:
        s.do("slip_part", Edit(s.path("cross"), scripts.repair(source, scripts.cross_module(spec, doc))))
        s.do("cross_rerun", s.module(spec.code["cross"]), **values)
    else:
        s.saw("cross_run", **values)
    for supplier, invoice, code in r.sample(found, min(len(found), 6)):
        if not s.may(0.6):
            continue
        kind = next(d for d, c in spec.flags.items() if c == code)
        proof = {
            "code": f"`{code}`",
            "number": invoice.number,
            "supplier": supplier.company.short,
            "reason": evidence(supplier, invoice, code, spec),
        }
        out = {"terms": f"contract:{supplier.key}", "bank": f"contract:{supplier.key}"}.get(kind)
        if out:
            key = spec.keys["payment" if kind == "terms" else "iban"]
            s.do("flag_check", search(f'"{key}"', spec.out(out)), **proof)
        elif kind in ("price", "quantity"):
            agreed = {x.product.sku: x.price_cents for x in invoice.order.lines}
            sku = (
                missing(invoice)[0]
                if kind == "quantity"
                else next(x.product.sku for x in invoice.lines if x.price_cents > agreed[x.product.sku])
            )
            s.do("flag_check", search(_escaped(sku), spec.paths[f"order:{invoice.order.number}"]), **proof)
        else:
            s.do("flag_check", search(_escaped(invoice.number), spec.paths["bank"]), **proof)
    s.done("Crosscheck")
