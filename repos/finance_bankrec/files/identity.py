def identities(given, got):
    """Both balances from their sides, and the proof of a reconciliation: the two roads end at the same balance."""
    from decimal import Decimal

    n = given["n"]
    for side in ("ledger", "bank"):
        if got[n[side]] != Decimal(given[side]) / 100:
            yield f"the balance of the {side} is {got[n[side]]}, its entries give {Decimal(given[side]) / 100}"
    ours = got[n["ledger"]] + got[n["unbooked"]] + got[n["errors"]]
    theirs = got[n["bank"]] + got[n["outstanding"]]
    if ours != theirs or ours != got[n["adjusted"]]:
        yield f"from the ledger one gets {ours}, from the bank {theirs}, stated is {got[n['adjusted']]}"
