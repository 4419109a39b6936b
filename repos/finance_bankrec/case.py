"""Bank accounts: drawn with the traits that are asked for, written down as ledgers and statements."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from simulator.tasks.words import cents, pattern

from .._kit_finance.arith import plain, shown
from .._kit_finance.case import Case, Figures, Unit
from .account import OLD, Account, Entry, Line, counted, figures
from .twists import TWISTS


class Accounts(Case):
    noun, nouns, title = "account", "accounts", "Bank reconciliation"
    control = "the bank's confirmation"
    tails = ("bank", "reconciliation", "cash", "bank-close")
    twists = TWISTS
    wanted = ("ledger", "bank", "outstanding", "unbooked", "errors", "adjusted")
    controls = ("bank", "outstanding", "unbooked", "adjusted")

    def words(self) -> dict[str, str]:
        found = self.w.pick(
            module="reconcile bank_rec accounts matching cash_book", folder="ledgers cash_books our_side",
            bank_folder="statements bank_side bank_lines", f_controls="confirmation bank_letter stated bank_confirmed",
            k_day="day posted entry_date", k_ref="reference ref payment_ref", k_partner="partner payee counterparty",
            k_amount="amount sum value_in_currency", k_batch="batch run payment_run",
            k_booked="booked booking_date posted_at_bank",
            k_value="value_date valuta effective", k_text="text remark info",
            o_ledger="ledger ledger_balance book_balance",
            o_bank="bank bank_balance statement_balance", o_outstanding="outstanding on_the_way not_at_bank",
            o_unbooked="unbooked not_in_ledger to_book", o_errors="errors corrections to_correct",
            o_adjusted="adjusted true_balance corrected_balance", f_key="key_of plain_ref reduced",
            f_lines="lines_that_count bank_lines statement_lines",
            f_due="entries_due our_entries to_match", f_match="match settle pair_up", line="line bank_row movement",
            entry="entry posting_row ours", outcome="outcome result_here found_so_far",
        )  # fmt: skip
        for name in ("folder", "bank_folder"):
            found[name] = f"{self.w.names['data']}/{found[name]}"
        return found

    def name(self, r: random.Random, k: int) -> str:
        return pattern(r, "ACC-####")

    def draw(self, r: random.Random, name: str, traits: frozenset[str]) -> Account:
        day, entries, lines = self.w.day, list[Entry](), list[Line]()
        for _ in range(self.rows(r, 58, 84)):
            when = day - timedelta(days=r.randint(2, 60))
            entry = Entry(
                when, self._ref(r), r.choice(self.w.others).short, r.choice((-1, -1, 1)) * cents(r, 2_000, 900_000), ""
            )
            entries.append(entry)
            if r.random() < 0.93:
                lines.append(self._paid(r, entry))
        for _ in range(r.randint(2, 5)):  # charges and interest that nobody booked
            at = day - timedelta(days=r.randint(1, 50))
            lines.append(Line(at, at, self._ref(r), r.choice((-1, 1)) * cents(r, 300, 20_000)))
        for trait in sorted(traits, key=lambda t: (t == "ref", t)):  # notation last, of what is there
            (self._ref_trait if trait == "ref" else getattr(self, f"_{trait}"))(r, entries, lines)
        entries.sort(key=lambda e: (e.day, e.ref))
        lines.sort(key=lambda x: (x.booked, x.ref, -x.amount))
        return Account(cents(r, 1_000_000, 80_000_000), tuple(entries), tuple(lines))

    def _ref(self, r: random.Random) -> str:
        return pattern(r, "@@9#####") if r.random() < 0.5 else pattern(r, "8######")

    def _paid(self, r: random.Random, e: Entry) -> Line:
        booked = min(self.w.day, e.day + timedelta(days=r.randint(0, 4)))
        return Line(booked, booked, e.ref, e.amount)

    # ---- one a trait: what it adds to ledger and statement

    def _batch(self, r: random.Random, entries: list[Entry], lines: list[Line]) -> None:
        for _ in range(2):
            batch, when = pattern(r, "RUN####"), self.w.day - timedelta(days=r.randint(5, 40))
            own = [
                Entry(when, self._ref(r), r.choice(self.w.others).short, -cents(r, 3_000, 400_000), batch)
                for _ in range(5)
            ]
            entries += own
            lines.append(Line(when, when, batch, sum(e.amount for e in own)))

    def _swap(self, r: random.Random, entries: list[Entry], lines: list[Line]) -> None:
        for _ in range(2):
            e = Entry(self.w.day - timedelta(days=r.randint(5, 40)), self._ref(r), r.choice(self.w.others).short,
                      -cents(r, 20_000, 700_000), "")  # fmt: skip
            entries.append(e)
            lines.append(replace(self._paid(r, e), amount=e.amount + r.choice((-9, 9, -90, 90, -900, 900))))

    def _dup(self, r: random.Random, entries: list[Entry], lines: list[Line]) -> None:
        e = Entry(self.w.day - timedelta(days=r.randint(9, 40)), self._ref(r), r.choice(self.w.others).short,
                  -cents(r, 20_000, 700_000), "")  # fmt: skip
        entries += [e, replace(e, day=e.day + timedelta(days=3))]
        lines.append(self._paid(r, e))

    def _value(self, r: random.Random, entries: list[Entry], lines: list[Line]) -> None:
        for _ in range(r.randint(2, 3)):
            e = Entry(self.w.day - timedelta(days=r.randint(0, 2)), self._ref(r), r.choice(self.w.others).short,
                      cents(r, 9_000, 700_000), "")  # fmt: skip
            entries.append(e)
            lines.append(Line(self.w.day, self.w.day + timedelta(days=r.randint(1, 3)), e.ref, e.amount))

    def _fee(self, r: random.Random, entries: list[Entry], lines: list[Line]) -> None:
        for _ in range(3):
            e = Entry(self.w.day - timedelta(days=r.randint(5, 40)), pattern(r, "CARD#####"), "card takings",
                      cents(r, 90_000, 900_000), "")  # fmt: skip
            entries.append(e)
            lines.append(replace(self._paid(r, e), amount=e.amount - e.amount * 11 // 1000))

    def _storno(self, r: random.Random, entries: list[Entry], lines: list[Line]) -> None:
        e = Entry(self.w.day - timedelta(days=r.randint(9, 40)), self._ref(r), r.choice(self.w.others).short,
                  -cents(r, 20_000, 700_000), "")  # fmt: skip
        first = self._paid(r, e)
        entries.append(e)
        lines += [first, replace(first, booked=first.booked, value=first.value, amount=-first.amount)]

    def _ref_line(self, r: random.Random, ref: str) -> str:
        return r.choice(
            (f"00{ref}", f"{ref[:3]}-{ref[3:]}", f"{ref[:4]} {ref[4:].lower()}", f"0{ref[:2].lower()}/{ref[2:]}")
        )

    def _ref_trait(self, r: random.Random, entries: list[Entry], lines: list[Line]) -> None:
        known = {e.ref for e in entries if not e.batch}
        for k, x in enumerate(lines):
            if x.ref in known and r.random() < 0.15 and sum(y.ref == x.ref for y in lines) == 1:
                lines[k] = replace(x, ref=self._ref_line(r, x.ref))

    def _old(self, r: random.Random, entries: list[Entry], lines: list[Line]) -> None:
        for _ in range(2):
            when = self.w.day - timedelta(days=r.randint(190, 330))
            entries.append(Entry(when, self._ref(r), r.choice(self.w.others).short, -cents(r, 9_000, 200_000), ""))

    def unit_files(self, name: str, facts: Account) -> dict[str, str]:
        n, r = self.n, self.w.part("texts", name)
        ours = [f"{n['k_day']},{n['k_ref']},{n['k_partner']},{n['k_amount']},{n['k_batch']},clerk"]
        ours.append(f"opening,,balance carried forward,{plain(facts.opening)},,")
        ours += [
            f"{e.day},{e.ref},{e.partner},{plain(e.amount)},{e.batch},{r.choice(self.w.staff).last}"
            for e in facts.entries
        ]
        theirs = [f"{n['k_booked']},{n['k_value']},{n['k_ref']},{n['k_text']},{n['k_amount']}"]
        words = ("transfer", "direct debit", "standing order", "incoming", "collection")
        theirs += [
            f"{x.booked},{x.value},{x.ref},{r.choice(words)} {pattern(r, '####')},{plain(x.amount)}"
            for x in facts.lines
        ]
        return {
            f"{n['folder']}/{name}.csv": "\n".join(ours) + "\n",
            f"{n['bank_folder']}/{name}.csv": "\n".join(theirs) + "\n",
        }

    def figures(self, facts: Account, on: frozenset[str]) -> Figures:
        return figures(facts, self.w.day, on)

    def given(self, unit: Unit) -> Mapping[str, Any]:
        a = unit.facts
        return {
            "ledger": a.opening + sum(e.amount for e in a.entries),
            "bank": a.opening + sum(x.amount for x in counted(a, self.w.day, self.features)),
        }

    def rules(self) -> Sequence[tuple[str, str]]:
        n = self.n
        return (
            ("Balances", f"- `{n['o_ledger']}`: opening balance and all entries of the ledger. `{n['o_bank']}`: the "
                         "same opening "
             "balance (both sides agreed at the start) and the lines of the statement that count.\n"),
            ("Matching", "- An entry and a line belong together when their references agree. Each line settles one "
                         "entry. "
             f"`{n['o_outstanding']}` adds the entries without a line, `{n['o_unbooked']}` the lines without an "
             "entry, both "
             "with their signs: money that comes in is positive.\n"),
            ("Result", f"- `{n['o_adjusted']}` = `{n['o_ledger']}` + `{n['o_unbooked']}` + `{n['o_errors']}`. «It "
                       "must be|Proof: it "
             f"is» `{n['o_bank']}` + `{n['o_outstanding']}`.\n"),
        )  # fmt: skip

    def ask(self) -> str:
        return (
            f"«Please reconcile|We have to reconcile» {self.counted('bank account')} of {self.w.firm.short} at "
            f"{self.w.day}: "
            f"our ledgers are in `{self.n['folder']}/`, the statements in `{self.n['bank_folder']}/`, one CSV an "
            "account. «For "
            "each|Per account» ledger, bank, outstanding, not booked, errors and the adjusted balance. «The bank has "
            "confirmed "
            "its side|The bank's letter is there», and «the auditors come next week|the close waits for this»."
        )

    def values(self, unit: Unit) -> dict[str, str]:
        a, day = unit.facts, self.w.day
        refs = {x.ref: x for x in a.lines}
        apart = [(e, refs[e.ref]) for e in a.entries if e.ref in refs and refs[e.ref].amount != e.amount]
        plainly = [(e, x) for e, x in apart if not e.ref.startswith("CARD") and x.amount != -e.amount]
        cards = [x.amount - e.amount for e, x in apart if e.ref.startswith("CARD")]
        refs_of = [e.ref for e in a.entries]
        twice = [ref for ref in refs_of if refs_of.count(ref) > 1]
        back = [x.ref for x in a.lines if any(y.ref == x.ref and y.amount == -x.amount for y in a.lines)]
        odd = [x.ref for x in a.lines if not x.ref.isalnum() or x.ref.startswith("0")]
        olds = [e.day for e in a.entries if e.day < day - OLD]
        return {
            "batched": str(sum(bool(e.batch) for e in a.entries)),
            "batch": next((e.batch for e in a.entries if e.batch), ""),
            "swapped": plainly[0][0].ref if plainly else "",
            "swap_gap": shown(plainly[0][1].amount - plainly[0][0].amount) if plainly else "",
            "twice": twice[0] if twice else "", "late": str(sum(x.value > day for x in a.lines)),
            "fees": shown(sum(cards)),
            "reversed": back[0] if back else "", "decorated": f"`{odd[0]}`" if odd else "",
            "bare": "`" + odd[0].upper().replace("-", "").replace(" ", "").replace("/",
            "").lstrip("0") + "`" if odd else "",
            "olds": str(len(olds)), "oldest": str(min(olds)) if olds else "",
        }  # fmt: skip

    def remarks(self, unit: Unit) -> list[str]:
        a, r = unit.facts, self.w.part("remarks", unit.name)
        found = [
            f"{len(a.entries)} entries of {{unit}} against {len(a.lines)} lines, opening balance {shown(a.opening)}.",
            f"The ledger adds {shown(sum(e.amount for e in a.entries))}, the statement "
            f"{shown(sum(x.amount for x in a.lines))} "
            "«in all its lines|counting every line».",
            f"Money in at the bank of {{unit}}: {shown(sum(x.amount for x in a.lines if x.amount > 0))}.",
            f"Money out in its ledger: {shown(sum(e.amount for e in a.entries if e.amount < 0))}.",
        ]
        for e in r.sample(a.entries, min(44, len(a.entries))):
            found.append(r.choice((
                f"{e.ref} of {e.day}: {shown(e.amount)}, {e.partner}.",
                f"The ledger has {shown(e.amount)} with {e.partner} on {e.day} ({e.ref}).",
                f"{e.partner}, {shown(e.amount)}, «entered|booked» {e.day} as {e.ref}.",
            )))  # fmt: skip
        for x in r.sample(a.lines, min(30, len(a.lines))):
            found.append(f"At the bank {shown(x.amount)} under {x.ref}, booked {x.booked}, «valued|value» {x.value}.")
        return found

    def probe(self, unit: Unit) -> str:
        n = self.n
        return f"""
import csv
from collections import Counter

ours = list(csv.DictReader(open("{n["folder"]}/{unit.name}.csv")))[1:]
theirs = list(csv.DictReader(open("{n["bank_folder"]}/{unit.name}.csv")))
count = Counter({n["row"]}["{n["k_ref"]}"] for {n["row"]} in ours)
seen = Counter({n["row"]}["{n["k_ref"]}"] for {n["row"]} in theirs)
print("entries", len(ours), "lines", len(theirs), "same reference", sum((count & seen).values()))
print("only in the ledger:", *sorted(count - seen))
print("only at the bank:", *sorted(seen - count))
print("twice:", *sorted(ref for side in (count, seen) for ref, times in side.items() if times > 1))
"""
