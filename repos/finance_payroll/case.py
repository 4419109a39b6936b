"""Payroll by department: drawn with the traits that are asked for, written down as staff lists and letters."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from simulator.tasks.words import pattern, person

from .._kit_finance.arith import plain, scaled, shown
from .._kit_finance.case import Case, Figures, Unit
from .month import Person, Scheme, pay
from .twists import TWISTS

_LETTER = (
    "The works council «was heard|has agreed» on the new shifts; «nothing changes in pay|pay is as before».",
    "Holiday lists for the next quarter «are due|have to be handed in» by the tenth.",
    "The lift stays out of order «until the end of the month|for two more weeks».",
    "New badges «can be fetched|are ready» at the gate; the old ones «stop working|end» next month.",
)


@dataclass(frozen=True, slots=True)
class Department:
    place: str
    people: tuple[Person, ...]


class Payroll(Case):
    noun, nouns, title = "department", "departments", "Payroll"
    control = "the trial run of the old system"
    tails = ("payroll", "wages", "salaries", "pay-run")
    twists = TWISTS
    wanted = ("gross", "social", "tax", "net", "employer", "heads")
    controls = ("social", "tax", "net")
    decimals: Mapping[str, int] = {"heads": 0}

    def words(self) -> dict[str, str]:
        found = self.w.pick(
            module="payroll wages pay_run salaries month_pay", folder="staff departments people pay_lists",
            k_table="table tax_table schedule", f_controls="trial_run old_system stated legacy",
            f_scheme="scheme rates tariff tax_scheme",
            k_number="staff_no person_no number", k_person="person employee full_name", k_salary="salary monthly "
                                                                                                 "base_pay",
            k_joined="joined entry starts", k_left="left_on exit leaves", k_hours="overtime extra_hours ot_hours",
            k_hourly="hourly hour_rate per_hour", k_bonus="bonus one_off premium_paid", k_raises="months_owed "
                                                                                                 "arrears_months "
                                                                                                 "past_months",
            k_raised="raise_each raised_by owed_each", k_advance="advance paid_ahead on_account", k_desk=
            "cash at_desk desk",
            o_gross="gross gross_pay total_gross", o_social="social contributions staff_contributions",
            o_tax="tax wage_tax income_tax", o_net="net net_pay paid_out", o_employer="employer employer_share on_top",
            o_heads="heads people headcount", f_tax="tax_of_year yearly_tax tax_on", f_pay="pay_of slip work_out_one "
                                                                                           "payslip",
            f_scheme_of="read_scheme scheme_of tariff_of", person="one worker member", scheme="rules_now tariffs terms",
            f_sum="column_sum added sum_up",
        )  # fmt: skip
        base = self.w.names["data"]
        found["folder"] = f"{base}/{found['folder']}"
        self.scheme_path = f"{base}/{found['f_scheme']}.csv"
        r = self.w.part("scheme")
        edges = [0]
        for _ in range(r.randint(4, 6)):
            edges.append(edges[-1] + r.randint(6, 16) * 100_000)
        rates = [0]
        while len(rates) < len(edges):
            rates.append(rates[-1] + r.randint(4, 9))
        self.scheme = Scheme(
            tuple(zip(edges, rates, strict=True)), r.randint(70, 210), r.randint(80, 230), r.randint(50, 75) * 10_000,
            r.choice((5, 10, 20)), r.choice((500, 1_000, 2_000)),
        )  # fmt: skip
        s = self.scheme
        return found | {"scheme_path": self.scheme_path, "step": plain(s.step), "coin": plain(s.coin)}

    def shared_files(self) -> dict[str, str]:
        s = self.scheme
        rows = [f"bracket,{plain(start)},{rate}" for start, rate in s.brackets]
        rows += [f"contributions,,{scaled(s.social, 1)}", f"employer,,{scaled(s.employer, 1)}"]
        rows += [f"ceiling,{plain(s.ceiling)},", f"step,{plain(s.step)},", f"coin,{plain(s.coin)},"]
        return {self.scheme_path: "what,from,per_cent\n" + "\n".join(rows) + "\n"}

    def name(self, r: random.Random, k: int) -> str:
        return f"{r.choice(('stores', 'desk', 'plant', 'fleet', 'lab', 'shop', 'office', 'yard'))}-{pattern(r, '##')}"

    def draw(self, r: random.Random, name: str, traits: frozenset[str]) -> Department:
        people = tuple(self._person(r, traits) for _ in range(self.rows(r, 48, 66)))
        return Department(r.choice(self.w.others).address.city, people)

    def _person(self, r: random.Random, traits: frozenset[str]) -> Person:
        end, top = self.w.day, self.scheme.ceiling

        def some(trait: str, share: float) -> bool:
            return trait in traits and r.random() < share

        salary = r.randint(110_000, top * 55 // 100)
        if some("ceiling", 0.3):
            salary = r.randint(top + 10_000, top + 400_000)
        joined = date(end.year, end.month, r.randint(3, 20)) if some("days", 0.15) else None
        left = date(end.year, end.month, r.randint(21, end.day - 1)) if joined is None and some("days", 0.15) else None
        return Person(
            number=pattern(r, "P#####"), salary=salary, joined=joined, left=left,
            hours=r.randint(2, 60) if some("premium", 0.35) else 0, hourly=r.randint(1_400, 3_800),
            bonus=r.randint(4, top // 60_000) * 10_000 if some("bonus", 0.2) else 0,
            raises=r.randint(1, 5) if some("back", 0.25) else 0, raised=r.randint(3, 9) * 1_000,
            advance=r.randint(1, 8) * 10_000 if some("advance", 0.2) else 0, cash=some("coin", 0.4),
            stepped=some("step", 0.4),
        )  # fmt: skip

    def unit_files(self, name: str, facts: Department) -> dict[str, str]:
        n, r = self.n, self.w.part("letter", name)
        columns = ("number", "person", "salary", "joined", "left", "hours", "hourly", "bonus", "raises", "raised",
                   "advance", "desk", "table")  # fmt: skip
        lines = [",".join(n[f"k_{c}"] for c in columns)]
        for p in facts.people:
            cells = (p.number, person(r).name, plain(p.salary), p.joined or "", p.left or "", scaled(p.hours * 25, 2),
                     plain(p.hourly), plain(p.bonus), p.raises, plain(p.raised), plain(p.advance),
                     "yes" if p.cash else "no", "B" if p.stepped else "A")  # fmt: skip
            lines.append(",".join(map(str, cells)))
        text = "\n\n".join(self.w.fill(t) for t in r.sample(_LETTER, 3))
        head = f"# {name}, {facts.place}\n\nLetter to the payroll office, {self.w.day:%B %Y}.\n\n"
        return {f"{n['folder']}/{name}.csv": "\n".join(lines) + "\n", f"{n['folder']}/{name}.md": f"{head}{text}\n"}

    def figures(self, facts: Department, on: frozenset[str]) -> Figures:
        found = [pay(p, self.scheme, self.w.day, on, self.w.cents) for p in facts.people]
        return {
            "gross": sum(x.gross for x in found), "social": sum(x.social for x in found),
            "tax": sum(x.tax for x in found),
            "net": sum(x.net for x in found), "employer": sum(x.employer for x in found), "heads": len(found),
        }  # fmt: skip

    def given(self, unit: Unit) -> Mapping[str, Any]:
        slips = [pay(p, self.scheme, self.w.day, self.features, self.w.cents) for p in unit.facts.people]
        return {
            "brackets": self.scheme.brackets, "bases": [[x.base, x.bonus] for x in slips],
            "advances": sum(p.advance for p in unit.facts.people), "coin": self.scheme.coin,
            "cash": sum(p.cash for p in unit.facts.people),
        }  # fmt: skip

    def rules(self) -> Sequence[tuple[str, str]]:
        n = self.n
        return (
            ("Gross pay", f"- `{n['k_salary']}` plus overtime: hours times `{n['k_hourly']}`, rounded, plus its "
                          "premium; plus "
             f"`{n['k_bonus']}`. Every component is rounded for each person, «sums are of rounded amounts|totals add "
             "rounded amounts».\n"),
            ("Contributions", f"- Staff and employer pay their per cent (`{self.scheme_path}`) of gross pay, rounded a "
             f"person. `{n['o_employer']}` is what the firm pays on top.\n"),
            ("Tax", "- The tax base of a month is gross pay less the person's contributions. Twelve bases are a year; "
                    "the "
             "tax of a year takes each slice of the amount at the rate of its bracket, «a bracket's rate applies "
             "above its "
             "`from`|the rate of a bracket holds from its `from` on». A twelfth of it, rounded, is the tax of the "
             "month.\n"),
            ("Net pay", f"- `{n['o_net']}`: gross less contributions less tax. `{n['o_heads']}` counts the rows.\n"),
        )  # fmt: skip

    def ask(self) -> str:
        return (
            f"«The pay run of|Payroll for» {self.w.day:%B %Y} at {self.w.firm.name}: {self.counted('department')}, "
            "each "
            f"with a staff list (CSV) and a letter in `{self.n['folder']}/`, the scheme in `{self.scheme_path}`. «We "
            "leave "
            "the old system|The old system is switched off» and «want our own calculation|must be able to do it "
            "ourselves»: gross, contributions, tax, net, the employer's share and heads of each department."
        )

    def values(self, unit: Unit) -> dict[str, str]:
        people, s = unit.facts.people, self.scheme
        movers = [p.number for p in people if p.joined or p.left]
        slips = [pay(p, s, self.w.day, self.features, self.w.cents) for p in people]
        return {
            "movers": str(len(movers)), "mover": movers[0] if movers else "", "month_days": str(self.w.day.day),
            "ceiling": shown(s.ceiling), "above": str(sum(x.gross > s.ceiling for x in slips)), "step": plain(s.step),
            "hours": scaled(sum(p.hours for p in people) * 25, 2), "bonuses": str(sum(p.bonus > 0 for p in people)),
            "bonus": shown(max(p.bonus for p in people)), "raises": str(sum(p.raises > 0 for p in people)),
            "advances": str(sum(p.advance > 0 for p in people)), "advance_sum": shown(sum(p.advance for p in people)),
            "stepped": str(sum(p.stepped for p in people)), "desks": str(sum(p.cash for p in people)),
            "coin": plain(s.coin),
        }  # fmt: skip

    def remarks(self, unit: Unit) -> list[str]:
        people, r = unit.facts.people, self.w.part("remarks", unit.name)
        salaries = [p.salary for p in people]
        found = [
            f"{len(people)} people in {unit.facts.place}, salaries from {shown(min(salaries))} to "
            f"{shown(max(salaries))}.",
            f"Salaries of {{unit}} add up to {shown(sum(salaries))} before anything else «is done|happens».",
            f"The mean salary there is {shown(self.w.cents(Fraction(sum(salaries), len(people))))}.",
            f"Contributions are {scaled(self.scheme.social, 1)} per cent for staff and "
            f"{scaled(self.scheme.employer, 1)} for the firm.",
        ]
        for p in r.sample(people, min(64, len(people))):
            slip = pay(p, self.scheme, self.w.day, self.features, self.w.cents)
            found.append(r.choice((
                f"{p.number} earns {shown(p.salary)} a month, {shown(12 * p.salary)} a year.",
                f"For {p.number} I get a gross of {shown(slip.gross)} «by head|on paper».",
                f"{shown(slip.social)} of contributions «would be right for|is what I expect of» {p.number}.",
                f"{p.number}, {shown(p.salary)} and {scaled(p.hours * 25, 2)} hours of overtime «at|for» "
                f"{plain(p.hourly)}.",
            )))  # fmt: skip
        return found

    def probe(self, unit: Unit) -> str:
        n, s = self.n, self.scheme
        base = pay(unit.facts.people[0], s, self.w.day, self.features, self.w.cents).base
        slices = ", ".join(f"({start // 100}, {rate})" for start, rate in s.brackets)
        return f"""
from fractions import Fraction

brackets = [{slices}]
year, {n["total"]} = 12 * Fraction("{plain(base)}"), Fraction(0)
for (low, rate), (high, _) in zip(brackets, [*brackets[1:], (10**9, 0)]):
    {n["total"]} += max(0, min(year, high) - low) * rate / Fraction(100)
print("{unit.facts.people[0].number}", "base", float(year / 12), "tax of the month", float({n["total"]} / 12))
"""
