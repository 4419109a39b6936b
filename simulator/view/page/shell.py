"""One HTML file that opens offline: style, scripts and data inside it, and a policy that lets nothing else load."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from simulator.view.page.charts import MARK, library
from simulator.view.page.text import esc


@dataclass(frozen=True, slots=True)
class Part:
    """A section. title: plain text; "" for one without heading and place in the menu. html: its body, every string in
    it escaped (text.esc). anchor: its id. scripts: names of this package's .js files that it needs. half: two such
    stand side by side where there is room."""

    title: str
    html: str
    anchor: str
    scripts: tuple[str, ...] = ()
    half: bool = False


@cache
def asset(name: str) -> str:
    """A file of this package, such as style.css."""
    return (files("simulator.view.page") / name).read_text(encoding="utf-8")


def page(title: str, parts: Sequence[Part], *, note: str = "") -> str:
    """A whole page. title: plain text. note: what must not be missed (EMULATED, client-limited), a banner a line.

    Only the scripts written here run (the policy names them by their hashes), nothing is fetched from anywhere, and
    Vega is there only when a part has a chart.
    """
    drawn = any(MARK in part.html for part in parts)
    names = dict.fromkeys(name for part in parts for name in part.scripts)
    scripts = [library(), asset("boot.js")] * drawn + [asset(name) for name in names]
    menu = "".join(f'<a href="#{esc(part.anchor)}">{esc(part.title)}</a>' for part in parts if part.title)
    banners = "".join(f'<p class="banner">{esc(line)}</p>' for line in note.splitlines() if line.strip())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">\n'
        f"<title>{esc(title)}</title>\n<style>{asset('style.css')}</style></head>\n"
        f'<body><header>{banners}<h1>{esc(title)}</h1></header>\n<nav aria-label="Sections">{menu}</nav>\n'
        f"<main>{''.join(_section(part) for part in parts)}</main>\n"
        f"{''.join(f'<script>{script}</script>' for script in scripts)}\n</body></html>\n"
    )


def _section(part: Part) -> str:
    heading = f"<h2>{esc(part.title)}</h2>" if part.title else ""
    kind = ' class="half"' if part.half else ""
    return f'<section id="{esc(part.anchor)}"{kind}>{heading}{part.html}</section>\n'


def _policy(scripts: Sequence[str]) -> str:
    """Nothing from the network, no script besides these, no code out of text."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}; base-uri 'none'"
