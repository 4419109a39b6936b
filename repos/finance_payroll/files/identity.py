def identities(given, got):
    """The tax from the tax at each bracket's edge plus the rest at its rate; net pay from the other figures."""
    from decimal import Decimal

    n = given["n"]
    edges, before = [], Decimal(0)
    brackets = [(Decimal(a) / 100, Decimal(rate) / 100) for a, rate in given["brackets"]]
    for k, (start, rate) in enumerate(brackets):
        if k:
            before += (start - brackets[k - 1][0]) * brackets[k - 1][1]
        edges.append((start, before, rate))

    def yearly(amount):
        start, paid, rate = max(edge for edge in edges if edge[0] <= amount)
        return paid + (amount - start) * rate

    total = Decimal(0)
    for base, bonus in given["bases"]:
        year = Decimal(base) * 12 / 100
        total += yearly(year) / 12 + yearly(year + Decimal(bonus) / 100) - yearly(year)
    room = Decimal("0.01") * len(given["bases"]) * 2
    if abs(got[n["tax"]] - total) > room:
        yield f"tax is {got[n['tax']]}, the bases give {total:.2f}"
    rest = got[n["gross"]] - got[n["social"]] - got[n["tax"]] - Decimal(given["advances"]) / 100
    if abs(got[n["net"]] - rest) > given["cash"] * Decimal(given["coin"]) / 200:
        yield f"net pay is {got[n['net']]}, the other figures leave {rest}"
    if got[n["heads"]] != len(given["bases"]):
        yield "heads do not agree with the list"
