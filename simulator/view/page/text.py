"""Text on a page: nothing of a run, a file or a server can become markup, script or layout."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from simulator.view.cells import clean

#: what HTML's parser, or an old JavaScript's, could take for an end; as JSON escapes they mean the same
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def esc(text: object) -> str:
    """Text for an element or a quoted attribute: one line, no control or direction marks, nothing in it is markup."""
    return html.escape(clean(str(text)), quote=True)


def table(headings: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table that scrolls inside itself; every cell is escaped, all columns but the first stand to the right."""

    def line(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{esc(each)}</{tag}>" for each in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        '<div class="scroll" tabindex="0"><table class="figures">'
        f"<thead>{line(headings, 'th')}</thead><tbody>{body}</tbody></table></div>"
    )


def json_text(value: Any) -> str:
    """JSON that may stand in a script element. NumPy arrays and scalars are allowed; NaN becomes null."""
    text = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS).decode()
    for mark, escaped in _IN_SCRIPT.items():
        text = text.replace(mark, escaped)
    return text


def data(name: str, value: Any) -> str:
    """A block of data that the page's scripts find by its id."""
    return f'<script type="application/json" id="{esc(name)}">{json_text(value)}</script>'
