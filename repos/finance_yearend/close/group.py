"""The group's trial balances, what its companies owe each other, and the consolidated lines in whole cents."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from .world import World

RESULT = ("revenue", "cost", "staff", "other", "finance", "tax")
#: (line, side, account names); amounts of side "d" are debits, "c" credits
CHART: tuple[tuple[str, str, str], ...] = (
    (
        "fixed",
        "d",
        "Land and buildings|Plant and machinery|Office equipment|Vehicles|Software licences|Leasehold "
        "improvements|Tools and moulds|Assets under construction|Patents|Fixtures|Storage racks",
    ),
    (
        "stock",
        "d",
        "Raw materials|Work in progress|Finished goods|Goods for resale|Packaging|Spare parts "
        "stock|Consumables|Stock in transit",
    ),
    (
        "debtors",
        "d",
        "Trade debtors domestic|Trade debtors abroad|Notes receivable|Retentions receivable|Doubtful debtors|Credit "
        "card receivables",
    ),
    (
        "otherassets",
        "d",
        "Prepaid insurance|Input tax recoverable|Deposits paid|Loans to staff|Accrued income|Prepaid rent|Supplier "
        "rebates due|Tax refunds",
    ),
    (
        "cash",
        "d",
        "Current account|Deposit account|Petty cash|Cash in transit|Foreign currency account|Collection account",
    ),
    (
        "creditors",
        "c",
        "Trade creditors|Goods received not invoiced|Advances received|Creditors abroad|Utilities payable",
    ),
    ("debt", "c", "Bank loan|Overdraft|Lease liabilities|Promissory notes|Shareholder loan"),
    (
        "provisions",
        "c",
        "Warranty provision|Holiday pay|Legal claims|Restoration|Jubilee awards|Bonus accrual|Onerous contracts",
    ),
    ("otherliab", "c", "Payroll tax|Output tax|Social security|Deferred income|Wage tax|Customs duties payable"),
    (
        "revenue",
        "c",
        "Sales domestic|Sales export|Service income|Spare parts|Licence income|Freight recharged|Scrap "
        "sales|Discounts granted",
    ),
    (
        "cost",
        "d",
        "Materials consumed|Subcontractors|Inbound freight|Stock adjustments|Customs and duties|Tooling|Energy for "
        "production",
    ),
    ("staff", "d", "Wages|Salaries|Employer contributions|Training|Pension cost|Overtime|Agency staff|Bonuses"),
    (
        "other",
        "d",
        "Rent|Energy|Depreciation|Insurance|Travel|Audit fees|IT services|Advertising|Repairs|Legal "
        "fees|Telephone|Cleaning|Vehicle costs|Entertaining|Subscriptions",
    ),
    ("finance", "d", "Interest paid|Bank charges|Exchange differences"),
    ("tax", "d", "Current tax|Deferred tax"),
)
LINES = {
    "fixed": "fixed_assets property_and_plant non_current_assets",
    "stock": "inventories stock",
    "debtors": "trade_receivables receivables debtors",
    "otherassets": "other_assets sundry_assets",
    "cash": "cash_at_bank cash_and_equivalents liquid_funds",
    "creditors": "trade_payables payables creditors",
    "debt": "borrowings financial_debt",
    "provisions": "provisions accrued_provisions",
    "otherliab": "other_liabilities sundry_liabilities",
    "revenue": "revenue turnover net_sales",
    "cost": "cost_of_sales materials cost_of_goods",
    "staff": "personnel staff_costs employee_cost",
    "other": "other_expenses operating_expenses overheads",
    "finance": "finance_result interest_and_charges",
    "tax": "income_tax taxes",
    "capital": "share_capital issued_capital",
    "earnings": "retained_earnings profit_brought_forward",
    "shares": "investments shares_in_group",
    "goodwill": "goodwill goodwill_on_acquisition",
    "reserve": "translation_reserve currency_reserve",
    "diff_bs": "internal_differences clearing_differences",
    "diff_pl": "internal_result_differences clearing_result",
}


@dataclass(frozen=True, slots=True)
class Entity:
    """rows: (account, line key, partner code, cents local, debits positive). historic: rate of capital and earnings."""

    code: str
    name: str
    currency: str
    parent: str
    historic: Fraction
    rows: tuple[tuple[str, str, str, int], ...]


def _codes(w: World, count: int) -> list[str]:
    found: list[str] = []
    for x in w.others:
        letters = "".join(ch for ch in x.short.upper() if "A" <= ch <= "Z")
        code = letters[0] + letters[2] + letters[-1]
        if code not in found:
            found.append(code)
    return found[:count]


@dataclass(slots=True)
class Books:
    """Everything drawn for the consolidation. accounts: number -> (name, line key)."""

    accounts: dict[str, tuple[str, str]]
    closing: dict[str, Fraction]
    average: dict[str, Fraction]
    entities: list[Entity]
    internal: dict[str, str]


def _accounts(r: random.Random) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    accounts: dict[str, tuple[str, str]] = {}
    number = r.choice((1000, 1010, 10000, 2000, 100000))
    step = r.choice((5, 10, 3, 7))
    for line, _, text in CHART:
        choice = text.split("|")
        for name in sorted(r.sample(choice, r.randint(max(2, len(choice) - 2), len(choice))), key=choice.index):
            number += step * r.randint(1, 4)
            accounts[str(number)] = (name, line)
        number += step * 10
    internal = {}
    for key, name, line in (
        ("receivable", "Due from group companies", "otherassets"),
        ("payable", "Due to group companies", "otherliab"),
        ("sales", "Sales to group companies", "revenue"),
        ("purchases", "Purchases from group companies", "cost"),
        ("shares", "Shares in group companies", "shares"),
        ("capital", "Share capital", "capital"),
        ("earnings", "Profit brought forward", "earnings"),
    ):
        number += step * r.randint(1, 4)
        internal[key] = str(number)
        accounts[str(number)] = (name, line)
    return accounts, internal


def _six(x: Fraction) -> Fraction:
    return Fraction(round(x * 10**6), 10**6)


def draw(r: random.Random, w: World) -> Books:
    accounts, key = _accounts(r)
    pool = [c for c in ("EUR", "GBP", "CHF", "DKK", "USD", "SEK", "PLN", "NOK", "CZK", "CAD") if c != w.currency]
    codes = _codes(w, 4 if w.size != "long" else r.randint(5, 6))
    money = [w.currency, *r.sample(pool, len(codes) - 2), w.currency if r.random() < 0.4 else r.choice(pool)]
    closing = {c: Fraction(r.randint(80_000, 1_400_000), 1_000_000) for c in money}
    average = {c: _six(x * Fraction(r.randint(960, 1040), 1000)) for c, x in closing.items()}
    closing[w.currency] = average[w.currency] = Fraction(1)
    historic = {
        c: Fraction(1) if m == w.currency else _six(closing[m] * Fraction(r.randint(85, 115), 100))
        for c, m in zip(codes, money, strict=True)
    }
    extra: dict[str, list[tuple[str, str, str, int]]] = {c: [] for c in codes}
    currency = dict(zip(codes, money, strict=True))
    ring = list(zip(codes, codes[1:] + codes[:1], strict=True))
    rest = [(a, b) for a in codes for b in codes if a != b and (a, b) not in ring]
    for a, b in [*ring, *r.sample(rest, r.randint(2, 4))]:
        sales = r.randint(20_000_000, 300_000_000)
        owed = sales // r.randint(4, 12)
        extra[a] += [(key["sales"], "revenue", b, -sales), (key["receivable"], "otherassets", b, owed)]
        bought = w.cents(sales * average[currency[a]] / average[currency[b]]) + r.randint(-2, 2)
        owes = w.cents(owed * closing[currency[a]] / closing[currency[b]]) + r.randint(-2, 2)
        extra[b] += [(key["purchases"], "cost", a, bought), (key["payable"], "otherliab", a, -owes)]
    for k, c in enumerate(codes):
        capital = r.randint(2, 60) * 50_000_000
        extra[c].append((key["capital"], "capital", "", -capital))
        if k:
            premium = r.choice((0, r.randint(1_000_000, 90_000_000)))
            extra[codes[0]].append((key["shares"], "shares", c, w.cents(capital * historic[c]) + premium))
    entities = []
    sides = {line: side for line, side, _ in CHART}
    for k, c in enumerate(codes):
        rows = [
            (number, line, "", (1 if sides[line] == "d" else -1) * _size(r, line))
            for number, (_, line) in accounts.items()
            if line in sides and number not in key.values() and r.random() < 0.93
        ] + sorted(extra[c])
        rows.append((key["earnings"], "earnings", "", -sum(x[3] for x in rows)))
        rows.sort(key=lambda x: (int(x[0]), x[2]))
        entities.append(Entity(c, w.others[k].name, currency[c], "" if k == 0 else codes[0], historic[c], tuple(rows)))
    return Books(accounts, closing, average, entities, key)


def _size(r: random.Random, line: str) -> int:
    top = {
        "revenue": 1_500_000_000,
        "cost": 500_000_000,
        "staff": 260_000_000,
        "tax": 20_000_000,
        "finance": 18_000_000,
    }
    return r.randint(150_000, top.get(line, 120_000_000))


def consolidate(
    b: Books, w: World, *, result: bool = True, historic: bool = True
) -> tuple[dict[str, int], dict[str, int]]:
    """(line key -> cents, entity -> translation reserve). Mistakes of drafts: result=False leaves internal sales and
    purchases in, historic=False translates capital and earnings at the closing rate."""
    lines: dict[str, int] = defaultdict(int)
    reserve: dict[str, int] = {}
    inside = {
        b.internal[k]
        for k in (("receivable", "payable", "sales", "purchases") if result else ("receivable", "payable"))
    }
    for e in b.entities:
        rest = 0
        for account, line, _, cents in e.rows:
            at = b.average[e.currency] if line in RESULT else b.closing[e.currency]
            if line in ("capital", "earnings") and historic:
                at = e.historic
            group = w.cents(cents * at)
            rest -= group
            if account in inside:
                line = "diff_pl" if line in RESULT else "diff_bs"
            elif line == "shares" or (line == "capital" and e.parent):
                line = "goodwill"
            lines[line] += group
        reserve[e.code] = rest
    lines["reserve"] = sum(reserve.values())
    return dict(lines), reserve


def names(r: random.Random, w: World) -> dict[str, str]:
    def pick(words: str) -> str:
        return r.choice(words.split())

    return (
        w.names
        | {"w_" + key: pick(words) for key, words in LINES.items()}
        | {
            "folder": f"{w.names['data']}/{pick('group consolidation packages trial_balances entities')}",
            "mod_group": pick("consolidate group_figures consolidation aggregate group_accounts"),
            "mod_check": pick("controls group_check control_totals package_check"),
            "file_out": "out/" + pick("group.json consolidated.json consolidation.json group_lines.json"),
            "file_entities": pick("entities.csv companies.csv scope.csv"),
            "file_rates": pick("fx.csv exchange_rates.csv currencies.csv"),
            "file_map": pick("mapping.csv account_map.csv chart.csv"),
            "file_controls": pick("controls.csv reporting_totals.csv control_totals.csv"),
            "k_entity": pick("entity code company unit"),
            "k_account": pick("account gl_account acct account_no"),
            "k_line": pick("group_line line position report_line"),
            "k_hist": pick("historical_rate capital_rate acquisition_rate"),
            "k_average": pick("average avg_rate mean_of_year"),
            "k_closing": pick("closing year_end_rate spot"),
            "k_file": pick("trial_balance file source"),
            "k_debit": pick("debit dr"),
            "k_credit": pick("credit cr"),
            "k_partner": pick("partner counterparty trading_partner"),
            "k_parent": pick("held_by parent owner"),
            "o_lines": pick("lines positions group_lines"),
            "o_reserve": pick("translation_by_entity reserve_by_entity currency_effect"),
            "o_result": pick("net_result profit_for_year result_for_year"),
            "c_historic": pick("HISTORIC AT_HISTORIC_RATE FROZEN EQUITY_LINES"),
            "c_result": pick("RESULT_LINES PROFIT_LINES INCOME_LINES AT_AVERAGE"),
            "c_internal": pick("INTERNAL ELIMINATED BETWEEN_US IC_ACCOUNTS"),
            "opt_entity": pick("entity unit show company"),
            "opt_pairs": pick("internal pairs partners"),
            "opt_write": pick("out write save result"),
            "opt_strict": pick("strict fail exit-code"),
            "f_masters": pick("masters load_masters setup_data reference_data"),
            "f_rate": pick("rate_for rate_of pick_rate applicable_rate"),
            "f_translate": pick("translate translated convert_entity in_group_currency"),
            "f_group": pick("consolidate group_totals build_group roll_up"),
            "f_matrix": pick("matrix build_matrix by_line_and_entity spread_sheet"),
            "f_pairs": pick("internal_rows pairs partner_rows internal_balances"),
        }
    )
