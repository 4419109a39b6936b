"""docs/metrics.md: every metric and every key of summary.json is described there, and its pictures are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest
from fixtures_fold import failure, pulse, reply, run_of, scrape, session, tool

from simulator.core.metric import TABLE
from simulator.core.summary import summarise

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "metrics.md").read_text()
NAMED = set(re.findall(r"`([^`\n]+)`", PAGE))
#: mappings whose keys are the run's own names
OWN = {"errors", "other_models", "failures", "by_tool", "by_kind", "by_size", "by_profile", "by_context", "slo"}


def keys(found: Any, own: bool = False) -> Iterator[str]:
    if isinstance(found, dict):
        for key, inner in found.items():
            if not own:
                yield key
            yield from keys(inner, key in OWN)
    elif isinstance(found, list):
        for inner in found:
            yield from keys(inner)


def whole_summary() -> dict[str, Any]:
    """Of a run with something in every part."""
    both = {"agent": (10.0, 20.0), "synthetic": (10.0, 20.0)}
    chunks = [(250, 1), (20, 2)]
    run = run_of(
        *[reply(10 + i / 10, chunks, session=f"s{i % 2}", turn=i // 2, cached_tok=50) for i in range(60)],
        reply(11.0, chunks, kind="synthetic"), failure(12.0), windows=both, slo={"ttft_s": 1.0},
        mode="live",
        sessions=(session("s0", 0, 15, verified=True, recorded_share=1.0), session("s1", 0, 15)),
        tools=[tool(11.0, 11.0, 11.2)],
        pulses=[pulse(12.0), pulse(12.0, kind="synthetic")], engine=(scrape(12.0, num_requests_running=1),),
        arrivals={"synthetic": {"kind": "poisson", "places": 4, "due_s": [11.0]}},
    )  # fmt: skip
    return summarise(run)


def test_every_key_of_the_summary_is_described() -> None:
    summary = whole_summary()
    assert summary["agent"]["wall"] and summary["agent"]["tools"] and summary["agent"]["goodput"]
    assert summary["agent"]["live"]
    assert summary["engine"]["agent"] and summary["synthetic"]["arrival"] and summary["warnings"]
    missing = sorted(set(keys(summary)) - NAMED)
    assert not missing, f"docs/metrics.md, 'Every key of summary.json', does not name {missing}"


@pytest.mark.parametrize("label", sorted({re.sub(r"( p\d\d|,? mean)?( \(.*/.*\))?$", "", m.label) for m in TABLE}))
def test_every_metric_is_described_under_its_name(label: str) -> None:
    whole, _, part = re.sub(r" p\d\d$", "", label).partition(", ")
    assert re.search(rf"\b{re.escape(whole)}", PAGE, re.IGNORECASE), f"docs/metrics.md does not tell what {label!r} is"
    assert part.lower() in PAGE.lower()


def test_every_metric_has_its_key_there() -> None:
    assert {key for metric in TABLE for key in metric.path} <= NAMED


def test_the_pictures_are_there_and_are_seen_in_light_and_dark() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE)
    assert sorted(shown) == sorted(
        f"pictures/{path.name}" for path in (DOCS / "pictures").glob("*.svg") if path.name != "live.svg"
    )
    for name in shown:
        text = (DOCS / name).read_text()
        assert minidom.parseString(text).documentElement.tagName == "svg"
        assert "prefers-color-scheme: dark" in text and "<title>" in text
