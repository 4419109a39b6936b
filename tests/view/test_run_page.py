"""A run's page: in a real browser, at two widths, from runs of all kinds, with hostile texts in every field."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from fixtures_fold import failure, reply, run_of, session
from fixtures_run import PROFILES

from simulator.core.record import Request, Session, ToolRun
from simulator.core.run import RunData, empty
from simulator.core.summary import summarise
from simulator.core.table import Text
from simulator.store.folder import RunFolder
from simulator.view.page.markdown import rendered, sections
from simulator.view.page.run_page import run_page
from tests.browser import View, chromium, look

MakeRun = Callable[..., Path]
HOSTILE = '</script><img src=x onerror="window.hurt=1"><!--\x1b[31m\u202e`|*[x](javascript:hurt=1)&lt;'
LOOKED = """(async () => {
    const settled = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    await settled();
    const lane = document.querySelector('#lanes-agent canvas'), box = lane?.getBoundingClientRect();
    for (let y = 40; lane && y < box.height; y += 9)
        for (let x = 70; x < box.width; x += 23)
            lane.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + x, clientY: box.top + y}));
    const tip = document.querySelector('.tip')?.textContent ?? '';
    await settled();
    const ink = [...document.querySelectorAll('canvas')].map((each) =>
        new Set(each.getContext('2d').getImageData(0, 0, each.width, each.height).data).size);
    document.querySelectorAll('button').forEach((each) => each.click());
    await settled();
    return {
        tip, ink,
        hurt: window.hurt ?? 0, images: document.images.length, links: [...document.links].map((each) => each.protocol),
        charts: document.querySelectorAll('div.vega.drawn').length,
        empty: [...document.querySelectorAll('div.vega')].filter((each) => !each.querySelector('svg path[d]')).length,
        bars: [...document.querySelectorAll('canvas')].map((each) => +each.dataset.drawn),
        wide: document.documentElement.scrollWidth - innerWidth,
        text: document.body.innerText,
    };
})()"""
NO_NUMBER = re.compile(r"\b(NaN|Infinity|undefined|None|null|nan|inf)\b")


def page_of(run: RunData, manifest: Mapping[str, Any] | None = None) -> str:
    return run_page(run, summarise(run), manifest or {})


def poisoned(value: Any, clean: frozenset[str] = frozenset({"schema", "kind"})) -> Any:
    """Every text replaced, but for what says how to read the rest."""
    if isinstance(value, dict):
        return {key: each if key in clean else poisoned(each, clean) for key, each in value.items()}
    if isinstance(value, list):
        return [poisoned(each, clean) for each in value]
    return f"{value[:3]}{HOSTILE}" if isinstance(value, str) else value


def poison(folder: Path) -> None:
    """Hostile texts in each field that a run leaves; kinds and outcomes must stay what they are to be counted."""
    kept = {"records": {"kind", "outcome", "output_source"}, "sessions": {"outcome"}, "tools": set[str]()}
    for name, record in (("records", Request), ("sessions", Session), ("tools", ToolRun)):
        path = folder / f"{name}.jsonl"
        texts = {field.name for field in dataclasses.fields(record) if str(field.type).startswith("str")} - kept[name]
        rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        for row in rows:
            row |= {key: f"{row.get(key, '')}{HOSTILE}" for key in texts}
        path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    manifest["engine"] |= {"nested": {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]}, "config": HOSTILE}
    (folder / "manifest.json").write_bytes(orjson.dumps(poisoned(manifest)))


@pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine's path")
def test_a_run_with_hostile_texts_everywhere_is_shown_and_runs_none_of_them(make_run: MakeRun) -> None:
    folder = make_run(slots=8, window_s=12)
    poison(folder)
    run = RunFolder.open(folder)
    path = folder / "report.html"
    text = run_page(run.data(), summarise(run.data()), run.manifest)
    path.write_text(text, encoding="utf-8")
    assert "EMULATED ENGINE" in text and text.count('class="banner"') >= 1
    assert "\x1b" not in text and "\u202e" not in text and len(text.encode()) < 3_000_000
    for seen in look(path, [View(390), View(1280, dark=True)], LOOKED):
        assert not seen.errors and not seen.requests
        value = seen.value
        assert value["hurt"] == 0 and value["images"] == 0 and set(value["links"]) <= {"file:"}
        assert value["charts"] >= 11 and value["empty"] == 0 and value["wide"] <= 0
        assert min(value["bars"]) > 20 and min(value["ink"]) > 20 and "onerror" in value["tip"]
        assert not NO_NUMBER.search(value["text"]), NO_NUMBER.search(value["text"])


def finished(**fields: Any) -> RunData:
    stream = [(100, 1), (20, 2)]
    return run_of(reply(1.0, stream, **fields), sessions=(session("s0000", 0.5, 2.0),))


MOVED = """(async () => {
    const box = document.querySelector('#lanes-agent'), lane = box.querySelector('canvas'), seen = {};
    const press = (name) => box.querySelector(`button[data-do="${name}"]`).click();
    const note = async (name) => {
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        seen[name] = [...lane.dataset.view.split(',').map(Number), lane.toDataURL()];
    };
    const at = lane.getBoundingClientRect(), middle = {clientX: at.left + at.width / 2, clientY: at.top + 50};
    const finger = (kind, x, id = 1) => lane.dispatchEvent(
        new PointerEvent(kind, {pointerId: id, clientX: at.left + x, clientY: at.top + 50, bubbles: true}));
    lane.setPointerCapture = () => {};
    await note('start');
    press('window'), await note('window');
    press('in'), await note('in');
    press('out'), press('out'), press('out'), await note('out');
    press('in'), press('in'), await note('near');
    finger('pointerdown', 300), finger('pointermove', 200), finger('pointerup', 200), await note('dragged');
    lane.dispatchEvent(new WheelEvent('wheel', {deltaY: 50, cancelable: true, ...middle})), await note('scrolled');
    lane.dispatchEvent(new WheelEvent('wheel', {deltaY: -50, ctrlKey: true, cancelable: true, ...middle}));
    await note('wheeled');
    lane.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'})), await note('left');
    finger('pointerdown', 300), finger('pointerdown', 400, 2), finger('pointermove', 500, 2), await note('pinched');
    finger('pointerup', 300), finger('pointerup', 500, 2);
    lane.dispatchEvent(new KeyboardEvent('keydown', {key: '0'})), await note('all');
    box.querySelector('button[data-what="3"]').click(), await note('hidden');
    return seen;
})()"""


@pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine's path")
def test_lanes_zoom_pan_and_hide(make_run: MakeRun) -> None:
    run = RunFolder.open(make_run(slots=4, window_s=10, synthetic=0))
    path = run.path / "report.html"
    path.write_text(run_page(run.data(), summarise(run.data()), run.manifest), encoding="utf-8")
    (seen,) = look(path, [View(1280)], MOVED)
    assert not seen.errors
    views = {name: (start, end) for name, (start, end, _) in seen.value.items()}
    span = {name: end - start for name, (start, end) in views.items()}
    assert views["window"] == tuple(round(edge * 1e3) for edge in run.windows["agent"])
    assert span["in"] == pytest.approx(span["window"] / 2, abs=2) and views["out"] == views["start"] == views["all"]
    assert views["dragged"][0] > views["near"][0] and span["dragged"] == pytest.approx(span["near"], abs=2)
    assert views["scrolled"] == views["dragged"] and span["wheeled"] < span["scrolled"]
    assert views["left"][0] < views["wheeled"][0] and span["pinched"] == pytest.approx(span["left"] / 2, rel=0.01)
    assert seen.value["hidden"][2] != seen.value["all"][2] == seen.value["start"][2]


NEXT_TO_NOTHING = {
    "nothing": (empty(), "nothing to report"),
    "failed": (run_of(failure(1.0, detail="upstream is gone")), "1 of 1 request failed"),
    "refused": (run_of(failure(1.0, "refused", t_sent_s=None)), "refused"),
    "cancelled": (run_of(reply(1.0, outcome="cancelled", error="cancelled")), "Figures"),
    "no usage": (
        run_of(reply(1.0, [(100, 1)], prompt_tok=None, output_source="counted", cached_tok=0, output_tok=None)),
        "Figures",
    ),
    "one session": (finished(), "Context growth"),
    "synthetic": (finished(kind="synthetic", session="syn", purpose="synthetic"), "Synthetic requests at work"),
}


@pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine's path")
def test_a_run_of_next_to_nothing_has_a_page_without_a_hole(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.html" for name in NEXT_TO_NOTHING]
    for path, (run, _) in zip(paths, NEXT_TO_NOTHING.values(), strict=True):
        path.write_text(page_of(run), encoding="utf-8")
    for seen, (name, (_, told)) in zip(look(paths, [View(390)], LOOKED), NEXT_TO_NOTHING.items(), strict=True):
        assert not seen.errors and seen.value["empty"] == 0 and seen.value["wide"] <= 0, name
        assert told in seen.value["text"] and not NO_NUMBER.search(seen.value["text"]), name


def test_a_killed_run_and_an_emulated_one_cannot_be_missed(make_run: MakeRun) -> None:
    run = RunFolder.open(make_run(slots=2, window_s=5, synthetic=0, killed=True))
    summary = summarise(run.data())
    summary["warnings"].insert(0, {"code": "cut_short", "what": "killed", "why": "less", "cure": "again"})
    summary["client"]["verdict"] = "client-limited"
    text = run_page(run.data(), summary, {**run.manifest, "engine": {"kind": "real", "random_weights": True}})
    banners = re.findall(r'<p class="banner">(\w+[ -]\w+)', text)
    assert banners == ["RANDOM WEIGHTS", "CLIENT-LIMITED", "CUT SHORT"]


def test_a_large_run_is_thinned_and_says_so() -> None:
    slots = 300
    small = run_of(
        *(reply(n / 10, [(50, 1), (30, 3)], slot=n, session=f"s{n}", turn=0, prompt_tok=900) for n in range(slots))
    )
    times = 400
    table = small.requests
    shift = np.repeat(np.arange(times) * 40.0, table.n)
    numbers = {name: np.tile(column, times) for name, column in table.numbers.items()}
    numbers = {name: column + shift if name.startswith("t_") else column for name, column in numbers.items()}
    numbers["turn"] = np.repeat(np.arange(times, dtype=np.float64), table.n)
    texts = {name: Text(np.tile(text.codes, times), text.names) for name, text in table.texts.items()}
    large = dataclasses.replace(
        small, requests=dataclasses.replace(table, n=table.n * times, numbers=numbers, texts=texts)
    )
    assert large.requests.n == 120_000
    text = run_page(large, summarise(small), {})
    assert len(text.encode()) < 3_000_000
    assert re.search(r"\d+ of 300 places, evenly spaced", text) and "64 of 300 sessions, evenly spaced" in text


def test_markdown_of_ours_is_drawn_and_that_of_a_run_is_not() -> None:
    found = dict(sections("intro\n\n## A\\_b\n\n```\n## no heading\n```\n\n## Engine\n\ntext"))
    assert list(found) == ["", "A_b", "Engine"] and "## no heading" in found["A_b"]
    lines = ["<details><summary>All settings</summary>", "", "| a | b |", "|---|--:|", "| <b> | 1 |", "", "</details>"]
    html = rendered([*lines, "", "<script>x</script> ![a](b.png) <https://x.org>"])
    assert html.startswith("<details><summary>All settings</summary>") and html.count("<table>") == 1
    assert "&lt;b&gt;" in html and "<script" not in html and "<img" not in html and "href" not in html


def test_profiles_of_the_fixture_are_told(make_run: MakeRun) -> None:
    run = RunFolder.open(make_run(slots=4, window_s=6, synthetic=0))
    text = run_page(run.data(), summarise(run.data()), run.manifest)
    assert all(f"client: {profile}" in text for profile in PROFILES) and "Synthetic requests" not in text
