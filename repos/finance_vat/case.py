"""VAT returns of registrations: drawn with the traits that are asked for, written down as journals and memos."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from simulator.tasks.words import cents, pattern

from .._kit_finance import arith
from .._kit_finance.arith import plain, shown
from .._kit_finance.case import Case, Figures, Unit
from .quarter import Document, Quarter, figures, sums
from .twists import TWISTS

_MEMO = (
    "The advance for the next quarter is due «on the tenth|by the tenth working day» and not part of this return.",
    "Intrastat was filed apart; «figures there are net of freight|its values need not agree with these».",
    "The inspector's visit of last year «ended without findings|led to no assessment».",
    "Invoices are kept «for ten years|as scans» in the archive of the head office.",
)


class Returns(Case):
    noun, nouns, title = "registration", "registrations", "VAT returns"
    control = "the tax adviser's preview"
    tails = ("vat", "vat-returns", "indirect-tax", "tax-quarter")
    twists = TWISTS
    wanted = ("out", "acquired", "share", "in", "correction", "payable")
    controls = ("out", "in", "payable")
    decimals: Mapping[str, int] = {"share": 0}

    def words(self) -> dict[str, str]:
        found = self.w.pick(
            module="vat returns quarter tax_return vat_return", folder="journals vat registrations quarter_books",
            f_controls="preview adviser stated draft_return", k_issued="invoice_date issued document_date",
            k_supplied="supply_date supplied delivered_on", k_number="document doc_no number", k_kind="kind type "
                                                                                                      "class_of",
            k_partner="partner counterparty third_party", k_code="code tax_class serves", k_amount="amount base sum",
            k_tax="tax vat vat_amount", w_sale="sale invoice out", w_till="till cash_desk pos", w_asset=
            "asset disposal",
            w_credit="credit credit_note", w_purchase="purchase bill", w_abroad="abroad import_service foreign",
            o_out="output_tax tax_on_sales due_on_sales", o_acquired="reverse_charge self_assessed acquired",
            o_share="recoverable_share pro_rata share", o_in="input_tax deductible deducted",
            o_correction="correction adjustments from_earlier", o_payable="payable to_pay balance_due",
            f_counts="counts in_quarter belongs", f_memo="memo_of read_memo notes_for", f_turnover="turnover by_class "
                                                                                                   "sales_by_code",
            f_share="recoverable share_of_input pro_rata_of", memo="memo remarks letter", by_code="by_code sums "
                                                                                                  "totals_by_code",
        )  # fmt: skip
        found["folder"] = f"{self.w.names['data']}/{found['folder']}"
        r = self.w.part("rates")
        self.rates = {"S": r.choice((19, 20, 21, 22, 25)), "R": r.choice((5, 6, 7, 9, 10)), "Z": 0, "E": 0}
        return found | {"standard": str(self.rates["S"]), "reduced": str(self.rates["R"])}

    def name(self, r: random.Random, k: int) -> str:
        return pattern(r, "R##@-##")

    def draw(self, r: random.Random, name: str, traits: frozenset[str]) -> Quarter:
        end = self.w.day
        start = arith.shift(end, -3) + timedelta(days=1)
        documents = []
        kinds = ["sale"] * 6 + ["purchase"] * 6 + ["till"] * 3 * ("till" in traits)
        kinds += [kind for kind in ("credit", "abroad") if kind in traits]
        exempt = bool(traits & {"up", "asset"})  # without exempt sales everything may be deducted
        for _ in range(self.rows(r, 60, 95)):
            kind = r.choice(kinds)
            supplied = start + timedelta(days=r.randint(0, (end - start).days))
            issued = max(start, supplied - timedelta(days=r.randint(0, 6)))
            documents.append(self._document(r, kind, supplied, issued, self._code(r, kind, exempt)))
        for kind in ("sale", "purchase"):  # every class stands at least once
            for code in ("SRZE" if exempt else "SRZ") if kind == "sale" else "TXM":
                documents.append(self._document(r, kind, end - timedelta(days=r.randint(2, 40)), end, code))
        if "asset" in traits:
            documents += [self._document(r, "asset", end - timedelta(days=9 * k), end, "S") for k in (1, 2)]
        if "point" in traits:
            for _ in range(r.randint(2, 4)):
                issued = end - timedelta(days=r.randint(0, 4))
                kind = r.choice(("sale", "purchase"))
                code = self._code(r, kind, exempt)
                documents.append(self._document(r, kind, end + timedelta(days=3), issued, code))
        documents.sort(key=lambda d: (d.issued, d.number))
        lost = (
            [(pattern(r, "A#####"), cents(r, 20_000, 900_000)) for _ in range(r.randint(2, 4))]
            if "lost" in traits
            else []
        )
        limit = r.choice((500_000, 750_000, 1_000_000))
        size = (limit + 10_000, limit * 3) if "limit" in traits else (1_000, limit // 4)
        count = 1 if "limit" in traits else r.randint(0, 2)
        corrections = [(pattern(r, "C-####"), r.choice((-1, 1)) * cents(r, *size)) for _ in range(count)]
        return Quarter(r.choice(self.w.others).short, tuple(documents), tuple(lost), tuple(corrections), limit)

    def _code(self, r: random.Random, kind: str, exempt: bool) -> str:
        if kind in ("purchase", "abroad"):
            return "T" if kind == "abroad" else r.choice("TTTXMM")
        return r.choice("SSRS" if kind == "till" else "SSSRZE" if exempt else "SSSRZ")

    def _document(self, r: random.Random, kind: str, supplied: date, issued: date, code: str) -> Document:
        amount = cents(r, 4_000, 2_500_000 if kind != "asset" else 9_000_000)
        rate = self.rates[r.choice("SSR")] if kind == "purchase" else 0
        tax = self.w.cents(Fraction(amount * rate, 100)) if kind == "purchase" else 0
        return Document(
            issued, supplied, pattern(r, "D######"), kind, r.choice(self.w.others[:20]).short, code, amount, tax
        )

    def unit_files(self, name: str, facts: Quarter) -> dict[str, str]:
        n, q = self.n, facts
        columns = ("issued", "supplied", "number", "kind", "partner", "code", "amount", "tax")
        lines = [",".join(n[f"k_{c}"] for c in columns)]
        for d in q.documents:
            cells = (d.issued, d.supplied, d.number, n[f"w_{d.kind}"], d.partner, d.code, plain(d.amount), plain(d.tax))
            lines.append(",".join(map(str, cells)))
        r = self.w.part("memo", name)
        rows = [f"- bad debt {doc} {plain(gross)}" for doc, gross in q.lost]
        rows += [f"- correction {doc} {plain(c)}" for doc, c in q.corrections]
        rows += [f"- limit {plain(q.limit)}"]
        text = "\n\n".join(self.w.fill(t) for t in r.sample(_MEMO, 3))
        memo = f"# {name}: {q.trade}\n\nMemo for the quarter to {self.w.day}.\n\n" + "\n".join(rows) + f"\n\n{text}\n"
        return {f"{n['folder']}/{name}.csv": "\n".join(lines) + "\n", f"{n['folder']}/{name}.md": memo}

    def figures(self, facts: Quarter, on: frozenset[str]) -> Figures:
        return figures(facts, self.w.day, self.rates, on, self.w.cents)

    def given(self, unit: Unit) -> Mapping[str, Any]:
        s = sums(unit.facts, self.w.day, self.rates, self.features)
        return {
            "turnover": {k: [v.numerator, v.denominator] for k, v in s.turnover.items()}, "rates": self.rates,
            "lost": [gross for _, gross in unit.facts.lost], "direct": s.input["T"], "mixed": s.input["M"],
            "assets": int(s.assets), "abroad": s.abroad,
        }  # fmt: skip

    def rules(self) -> Sequence[tuple[str, str]]:
        n = self.n
        return (
            ("Tax on sales", f"- Classes of sales: S {n['standard']} per cent, R {n['reduced']} per cent, Z nothing, E "
             f"exempt. `{n['o_out']}`: turnover of S and of R, summed over the quarter, times the rate; «each of the "
             "two "
             "products is rounded|one rounding a rate».\n"),
            ("Deduction", "- Purchases carry the tax of their invoice. It serves taxable sales (T, deducted in full), "
             "exempt ones (X, lost) or both (M, deducted in the recoverable share, «one product, rounded|rounded "
             "once, on "
             f"the sum»).\n- `{n['o_share']}`: turnover of S, R and Z over turnover of all classes, net, in per cent.\n"
             f"- `{n['o_in']}` is the sum of what is deducted.\n"),
            ("Result", f"- `{n['o_payable']}` = `{n['o_out']}` + `{n['o_acquired']}` - `{n['o_in']}` + "
             f"`{n['o_correction']}`; negative when money comes back. The quarter ends on {self.w.day}.\n"),
        )  # fmt: skip

    def ask(self) -> str:
        return (
            f"«The VAT returns for the quarter to|VAT for the quarter that ended on» {self.w.day} «are due|have to go "
            "out»: "
            f"{self.counted('registration')} of {self.w.firm.name}, each with its "
            "journal as CSV and a memo in "
            f"`{self.n['folder']}/`. «I want|Please work out» for each: tax on sales, reverse charge, share, "
            "deduction, "
            "corrections, and what we pay."
        )

    def values(self, unit: Unit) -> dict[str, str]:
        q, day = unit.facts, self.w.day
        right = self.right(unit)
        s = sums(q, day, self.rates, self.features)
        taxable = s.turnover["S"] + s.turnover["R"] + s.turnover["Z"] - s.assets
        wrong = self.figures(q, self.features - {"asset"})
        return {
            "mixed": shown(s.input["M"]), "share": str(right["share"]), "share_wrong": str(wrong["share"]),
            "share_exact": f"{float(100 * taxable / (taxable + s.turnover['E'])):.4f}", "abroad": shown(s.abroad),
            "credits": str(sum(d.kind == "credit" for d in q.documents)), "assets": shown(int(s.assets)),
            "late": str(sum(d.supplied > day >= d.issued for d in q.documents)), "lost": str(len(q.lost)),
            "lost_sum": shown(sum(g for _, g in q.lost)), "tills": str(sum(d.kind == "till" for d in q.documents)),
            "corrections": shown(sum(c for _, c in q.corrections)), "limit": shown(q.limit),
        }  # fmt: skip

    def remarks(self, unit: Unit) -> list[str]:
        q, r = unit.facts, self.w.part("remarks", unit.name)
        sales = [d for d in q.documents if d.kind == "sale"]
        buys = [d for d in q.documents if d.kind == "purchase"]
        found = [
            f"{len(q.documents)} documents of {q.trade}, {len(sales)} plain sales and {len(buys)} purchases among "
            "them.",
            f"Exempt sales of {{unit}}: {shown(sum(d.amount for d in sales if d.code == 'E'))}, «so part of the input "
            "tax is "
            "lost|which costs part of the deduction».",
            f"Purchases for both kinds of sales carry {shown(sum(d.tax for d in buys if d.code == 'M'))} of tax.",
            f"Tax that serves only exempt sales, {shown(sum(d.tax for d in buys if d.code == 'X'))}, «is gone "
            "anyway|cannot be had back».",
            f"Its limit for corrections is {shown(q.limit)}, with {len(q.corrections)} of them in the memo.",
        ]
        for d in r.sample(q.documents, min(64, len(q.documents))):
            if d.kind == "purchase":
                found.append(r.choice((
                    f"{d.number} from {d.partner}: {shown(d.amount)} with {shown(d.tax)} of tax, class {d.code}.",
                    f"The bill {d.number} of {d.supplied} serves {d.code}, {shown(d.tax)} «of tax in it|to look at».",
                )))  # fmt: skip
            else:
                found.append(r.choice((
                    f"{d.number} to {d.partner} over {shown(d.amount)}, {d.code}, supplied {d.supplied}.",
                    f"On {d.supplied} {d.partner}: {shown(d.amount)} of class {d.code}, «paper dated|issued» "
                    f"{d.issued}.",
                    f"{shown(d.amount)} for {d.partner} ({d.number}) «is one of the|belongs to the» {d.code} rows.",
                )))  # fmt: skip
        return found

    def probe(self, unit: Unit) -> str:
        n = self.n
        return f"""
import csv
from collections import Counter
from fractions import Fraction

by = Counter()
for {n["row"]} in csv.DictReader(open("{n["folder"]}/{unit.name}.csv")):
    if {n["row"]}["{n["k_supplied"]}"] <= "{self.w.day}":
        by[{n["row"]}["{n["k_kind"]}"], {n["row"]}["{n["k_code"]}"]] += Fraction({n["row"]}["{n["k_amount"]}"])
for key, {n["amount"]} in sorted(by.items()):
    print(*key, float({n["amount"]}))
"""
