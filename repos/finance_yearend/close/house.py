"""The repository around the chapters: helper library with its one fault, tests, policy, README and history."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from simulator.core.task import Commit

from ..._kit_finance.arith import UP
from ..._kit_finance.journal import spin
from .texts import render
from .world import Chapter, World

_PURPOSE = "«Helpers|Shared helpers|Small helpers» for the «close|year-end|annual accounts»"
_POLICIES = ("accounting_policy.md", "conventions.md", "closing_manual.md", "rules.md")


def test_names(w: World) -> dict[str, str]:
    """Placeholders of the library's tests. The years and months only vary what is asserted."""
    r = w.part("tests")
    year = r.randint(2017, 2023)
    leap = year % 4 == 0
    a = r.randint(1, 4)
    b = r.choice((5, 7, 8, 10, 12))
    tie = Decimal(w.names["tie_b"] + "5")
    mode = ROUND_HALF_UP if w.mode == UP else ROUND_HALF_EVEN
    return w.names | {
        "y0": str(year),
        "y1": str(year + 1),
        "feb": "29" if leap else "28",
        "q1": str((date(year, 3, 31) - date(year, 1, 1)).days),
        "month_a": str(a),
        "month_b": str(b),
        "thirty": str(30 * (b - a) + 15),
        "tie_right": str(tie.quantize(Decimal("0.01"), rounding=mode)),
    }


def library(w: World) -> dict[str, str]:
    r, n = w.part("library"), test_names(w)
    pkg = n["pkg"]
    return {
        f"{pkg}/__init__.py": f'"""{spin(r, _PURPOSE)} of {w.group.short}."""\n',
        f"{pkg}/{n['m_round']}.py": render(r, "rounding.py", n),
        f"{pkg}/{n['m_days']}.py": render(r, "daycount.py", n),
        f"{pkg}/{n['m_tab']}.py": render(r, "tables.py", n),
        "tests/__init__.py": "",
        f"tests/test_{n['m_round']}.py": render(r, "test_rounding.py", n),
        f"tests/test_{n['m_days']}.py": render(r, "test_days.py", n),
        f"tests/test_{n['m_tab']}.py": render(r, "test_tables.py", n),
        ".gitignore": "__pycache__/\n*.pyc\n",
    }


def policy_path(w: World) -> str:
    return f"{w.names['docs']}/{w.part('policy').choice(_POLICIES)}"


def policy(w: World, chapters: list[Chapter]) -> str:
    r = w.part("policy text")
    ties = "away from zero" if w.mode == UP else "to the even cent"
    parts = [
        f"# {spin(r, '«Closing rules|Accounting conventions|Policy for the annual close»')}, {w.group.name}\n",
        spin(
            r,
            f"«Valid for|Applies to» the year ending {w.year_end}; the year before ended {w.prev_end}. «Owner|Kept "
            f"by»: {w.controller.name}, «group accounting|finance department|group control».\n",
        ),
        f"\n## 1. {spin(r, '«Amounts and rounding|Rounding|Money»')}\n\n",
        spin(
            r,
            f"- Amounts carry two decimals. «Ties are rounded|A half cent goes» {ties} ({w.mode}), «for negative "
            "amounts alike|also below zero». Ratios «use the same mode|follow the same mode».\n- Results are JSON; "
            "amounts are written as text with two decimals, «without separators|no thousands separators». «Nothing "
            "is calculated in binary floating point except rates of return.|Floats are for rates of return only.»\n- "
            f"«Helpers in|The package» `{w.names['pkg']}` «are to be used for rounding, day count and files|covers "
            "rounding, day count and files; use it». «Only the standard library is available.|No third-party "
            "packages.»\n",
        ),
    ]
    for k, chapter in enumerate(chapters, 2):
        parts.append(f"\n## {k}. {chapter.title()}\n\n{spin(r, chapter.policy())}")
    return "".join(parts)


def readme(w: World, chapters: list[Chapter]) -> str:
    r, n = w.part("readme"), w.names
    rows = "".join(
        f"- {c.title()}: «section|see section|rules in section» {k} of the policy\n" for k, c in enumerate(chapters, 2)
    )
    return spin(
        r,
        (
            f"# {w.group.short}, {w.year_end.year}\n\n«Workings for the annual accounts|Data and workings for the "
            f"close|Everything needed for the close» of {w.group.name}, {w.group.address.city}, at {w.year_end}.\n\n- "
            f"`{n['data']}/`: «extracts as delivered, not to be changed|delivered data, read-only by agreement»\n- "
            f"`{policy_path(w)}`: «the rules|how we calculate»\n- `{n['pkg']}/`: helpers, tests in `tests/` (`python3 "
            f"-m unittest discover -s tests -t .`)\n- `{n['calc']}/`: «scripts go here, run as modules|calculations, "
            f"`python3 -m {n['calc']}.NAME`»\n- `out/`: results\n\n{rows}\n«Questions|Contact»: {w.controller.name}, "
            f"{w.controller.email(w.group.domain)}\n"
        ),
    )


def history(w: World, chapters: list[Chapter], files: dict[str, str]) -> tuple[Commit, ...]:
    """Library, policy, then the data of each chapter as it was delivered."""
    r = w.part("history")
    when = datetime(w.year_end.year, w.year_end.month, w.year_end.day, 8, tzinfo=UTC) - timedelta(
        days=r.randint(20, 90)
    )
    lib = set(library(w))
    groups = [
        ("«Helpers and their tests|Add helper package|Import helpers from last year»", [p for p in files if p in lib])
    ]
    groups.append(
        ("«Policy for this year|Closing rules agreed|Rules and overview»", [p for p in (policy_path(w), "README.md")])
    )
    for c in chapters:
        label = c.title().lower()
        groups.append((f"«Data|Extracts|Delivery»: {label}", sorted(c.files())))
    commits = []
    for message, paths in groups:
        who = r.choice((*w.staff, w.controller))
        when += timedelta(days=r.randint(2, 14), minutes=r.randint(1, 600))
        content = {p: files[p].encode() for p in paths}
        commits.append(Commit(spin(r, message), who.name, who.email(w.group.domain), int(when.timestamp()), content))
    return tuple(commits)
