"""Seeded raw material: valid numbers, distinct names, a grammar that leaves nothing unexpanded."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.tasks import words
from simulator.tasks.vocabulary import PLACES, SECTORS

seeds = st.integers(0, 2**32)


def check_sum(iban: str) -> int:
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97


@given(seeds, st.sampled_from(sorted(PLACES)), st.sampled_from(sorted(SECTORS)))
def test_companies_have_valid_numbers(seed: int, country: str, sector: str) -> None:
    made = words.company(words.stream(seed, "c"), sector, country)
    assert check_sum(made.iban) == 1 and made.iban.startswith(country)
    assert made.address.country == country and made.name.startswith(made.short)
    assert re.fullmatch(r"[a-z0-9-]+\.(example|test)", made.domain)


@given(seeds, st.integers(2, 25))
def test_companies_can_be_told_apart(seed: int, n: int) -> None:
    made = words.companies(words.stream(seed, "cs"), n)
    assert len({c.short.split()[0] for c in made}) == n


@given(seeds)
def test_streams_are_equal_for_equal_labels_only(seed: int) -> None:
    a, b, c = words.stream(seed, "x", 1), words.stream(seed, "x", 1), words.stream(seed, "x", 2)
    assert a.random() == b.random() != c.random()


@given(seeds, st.sampled_from(sorted(SECTORS)))
def test_products_fit_a_table(seed: int, sector: str) -> None:
    made = words.product(words.stream(seed, "p"), sector)
    assert " " not in made.sku and " " not in made.unit and made.price_cents >= 100 and len(made.name) < 60


@given(seeds, st.integers(1, 10**6), st.integers(1, 10**6))
def test_amounts_and_days_stay_in_range(seed: int, a: int, b: int) -> None:
    r = words.stream(seed, "n")
    low, high = sorted((a, b))
    assert low <= words.cents(r, low, high) <= high
    first, last = date.fromordinal(700_000 + low), date.fromordinal(700_000 + high)
    assert first <= words.day(r, first, last) <= last


def test_grammar() -> None:
    r = words.stream(1, "g")
    said = {words.say(r, "[A|B[ 1| 2]] {who}{tail}", {"tail": ["!", "[?|.]"]}, who="[x]") for _ in range(200)}
    assert said == {f"{a} [x]{t}" for a in ("A", "B 1", "B 2") for t in "!?."}
    with pytest.raises(KeyError):
        words.say(r, "{nobody}")


@pytest.mark.parametrize(
    ("text", "plain"), [("Wójcik & Söhne GmbH", "wojcik-soehne-gmbh"), ("PO-12/3", "po-12-3"), ("Straße", "strasse")]
)
def test_plain(text: str, plain: str) -> None:
    assert words.plain(text) == plain
