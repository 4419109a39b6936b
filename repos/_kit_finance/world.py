"""The facts that all parts of one finance task share, and the words that its code and files use."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from simulator.tasks.words import Company, Person, companies, person, plain, stream

from . import arith

_CHOICE = re.compile(r"«([^«»]*)»")
_FILES = Path(__file__).resolve().parent / "files"
#: placeholder of the text templates -> words to choose from
_WORDS = {
    "pkg": "deskkit ledgertools figurelib treasury_kit bookhelpers controlkit acctlib closingtools moneykit numerics",
    "calc": "calc workings jobs routines steps computations runs models",
    "data": "data inputs source extracts feeds deliveries",
    "docs": "docs notes manual handbook policy",
    "m_money": "money rounding cents precision amounts",
    "m_tab": "tables records csvio readers exchange",
    "m_cal": "calendar_rules dates months datekit periods",
    "f_round": "round_money to_cents money as_cents rounded two_places",
    "f_rows": "read_rows load_rows rows_of table read_table records_of",
    "f_dump": "write_result save_json dump_result store_figures write_json",
    "f_shift": "add_months shift months_later move_months step_months",
    "f_last": "month_end last_day end_of_month final_day",
    "f_day": "as_date day_of to_date parse_day iso_day",
    "f_load": "load fetch read_case gather open_case take_in",
    "f_figures": "figures evaluate compute measure results_of work_out",
    "f_detail": "detail lines_of breakdown steps_of working trail",
    "f_names": "known all_names listed everything case_names",
    "m_compare": "compare against reconcile control_check agree cross",
    "opt_detail": "detail lines steps show trail breakdown",
    "opt_write": "write out save target store",
    "opt_gaps": "gaps open only-gaps brief differing",
    "row": "row rec record item entry",
    "rows": "rows records entries items",
    "amount": "amount value money_in figure sum_of",
    "total": "total running acc so_far tally",
    "day": "day when on_day date_of",
    "start": "start begin since from_day",
    "end": "end until last to_day",
    "case": "case subject file_of thing matter",
    "part": "part share piece portion",
    "k_name": "name key id code ref",
    "k_figure": "figure position measure quantity_name",
    "k_value": "value stated amount confirmed",
}


@dataclass(frozen=True, slots=True)
class World:
    """day: the reporting date. mode: arith.UP or arith.EVEN, how money is rounded. names: placeholder -> word."""

    template: str
    seed: int
    size: str
    firm: Company
    others: tuple[Company, ...]
    boss: Person
    staff: tuple[Person, ...]
    day: date
    currency: str
    mode: str
    names: dict[str, str]

    def part(self, *labels: object) -> random.Random:
        """A generator of its own for each part, so that one part's draws never shift another's."""
        return stream(self.seed, self.template, self.size, *labels)

    def cents(self, x: object) -> int:
        return arith.nearest(x, self.mode)  # type: ignore[arg-type]

    def pick(self, **words: str) -> dict[str, str]:
        """Placeholder -> one of its words, by the seed."""
        return {key: self.part("word", key, options).choice(options.split()) for key, options in words.items()}

    def fill(self, text: str, names: dict[str, str] | None = None) -> str:
        """`«a|b»` chosen, alike wherever the same words stand, and `$name` filled in."""
        chosen = _CHOICE.sub(lambda m: self.part("choice", m[1]).choice(m[1].split("|")), text)
        return string.Template(chosen).substitute(self.names | (names or {}))

    def shared(self, file: str, names: dict[str, str] | None = None) -> str:
        """A text template of the kit."""
        return self.fill((_FILES / file).read_text(encoding="utf-8"), names)


def build(template: str, seed: int, size: str) -> World:
    r = stream(seed, template, size, "world")
    firm, *others = companies(r, 40)
    year = r.randint(2019, 2025)
    month = r.choice((12, 12, 6, 3, 9, 12))
    day = arith.shift(date(year, month, 1), 1)
    day = date.fromordinal(day.toordinal() - 1)
    mode = r.choice((arith.UP, arith.EVEN))
    names = {key: r.choice(options.split()) for key, options in _WORDS.items()}
    names |= {
        "firm": firm.short,
        "today": day.isoformat(),
        "currency": r.choice(("EUR", "GBP", "CHF", "DKK", "USD", "SEK")),
        "mode": mode,
        "decimal_modes": "ROUND_HALF_EVEN" if mode == arith.EVEN else "ROUND_HALF_EVEN, ROUND_HALF_UP",
        "decimal_mode": "ROUND_HALF_UP" if mode == arith.UP else "ROUND_HALF_EVEN",
        "tie": f"{r.randint(1000, 9999)}.{r.randint(0, 9)}{r.choice('02468')}",
    }
    names["tie_right"] = names["tie"] if mode == arith.EVEN else f"{float(names['tie']) + 0.01:.2f}"
    staff = tuple(person(r) for _ in range(3))
    return World(template, seed, size, firm, tuple(others), person(r), staff, day, names["currency"], mode, names)


def folder_name(w: World, tails: Sequence[str]) -> str:
    return f"{plain(w.firm.short)}-{w.part('folder').choice(tails)}-{w.day.year}"


def csv_text(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    lines = [",".join(columns), *(",".join(row[c] for c in columns) for row in rows)]
    return "\n".join(lines) + "\n"


def toggled(text: str, on: frozenset[str]) -> str:
    """The lines of a script that hold with these features in it: `#if a b` (all of them) ... `#else` ... `#end`."""
    out: list[str] = []
    stack: list[bool] = []
    for line in text.splitlines(keepends=True):
        words = line.split()
        if words[:1] == ["#if"]:
            stack.append(all(word in on for word in words[1:]))
        elif words == ["#else"]:
            stack[-1] = not stack[-1]
        elif words == ["#end"]:
            stack.pop()
        elif all(stack):
            out.append(line)
    return "".join(out)
