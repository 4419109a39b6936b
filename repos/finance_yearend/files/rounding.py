"""«Rounding of money for the $group close|How $group rounds money|Money rounding, one place for all workings».

«The mode follows the accounting policy|Mode as laid down in the policy document|See the policy, section on rounding»: «only final amounts of a step are rounded|each posted amount is rounded once|an amount is rounded when it is posted».
"""

from decimal import $mode_used, Decimal

CENT = Decimal("0.01")


def $f_round($amount):
    """«Two decimals, by the policy's mode|The posted amount in whole cents|$currency amounts carry two decimals»."""
    return Decimal($amount).quantize(CENT, rounding=$mode_used)


def $f_ratio($amount, places=4):
    """«Ratios and multiples|Multiples and percentages|Quotients for the report», «`places` decimals|cut to `places` decimals by the same mode»."""
    return Decimal($amount).quantize(Decimal(1).scaleb(-places), rounding=$mode_used)
