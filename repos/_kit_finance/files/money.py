"""«Money rounding for $firm|How amounts are rounded at $firm|Rounding of posted amounts, $firm».

«The mode is the one of the rules|Mode as in the rules document|See the rules, section on amounts»: $mode.
"""

from decimal import $decimal_modes, Decimal

DUST = Decimal("1e-12")


def $f_round($amount, places=2):
    """«To `places` decimals|Posted amounts have two decimals, rates more|Rounds once, at the end of a step», $mode."""
    clean = Decimal($amount).quantize(DUST, rounding=ROUND_HALF_EVEN)  # «a division must not make a tie no tie|a tie stays a tie»
    return clean.quantize(Decimal(1).scaleb(-places), rounding=$decimal_mode)
