"""Rules of a stock valuation that a first script misses, each shown by articles that are drawn for it."""

from __future__ import annotations

from .._kit_finance.case import Twist

TWISTS = (
    Twist(
        "landed",
        "freight and duty invoiced apart",
        "amounts that the sheet lists as `{k_landed}` of a receipt join the value of that receipt.",
        "The sheet of {unit} lists {landed} of freight and duty for {landings} receipts. My receipts are worth what "
        "the supplier billed and not what it took to get them here.",
        "A receipt's value takes in what the sheet adds to it.",
        "join the value",
    ),
    Twist(
        "arrived",
        "goods on their way",
        "a movement counts from `{k_arrived}`, in that order; what arrives after {today} is not in stock.",
        "{late} movements of {unit} were booked by {day} and arrived later. I went by `{k_day}`.",
        "Order and cut-off go by the day of arrival.",
        "not in stock",
    ),
    Twist(
        "back",
        "returns to the supplier",
        "a row of kind `{w_back}` leaves at the price of the receipt that it refers to, pieces times value over "
        "pieces of that receipt, rounded; the method of the article does not matter.",
        "{unit} sent {backs} deliveries back. They leave at what they once cost, and I let them leave at the average.",
        "The receipt's own price is kept and used for what goes back.",
        "refers to",
    ),
    Twist(
        "pack",
        "receipts in packs",
        "`{k_quantity}` of a receipt is in packs of `{k_pack}` pieces and `{k_price}` is for a pack; everything else "
        "is in pieces.",
        "Receipts of {unit} come in packs of {pack}. I counted packs as pieces, so the stock ran out on paper.",
        "Pieces are packs times their size; the value is as billed.",
        "in packs",
    ),
    Twist(
        "count",
        "stock-taking",
        "a row of kind `{w_count}` has the pieces found: what is missing leaves like an issue and is `{o_shrink}`.",
        "A count of {unit} found {found} pieces, fewer than my list has. I ignored such rows.",
        "The missing pieces leave at cost into a figure of their own.",
        "pieces found",
    ),
    Twist(
        "costs",
        "costs of selling",
        "the net realisable value of a piece is `{k_sells}` less the per cent that selling takes (`{k_costs}`).",
        "Selling takes {costs} per cent of the price of {unit}. Without that its stock looks as if it were worth more "
        "than it will bring.",
        "The price is cut by the costs of selling before it is compared with cost.",
        "selling takes",
    ),
    Twist(
        "rebate",
        "rebates on receipts",
        "`{k_rebate}` per cent come off the billed value of every receipt, rounded, before anything is added.",
        "The supplier of {unit} grants {rebate} per cent at the year's end. My receipts are at the billed price.",
        "Each receipt's value is lowered by the rebate, rounded.",
        "come off the billed value",
    ),
    Twist(
        "theirs",
        "consigned goods",
        "rows with `{k_owner}` other than own belong to somebody else and count nowhere.",
        "{theirs} rows of {unit} are consigned goods. They lie in our store and are not ours.",
        "Such rows are skipped before anything else.",
        "somebody else",
    ),
)
