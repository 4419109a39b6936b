"""A supplier's chapter of the story: reader, invoices, agreement, confirmations."""

from __future__ import annotations

from simulator.core.action import Action, Command, Edit, ReadFile, Write
from simulator.tasks import words

from . import bench
from .brief import contract_facts
from .story import Story, dumped, search, supplier_item
from .talk import contract_values, invoice_values
from .world import Invoice, Supplier


def supplier_chapter(s: Story, supplier: Supplier, *, lean: bool) -> None:
    """lean: fewer counter-checks, for sessions with little room."""
    parts = [_invoices, _contract] if s.r.random() < 0.65 else [_contract, _invoices]
    for part in (*parts, _orders):
        part(s, supplier, lean)
    s.done(supplier_item(supplier))


def _invoices(s: Story, supplier: Supplier, lean: bool) -> None:
    r, spec = s.r, s.spec
    first = supplier.invoices[0]
    values = invoice_values(supplier, first)
    files = [spec.paths[f"invoice:{i.number}"] for i in supplier.invoices]
    outs = " ".join(spec.out(f"invoice:{i.number}") for i in supplier.invoices)
    s.do("invoice_read", s.document(files[0]), file=files[0], **values)
    if len(files) > 1 and not lean and r.random() < 0.45:
        _second(s, supplier)
    slips = _chosen_slips(s, supplier)
    doc = words.say(r, "[Invoices of|Reader for|What is printed by] {who}, {city}.", who=supplier.company.name,
                    city=supplier.company.address.city)  # fmt: skip
    source = bench.reader_module(supplier, spec, doc, slips)
    path = f"{spec.code['readers']}/{supplier.key}.py"
    s.do("reader_write", Write(path, source), **values)
    run = s.module(supplier.key, f"{' '.join(files)} --save")
    s.step("reader_run", run, **values)
    if "day_first" in slips:
        s.saw("reader_error", **values)
        source = _mend(s, supplier, doc, slips, "day_first", source, values)
        s.step("reader_rerun", s.module(supplier.key, f"--save {' '.join(files)}"), **values)
    s.saw("reader_run", **values)
    s.step("check_invoices", s.validate(*outs.split()), **values)
    while slips:
        bad = next(i for i in supplier.invoices if _partial(supplier, i, slips) != i.net_cents)
        values = invoice_values(supplier, bad) | {"partial": supplier.layout.money(_partial(supplier, bad, slips))}
        s.saw("check_fault", **values)
        source = _mend(s, supplier, doc, slips, slips[0], source, values)
        s.do("reader_rerun", _full_record(s, supplier, bad, files), **values)
        s.step(
            "recheck",
            s.validate(*reversed(outs.split())) if len(slips) == 0 else s.validate(outs.split()[-1]),
            **values,
        )
    s.saw("check_invoices", **values)
    if not lean and r.random() < 0.5:
        out = spec.out(f"invoice:{supplier.invoices[-1].number}")
        last = invoice_values(supplier, supplier.invoices[-1])
        s.do("json_read", ReadFile(out, 1, 40) if r.random() < 0.5 else ReadFile(out), file=out, **last)


def _second(s: Story, supplier: Supplier) -> None:
    other = supplier.invoices[-1]
    file = s.spec.paths[f"invoice:{other.number}"]
    s.do("second_read", s.document(file), file=file, **invoice_values(supplier, other))


def _chosen_slips(s: Story, supplier: Supplier) -> list[str]:
    """At most one slip in the sums at a time in short sessions, sometimes two in long ones; day_first stops the run."""
    possible = bench.possible_slips(supplier)
    sums = [p for p in possible if p != "day_first"]
    chosen = ["day_first"] if "day_first" in possible and s.r.random() < 0.5 else []
    if sums and s.r.random() < 0.6:
        chosen += s.r.sample(sums, 2 if s.size == "long" and len(sums) > 1 and s.r.random() < 0.25 else 1)
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
    better = bench.reader_module(supplier, s.spec, doc, slips)
    known = {label for label, _ in supplier.invoices[0].charges}
    new = sorted({label for i in supplier.invoices for label, _ in i.charges} - known)
    s.do(f"slip_{slip}", Edit(path, bench.repair(source, better)), **{**values, "label": '", "'.join(new)})
    if s.raw and s.r.random() < 0.4:
        s.do("reread", ReadFile(path, 8, 48), file=path)
    return better


def _full_record(s: Story, supplier: Supplier, invoice: Invoice, files: list[str]) -> Action:
    """Saves all papers again and shows one record; the rest of a long output is left out."""
    own = s.spec.paths[f"invoice:{invoice.number}"]
    order = [own, *(f for f in files if f != own)]
    cut = s.r.choice((60, 70, 90, 110))
    return s.module(supplier.key, f"{' '.join(order)} --json --save | sed -n 1,{cut}p")


def _contract(s: Story, supplier: Supplier, lean: bool) -> None:
    r, spec = s.r, s.spec
    path, out = spec.paths[f"contract:{supplier.key}"], spec.out(f"contract:{supplier.key}")
    values = contract_values(supplier, spec) | {"file": path, "out": out}
    if s.raw:
        s.step("contract_read", s.document(path, 1, 40), **values)
        s.do("contract_more", s.document(path, 41, 400), **values)
    else:
        s.do("contract_read", s.document(path), **values)
    facts = contract_facts(supplier, spec)
    right = {spec.keys[f]: facts[f] for f in spec.fields["contract"]}
    slip = r.choice(_contract_slips(s, supplier)) if r.random() < 0.4 else None
    wrong = right if slip is None else right | {spec.keys[slip[0]]: slip[1]}
    s.do("contract_write", Write(out, dumped(wrong)), **values)
    if slip is None and lean and r.random() < 0.5:
        return
    s.step("contract_check", s.validate(out), **values)
    if slip is not None:
        beat = {"iban": "iban", "cap": "cap", "discount": "percent", "term": "term"}[slip[0]]
        s.step(f"slip_{beat}", Edit(out, bench.repair(dumped(wrong), dumped(right))), **values)
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


def _orders(s: Story, supplier: Supplier, lean: bool) -> None:
    r, spec = s.r, s.spec
    paths = [spec.paths[f"order:{i.order.number}"] for i in supplier.invoices]
    order = supplier.invoices[0].order
    total = f"{order.total_cents / 100:.2f}"
    values = {"supplier": supplier.company.short, "order": order.number, "lines": len(order.lines), "total": total,
              "placed": order.placed.isoformat(), "file": paths[0]}  # fmt: skip
    if not any(isinstance(a, Write) and a.path == s.path("orders") for step in s.steps for a in step.actions):
        s.do("order_read", ReadFile(paths[0], 1, 60) if s.raw else ReadFile(paths[0]), **values)
        doc = words.say(r, "[Order confirmations saved from the portal|Portal pages of confirmed orders], "
                           "[one page an order|for all suppliers].")  # fmt: skip
        s.do("orders_write", Write(s.path("orders"), bench.orders_module(spec, doc)), **values)
    s.do("orders_run", s.module(spec.code["orders"], " ".join(paths)), **values)
    if not lean and r.random() < 0.35:
        out = spec.out(f"order:{order.number}")
        if r.random() < 0.5:
            s.do("order_json", ReadFile(out, 1, 30), **{**values, "file": out})
        else:
            s.do("order_json", search(r"\d{4}-\d\d-\d\d", out), **{**values, "file": out})
