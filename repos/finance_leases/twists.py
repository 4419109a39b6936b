"""Rules of lease accounting that a first script misses, each shown by leases that are drawn for it."""

from __future__ import annotations

from .._kit_finance.case import Twist

TWISTS = (
    Twist(
        "advance",
        "rent in advance",
        "with `{k_due}` in advance the rent of a month is paid on its first day: it is part of the first value at "
        "once, and interest runs on what is left after it.",
        "{unit} pays in advance, and I let each rent wait until the end of its month: {months_n} rents discounted one "
        "month too far.",
        "Payments in advance are taken on their day, before the month's interest.",
        "first day",
    ),
    Twist(
        "costs",
        "costs and incentives",
        "`{k_costs}`, what was paid to get the contract less what the lessor gave, joins the right of use at the "
        "start and not the liability.",
        "The contract of {unit} names {costs} of costs less incentives. They belong to the right of use, which is "
        "short by that much before it is written off.",
        "The right of use begins with the liability plus these costs.",
        "joins the right",
    ),
    Twist(
        "free",
        "months without rent",
        "the first `{k_free}` months bear no rent; they count for the term, for interest and for the write-off.",
        "{unit} has {free} without rent at its start, and I let it pay from the first month.",
        "These months get a payment of nothing; everything else runs.",
        "bear no rent",
    ),
    Twist(
        "index",
        "index changes",
        "from month `{k_index}` on (counted from 1, the change behind it) the rent changes, each rent rounded; before "
        "that month the liability is set to the value of the changed rents at the old rate, and the right of use "
        "takes the difference.",
        "From month {index_month} on the rent of {unit} changes by {index_change} per cent. I know only the first "
        "rent.",
        "At that month all later rents change, the liability is valued again, and the right takes the difference.",
        "takes the difference",
    ),
    Twist(
        "option",
        "option to buy",
        "a price in `{k_option}` will be paid at the end: it is part of the value, and the right of use is written "
        "off over `{k_life}` months instead of the term.",
        "{unit} will be bought for {option} at its end. The price is missing from my value, and the asset lives "
        "{life} months, not {months_n}.",
        "The price is valued with the rents, and the write-off runs over its life.",
        "will be paid at the end",
    ),
    Twist(
        "service",
        "service in the rent",
        "`{k_service}` per cent of the rent are service and no lease; the rest is rounded and counts.",
        "{service} per cent of what {unit} pays are cleaning and repairs. I capitalised a service.",
        "Only the rent without the service part is taken, rounded once.",
        "service and no lease",
    ),
    Twist(
        "extend",
        "options to extend",
        "months in `{k_more}` will be used and lengthen the term.",
        "The contract of {unit} holds an option of {more} months that will be used, so its term is {months_n} and not "
        "{term}.",
        "The term is the contract's plus the option's months.",
        "lengthen the term",
    ),
    Twist(
        "restore",
        "restoring the site",
        "`{k_restore}` is due at the end of the term: its value at the start (same rate, months of the term, rounded) "
        "joins the right of use and not the liability.",
        "{unit} has to be restored for {restore} at its end. The right of use lacks the value of that.",
        "Its value at the start, discounted over the whole term, joins the right of use.",
        "due at the end of the term",
    ),
)
