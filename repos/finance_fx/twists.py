"""Rules of a revaluation that a first script misses, each shown by ledgers that are drawn for it."""

from __future__ import annotations

from .._kit_finance.case import Twist

TWISTS = (
    Twist(
        "monetary",
        "items that are not monetary",
        "only cash, receivables, payables and loans are revalued; prepayments, stock and equity keep the amount they "
        "were booked at and are in no figure here.",
        "{fixed} items of {unit} are prepayments, stock or equity, {fixed_sum} as booked. Nobody will be paid in the "
        "currency for these, and I revalued them.",
        "Only the four monetary classes go through the loop.",
        "only cash",
    ),
    Twist(
        "units",
        "quotes for many units",
        "a quote is for as many units as `{k_units}` says.",
        "{unit} has items in {hundred}, quoted for 100 units, and I read the quote as if it were for one: a "
        "hundredfold too much.",
        "The quote is divided by its units.",
        "as many units",
    ),
    Twist(
        "inverse",
        "quotes the other way round",
        "with `{k_quoted}` foreign the quote is currency for one {currency}; the rate is one over it, unrounded.",
        "{inverse} is quoted as currency for one {currency}. I multiplied where one has to divide.",
        "For such quotes the rate is one over the quote.",
        "one over it",
    ),
    Twist(
        "cross",
        "rates by way of another currency",
        "with `{k_quoted}` cross the quote is in {cross}; the rate is the quote times the rate of {cross}, unrounded.",
        "{crossed} has no quote against {currency}, only one in {cross}, which I took for ours.",
        "The quote is multiplied with the rate of {cross} at the same day.",
        "quote times the rate",
    ),
    Twist(
        "last",
        "the day of a quote",
        "the quote of {today} counts, or the last one before it where there is none; later ones never.",
        "The table goes beyond {day}: for {stale} I picked a quote of {later}, which nobody could know.",
        "Quotes after the reporting date are left out before the latest is taken.",
        "later ones never",
    ),
    Twist(
        "reval",
        "last month's revaluation",
        "rows of class `{w_reval}` are last month's differences and are taken back: the booked amount of an item is "
        "its own row alone.",
        "{unit} still holds {revals} rows of {w_reval}. They are part of my booked amounts, so that last month's "
        "difference hides in this one's.",
        "These rows are skipped, the item's own amount stands.",
        "taken back",
    ),
    Twist(
        "settled",
        "items that were paid",
        "an item with `{k_settled}` on or before {today} is no longer open: what was received less what was booked is "
        "`{o_realised}`, and it is in no other figure.",
        "{paid} items of {unit} were paid by {day}; I valued them as if they were open, and `{o_realised}` is nothing.",
        "Paid items are set apart with their realised difference.",
        "no longer open",
    ),
    Twist(
        "forward",
        "forward contracts",
        "an item with a contract is valued at the rate of the contract, whatever the market says.",
        "{hedged} items of {unit} name a forward contract, {contract} for one, and its rate is fixed. I valued them "
        "at the market.",
        "Where a contract is named its rate is used.",
        "rate of the contract",
    ),
)
