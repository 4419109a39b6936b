"""The end of the story: what was found, with its evidence, and how it is handed over."""

from __future__ import annotations

from simulator.core.action import Command, Write

from .brief import Spec
from .setting import counted, period
from .story import Story
from .world import Invoice, Supplier


def ending(s: Story) -> None:
    world, r = s.world, s.r
    folders = "out/invoices out/contracts out/orders"
    s.do("final_validate", s.validate())
    if not s.papers_only and s.may(0.7):
        count = r.choice((f"for d in {folders}; do echo $d $(ls $d | wc -l); done", f"ls {folders}"))
        s.do("count_files", Command(count))
    s.clean()
    note = f"docs/handover_{world.start:%Y_%m}.md"
    s.do("notes_write", Write(note, handover(s)), file=note)
    if s.may(0.8):
        s.do(
            "git_status",
            Command(
                r.choice(
                    ("git diff --stat HEAD -- inbox", "git status --short inbox", "git diff --name-only HEAD inbox")
                )
            ),
        )
    s.done("Validate everything, leave a note")
    s.finish(_summary(s))


def evidence(supplier: Supplier, invoice: Invoice, code: str, spec: Spec) -> str:
    """One clause of proof for a deviation code, with its figures."""
    kind = next(d for d, c in spec.flags.items() if c == code)
    money, days = supplier.layout.money, (invoice.due - invoice.issued).days
    agreed = {x.product.sku: x.price_cents for x in invoice.order.lines}
    paid = sum(p.cents for p in invoice.payments)
    if kind == "terms":
        return f"{days} days from {invoice.issued} to {invoice.due} where {supplier.contract.payment_days} are agreed"
    if kind == "bank":
        return f"paper says {invoice.iban}, agreement {supplier.contract.iban}"
    if kind == "price":
        line = next(x for x in invoice.lines if x.price_cents > agreed[x.product.sku])
        return f"{line.product.sku} billed at {money(line.price_cents)}, confirmed at {money(agreed[line.product.sku])}"
    if kind == "quantity":
        sku, billed, got = missing(invoice)
        return f"{sku} billed {billed}, received {got}"
    if kind == "unpaid":
        return f"no debit in the bank export names {invoice.number}"
    return f"{money(paid)} paid in {counted(len(invoice.payments), 'debit')} against {money(invoice.gross_cents)}"


def missing(invoice: Invoice) -> tuple[str, int, int]:
    """(article, billed, received) of the first item that did not arrive in full."""
    got: dict[str, int] = {}
    for d in invoice.deliveries:
        got[d.sku] = got.get(d.sku, 0) + d.quantity - d.returned
    line = next(x for x in invoice.lines if x.quantity > got.get(x.product.sku, 0))
    return line.product.sku, line.quantity, got.get(line.product.sku, 0)


def flagged(s: Story) -> list[tuple[Supplier, Invoice, str]]:
    codes = s.truth["out/crosscheck.json"]
    return [(x, i, c) for x, i in s.world.invoices() for c in codes[i.number]]


def handover(s: Story) -> str:
    spec, code = s.spec, s.spec.code
    lines = [f"# Papers {period(s.world)}: notes", ""]
    if s.papers_only:
        lines += ["The exports and the crosscheck are not part of this delivery."]
    else:
        found = [f"- {i.number} ({x.company.short}), `{c}`: {evidence(x, i, c, spec)}." for x, i, c in flagged(s)]
        lines += ["## Deviations", "", *(found or ["None."])]
    lines += ["", "## Readers", ""]
    for x in s.world.suppliers:
        style = x.layout
        lines.append(
            f"- `{code['readers']}/{x.key}.py`: {x.company.name}; dates like {style.date(x.contract.starts)}, amounts "
            f"like {style.money(x.contract.cap_cents)}, {len(x.invoices)} invoices this time."
        )
    lines += ["", "## Running it again", "", "```"]
    for x in s.world.suppliers:
        where = spec.paths[f"invoice:{x.invoices[0].number}"].rsplit("/", 1)[0]
        lines.append(f"python -m {code['readers']}.{x.key} {where}/*{x.key}*.pdf --save")
    lines += [f"python -m {code['readers']}.{code[m]}" for m in (() if s.papers_only else ("bank", "cross"))] + [
        "```",
        "",
    ]
    return "\n".join(lines)


def _summary(s: Story) -> str:
    if s.papers_only:
        supplier = s.world.suppliers[0]
        return (
            f"{len(supplier.invoices)} invoices of {supplier.company.short}, their order confirmations and agreement "
            f"{supplier.contract.number} are in out/; the validator reports no fault. The exports were not asked for "
            "and are untouched."
        )
    found = flagged(s)
    clean = len(s.world.invoices()) - len({i.number for _, i, _ in found})
    n = len(s.world.invoices())
    head = (
        f"{n} invoices with their order confirmations and {counted(len(s.world.suppliers), 'agreement')} are in out/, "
        "with deliveries, payments and crosscheck; the validator reports no fault. "
        f"{clean} of {n} invoices can be paid as they are."
    )
    rows = "\n".join(f"- {i.number} ({x.company.short}): {c}, {evidence(x, i, c, s.spec)}" for x, i, c in found)
    return f"{head}\n\nTo be queried:\n{rows}" if rows else f"{head} Nothing has to be queried."
