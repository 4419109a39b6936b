def identities(given, got):
    """The return from sums by class, in decimals: output tax, deduction, balance."""
    from decimal import Decimal

    n, rates = given["n"], given["rates"]
    cent = Decimal("0.02")
    net = {code: Decimal(a) / b / 100 for code, (a, b) in given["turnover"].items()}
    lost = sum(Decimal(gross) / 100 * rates["S"] / (100 + rates["S"]) for gross in given["lost"])
    out = sum(net[code] * rates[code] / 100 for code in net) - lost
    if abs(got[n["out"]] - out) > cent:
        yield f"output tax is {got[n['out']]}, the turnover gives {out:.2f}"
    acquired = Decimal(given["abroad"]) / 100 * rates["S"] / 100
    if abs(got[n["acquired"]] - acquired) > cent:
        yield f"reverse charge is {got[n['acquired']]}, purchases from abroad give {acquired:.2f}"
    taxable = net["S"] + net["R"] + net["Z"] - Decimal(given["assets"]) / 100
    exact = 100 * taxable / (taxable + net["E"])
    if not 0 <= got[n["share"]] - exact < 1:
        yield f"a share of {got[n['share']]} is not {exact:.4f} rounded up"
    deducted = (Decimal(given["direct"]) + Decimal(given["mixed"]) * got[n["share"]] / 100) / 100 + acquired
    if abs(got[n["in"]] - deducted) > cent:
        yield f"deduction is {got[n['in']]}, the parts give {deducted:.2f}"
    if got[n["payable"]] != got[n["out"]] + got[n["acquired"]] - got[n["in"]] + got[n["correction"]]:
        yield "the balance does not add up"
