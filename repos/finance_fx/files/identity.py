def identities(given, got):
    """The revalued sum from totals by currency, up to half a cent an item; gains and losses against it."""
    from decimal import Decimal

    n = given["n"]
    total = Decimal(given["fixed"][0]) / given["fixed"][1]
    for amount, above, below in given["totals"].values():
        total += Decimal(amount) * above / below
    if abs(got[n["closing"]] - total / 100) > Decimal("0.005") * (given["count"] + 1):
        yield f"revalued is {got[n['closing']]}, totals by currency give {total / 100:.2f}"
    if got[n["closing"]] - got[n["book"]] != got[n["gain"]] - got[n["loss"]]:
        yield "gains less losses are not revalued less booked"
    if got[n["net"]] != got[n["gain"]] - got[n["loss"]]:
        yield "net is not gains less losses"
