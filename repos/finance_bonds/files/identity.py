def identities(given, got):
    """The price from the yield that was found, by the annuity formula; and value = cost + gain + interest."""
    n = given["n"]
    if got[n["value"]] != got[n["cost"]] + got[n["gain"]] + got[n["accrued"]]:
        yield "value is not cost plus gain plus interest"
    from decimal import Decimal

    dirty = Decimal(given["price"]) + Decimal(given["accrued"])
    count, times = given["count"], given["freq"]
    left = Decimal(given["left"][0]) / given["left"][1]
    rate, coupon = got[n["yield"]], Decimal(given["regular"])
    first = Decimal(given["first"])
    if count == 1:
        worth = (100 + first) / (1 + rate * left / times)
    else:
        v = 1 / (1 + rate / times)
        annuity = coupon * (1 - v**count) / (1 - v) if v != 1 else coupon * count
        worth = v**left * (annuity + first - coupon + 100 * v ** (count - 1))
    if abs(worth - dirty) > Decimal("0.003"):
        yield f"at {rate} the payments are worth {worth:.4f}, the price with interest is {dirty:.4f}"
