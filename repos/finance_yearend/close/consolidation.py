"""The consolidation as a chapter: files, rules, request and right figures of close/group.py's books."""

from __future__ import annotations

from fractions import Fraction

from ..._kit_finance import arith
from .group import RESULT, Entity, consolidate, draw, names
from .world import CENT, Truth, World, csv_text


def six(x: Fraction) -> str:
    return f"{float(x):.6f}"


class Consolidation:
    def __init__(self, w: World) -> None:
        r = w.part("group")
        self.w, self.n, self.books = w, names(r, w), draw(r, w)
        self.lines, self.reserve = consolidate(self.books, w)
        self.result = -sum(v for k, v in self.lines.items() if k in RESULT or k == "diff_pl")
        self.label = r.choice(
            ("Consolidation of the trial balances", "Group lines, eliminations, translation", "Consolidated figures")
        )

    def path_of(self, e: Entity) -> str:
        return f"tb_{e.code.lower()}_{self.w.year_end.year}.csv"

    def files(self) -> dict[str, str]:
        n, b, r = self.n, self.books, self.w.part("group files")
        base = n["folder"] + "/"
        scope = [
            {
                n["k_entity"]: e.code,
                "name": e.name,
                "currency": e.currency,
                n["k_parent"]: e.parent,
                n["k_hist"]: six(e.historic),
                n["k_file"]: self.path_of(e),
            }
            for e in b.entities
        ]
        rates = [
            {"currency": c, n["k_closing"]: six(x), n["k_average"]: six(b.average[c])} for c, x in b.closing.items()
        ]
        chart = [
            {n["k_account"]: a, "name": name, n["k_line"]: n["w_" + line]} for a, (name, line) in b.accounts.items()
        ]
        checks = ["revenue", "cost", "fixed", "goodwill", "reserve", "earnings"]
        r.shuffle(checks)
        controls = [{n["k_line"]: n["w_" + k], "control": arith.plain(self.lines[k])} for k in checks]
        found = {
            base + n["file_entities"]: csv_text(r, list(scope[0]), scope),
            base + n["file_rates"]: csv_text(r, list(rates[0]), rates),
            base + n["file_map"]: csv_text(r, list(chart[0]), chart, shuffle=False),
            base + n["file_controls"]: csv_text(r, list(controls[0]), controls, shuffle=False),
        }
        for e in b.entities:
            rows = [
                {
                    n["k_account"]: account,
                    "name": b.accounts[account][0],
                    n["k_partner"]: partner,
                    n["k_debit"]: arith.plain(cents) if cents > 0 else "",
                    n["k_credit"]: arith.plain(-cents) if cents <= 0 else "",
                }
                for account, _, partner, cents in e.rows
            ]
            found[base + self.path_of(e)] = csv_text(r, list(rows[0]), rows)
        return found

    def title(self) -> str:
        return "Consolidation"

    def policy(self) -> str:
        n, key = self.n, self.books.internal
        return (
            f"- Group currency is {self.w.currency}. Rates are {self.w.currency} per unit of local currency. «Lines "
            f"of the result are translated at `{n['k_average']}`, balance sheet lines at `{n['k_closing']}`|Result at "
            f"`{n['k_average']}`, balance sheet at `{n['k_closing']}`»; `{n['w_capital']}` and `{n['w_earnings']}` at "
            f"the entity's `{n['k_hist']}`.\n- «Each row of a trial balance is translated and rounded by "
            "itself|Rounding is per row of the trial balance». Debits are positive. What is left when an entity's "
            f"translated rows are added up goes, with opposite sign, to `{n['w_reserve']}`.\n- Accounts "
            f"{key['receivable']}, {key['payable']}, {key['sales']} and {key['purchases']} are internal and «never "
            "reach|must not be shown in» a group line. «What does not cancel is rounding|The cents that remain»: it "
            f"goes to `{n['w_diff_bs']}` (balance sheet) or `{n['w_diff_pl']}` (result).\n- `{n['w_shares']}` is set "
            f"off against the subsidiaries' `{n['w_capital']}`; the difference is `{n['w_goodwill']}`. All "
            f"subsidiaries are wholly owned.\n- The sum of all lines is zero. `{n['o_result']}` is positive for a "
            f"profit and includes `{n['w_diff_pl']}`.\n"
        )

    def ask(self) -> str:
        n = self.n
        return (
            f"«Consolidation|Group accounts»: trial balances of {len(self.books.entities)} companies in "
            f"`{n['folder']}/`, scope in {n['file_entities']}, rates in {n['file_rates']}, mapping in "
            f"{n['file_map']}. {n['file_out']} has to hold `{n['o_lines']}` (amount by line), `{n['o_reserve']}` (by "
            f"entity) and `{n['o_result']}`. «{n['file_controls']} has six totals from the reporting tool which must "
            f"come out exactly.|The six totals in {n['file_controls']} come from the reporting tool; match them.»"
        )

    def truth(self) -> Truth:
        n = self.n
        found = [([n["o_lines"], n["w_" + k]], arith.plain(v), CENT) for k, v in self.lines.items()]
        found += [([n["o_reserve"], code], arith.plain(v), CENT) for code, v in self.reserve.items()]
        return {n["file_out"]: [*found, ([n["o_result"]], arith.plain(self.result), CENT)]}

    def headlines(self) -> list[tuple[str, str]]:
        x = self.lines
        return [
            ("Group revenue", arith.shown(-x["revenue"])),
            ("Result of the year", arith.shown(self.result)),
            ("Goodwill", arith.shown(x["goodwill"])),
            ("Translation reserve", arith.shown(-x["reserve"])),
        ]
