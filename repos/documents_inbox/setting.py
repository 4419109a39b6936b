"""The repository around the papers: README, schema, rules, helper code, its history; and the request in words."""

from __future__ import annotations

import calendar
import html
import json
import random
import textwrap
from datetime import date, timedelta

from simulator.core.task import Commit
from simulator.tasks import office, words
from simulator.tasks.office import Text

from . import bench, exports
from .brief import Spec
from .clauses import contract_blocks
from .data import grammar
from .invoices import invoice_pdf
from .layouts import MONTHS
from .leaflets import leaflet
from .world import DEVIATIONS, World

KINDS = {"date": "date", "due": "date", "starts": "date", "placed": "date", "wanted": "date", "iban": "iban",
         "discount": "percent", "interest": "percent", "lines": "list"}  # fmt: skip
MONEY = {"charges", "net", "tax", "gross", "cap", "total"}
TOPICS = ("site-news", "travel-policy", "brochure", "fair-report")
WHOLE = {"tax_rate", "term", "notice", "payment", "discount_days", "review"}


def period(world: World) -> str:
    return f"{MONTHS[world.start.month - 1]} {world.year}"


def counted(n: int, noun: str) -> str:
    return f"one {noun}" if n == 1 else f"{n} {noun}s"


def _firms(world: World) -> str:
    names = [s.company.short for s in world.suppliers]
    return " and ".join(names) if len(names) < 3 else f"{len(names)} suppliers"


def prompt(r: random.Random, world: World, spec: Spec, size: str) -> str:
    return words.say(
        r,
        r.choice(grammar("setting")["small_prompts" if size == "small" else "prompts"]),
        firms=_firms(world),
        agreements=counted(len(world.suppliers), "agreement"),
        pdfs=len(world.invoices()),
        period=period(world),
        buyer=world.buyer.short,
        who=world.requester.name,
        clerk=world.clerk.name,
        schema=spec.paths["schema"],
        formats=spec.paths["formats"],
        validate=f"{spec.code['tools']}/{spec.code['validate']}.py",
        readers=spec.code["readers"],
        tools=spec.code["tools"],
    )


def readme(r: random.Random, world: World, spec: Spec) -> str:
    values = {"buyer": world.buyer.name, "who": world.requester.name, "clerk": world.clerk.name, **spec.code}
    values["schema"] = spec.paths["schema"]
    parts = [words.say(r, text, **values) for text in grammar("setting")["readme"]]
    return f"# Papers {period(world)}\n\n" + "\n\n".join(textwrap.fill(p, 100) for p in parts) + "\n"


def rules(r: random.Random, spec: Spec) -> str:
    text = grammar("setting")
    money = "integers, in cents" if spec.minor else 'texts with two decimals and a point, no grouping ("1234.50")'
    lines = [f"# {r.choice(('Notation', 'How values are written', 'House rules for records'))}", ""]
    for name, rule in text["rules"].items():
        filled = words.say(r, rule, money=money, **{k: v for k, v in spec.keys.items() if k != "money"})
        lines.append(textwrap.fill(f"- {filled}", 100, subsequent_indent="  "))
        if name == "crosscheck":
            lines += [f"  - `{spec.flags[d]}`: {text['codes'][d]}" for d in DEVIATIONS]
    return "\n".join(lines) + "\n"


def schema(spec: Spec) -> str:
    def kind(fact: str) -> str:
        if fact in MONEY:
            return "money"
        return "int" if fact in WHOLE else KINDS.get(fact, "text")

    out = {f"{k}s": {spec.keys[f]: {"kind": kind(f)} for f in facts} for k, facts in spec.fields.items()}
    out["invoices"][spec.keys["lines"]]["of"] = [spec.keys[f] for f in spec.line]
    out["orders"][spec.keys["lines"]]["of"] = [spec.keys[f] for f in ("sku", "quantity", "unit_price")]
    return json.dumps(out, indent=2) + "\n"


def history(r: random.Random, world: World, spec: Spec, size: str) -> tuple[Commit, ...]:
    code = spec.code
    tools, readers = code["tools"], code["readers"]
    first = {
        "README.md": readme(r, world, spec), ".gitignore": "__pycache__/\n*.pyc\n", f"{tools}/__init__.py": "",
        f"{tools}/{code['norm']}.py": bench.normalise_module(r, spec), "tests/__init__.py": "",
        f"tests/test_{code['norm']}.py": bench.test_module(r, spec),
    }  # fmt: skip
    second = {f"{readers}/__init__.py": "", f"{readers}/{code['base']}.py": bench.base_module(r, spec)}
    third = {
        spec.paths["schema"]: schema(spec), spec.paths["formats"]: rules(r, spec),
        f"{tools}/{code['validate']}.py": bench.validate_module(r, spec),
    }  # fmt: skip
    papers = _papers(r, world, spec, size)
    half = sorted(papers)[: len(papers) // 2]
    stages: list[tuple[str, dict[str, bytes]]] = [
        (r.choice(("Conversions with tests", "Start: conversions", "Amounts and dates")), _encoded(first)),
        (r.choice(("Base of the readers", "Page texts and command line", "Readers: shared part")), _encoded(second)),
        (r.choice(("Schema, notation and a validator", "Write down what we want", "Field lists")), _encoded(third)),
        (f"Inbox {period(world)}, first half", {p: papers[p] for p in half}),
        (f"Inbox {period(world)}, the rest", {p: papers[p] for p in papers if p not in half}),
    ]
    people = (world.clerk, world.requester)
    when = calendar.timegm((world.start + timedelta(days=95)).timetuple())
    commits = []
    for message, files in stages:
        when += r.randint(9_000, 170_000)
        who = r.choice(people)
        commits.append(Commit(message, who.name, who.email(world.buyer.domain), when, files))
    return tuple(commits)


def _encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


def _papers(r: random.Random, world: World, spec: Spec, size: str) -> dict[str, bytes]:
    out: dict[str, bytes] = {}
    for s in world.suppliers:
        blocks = contract_blocks(r, world, s)
        title = f"Agreement {s.contract.number}"
        out[spec.paths[f"contract:{s.key}"]] = office.word(
            blocks, s.contract.signed, title=title, author=world.clerk.name
        )
        for i in s.invoices:
            out[spec.paths[f"invoice:{i.number}"]] = invoice_pdf(r, world, s, i)
            out[spec.paths[f"order:{i.order.number}"]] = exports.order_html(r, world, s, i)
    busy = 2 if size == "long" else 1
    out[spec.paths["goods"]] = exports.goods_in(r, world, exports.log_rows(r, world, 30))
    out[spec.paths["bank"]] = exports.bank_csv(r, world, r.randint(110, 150) * busy)
    out[spec.paths["ledger"]] = exports.ledger_csv(r, world, r.randint(60, 90) * busy)
    return out | _leaflets(r, world, spec)


def _leaflets(r: random.Random, world: World, spec: Spec) -> dict[str, bytes]:
    """One circular of each kind, each in another format."""
    topics = r.sample(TOPICS, len(TOPICS))
    out, folder = {}, spec.paths["bank"].rsplit("/", 1)[0]
    for topic, ending in zip(topics, ("docx", "txt", "html", "pdf"), strict=True):
        blocks = leaflet(r, world, topic, r.randint(5, 9))
        made = world.start + timedelta(days=r.randint(0, 60))
        title, texts = blocks[0].text, [b.text for b in blocks[1:]]
        out[f"{folder}/{topic}_{made:%y%m}.{ending}"] = _as_file(ending, blocks, title, texts, made, world.clerk.name)
    return out


def _as_file(ending: str, blocks: list[office.Heading | office.Paragraph], title: str, texts: list[str], made: date,
             author: str) -> bytes:  # fmt: skip
    if ending == "docx":
        return office.word(blocks, made, title=title, author=author)
    if ending == "txt":
        return "\n\n".join([title, *(textwrap.fill(t, 78) for t in texts)]).encode() + b"\n"
    if ending == "html":
        rows = "\n".join(f"<tr><td>{html.escape(t)}</td></tr>" for t in texts)
        head = f"<html><body><table><tr><th>{html.escape(title)}</th></tr>\n"
        return (head + f"<tr><td><table>\n{rows}\n</table></td></tr></table></body></html>\n").encode()
    lines = [line for t in texts for line in (*textwrap.wrap(t, 92), "")]
    page: list[Text | office.Rule] = [Text(20, 16, title, 14, bold=True)]
    page += [Text(20, 30 + 4.6 * k, line) for k, line in enumerate(lines[:54])]
    return office.pdf([page], made, title=title, author=author, producer="Writer")
