"""Rules of a bank reconciliation that a first script misses, each shown by accounts that are drawn for it."""

from __future__ import annotations

from .._kit_finance.case import Twist

TWISTS = (
    Twist(
        "batch",
        "batches",
        "entries with the same `{k_batch}` are paid as one sum, and the bank's line has the batch as its reference.",
        "{batched} entries of {unit} belong to batches, {batch} for one. The bank has one line for each batch, which "
        "I take for unbooked, and the entries for outstanding.",
        "Entries of a batch are added up and matched under the batch's name.",
        "paid as one sum",
    ),
    Twist(
        "swap",
        "amounts that differ",
        "where the reference agrees and the amount does not, the bank is right: the pair is settled and the "
        "difference, bank less ledger, belongs to `{o_errors}`.",
        "Same reference, other amount: {swapped} in the ledger of {unit}, which is {swap_gap} off. I match by both, "
        "so the pair stands on both sides as open.",
        "A pair that agrees in the reference alone is settled, its difference goes to `{o_errors}`.",
        "the bank is right",
    ),
    Twist(
        "dup",
        "entries booked twice",
        "an entry with the reference and amount of an earlier one was booked twice: the second is taken back through "
        "`{o_errors}` and is not outstanding.",
        "{twice} stands twice in the ledger of {unit}, to the cent. The bank paid once and will never pay the second.",
        "The second of two equal entries is set aside and lowers `{o_errors}`.",
        "booked twice",
    ),
    Twist(
        "value",
        "value dates",
        "a line of the statement counts from its `{k_value}`; the bank's balance is of the lines that count.",
        "The statement of {unit} ends with {late} lines whose value date is after {day}. I counted them by the day of "
        "booking.",
        "Lines are filtered by value date, for the balance as for the matching.",
        "counts from its",
    ),
    Twist(
        "fee",
        "card settlements",
        "references that begin with CARD are paid less the acquirer's fee: the difference is a fee that nobody "
        "booked, part of `{o_unbooked}` and no error.",
        "The gaps of {unit} under CARD are the acquirer's fees, {fees} in all. I put them under errors, but nobody "
        "made one.",
        "Differences under CARD go to what is not booked yet.",
        "acquirer's fee",
        ("swap",),
    ),
    Twist(
        "storno",
        "lines that the bank reversed",
        "two lines of one reference that cancel each other never happened; the entry, if any, is outstanding.",
        "The bank of {unit} booked {reversed} and took it back. My match took the first line, and the second stands "
        "as unbooked.",
        "Pairs that cancel are dropped before the matching.",
        "cancel each other",
    ),
    Twist(
        "ref",
        "notation of references",
        "references agree when their letters (either case) and digits do, leading zeros aside; everything else in "
        "them is decoration.",
        "{decorated} at the bank is {bare} in the ledger of {unit}. I compare them sign by sign.",
        "Both sides are reduced to letters and digits without leading zeros.",
        "is decoration",
    ),
    Twist(
        "old",
        "old outstanding entries",
        "what has been outstanding for more than 180 days at {today} is written back through `{o_errors}` (with the "
        "opposite sign) and no longer outstanding.",
        "{olds} outstanding entries of {unit} are older than half a year, the oldest of {oldest}. They are written "
        "back, not carried on.",
        "Old ones go to `{o_errors}` with the other sign.",
        "180 days",
    ),
)
