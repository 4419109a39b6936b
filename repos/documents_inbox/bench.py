"""The code that is in the repository before the agent comes."""

from __future__ import annotations

import random

from simulator.tasks import words

from .brief import Spec
from .data import template


def render(name: str, spec: Spec, **values: object) -> str:
    """A template of files/ with the seed's identifiers, key names (k_FACT) and deviation codes (f_DEVIATION)."""
    known: dict[str, object] = {**spec.code, **{f"k_{f}": k for f, k in spec.keys.items()}}
    known |= {f"f_{d}": code for d, code in spec.flags.items()}
    known["schema_dir"] = spec.paths["schema"].rsplit("/", 1)[0]
    return template(f"{name}.py.txt").substitute(known | values)


def normalise_module(r: random.Random, spec: Spec) -> str:
    doc = words.say(
        r,
        "[Values as printed on paper, turned into|From printed values to] the form that [our JSON uses|"
        "the importer accepts].",
    )
    if spec.minor:
        return render(
            "norm", spec, norm_doc=doc, money_doc="Money leaves as an integer, in cents.", money_code="return cents"
        )
    text = 'return f"{cents / 100:.2f}"'
    return render("norm", spec, norm_doc=doc, money_doc='Money leaves as text: "1234.50".', money_code=text)


def validate_module(r: random.Random, spec: Spec) -> str:
    doc = words.say(
        r,
        "[Checks|Tests] [extracted records|what a reader wrote] against the [schema|list of fields] and, for "
        "invoices, whether the sums add up.",
    )
    text = "isinstance(value, str) and re.fullmatch(MONEY, value) is not None"
    return render(
        "validate",
        spec,
        validate_doc=doc,
        money_pattern='r"-?\\d+"' if spec.minor else 'r"-?\\d+\\.\\d\\d"',
        money_check="isinstance(value, int) and not isinstance(value, bool)" if spec.minor else text,
        money_in="value" if spec.minor else f"{spec.code['cents']}(value)",
    )


def base_module(r: random.Random, spec: Spec) -> str:
    doc = words.say(r, "[What every reader needs|Shared by readers]: [page texts|text of pages], a command line.")
    if not spec.sums_in_summary:
        plain = {"summary_doc": "", "summary_code": '    return f"{head}  {totals}"', "base_import": ""}
        return render("base", spec, base_doc=doc, **plain)
    value = "{}" if spec.minor else spec.code["cents"] + "({})"
    amount, charges, net = (
        value.format(f'{owner}["{spec.keys[fact]}"]')
        for owner, fact in (("line", "amount"), ("record", "charges"), ("record", "net"))
    )
    code = f"""    gap = sum({amount} for line in lines) + {charges} - {net}
    return f"{{head}}  {{totals}}  {{'sum ok' if gap == 0 else f'SUM OFF BY {{gap / 100:.2f}}'}}\""""
    needed = f"\nfrom {spec.code['tools']}.{spec.code['norm']} import {spec.code['cents']}\n" if not spec.minor else ""
    return render(
        "base", spec, base_doc=doc, summary_doc=", whether the sum holds", summary_code=code, base_import=needed
    )


def test_module(r: random.Random, spec: Spec) -> str:
    values = [words.cents(r, 900, 9_000_000) for _ in range(4)]
    cases = [(f"{values[0] / 100:,.2f}", values[0]), (f"{values[1] / 100:.2f}".replace(".", ","), values[1])]
    cases += [(f"-{values[2] / 100:.2f}", -values[2]), (f"{values[3] // 100}", values[3] // 100 * 100)]
    y, m, d = r.randint(2019, 2026), r.randint(1, 12), r.randint(13, 28)
    dates = [f"{d}.{m:02d}.{y}", f"{d}/{m}/{y}", f"{y}-{m:02d}-{d}"]
    good = words.iban("DE", words.pattern(r, "#" * 18))
    out = words.cents(r, 100, 900_000)
    return render(
        "test_norm",
        spec,
        test_doc=words.say(r, "[Printed forms|Cases] that [came up|were met] so far."),
        amount_cases=tuple(cases),
        bad_amount=r.choice(("n/a", "on request", "see annex", "gratis")),
        out_cents=out,
        out_text=repr(spec.money(out)),
        date_cases=tuple(dates),
        date_iso=f"{y}-{m:02d}-{d}",
        iban_good=good,
        iban_bad=good[:-1] + str((int(good[-1]) + 1) % 10),
    )
