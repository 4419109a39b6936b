"""The page that all HTML output shares: it opens offline, draws its charts, and no text in it is markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.view.page.charts import chart
from simulator.view.page.shell import Part, page
from simulator.view.page.text import data, esc, json_text, table
from tests.browser import View, chromium, look

HOSTILE = '</script><img src=x onerror="window.hurt=1">\x1b[31m\u202e\'&\u2028end'
BARS = {
    "data": {"values": [{"a": HOSTILE, "b": 3}, {"a": "--agents", "b": 5}]},
    "mark": {"type": "bar", "color": "--agents"},
    "encoding": {
        "x": {"field": "b", "type": "quantitative"},
        "y": {"field": "a", "type": "nominal", "axis": {"labelExpr": "datum.label + ''"}},
        "tooltip": {"field": "a"},
    },
    "height": 60,
}
FACTS = """({
    hurt: window.hurt ?? 0, bars: document.querySelectorAll('.mark-rect path').length,
    fill: document.querySelector('.mark-rect path')?.getAttribute('fill'), images: document.images.length,
    wide: document.documentElement.scrollWidth - innerWidth, scripts: document.scripts.length,
    paper: getComputedStyle(document.body).backgroundColor, text: document.body.textContent.includes('onerror=')
})"""


def test_text_is_never_markup() -> None:
    assert "<" not in esc(HOSTILE) and '"' not in esc(HOSTILE) and "\x1b" not in esc(HOSTILE)
    assert "\u202e" not in esc(HOSTILE)
    shown = table(["name", HOSTILE], [[HOSTILE, 3]])
    assert "<img" not in shown and shown.count("<td>") == 2
    assert "<" not in json_text({"a": HOSTILE}) and "\u2028" not in json_text({"a": HOSTILE})
    assert json_text([float("nan")]) == "[null]"
    assert data(HOSTILE, HOSTILE).count("<") == 2


def test_a_page_without_charts_has_no_script() -> None:
    text = page("A & B", [Part("One", "<p>1</p>", "one")], note="EMULATED ENGINE\nclient-limited")
    assert "<script" not in text and "script-src 'none'" in text
    assert text.count('class="banner"') == 2 and "<title>A &amp; B</title>" in text


@pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine's path")
def test_a_page_draws_offline_in_light_and_dark_and_runs_no_text_of_a_run(tmp_path: Path) -> None:
    inner = table(["name", "n"], [[HOSTILE * 4, 1]]) + chart(BARS, "bars", HOSTILE)
    path = tmp_path / "page.html"
    path.write_text(page(HOSTILE, [Part(HOSTILE, inner, "one")], note=HOSTILE), encoding="utf-8")
    assert path.stat().st_size < 1_000_000
    light, dark, phone = look(path, [View(1280), View(1280, dark=True), View(390)], FACTS)
    for seen in (light, dark, phone):
        assert not seen.errors and not seen.requests
        assert seen.value["hurt"] == 0 and seen.value["images"] == 0 and seen.value["text"]
        assert seen.value["bars"] == 2 and seen.value["wide"] <= 0 and seen.value["scripts"] == 3
    assert light.value["fill"] != dark.value["fill"] and light.value["paper"] != dark.value["paper"]


@pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine's path")
def test_the_policy_stops_scripts_that_are_not_the_pages(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    bad = '<script>window.hurt = 1</script><img src="https://example.org/x.png"><p onclick="hurt = 2">x</p>'
    bad += '<iframe src="https://example.org/"></iframe><link rel="stylesheet" href="https://example.org/x.css">'
    path.write_text(page("t", [Part("One", bad, "one")]), encoding="utf-8")
    (seen,) = look(path, [View(1280)], "document.querySelector('p').click(), window.hurt ?? 0")
    assert seen.value == 0 and not seen.requests and len(seen.errors) >= 5
