def identities(given, got):
    """First value and balance by the annuity formula, in decimals; the balance up to a cent a month of rounding."""
    from decimal import Decimal

    n, rate = given["n"], Decimal(given["rate"]) / 1_200_000
    count, free, gone = given["months"], given["free"], given["gone"]
    v = 1 / (1 + rate)
    early = 1 + rate if given["early"] else 1

    def annuity(rents, waits):
        return v**waits * (1 - v**rents) / rate * early

    rent, option = Decimal(given["rent"]) / 100, Decimal(given["option"]) / 100
    first = rent * annuity(count - free, free) + option * v**count
    if abs(got[n["initial"]] - first) > Decimal("0.02"):
        yield f"first value is {got[n['initial']]}, the annuity gives {first:.2f}"
    left = count - gone
    owed = Decimal(given["later"]) / 100 * annuity(left - max(0, free - gone), max(0, free - gone)) + option * v**left
    if abs(got[n["liability"]] - owed) > Decimal("0.02") * gone:
        yield f"liability is {got[n['liability']]}, what is left is worth {owed:.2f}"
