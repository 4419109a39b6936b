"""report.md as parts of a page: its sentences and tables are written once, for both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt

#: the only markup of its own that report.md has; no text of a run can say it, since its "<" is escaped there
OPEN, SHUT = re.compile(r"<details><summary>([\w ]+)</summary>"), "</details>"


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """(heading, lines) of each second-level section; what comes before the first has the heading ""."""
    title, lines, fenced = "", list[str](), False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            yield title, lines
            title, lines = re.sub(r"\\(.)", r"\1", line[3:]), []
        else:
            lines.append(line)
    yield title, lines


def rendered(lines: list[str]) -> str:
    """HTML of a section's lines. Markup in them is shown as text, links lead to the page itself, tables scroll inside
    themselves."""
    html, plain = "", list[str]()
    writer = _writer()
    for line in lines:
        opened = OPEN.fullmatch(line)
        if not opened and line != SHUT:
            plain.append(line)
            continue
        html += writer.render("\n".join(plain))
        html += f"<details><summary>{opened[1]}</summary>" if opened else SHUT
        plain.clear()
    return html + writer.render("\n".join(plain))


def _writer() -> MarkdownIt:
    writer = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "autolink"])
    writer.validateLink = lambda url: url.startswith("#")  # type: ignore[method-assign]
    writer.add_render_rule("table_open", _table_open)
    writer.add_render_rule("table_close", lambda *_: "</table></div>")
    return writer


def _table_open(*_: Any) -> str:
    return '<div class="scroll" tabindex="0"><table>'
