"""The repository around the papers: README, rules of the question, helper code with its tests, history."""

from __future__ import annotations

import calendar
import json
import random
import textwrap
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.core.task import Commit
from simulator.tasks import words

from .code import grammar, render
from .house import House, money
from .paper import Paper

if TYPE_CHECKING:
    from .case import Case

FILES = Path(__file__).parent / "files"


def form_path(house: House) -> str:
    return f"{house.names['docs']}/form.json"


def rules_path(house: House) -> str:
    return f"{house.names['docs']}/question.md"


def readme(r: random.Random, case: Case) -> str:
    text = grammar(FILES / "furniture.yaml")
    values = {
        **case.house.names,
        "firm": case.house.firm.name,
        "asker": case.house.asker.name,
        "clerk": case.house.clerk.name,
        "question": rules_path(case.house),
    }
    parts = [*case.about, *(words.say(r, line, **values) for line in text["readme"])]
    return f"# {case.title}\n\n" + "\n\n".join(textwrap.fill(p, 100) for p in parts) + "\n"


def rules(r: random.Random, case: Case) -> str:
    text = grammar(FILES / "furniture.yaml")
    heading = words.say(r, text["rules_title"])
    common = [words.say(r, line, **case.house.names) for line in text["rules"]]
    items = [textwrap.fill(f"{n}. {p}", 100, subsequent_indent="   ") for n, p in enumerate((*case.rules, *common), 1)]
    return f"# {heading}\n\n" + "\n\n".join(items) + "\n"


def values_module(r: random.Random, house: House) -> str:
    doc = words.say(r, "[Amounts and dates|Figures and days] as [papers print|people write] them.")
    return render(FILES, "values", house.names, values_doc=doc)


def texts_module(r: random.Random, house: House) -> str:
    doc = words.say(
        r, "The text [of|inside] [papers|documents], [kept|remembered] in tmp/ [because|since] PDF takes time."
    )
    return render(FILES, "texts", house.names, texts_doc=doc)


def form_module(r: random.Random, house: House) -> str:
    doc = words.say(r, "[Has every result|Do the results have] the [form|keys and kinds] that [was|were] asked for?")
    return render(FILES, "form", house.names, form_doc=doc, form_file=form_path(house))


def show_module(r: random.Random, house: House) -> str:
    doc = words.say(r, "[Papers as text|What is in a paper], [piece by piece|a range of lines at a time].")
    return render(FILES, "show", house.names, show_doc=doc)


def test_module(r: random.Random, house: House) -> str:
    cents = [words.cents(r, 900, 9_000_000) for _ in range(4)]
    cases = [(f"{cents[0] / 100:,.2f}", cents[0]), (f"{cents[1] / 100:.2f}".replace(".", ","), cents[1])]
    cases += [(f"({cents[2] / 100:,.2f})", -cents[2]), (f"{cents[3] // 100}", cents[3] // 100 * 100)]
    y, m, d = r.randint(2019, 2026), r.randint(1, 12), r.randint(13, 28)
    out = words.cents(r, 100, 900_000)
    return render(
        FILES,
        "test_values",
        house.names,
        test_doc=words.say(r, "[Printed forms|Cases] that [came up|were met] [so far|before]."),
        amount_cases=tuple(cases),
        bad_amount=r.choice(("n/a", "on request", "see annex", "gratis", "incl.")),
        date_cases=(f"{d}.{m:02d}.{y}", f"{d}/{m}/{y}", f"{y}-{m:02d}-{d}"),
        date_iso=f"{y}-{m:02d}-{d}",
        out_cents=out,
        out_text=money(out),
    )


def history(r: random.Random, case: Case, papers: Sequence[Paper]) -> tuple[Commit, ...]:
    house, n = case.house, case.house.names
    code = {
        "README.md": readme(r, case),
        ".gitignore": "__pycache__/\n*.pyc\n/tmp/\n",
        f"{n['tools']}/__init__.py": "",
        house.tool("values"): values_module(r, house),
        house.tool("texts"): texts_module(r, house),
        "tests/__init__.py": "",
        f"tests/test_{n['values']}.py": test_module(r, house),
        f"{n['work']}/__init__.py": "",
    }
    form = json.dumps(case.form, indent=2, ensure_ascii=False) + "\n"
    asked = {
        house.tool("form"): form_module(r, house),
        form_path(house): form,
        rules_path(house): rules(r, case),
        **case.files,
    }
    ordered = sorted(papers, key=lambda p: p.path)
    r.shuffle(ordered)
    cut = max(1, len(ordered) // 3)
    text = grammar(FILES / "furniture.yaml")["commits"]
    stages: list[tuple[str, dict[str, bytes]]] = [(text["code"], _encoded(code)), (text["asked"], _encoded(asked))]
    for start in range(0, len(ordered), cut):
        stages.append((text["papers"], {p.path: p.data for p in ordered[start : start + cut]}))
    when = calendar.timegm((house.day - timedelta(days=20)).timetuple())
    commits = []
    for message, files in stages:
        when += r.randint(9_000, 170_000)
        who = r.choice((house.clerk, house.asker))
        said = words.say(r, message, what=sorted(files)[0].rsplit("/", 1)[-1], number=len(files), **n)
        commits.append(Commit(said, who.name, who.email(house.firm.domain), when, files))
    return tuple(commits)


def _encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}
