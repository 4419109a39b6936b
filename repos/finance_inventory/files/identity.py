def identities(given, got):
    """What came in is what went out, was missing or is left; pieces by counting; value by the price that can be had."""
    from decimal import Decimal

    n = given["n"]
    if got[n["bought"]] != got[n["issued"]] + got[n["shrink"]] + got[n["cost"]]:
        yield "what was bought is not what was issued, is missing and is left"
    if got[n["quantity"]] != given["pieces"]:
        yield f"{got[n['quantity']]} pieces are left, the movements leave {given['pieces']}"
    net = Decimal(given["sells"]) * (100 - given["costs"]) / 10_000 * given["pieces"]
    if abs(got[n["value"]] - min(got[n["cost"]], net)) > Decimal("0.01"):
        yield f"value is {got[n['value']]}, the stock brings {net:.2f} and cost {got[n['cost']]}"
    if got[n["cost"]] - got[n["value"]] != got[n["writedown"]]:
        yield "the write-down is not cost less value"
