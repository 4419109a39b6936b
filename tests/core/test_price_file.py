"""Price files: the shipped one, and the mistakes of a user's."""

from __future__ import annotations

from importlib import resources

import pytest

from simulator.core.gpus import gpu_count, gpu_kind
from simulator.core.price_file import PriceBook, parse_prices, price_of
from simulator.errors import UsageError

SHIPPED = (resources.files("simulator.core") / "prices.yaml").read_text()
GOOD = "{typical_usd_h: 2, read: 2026-11-03, source: quote}"


def test_the_shipped_prices_are_whole() -> None:
    book = parse_prices(SHIPPED, "prices.yaml")
    assert {"H200", "B200", "B300", "GB200", "GB300"} <= set(book.gpus) and len(book.apis) >= 4
    for api in book.apis.values():
        assert api.cached_usd_mtok is None or api.cached_usd_mtok <= api.input_usd_mtok <= api.output_usd_mtok


def test_a_users_file_adds_and_replaces() -> None:
    shipped, mine = parse_prices(SHIPPED, "a"), parse_prices(f"gpus: {{H200: {GOOD}, L40: {GOOD}}}", "b")
    both = mine.over(shipped)
    assert both.gpus["H200"].typical_usd_h == 2 and both.gpus["L40"].read == "2026-11-03"
    assert both.gpus["B300"] == shipped.gpus["B300"] and both.apis == shipped.apis


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is a mapping"),
        ("[1]", "is a mapping"),
        ("gpu: {}", "unknown key `gpu`; did you mean `gpus`?"),
        ("gpus: {H200: {typical_usd_h: 2, typical: 2, read: 2026-10, source: q}}", "did you mean `typical_usd_h`?"),
        ("gpus: {H200: {typical_usd_h: 2, source: q}}", "key `gpus.H200.read` is missing"),
        ("gpus: {H200: {typical_usd_h: -2, read: 2026-10, source: q}}", "`gpus.H200.typical_usd_h` is `-2`"),
        ("gpus: {H200: {typical_usd_h: .nan, read: 2026-10, source: q}}", "typical_usd_h` is `nan`"),
        ("gpus: {H200: {typical_usd_h: '2', read: 2026-10, source: q}}", "typical_usd_h` is `2`"),
        ("gpus: {H200: {typical_usd_h: 2, read: lately, source: q}}", "like 2026-10"),
        ("gpus: {H200: {typical_usd_h: 2, low_usd_h: 3, read: 2026-10, source: q}}", "must not fall"),
        (f"gpus: {{H200: {GOOD}, H200: {GOOD}}}", "given twice"),
        ("gpus: {H200: 3}", "`gpus.H200` is `3`"),
        ("apis: {a: {input_usd_mtok: 1, read: 2026-10, source: q}}", "output_usd_mtok` is missing"),
    ],
)
def test_a_mistake_is_named(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=r"mine\.yaml") as caught:
        parse_prices(text, "mine.yaml")
    assert complaint in str(caught.value) and "\n" not in str(caught.value)


def test_names() -> None:
    prices = {"H200": 1, "B200": 2, "glm-5": 3, "glm-5-air": 4}
    assert price_of(prices, "h200", "--gpu") == ("H200", 1) and price_of(prices, "b", "--gpu") == ("B200", 2)
    assert price_of(prices, "glm-5", "--api") == ("glm-5", 3)
    with pytest.raises(UsageError, match="--gpu H20O: no price is known; did you mean H200"):
        price_of(prices, "H20O", "--gpu")
    with pytest.raises(UsageError, match="the price file has nothing"):
        price_of(PriceBook().gpus, "", "--gpu")


@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        ({"gpu": "NVIDIA H200"}, "H200"),
        ({"gpu": "NVIDIA GB200"}, "GB200"),
        ({"gpu": ["NVIDIA B200", "NVIDIA B200"]}, "B200"),
        ({"gpu": {"name": "NVIDIA B300 SXM6 AC"}}, "B300"),
        ({"hardware": "h200_30b_a3b"}, "H200"),
        ({"settings": {"hardware": {"name": "b200_30b_a3b"}}}, "B200"),
        ({"settings": "?"}, None),
        ({"gpu": "NVIDIA RTX 6000"}, None),
        ({}, None),
    ],
)
def test_which_gpu_a_run_had(engine: dict[str, object], kind: str | None) -> None:
    assert gpu_kind(engine, ["H200", "B200", "B300", "GB200"]) == kind


@pytest.mark.parametrize(
    ("engine", "count"),
    [
        ({"argv": ["vllm", "serve", "m"]}, 1),
        ({"argv": ["serve", "--tensor-parallel-size", "4", "-dp=2"]}, 8),
        ({"argv": ["-tp", "2", "-tp", "4"]}, 4),
        ({"argv": ["-tp"]}, 1),
        ({"argv": ["-tp", "x"]}, 1),
        ({"replicas": 3}, 3),
        ({"argv": "vllm"}, None),
        ({}, None),
    ],
)
def test_how_many_gpus(engine: dict[str, object], count: int | None) -> None:
    assert gpu_count(engine) == count
