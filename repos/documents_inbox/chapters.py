"""A supplier's chapter of the story: reader, invoices, agreement, confirmations."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.action import Action, Command, Edit, ReadFile, Write
from simulator.tasks import words

from . import scripts
from .story import Story, dumped, search, supplier_item
from .talk import contract_values, invoice_values
from .truth import contract_facts
from .world import Invoice, Supplier


def supplier_chapter(s: Story, supplier: Supplier, *, lean: bool) -> None:
    """lean: fewer counter-checks, for sessions with little room."""
    parts = [_invoices, _contract] if s.r.random() < 0.65 else [_contract, _invoices]
    for part in parts:
        part(s, supplier, lean)
    if not lean:
        orders(s, (supplier,))
    s.done(supplier_item(supplier))


def _invoices(s: Story, supplier: Supplier, lean: bool) -> None:
    r, spec = s.r, s.spec
    first = supplier.invoices[0]
    values = invoice_values(supplier, first)
    files = [spec.paths[f"invoice:{i.number}"] for i in supplier.invoices]
    outs = " ".join(spec.out(f"invoice:{i.number}") for i in supplier.invoices)
    s.do("invoice_read", s.document(files[0]), file=files[0], **values)
    if len(files) > 1 and s.may(0.4):
        _second(s, supplier)
    slips = _chosen_slips(s, supplier)
    doc = words.say(
        r,
        "[Invoices of|Reader for|What is printed by] {who}, {city}.",
        who=supplier.company.name,
        city=supplier.company.address.city,
    )
    source = scripts.reader_module(supplier, spec, doc, slips)
    path = f"{spec.code['readers']}/{supplier.key}.py"
    s.do("reader_write", Write(path, source), **values)
    s.step("reader_run", s.module(supplier.key, f"{' '.join(files)} --save"), **values)
    if "day_first" in slips:
        s.saw("reader_error", **values)
        source = _mend(s, supplier, doc, slips, "day_first", source, values)
        s.step("reader_rerun", s.module(supplier.key, f"--save {' '.join(files)}"), **values)
    if not spec.sums_in_summary:
        s.saw("reader_run", **values)
        s.step("check_invoices", s.validate(*outs.split()), **values)
    while slips:
        bad = next(i for i in supplier.invoices if _partial(supplier, i, slips) != i.net_cents)
        values = invoice_values(supplier, bad) | {"partial": supplier.layout.money(_partial(supplier, bad, slips))}
        s.saw("check_fault", **values)
        source = _mend(s, supplier, doc, slips, slips[0], source, values)
        s.do("reader_rerun", _full_record(s, supplier, bad, files), **values)
        if not slips:
            s.step("recheck", s.validate(*reversed(outs.split())), **values)
        else:
            s.step("recheck", s.validate(outs.split()[-1]), **values)
    s.saw("check_invoices", **values)
    if s.may(0.55):
        out = spec.out(f"invoice:{supplier.invoices[-1].number}")
        last = invoice_values(supplier, supplier.invoices[-1])
        s.do("json_read", ReadFile(out, 1, 40) if s.raw or r.random() < 0.5 else ReadFile(out), file=out, **last)
    if s.may(0.4, 2):
        doc = words.say(r, "[Patterns|Lines] of {who}.", who=supplier.company.name)
        test = scripts.reader_test(supplier, spec, doc)
        s.do("test_write", Write(f"tests/test_{supplier.key}.py", test), **values)
        verbose = r.choice(("", "-v "))
        s.do("test_run", Command(f"python -m unittest {verbose}tests.test_{supplier.key}"), **values)


def _second(s: Story, supplier: Supplier) -> None:
    other = supplier.invoices[-1]
    file = s.spec.paths[f"invoice:{other.number}"]
    s.do("second_read", s.document(file), file=file, **invoice_values(supplier, other))


def _chosen_slips(s: Story, supplier: Supplier) -> list[str]:
    """None, one or now and then two slips in the sums; day_first comes on top and stops the run."""
    possible = scripts.possible_slips(supplier)
    sums = [p for p in possible if p != "day_first"]
    chosen = ["day_first"] if "day_first" in possible and s.may(0.6, 2) else []
    if sums and s.may(0.65, 3):
        chosen += s.r.sample(sums, 2 if len(sums) > 1 and s.may(0.2, 3) else 1)
    return chosen


def _partial(supplier: Supplier, invoice: Invoice, slips: list[str]) -> int:
    """What a reader with these slips finds of the net total, in cents."""
    lines = list(invoice.lines)
    if "first_page" in slips:
        lines = lines[: supplier.layout.rows_per_page]
    if "thousands" in slips:
        lines = [x for x in lines if x.amount_cents < 100_000]
    known = {label for label, _ in (supplier.invoices[0] if "charges" in slips else invoice).charges}
    return sum(x.amount_cents for x in lines) + sum(c for label, c in invoice.charges if label in known)


def _mend(
    s: Story, supplier: Supplier, doc: str, slips: list[str], slip: str, source: str, values: dict[str, object]
) -> str:
    """An edit that takes one slip out of the reader (and out of `slips`); gives the new source."""
    path = f"{s.spec.code['readers']}/{supplier.key}.py"
    slips.remove(slip)
    better = scripts.reader_module(supplier, s.spec, doc, slips)
    known = {label for label, _ in supplier.invoices[0].charges}
    new = sorted({label for i in supplier.invoices for label, _ in i.charges} - known)
    s.do(f"slip_{slip}", Edit(path, scripts.repair(source, better)), **{**values, "label": '", "'.join(new)})
    if s.raw and s.may(0.7):
        s.do("reread", ReadFile(path, 8, 48), file=path)
    return better


def _full_record(s: Story, supplier: Supplier, invoice: Invoice, files: list[str]) -> Action:
    """Saves all papers again and shows their records with the first items, the doubtful one on top."""
    own = s.spec.paths[f"invoice:{invoice.number}"]
    order = [own, *(f for f in files if f != own)]
    return s.module(supplier.key, f"{' '.join(order)} --rows={s.r.choice((3, 4, 5, 6, 8))} --save")


def _contract(s: Story, supplier: Supplier, lean: bool) -> None:
    r, spec = s.r, s.spec
    path, out = spec.paths[f"contract:{supplier.key}"], spec.out(f"contract:{supplier.key}")
    values = contract_values(supplier, spec) | {"file": path, "out": out}
    if s.raw:
        half = r.choice((52, 56, 60))
        s.step("contract_read", s.document(path, 1, half), **values)
        s.do("contract_more", s.document(path, half + 1, 400), **values)
    else:
        s.do("contract_read", s.document(path), **values)
    facts = contract_facts(supplier, spec)
    right = {spec.keys[f]: facts[f] for f in spec.fields["contract"]}
    slip = r.choice(_contract_slips(s, supplier)) if s.may(0.35, 3) else None
    wrong = right if slip is None else right | {spec.keys[slip[0]]: slip[1]}
    s.do("contract_write", Write(out, dumped(wrong)), **values)
    if slip is None and not s.may(0.5 if s.raw else 0.85):
        return
    s.step("contract_check", s.validate(out), **values)
    if slip is not None:
        beat = {"iban": "iban", "cap": "cap", "discount": "percent", "term": "term"}[slip[0]]
        s.step(f"slip_{beat}", Edit(out, scripts.repair(dumped(wrong), dumped(right))), **values)
        again = Command(f"python {s.path('validate')} {out} {out.rsplit('/', 1)[0]}/*.json")
        s.do("contract_recheck", again, **values)
    else:
        s.saw("contract_check", **values)


def _contract_slips(s: Story, supplier: Supplier) -> list[tuple[str, object]]:
    """(fact, wrong value) that the validator refuses."""
    c, asked = supplier.contract, s.spec.fields["contract"]
    at = next(k for k in range(len(c.iban) - 1, 4, -1) if c.iban[k] != c.iban[k - 1])
    swapped = c.iban[: at - 1] + c.iban[at] + c.iban[at - 1] + c.iban[at + 1 :]
    found: list[tuple[str, object]] = [("iban", swapped)]
    if "cap" in asked:
        found.append(("cap", f"{c.cap_cents / 100:,.2f}"))
    if "discount" in asked and c.discount_tenths % 10 == 0:
        found.append(("discount", str(c.discount_tenths // 10)))
    if "term" in asked:
        found.append(("term", f"{c.term_months} months"))
    return found


def orders(s: Story, suppliers: Sequence[Supplier]) -> None:
    """Reads one portal page and writes the reader for them when there is none yet, then runs it on these suppliers'."""
    r, spec = s.r, s.spec
    pages = [(x, i, spec.paths[f"order:{i.order.number}"]) for x in suppliers for i in x.invoices]
    _, invoice, first = pages[0]
    order = invoice.order
    values = {
        "supplier": " and ".join(x.company.short for x in suppliers),
        "order": order.number,
        "lines": len(order.lines),
        "total": f"{order.total_cents / 100:.2f}",
        "placed": order.placed.isoformat(),
        "file": first,
    }
    if not s.wrote(s.path("orders")):
        s.do("order_read", ReadFile(first), **values)
        doc = words.say(
            r, "[Confirmations saved from the portal|Portal pages of confirmed orders], [one an order|all alike]."
        )
        s.do("orders_write", Write(s.path("orders"), scripts.orders_module(spec, doc)), **values)
    elif s.may(0.5 if s.raw else 0.25):
        s.do("order_more", ReadFile(first), **values)
    s.do("orders_run", s.module(spec.code["orders"], " ".join(path for *_, path in pages)), **values)
    if s.may(0.4):
        out = spec.out(f"order:{order.number}")
        look = ReadFile(out, 1, 30) if r.random() < 0.5 else search(r"\d{4}-\d\d-\d\d", out)
        s.do("order_json", look, **{**values, "file": out})
