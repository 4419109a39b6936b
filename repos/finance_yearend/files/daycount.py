"""«Day-count conventions|Day bases of the loan book|Shares of a year for interest» used by $group.

Bases: ACT/365, ACT/360, 30E/360. «The first day counts, the last does not|The start date is included, the end date is not».
"""

from decimal import Decimal


def _thirty($start, $end):
    months = ($end.year - $start.year) * 12 + $end.month - $start.month
    return 30 * months + $end_day - min($start.day, 30)


def days($start, $end, $basis):
    """«Days of interest|Interest days|Number of days that bear interest» between two dates."""
    if $basis == "30E/360":
        return _thirty($start, $end)
    return ($end - $start).days


def $f_frac(per_year, $start, $end, $basis):
    """«The part of a yearly amount|What of an annual amount» «belongs to the days between two dates|falls on the days from $start to $end», unrounded.

    «Multiplies before it divides, so that a tie stays a tie.|The division comes last: half a cent must stay half a cent.»
    """
    year = 365 if $basis == "ACT/365" else 360
    return Decimal(per_year) * days($start, $end, $basis) / year
