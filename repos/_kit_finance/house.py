"""The repository around the units: helpers and their tests, rules, README, what does not matter, and its history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from simulator.core.task import Commit

from . import noise
from .arith import UP
from .case import Case
from .journal import spin


def library(case: Case) -> dict[str, str]:
    w, n = case.w, case.n
    pkg = n["pkg"]
    return {
        f"{pkg}/__init__.py": w.fill('"""«Helpers|Shared helpers|Small helpers» for the workings of $firm."""\n'),
        f"{pkg}/{n['m_money']}.py": w.shared("money.py", n),
        f"{pkg}/{n['m_tab']}.py": w.shared("tables.py", n),
        f"{pkg}/{n['m_cal']}.py": w.shared("calendar.py", n),
        "tests/__init__.py": "",
        "tests/test_helpers.py": w.shared("test_helpers.py", n),
        ".gitignore": "__pycache__/\n*.pyc\n",
    }


def rules_path(case: Case) -> str:
    names = ("rules.md", "conventions.md", "method.md", "calculation_rules.md", "working_rules.md")
    return f"{case.n['docs']}/{case.w.part('rules path').choice(names)}"


def sections(case: Case) -> list[tuple[str, str]]:
    """(heading, Markdown) of the rules document: amounts, what the template says, and a bullet for each twist."""
    n = case.n
    ties = "away from zero" if case.w.mode == UP else "to the even last digit"
    amounts = (
        f"- Amounts are in {n['currency']} with two decimals; «half a cent goes|ties are rounded» {ties} "
        f"({n['mode']}), below zero alike. «An amount is rounded where these rules say so and nowhere else.|Rounding "
        "happens at the places named here, never in between.»\n- «Nothing is calculated in binary floating "
        "point|Decimal arithmetic throughout»; what a "
        "division leaves behind the twelfth decimal is dropped first. The helpers in "
        f"`{n['pkg']}/` «round, read and write|are to be used». Standard library only.\n- Results are one JSON "
        f"object: a key for each {case.noun}, below it the figures by name, «numbers as text|every number as a "
        "string», no separators.\n"
    )
    special = "".join(f"- **{t.title}**: {t.rule}\n" for t in case.twists)
    return [("Amounts and results", amounts), *case.rules(), ("Special cases", special.format_map(n))]


def rules(case: Case) -> str:
    w = case.w
    r = w.part("rules text")
    head = (
        f"# {case.title}: «rules of calculation|how it is calculated|working rules»\n\n{w.firm.name}, «as of|valid at» "
    )
    head += f"{w.day}. «Owner|Questions to»: {w.boss.name}.\n"
    parts = [spin(r, head)]
    for k, (heading, body) in enumerate(sections(case), 1):
        parts.append(f"\n## {k}. {heading}\n\n{spin(r, body)}")
    return "".join(parts)


def readme(case: Case) -> str:
    w, n = case.w, case.n
    return spin(
        w.part("readme"),
        (
            f"# {w.firm.short}: {case.title.lower()}\n\n«Data and workings|Everything needed» for {case.nouns} at "
            f"{w.day}, {w.firm.address.city}.\n\n- `{n['data']}/`: «deliveries, not to be changed|as delivered, "
            f"read-only by agreement»\n- `{rules_path(case)}`: «how we calculate|the rules»\n- `{n['pkg']}/`: helpers, "
            "tests in `tests/` (`python3 -m unittest discover -s tests -t .`)\n- "
            f"`{n['calc']}/`: scripts, run as modules (`python3 -m {n['calc']}.NAME`)\n- `out/`: results\n\nOther "
            "folders «are older or belong to other work|hold papers of other projects»; they «stay where they are|are "
            f"kept for the auditors».\n\n{w.boss.name}, {w.boss.email(w.firm.domain)}\n"
        ),
    )


def files(case: Case) -> dict[str, str]:
    found = library(case) | case.files()
    found |= {rules_path(case): rules(case), "README.md": readme(case), f"{case.n['calc']}/__init__.py": ""}
    return found | noise.papers(case, len(found))


def history(case: Case, found: dict[str, str]) -> tuple[Commit, ...]:
    """Helpers, rules, other papers, then the deliveries in parts."""
    w = case.w
    r = w.part("history")
    when = datetime(w.day.year, w.day.month, w.day.day, 8, tzinfo=UTC) - timedelta(days=r.randint(30, 120))
    lib, own = library(case), case.files()
    rest = sorted(p for p in found if p not in lib and p not in own)
    texts = [p for p in rest if p in (rules_path(case), "README.md", f"{case.n['calc']}/__init__.py")]
    others = [p for p in rest if p not in texts]
    data = sorted(own)
    half = len(data) // 2
    groups = [
        ("«Helpers and their tests|Add helpers|Helpers from last year»", sorted(lib)),
        ("«Older papers|Papers of the year before|Import the shared drive»", others[::2]),
        ("«Rules agreed|Rules and overview|Write down how we calculate»", texts),
        ("«Other work|Notes and lists|Papers of the month»", others[1::2]),
        ("«First delivery|Delivery, part one|Data, first half»", data[:half]),
        ("«Second delivery|The rest of the data|Delivery complete»", data[half:]),
    ]
    commits = []
    for message, paths in groups:
        if not paths:
            continue
        who = r.choice((*w.staff, w.boss))
        when += timedelta(days=r.randint(1, 9), minutes=r.randint(1, 600))
        content = {p: found[p].encode() for p in paths}
        commits.append(Commit(spin(r, message), who.name, who.email(w.firm.domain), int(when.timestamp()), content))
    return tuple(commits)
