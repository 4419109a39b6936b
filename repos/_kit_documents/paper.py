"""One file of the papers folder, in each of the formats that offices send."""

from __future__ import annotations

import html
import random
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from email.message import EmailMessage
from email.policy import EmailPolicy

from simulator.tasks import office, words
from simulator.tasks.office import Formula, Heading, Paragraph, Sheet, Table

from .printing import Printer

BINARY = (".pdf", ".docx", ".xlsx")
_MAIL = EmailPolicy(max_line_length=100, cte_type="8bit", utf8=True)
_BOUNDARY = "=_part_{}_of_this_message"


@dataclass(frozen=True, slots=True)
class Paper:
    """text: what a reader of it sees, about line by line. needed: the question cannot be answered without it."""

    path: str
    data: bytes
    text: str
    needed: bool = True

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def binary(self) -> bool:
        """No text for a client that decodes nothing."""
        return self.path.endswith(BINARY) or self.data.startswith(b"\xff\xfe")


def print_pdf(path: str, printer: Printer, made: date, *, author: str, needed: bool = True) -> Paper:
    pages = printer.finished()
    title = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    data = office.pdf(pages, made, title=title, author=author, producer=printer.producer, font=printer.font)
    return Paper(path, data, printer.text(), needed)


def word(
    path: str, blocks: Sequence[Heading | Paragraph | Table], made: date, *, author: str, needed: bool = True
) -> Paper:
    lines: list[str] = []
    for block in blocks:
        lines += ["\t".join(row) for row in block.rows] if isinstance(block, Table) else [block.text]
    title = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return Paper(path, office.word(blocks, made, title=title, author=author), "\n".join(lines), needed)


def workbook(path: str, sheets: Sequence[Sheet], made: date, *, author: str, needed: bool = True) -> Paper:
    lines: list[str] = []
    for sheet in sheets:
        lines.append(f"--- Sheet: {sheet.name} ---")
        lines += ["\t".join(map(_shown, row)) for row in sheet.rows if any(row)]
    return Paper(path, office.workbook(sheets, made, author=author), "\n".join(lines), needed)


def _shown(cell: object) -> str:
    return "" if cell is None else str(cell.result if isinstance(cell, Formula) else cell)


def text(path: str, content: str, encoding: str = "utf-8", *, needed: bool = True) -> Paper:
    """HTML, Markdown and plain text. encoding: "utf-8", "utf-8-sig", "cp1252" or "utf-16" (with its mark)."""
    data = content.encode(encoding) if encoding != "utf-16" else b"\xff\xfe" + content.encode("utf-16-le")
    return Paper(path, data, content, needed)


def csv(path: str, rows: Iterable[Sequence[str]], *, sep: str, encoding: str, needed: bool = True) -> Paper:
    """Cells that hold the separator or a quote are quoted; lines end as on Windows where the encoding is Windows'."""
    end = "\n" if encoding.startswith("utf-8") else "\r\n"

    def cell(value: str) -> str:
        return '"' + value.replace('"', '""') + '"' if sep in value or '"' in value else value

    return text(path, "".join(sep.join(map(cell, row)) + end for row in rows), encoding, needed=needed)


def mail(
    path: str,
    sender: tuple[str, str],
    to: tuple[str, str],
    subject: str,
    when: date,
    body: str,
    attached: Sequence[Paper] = (),
    *,
    needed: bool = True,
) -> Paper:
    """An e-mail as a client saves it; attachments are base64. sender, to: (name, address)."""
    message = EmailMessage(policy=_MAIL)
    message["From"], message["To"] = f"{sender[0]} <{sender[1]}>", f"{to[0]} <{to[1]}>"
    message["Subject"], message["Date"] = subject, f"{when:%a, %d %b %Y} 09:{len(body) % 60:02d}:00 +0000"
    message["Message-ID"] = f"<{words.plain(subject)[:40]}.{when:%Y%m%d}@{sender[1].split('@')[-1]}>"
    message.set_content(body, cte="8bit")
    for part in attached:
        ending = part.path.rsplit(".", 1)[-1]
        kind = {"pdf": "pdf", "csv": "octet-stream"}.get(ending, "vnd.openxmlformats-officedocument")
        message.add_attachment(part.data, maintype="application", subtype=kind, filename=part.name)
    if attached:
        message.set_boundary(_BOUNDARY.format(words.plain(path.rsplit("/", 1)[-1])))
    shown = f"From: {sender[0]}\nTo: {to[0]}\nSubject: {subject}\n\n{body}"
    return Paper(path, message.as_bytes(), shown, needed)


def page(title: str, body: str, r: random.Random) -> str:
    """An HTML page around `body`: navigation, a frame of tables, a style of the seed."""
    shade = f"#{r.randrange(0xC0C0C0, 0xFFFFFF):06x}"
    menu = r.sample(("Home", "Products", "News", "Service", "Contact", "Jobs", "Imprint", "Search", "My account"), 6)
    nav = "".join(f'<td bgcolor="{shade}"><a href="/{words.plain(m)}">{m}</a></td>' for m in menu)
    return (
        f"<html><head><title>{html.escape(title)}</title>\n<style>td,th{{padding:{r.randint(2, 6)}px}}</style></head>\n"
        f'<body><table width="{r.randrange(820, 1100, 20)}"><tr>{nav}</tr>\n<tr><td colspan=6>\n{body}\n</td></tr>\n'
        f"<tr><td colspan=6><small>Release {words.pattern(r, '#.##.#')}</small></td></tr></table></body></html>\n"
    )


def table(rows: Sequence[Sequence[str]], mark: str) -> str:
    """An HTML table whose first row holds headings. Cells are put in as they are, so they may be markup."""
    head = "<tr>" + "".join(f"<th>{c}</th>" for c in rows[0]) + "</tr>"
    rest = "\n".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows[1:])
    return f'<table class="{mark}">\n{head}\n{rest}\n</table>'


def scan(r: random.Random, paragraphs: Sequence[str], head: str, *, width: int = 76, rows: int = 46) -> str:
    """Text as a scanner's software gives it: narrow lines, words divided at line ends, the head of the page and a folio
    number wherever a page ends, which may be in the middle of a sentence."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*_divided(r, textwrap.wrap(paragraph, width, break_on_hyphens=False)), ""]
    out: list[str] = []
    for number, start in enumerate(range(0, len(lines), rows), 1):
        out += [f"{head:<{width - 12}}Folio {number:>4}", "_" * width, *lines[start : start + rows], ""]
    return "\n".join(out)


def _divided(r: random.Random, lines: list[str]) -> list[str]:
    """Some lines take the beginning of the next line's first word, with a hyphen."""
    out = list(lines)
    for k in range(len(out) - 1):
        head, _, rest = out[k + 1].partition(" ")
        if len(head) > 7 and head.isalpha() and head.islower() and rest and r.random() < 0.45:
            cut = r.randint(3, len(head) - 3)
            out[k], out[k + 1] = f"{out[k]} {head[:cut]}-", f"{head[cut:]} {rest}"
    return out
