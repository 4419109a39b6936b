"""Rules of a bond portfolio that a first script misses, each shown by bonds that are drawn for it."""

from __future__ import annotations

from .._kit_finance.case import Twist

TWISTS = (
    Twist(
        "exdiv",
        "ex-dividend days",
        "where the term sheet has {k_ex} above 0 and the next coupon is no further away than that many days, the "
        "buyer does not get it: accrued interest is negative, for the days from {today} to the coupon, and the coupon "
        "is no flow of the yield.",
        "The trail shows {figure} with a plus although the next coupon of {unit} is only {to_next} days off and its "
        "sheet has {ex} ex-dividend days: the holder before us gets that coupon.",
        "So in this window the accrual counts the days to the coupon, with a minus, and the first flow is dropped.",
        "ex-dividend",
    ),
    Twist(
        "short",
        "first period of a new issue",
        "before the first coupon interest runs from the issue date, not from the regular date before it; the first "
        "coupon is the rate for those days.",
        "{unit} was issued on {issue}, after the regular date {before} from which I counted. Nobody earned interest "
        "before the paper existed.",
        "The period starts at the later of the two dates, and the first coupon is as short as the period.",
        "issue date",
    ),
    Twist(
        "icma",
        "ACT/ACT by coupon period",
        "ACT/ACT counts the days of the running period over the days of the whole period times the coupons a year, "
        "never over 365.",
        "{unit} is on ACT/ACT and I divide by 365 as for ACT/365. The running period has {period_days} days, {freq} "
        "of them a year.",
        "The share of the year becomes days over period days times coupons a year; the other bases stay.",
        "ACT/ACT",
    ),
    Twist(
        "settle",
        "trades not settled",
        "a trade counts from its settlement date; what is traded and not settled at {today} is not held.",
        "The last trade of {unit} was made on {last_trade} and settles on {last_settle}, after {day}. I took all rows "
        "by `{k_trade}`.",
        "The filter has to use `{k_settle}`; nominal, cost and interest all follow from it.",
        "settle",
    ),
    Twist(
        "eom",
        "coupons at month ends",
        "when the maturity is the last day of its month, every coupon date is the last day of its month.",
        "Maturity {maturity} is a month end, and the dates that I get by going back {months} months at a time are "
        "not: {before_wrong} should be {before}.",
        "When the maturity is a month end each date is moved to the end of its own month.",
        "last day of its month",
    ),
    Twist(
        "sink",
        "notes repaid in part",
        "the term sheet lists repayments as `{k_sink}`, date and per cent of the original nominal; what is repaid up "
        "to {today} reduces nominal and cost alike, by the same share.",
        "The sheet of {unit} lists {sinks}: {sunk} per cent are paid back, and I still count the full nominal as if "
        "nothing had happened.",
        "Nominal and cost are multiplied by what is left, cost rounded after that.",
        "repaid",
    ),
    Twist(
        "step",
        "stepped coupons",
        "a second rate in the term sheet, `{k_step}`, holds from the period that begins on or after its date.",
        "{unit} steps up: {step_rate} per cent from {step_day}. I read only the first rate, {first_rate}.",
        "The rate is now chosen by the first day of the running period.",
        "second rate",
    ),
    Twist(
        "simple",
        "simple yield in the last period",
        "with one payment left the yield is simple: what is paid over the price with accrued interest, less one, "
        "times coupons a year, over the share of the period that is left.",
        "Only {unit} has a single payment left, and its {o_yield} is where we differ. I compound where the market "
        "does not.",
        "One payment left takes the simple formula, everything else stays with the solver.",
        "yield is simple",
    ),
)
