"""Rules of a VAT return that a first script misses, each shown by quarters that are drawn for it."""

from __future__ import annotations

from .._kit_finance.case import Twist

TWISTS = (
    Twist(
        "up",
        "share rounded up",
        "the recoverable share is rounded up to a whole per cent before it is applied.",
        "Tax on mixed purchases of {unit} is {mixed}, and I apply the exact {share_exact} per cent of it. {stated} is "
        "what {share} per cent give.",
        "The share is brought up to the next whole per cent before it meets the tax.",
        "whole per cent",
    ),
    Twist(
        "abroad",
        "reverse charge",
        "purchases of kind `{w_abroad}` carry no tax; it is owed here at the standard rate on their sum, and deducted "
        "in full in the same return.",
        "{unit} bought {abroad} from abroad without tax. I passed over these rows, so `{o_acquired}` is nothing and "
        "the deduction lacks the same amount.",
        "Both sides get it: owed as `{o_acquired}`, deducted with the rest.",
        "standard rate on their sum",
    ),
    Twist(
        "credit",
        "credit notes",
        "a row of kind `{w_credit}` takes turnover back; its amount is written without a sign.",
        "The journal of {unit} has {credits} rows of kind {w_credit}, amounts without a sign. I added them to the "
        "turnover that they take back.",
        "Their amounts are now subtracted, in the same class of tax.",
        "takes turnover back",
    ),
    Twist(
        "point",
        "date of supply",
        "a document belongs to the quarter of its `{k_supplied}`, whatever the date on the paper.",
        "{late} documents of {unit} were issued before the quarter's end and supplied after it. `{k_issued}` is the "
        "wrong column to ask.",
        "The cut-off asks `{k_supplied}` now.",
        "whatever the date",
    ),
    Twist(
        "lost",
        "bad debts",
        "the memo lists sales that will not be paid, gross: the tax in them at the standard rate, each rounded, "
        "lowers `{o_out}`.",
        "The memo of {unit} lists {lost} bad debts, {lost_sum} gross, and my return pays tax on money that never came.",
        "The tax inside each gross amount is taken off the output tax.",
        "not be paid",
    ),
    Twist(
        "asset",
        "sales of assets",
        "turnover of kind `{w_asset}` is taxed like any other and left out of the recoverable share on both sides.",
        "{unit} sold assets for {assets}. That is no trade, and it lifts my share to {share_wrong} per cent where "
        "{share} are right.",
        "The share leaves such sales out; the tax on them stays.",
        "left out of the recoverable share",
        ("up",),
    ),
    Twist(
        "till",
        "till receipts",
        "rows of kind `{w_till}` are gross: the net is the amount times 100 over 100 plus the rate, unrounded.",
        "Rows of kind {w_till}, {tills} of them, come from the cash desk of {unit} and hold the tax already. I taxed "
        "the tax.",
        "For these rows the net is worked out of the gross, without rounding.",
        "are gross",
    ),
    Twist(
        "limit",
        "corrections above the limit",
        "corrections of earlier returns are taken up when their sum is within the memo's limit, either way; above it "
        "they are declared apart and are nothing here.",
        "The corrections of {unit} sum up to {corrections}, and its limit is {limit}. They go to a letter of their "
        "own and not into this return.",
        "The sum is compared with the limit before it is used.",
        "declared apart",
    ),
)
