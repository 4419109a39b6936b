"""Stock of articles: drawn with the traits that are asked for, written down as movement lists and article sheets."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from simulator.tasks.words import cents, pattern, product

from .._kit_finance.arith import plain, shown
from .._kit_finance.case import Case, Figures, Unit
from .article import Article, Move, counted, figures
from .twists import TWISTS


class Stock(Case):
    noun, nouns, title = "article", "articles", "Inventory valuation"
    control = "the stock system"
    tails = ("inventory", "stock", "warehouse-close", "valuation")
    twists = TWISTS
    wanted = ("quantity", "cost", "issued", "shrink", "writedown", "value", "bought")
    controls = ("quantity", "cost", "value", "shrink")
    decimals: Mapping[str, int] = {"quantity": 0}

    def words(self) -> dict[str, str]:
        found = self.w.pick(
            module="inventory stock valuation warehouse articles", folder="movements articles stock_lists items",
            f_controls="stock_system system stated wms", k_day="booked day posted",
            k_arrived="arrived moved_on in_house",
            k_number="document move number", k_kind="kind type movement", k_quantity="quantity qty amount_of",
            k_pack="pack per_pack pieces_each", k_price="price unit_price cost_each",
            k_refers="refers_to origin of_receipt",
            k_owner="owner belongs_to stock_of", w_receipt="receipt in goods_in", w_issue="issue out sold",
            w_back="supplier_return sent_back", w_count="count stocktake", k_method="Method Cost_formula",
            k_sells="Selling_price Price_out", k_costs="Selling_costs Costs_to_sell", k_rebate="Rebate Year_end_rebate",
            k_landed="Landed Freight_and_duty", o_quantity="quantity pieces on_hand",
            o_cost="cost at_cost stock_at_cost",
            o_issued="issued cost_of_sales consumed", o_shrink="shrinkage missing count_loss",
            o_writedown="write_down lower_value",
            o_value="value carrying balance_sheet", o_bought="bought receipts_value purchases",
            f_terms="sheet_of read_sheet article_terms",
            f_moves="moves_of in_order movements_that_count", f_out="leave take_out consume",
            f_received="received value_of_receipt taken_in",
            f_run="play_through walk run_moves", layers="layers lots batches", sheet="sheet about terms_here",
            state="state tally book",
        )  # fmt: skip
        found["folder"] = f"{self.w.names['data']}/{found['folder']}"
        return found

    def name(self, r: random.Random, k: int) -> str:
        return pattern(r, "ART-####")

    def draw(self, r: random.Random, name: str, traits: frozenset[str]) -> Article:
        pack = r.choice((6, 10, 12, 24)) if "pack" in traits else 1
        price = cents(r, 300, 9_000)
        moves = self._moves(r, traits, pack, price)
        receipts = [m for m in moves if m.kind == "receipt" and not m.theirs]
        landed: tuple[tuple[str, int], ...] = ()
        if "landed" in traits:
            landed = tuple((m.number, cents(r, 3_000, 60_000)) for m in receipts[-3:])
        costs = r.choice((12, 15, 18, 20)) if "costs" in traits else 0
        sells = (
            price * r.randint(101, 110) // 100 if "costs" in traits else price * r.choice((70, 150, 180, 220)) // 100
        )
        return Article(
            product(r, self.w.firm.sector).name.replace(",", ""),
            "average" if "back" in traits else r.choice(("fifo", "average")),
            moves, landed, r.choice((2, 3, 4, 5)) if "rebate" in traits else 0, sells, costs,
        )  # fmt: skip

    def _moves(self, r: random.Random, traits: frozenset[str], pack: int, price: int) -> tuple[Move, ...]:
        end, have, moves = self.w.day, 0, []
        count = self.rows(r, 66, 92)
        first = end - timedelta(days=2 * count + 20)
        last = ""
        for k in range(count):
            day = first + timedelta(days=2 * k + r.randint(0, 1))
            at = round(price * pack * r.uniform(0.85, 1.15))
            if have < 150 or r.random() < 0.4:
                packs = r.randint(90, 420) // pack + 1
                moves.append(self._move(r, day, "receipt", packs, pack, at))
                have, last = have + packs * pack, moves[-1].number
            elif "back" in traits and r.random() < 0.12:
                moves.append(replace(self._move(r, day, "back", r.randint(5, 40), 1, 0), refers=last))
                have -= moves[-1].quantity
            else:
                moves.append(self._move(r, day, "issue", r.randint(10, min(have - 60, 240)), 1, 0))
                have -= moves[-1].quantity
            if "theirs" in traits and r.random() < 0.1:
                moves.append(replace(self._move(r, day, "receipt", r.randint(20, 200), 1, price), theirs=True))
        if "count" in traits:
            moves.append(self._move(r, end - timedelta(days=3), "count", have - r.randint(4, 30), 1, 0))
        if "arrived" in traits:
            for _ in range(2):
                move = self._move(
                    r, end - timedelta(days=1), "receipt", r.randint(50, 300) // pack + 1, pack, price * pack
                )
                moves.append(replace(move, arrived=end + timedelta(days=r.randint(2, 9))))
        return tuple(moves)

    def _move(self, r: random.Random, day: date, kind: str, quantity: int, pack: int, price: int) -> Move:
        return Move(day, day, f"M{day:%y%m%d}{pattern(r, '###')}", kind, quantity, pack, price, "", False)

    def unit_files(self, name: str, facts: Article) -> dict[str, str]:
        n, a = self.n, facts
        columns = ("day", "arrived", "number", "kind", "quantity", "pack", "price", "refers", "owner")
        lines = [",".join(n[f"k_{c}"] for c in columns)]
        for m in a.moves:
            price = plain(m.price) if m.kind == "receipt" else ""
            owner = "consigned" if m.theirs else "own"
            cells = (m.day, m.arrived, m.number, n[f"w_{m.kind}"], m.quantity, m.pack, price, m.refers, owner)
            lines.append(",".join(map(str, cells)))
        rows = [("Text", a.text), (n["k_method"], a.method), (n["k_sells"], plain(a.sells)), (n["k_costs"], a.costs),
                (n["k_rebate"], a.rebate)]  # fmt: skip
        rows += [(n["k_landed"], f"{number} {plain(c)}") for number, c in a.landed]
        r = self.w.part("sheet", name)
        rows.insert(2, ("Shelf", pattern(r, "@#-##")))
        table = "".join(f"| {key} | {value} |\n" for key, value in rows)
        keeper = r.choice(self.w.staff).name
        text = self.w.fill(f"«Kept by|Questions to» {keeper}. «Counted twice a year|Counted when the shelf is moved».")
        sheet = f"# {name}\n\n| What | Value |\n|---|---|\n{table}\n{text}\n"
        return {f"{n['folder']}/{name}.csv": "\n".join(lines) + "\n", f"{n['folder']}/{name}.md": sheet}

    def figures(self, facts: Article, on: frozenset[str]) -> Figures:
        try:
            return figures(facts, self.w.day, on, self.w.cents)
        except (KeyError, ZeroDivisionError):  # without a rule the list may run into nothing: no such unit is drawn
            return dict.fromkeys(self.wanted, 0)

    def given(self, unit: Unit) -> Mapping[str, Any]:
        a, pieces = unit.facts, 0
        for m in counted(a, self.w.day, self.features):
            if m.kind == "receipt":
                pieces += m.quantity * m.pack
            elif m.kind == "count":
                pieces = m.quantity
            else:
                pieces -= m.quantity
        return {"pieces": pieces, "sells": a.sells, "costs": a.costs}

    def rules(self) -> Sequence[tuple[str, str]]:
        n = self.n
        return (
            ("Movements", "- A receipt is worth quantity times price. Issues leave at cost. Rows of one day come in "
                          "the order "
             "of their document.\n"),
            ("Cost", f"- `{n['k_method']}` fifo: the oldest receipts leave first; a part of a receipt leaves with its "
                     "value "
             "times pieces taken over pieces left in it, rounded, the last part with what is left. Average: a part of "
             "the "
             f"whole stock leaves in the same way.\n- `{n['o_bought']}`: value of all receipts less what went back; "
             f"`{n['o_issued']}`: what issues took; `{n['o_cost']}` and `{n['o_quantity']}`: what is left at "
             f"{self.w.day}.\n"),
            ("Value", f"- `{n['o_value']}` is the lower of cost and net realisable value, pieces times "
                      f"`{n['k_sells']}` of a "
             f"piece, rounded. `{n['o_writedown']}` is cost less value.\n"),
        )  # fmt: skip

    def ask(self) -> str:
        return (
            f"«Stock at|Inventory at» {self.w.day}: {self.counted('article')} in `{self.n['folder']}/`, each with its "
            "movements (CSV) and its sheet (Markdown). «I need|Please give me» pieces, cost, cost of what was issued, "
            "what "
            "was missing, write-down, value and purchases. «The stock system shows other values|Our list and the stock "
            "system disagree» and «I want to know who is right|it has to be settled before the audit»."
        )

    def values(self, unit: Unit) -> dict[str, str]:
        a, day = unit.facts, self.w.day
        counts = [m.quantity for m in a.moves if m.kind == "count"]
        return {
            "landed": shown(sum(c for _, c in a.landed)), "landings": str(len(a.landed)),
            "late": str(sum(m.day <= day < m.arrived for m in a.moves)),
            "backs": str(sum(m.kind == "back" for m in a.moves)),
            "pack": str(max(m.pack for m in a.moves)), "found": str(counts[0]) if counts else "", "costs": str(a.costs),
            "rebate": str(a.rebate), "theirs": str(sum(m.theirs for m in a.moves)),
        }  # fmt: skip

    def remarks(self, unit: Unit) -> list[str]:
        a, r = unit.facts, self.w.part("remarks", unit.name)
        receipts = [m for m in a.moves if m.kind == "receipt"]
        found = [
            f"{a.text}: {len(a.moves)} movements, {len(receipts)} of them receipts, by {a.method}.",
            f"A piece of {{unit}} sells at {shown(a.sells)}.",
            f"Receipts were billed between {shown(min(m.price for m in receipts))} and "
            f"{shown(max(m.price for m in receipts))}.",
            f"{sum(m.quantity for m in a.moves if m.kind == 'issue'):,} pieces were issued over the time of the list.",
        ]
        for m in r.sample(a.moves, min(64, len(a.moves))):
            if m.kind == "receipt":
                found.append(r.choice((
                    f"{m.number}: {m.quantity} at {shown(m.price)}, billed {shown(m.quantity * m.price)}.",
                    f"On {m.day} {m.quantity} came in for {shown(m.quantity * m.price)}.",
                    f"{shown(m.quantity * m.price)} for the receipt of {m.day:%B} {m.day.day}, {m.quantity} times "
                    f"{shown(m.price)}.",
                )))  # fmt: skip
            else:
                found.append(r.choice((
                    f"{m.quantity} pieces in the row of {m.day}, {m.number}, kind {self.n[f'w_{m.kind}']}.",
                    f"{m.number} of {m.day} moves {m.quantity} pieces.",
                )))  # fmt: skip
        return found

    def probe(self, unit: Unit) -> str:
        n = self.n
        return f"""
import csv
from collections import Counter

pieces = Counter()
for {n["row"]} in csv.DictReader(open("{n["folder"]}/{unit.name}.csv")):
    inside = {n["row"]}["{n["k_arrived"]}"] <= "{self.w.day}"
    key = ({n["row"]}["{n["k_kind"]}"], {n["row"]}["{n["k_owner"]}"], "by {self.w.day}" if inside else "later")
    pieces[key] += int({n["row"]}["{n["k_quantity"]}"]) * int({n["row"]}["{n["k_pack"]}"])
for key, {n["amount"]} in sorted(pieces.items()):
    print(*key, {n["amount"]})
"""
