"""Charts: Vega-Lite specs that the page's own copy of Vega draws, in the colours of the page's theme."""

from __future__ import annotations

import re
from typing import Any

import vl_convert

from simulator.view.page.text import data, esc

#: what tells page() that a chart is there; no text of a run can say it, since "<" is escaped everywhere
MARK = '<div class="vega"'
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
#: of vl_convert's: the one whose bundle is inlined
VEGA_LITE = "6.4"


def chart(spec: dict[str, Any], name: str, caption: str = "") -> str:
    """A figure that draws a Vega-Lite spec. name: unique on its page, letters, digits and hyphens; caption: plain text
    below it, also what a screen reader says.

    Width is the page's unless the spec has one; height is a number of pixels (of a step, Vega-Lite complains in the
    console). A colour may be a word of the page's style sheet, such as "--agents" (see style.css), which follows the
    light and the dark theme. Strings in the spec's data are the caller's to clean().
    """
    known = {"$schema": SCHEMA, "width": "container"}
    told = f"<figcaption>{esc(caption)}</figcaption>" if caption else ""
    label = esc(caption or name)
    return (
        f'<figure id="{esc(name)}">{MARK} data-spec="spec-{esc(name)}" role="img" aria-label="{label}"></div>'
        f"{told}{data(f'spec-{name}', known | spec)}</figure>"
    )


def library() -> str:
    """Vega, Vega-Lite and vega-embed as one script, 900 kB; takes about two seconds to bundle the first time."""
    bundle = str(vl_convert.javascript_bundle(vl_version=VEGA_LITE))
    notice = "/* Vega, Vega-Lite and vega-embed, (c) University of Washington Interactive Data Lab, BSD-3-Clause */\n"
    # "<" only in its texts, and nothing there that looks like the end of its script element
    return notice + re.sub(r"<(?=/script|script|!--)", r"\\x3c", bundle, flags=re.I)
