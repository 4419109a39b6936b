"""Fixed assets: the register, depreciation by class in whole cents, and the ledger's balances."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction

from simulator.tasks.words import person

from ..._kit_finance import arith
from .world import CENT, Truth, World, csv_text

CLASSES = {
    "machinery": "Press|Lathe|Conveyor|Compressor|Packing line|Milling centre|Furnace|Mixer|Palletiser",
    "vehicles": "Van|Truck|Forklift|Trailer|Estate car|Tractor",
    "office": "Desk set|Archive shelving|Meeting table|Reception desk|Printer|Projector",
    "it_equipment": "Server|Storage array|Laptop batch|Switch cabinet|Scanner set|Tablet set",
    "buildings": "Warehouse|Workshop|Gatehouse|Canopy|Sprinkler system|Cold store",
    "tools": "Jig|Die set|Gauge set|Torque rig|Mould",
}
LIVES = {
    "machinery": (72, 144),
    "vehicles": (48, 84),
    "office": (84, 156),
    "it_equipment": (36, 60),
    "buildings": (240, 480),
    "tools": (36, 96),
}


@dataclass(frozen=True, slots=True)
class Asset:
    """Amounts in cents; out: day of disposal."""

    id: str
    kind: str
    text: str
    cost: int
    residual: int
    since: date
    life: int
    out: date | None
    proceeds: int


def _asset(r: random.Random, w: World, key: str, kind: str, threshold: int) -> Asset:
    since = w.year_end - timedelta(days=r.randint(5, 3200))
    small = r.random() < 0.12
    cost = r.randint(threshold // 6, threshold) if small else r.randint(2 * threshold, 90 * threshold)
    residual = 0 if small or r.random() < 0.6 else cost // r.randint(8, 20) // 10_000 * 10_000
    out, proceeds = None, 0
    if (w.year_end - since).days > 500 and r.random() < 0.16:
        out = w.year_end - timedelta(days=r.randint(0, 420))
        proceeds = cost // r.randint(3, 15) if r.random() < 0.8 else 0
    text = f"{r.choice(CLASSES[kind].split('|'))} {person(r).last[:4].upper()}-{r.randint(10, 990)}"
    return Asset(key, kind, text, cost, residual, since, r.randint(*LIVES[kind]) // 6 * 6, out, proceeds)


def written(a: Asset, day: date, w: World, *, threshold: int, lag: int, stop: bool = True, low: bool = True) -> int:
    """Accumulated depreciation in cents. lag: 1 when the first month does not count. stop, low: False makes a draft's
    mistake (depreciates on after a disposal; depreciates low-value assets over their life)."""
    if a.since > day:
        return 0
    if low and a.cost <= threshold:
        return a.cost
    last = day.year * 12 + day.month
    if stop and a.out and a.out <= day:
        last = a.out.year * 12 + a.out.month - 1
    months = max(0, last - (a.since.year * 12 + a.since.month) + 1 - lag)
    return w.cents(Fraction((a.cost - a.residual) * min(months, a.life), a.life))


def by_class(assets: list[Asset], w: World, threshold: int, lag: int, **mistake: bool) -> dict[str, dict[str, int]]:
    """class -> cost, opening, charge, written, book, result (cents)."""
    found: dict[str, dict[str, int]] = defaultdict(
        lambda: dict.fromkeys(("cost", "opening", "charge", "written", "book", "result"), 0)
    )
    for a in assets:
        if (a.out and a.out <= w.prev_end) or a.since > w.year_end:
            continue
        x = found[a.kind]
        before, now = (written(a, d, w, threshold=threshold, lag=lag, **mistake) for d in (w.prev_end, w.year_end))
        x["opening"] += before
        x["charge"] += now - before
        if a.out and a.out <= w.year_end:
            x["result"] += a.proceeds - (a.cost - now)
        else:
            x["cost"] += a.cost
            x["written"] += now
            x["book"] += a.cost - now
    return {k: found[k] for k in sorted(found)}


def names(r: random.Random, w: World) -> dict[str, str]:
    def pick(words: str) -> str:
        return r.choice(words.split())

    lag = r.randint(0, 1)
    return w.names | {
        "folder": f"{w.names['data']}/{pick('assets fixed_assets register tangible')}",
        "lag": str(lag),
        "first_month": "0" if lag else "1",
        "first_rule": "purchase does not count" if lag else "purchase counts in full",
        "threshold": f"{r.choice((250, 400, 500, 800, 1000))}.00",
        "mod_assets": pick("assets depreciation fixed_assets asset_movements"),
        "mod_check": pick("asset_ledger ledger_check compare_ledger gl_assets"),
        "file_register": pick("register.csv asset_list.csv assets.csv inventory.csv"),
        "file_ledger": pick("ledger_balances.csv general_ledger.csv gl_totals.csv"),
        "file_out": "out/" + pick("assets.json fixed_assets.json depreciation.json"),
        "k_id": pick("asset asset_no tag inventory_no"),
        "k_class": pick("class asset_class category"),
        "k_cost": pick("cost acquisition_cost purchase_price"),
        "k_residual": pick("residual scrap_value residual_value"),
        "k_since": pick("in_service acquired in_use_since"),
        "k_life": pick("life_months months useful_months"),
        "k_out": pick("disposed_on sold_on retired"),
        "k_proceeds": pick("proceeds sale_price sold_for"),
        "o_cost": pick("closing_cost cost_at_end"),
        "o_opening": pick("opening_depreciation depreciation_before"),
        "o_charge": pick("charge depreciation_of_year year_charge"),
        "o_written": pick("closing_depreciation accumulated"),
        "o_book": pick("book_value carrying_amount net_value"),
        "o_result": pick("disposal_result gain_on_disposal result_of_sales"),
        "opt_class": pick("class list kind"),
        "opt_write": pick("out write target"),
        "f_months": pick("months_used months_of_use used_for elapsed_months"),
        "f_last": pick("counts_until last_day_of_use end_of_use"),
        "f_written": pick("written_off accumulated_at depreciated depreciation_until"),
        "f_gone": pick("is_gone disposed left_the_books"),
        "f_move": pick("movement year_of movements_of roll"),
        "f_classes": pick("by_class class_totals totals_by_class summary"),
    }


class Assets:
    def __init__(self, w: World) -> None:
        r = w.part("assets")
        self.w, self.n = w, names(r, w)
        self.threshold, self.lag = int(self.n["threshold"].replace(".", "")), int(self.n["lag"])
        kinds = r.sample(sorted(CLASSES), r.randint(3, 5))
        number, step = r.randint(1000, 70_000), r.randint(2, 9)
        self.assets = []
        for _ in range(r.randint(100, 150)):
            number += r.randint(1, step)
            self.assets.append(_asset(r, w, f"{r.choice('AFG')}{number}", r.choice(kinds), self.threshold))
        if not any(a.out and w.prev_end < a.out <= w.year_end for a in self.assets):
            old = next(k for k, a in enumerate(self.assets) if a.since < w.prev_end and a.cost > self.threshold)
            self.assets[old] = replace(
                self.assets[old], out=w.year_end - timedelta(days=r.randint(40, 300)), proceeds=10_000
            )
        self.right = by_class(self.assets, w, self.threshold, self.lag)
        self.label = r.choice(
            ("Fixed assets agreed with the ledger", "Depreciation and disposals", "Asset register rolled forward")
        )

    def files(self) -> dict[str, str]:
        n, r = self.n, self.w.part("asset files")
        rows = [
            {
                n["k_id"]: a.id,
                n["k_class"]: a.kind,
                "description": a.text,
                n["k_cost"]: arith.plain(a.cost),
                n["k_residual"]: arith.plain(a.residual),
                n["k_since"]: a.since.isoformat(),
                n["k_life"]: str(a.life),
                n["k_out"]: a.out.isoformat() if a.out else "",
                n["k_proceeds"]: arith.plain(a.proceeds) if a.out else "",
            }
            for a in self.assets
        ]
        ledger = [
            {
                n["k_class"]: k,
                "ledger_cost": arith.plain(x["cost"]),
                "ledger_opening": arith.plain(x["opening"]),
                "ledger_depreciation": arith.plain(x["written"]),
            }
            for k, x in self.right.items()
        ]
        base = n["folder"] + "/"
        return {
            base + n["file_register"]: csv_text(r, list(rows[0]), rows),
            base + n["file_ledger"]: csv_text(r, list(ledger[0]), ledger),
        }

    def title(self) -> str:
        return "Fixed assets"

    def policy(self) -> str:
        n = self.n
        first = "does not count, use starts with the following month" if self.lag else "counts as a full month"
        return (
            f"- «Straight line by months|Depreciation is linear, month by month»: accumulated = (`{n['k_cost']}` - "
            f"`{n['k_residual']}`) x months of use / `{n['k_life']}`, «at most the whole|never more than the whole», "
            f"rounded per asset and date. The month of `{n['k_since']}` {first}.\n- «Assets that cost up to|Low "
            f"value: a `{n['k_cost']}` of at most» {n['threshold']} {self.w.currency} «are written off at once, "
            f"residual value or not|is written off in full when taken into use».\n- A disposal (`{n['k_out']}`): «the "
            "last month that counts is the one before|depreciation ends with the month before»; cost and "
            f"depreciation leave the books. `{n['o_result']}` = `{n['k_proceeds']}` - book value, «losses "
            f"negative|negative for a loss».\n- `{n['o_charge']}`: accumulated at {self.w.year_end} (or at disposal) "
            f"less accumulated at {self.w.prev_end}. Assets «disposed of by then|that left before» are not in the "
            "movement.\n"
        )

    def ask(self) -> str:
        n = self.n
        return (
            f"«Fixed assets|Asset register»: {len(self.assets)} items in `{n['folder']}/{n['file_register']}`. "
            f"{n['file_out']} by `{n['k_class']}`: {n['o_cost']}, {n['o_opening']}, {n['o_charge']}, "
            f"{n['o_written']}, {n['o_book']}, {n['o_result']}. «The ledger balances beside it are final.|It has to "
            f"agree with {n['file_ledger']}.»"
        )

    def truth(self) -> Truth:
        n = self.n
        return {
            n["file_out"]: [
                ([k, n["o_" + name]], arith.plain(v), CENT) for k, x in self.right.items() for name, v in x.items()
            ]
        }

    def headlines(self) -> list[tuple[str, str]]:
        total = {k: sum(x[k] for x in self.right.values()) for k in ("book", "charge", "result")}
        return [
            ("Book value of fixed assets", arith.shown(total["book"])),
            ("Depreciation of the year", arith.shown(total["charge"])),
            ("Result of disposals", arith.shown(total["result"])),
        ]
