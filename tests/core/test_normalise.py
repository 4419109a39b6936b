"""What may differ is declared and narrow; everything else counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.normalise import NORMALISERS, first_difference, normalise

SAME = [
    ("Ran 12 tests in 0.003s", "Ran 12 tests in 0.041s"),
    ("=== 3 passed in 0.12s ===", "=== 3 passed in 1.02s ==="),
    ("real\t0m0.012s", "real\t0m1.312s"),
    ("Import took 12 ms", "Import took 1532 ms"),
    ("wrote /tmp/tmpab12_x/out.csv", "wrote /tmp/tmpq9/out2.csv"),
    ("<Thing object at 0x7f01deadbeef>", "<Thing object at 0x7fa2c0ffee00>"),
    ("worker pid 120 ready", "worker pid 99871 ready"),
    ("commit " + "1a" * 20, "commit " + "2b" * 20),
    ("[main 1a2b3c4] Add rates", "[main 9f8e7d6] Add rates"),
    ("1a2b3c4 Add rates", "9f8e7d6 Add rates"),
    ("HEAD is now at 1a2b3c4 Add rates", "HEAD is now at 9f8e7d6 Add rates"),
    ("0.51s call tests/test_rates.py::test_sum", "0.02s call tests/test_rates.py::test_sum"),
    ("total 12", "total 24"),
    (
        "drwxr-xr-x 5 root root 4096 Nov 29 11:28 src\n-rw-r--r-- 1 root root 288 Nov 29 11:28 a.py",
        "drwxr-xr-x 6 dev staff 160 Dec  1 09:02 src\n-rw-r--r-- 1 dev staff 288 Dec  1 09:02 a.py",
    ),
    ("2026-11-29 11:27:10,123 INFO start", "2026-11-30 08:00:59,001 INFO start"),
    ("Sun Nov 29 14:32:37 UTC 2026", "Mon Nov 30 08:12:01 UTC 2026"),
]
DIFFERENT = [
    ("Ran 12 tests in 0.003s", "Ran 13 tests in 0.003s"),
    ("total 12.50", "total 12.60"),
    ("12345678 EUR", "12345679 EUR"),
    ("due 2024-06-28", "due 2024-06-29"),
    ("sha256 " + "ab" * 32, "sha256 " + "cd" * 32),
    ("-rw-r--r-- 1 a a 288 Nov 29 11:28 a.py", "-rw-r--r-- 1 a a 289 Nov 29 11:28 a.py"),
    ("2024-01-05 09:00:00 payment", "2024-01-05 09:00:01 payment"),
    ("/tmp/x: No such file", "/home/x: No such file"),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_differences_that_do_not_count(a, b):
    assert a != b and normalise(a, roots={}) == normalise(b, roots={})


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_differences_that_count(a, b):
    assert normalise(a, roots={}) != normalise(b, roots={})


def test_every_normaliser_is_needed_by_an_example_and_says_why():
    for rule in NORMALISERS:
        assert rule.reason and rule.name
        assert any(rule.pattern.search(a) for a, _ in SAME), rule.name


def test_normalised_text_stays():
    for text in (t for pair in SAME + DIFFERENT for t in pair):
        once = normalise(text, roots={})
        assert normalise(once, roots={}) == once


def test_roots_longest_first_and_only_whole_names():
    roots = {"/run/ws": "<ws>", "/run/ws/s1": "<cwd>"}
    text = "/run/ws/s1/a.py /run/ws/s12/b.py /run/ws"
    assert normalise(text, roots=roots) == "<cwd>/a.py <ws>/s12/b.py <ws>"
    assert normalise("C:\\1 /r", roots={"/r": "\\1"}) == "C:\\1 \\1", "a shown name is no pattern"


def test_today_is_now():
    a, b = "report of 2026-11-29, data of 2024-11-29", "report of 2026-11-30, data of 2024-11-29"
    days = ("2026-11-29", "2026-11-30")
    assert normalise(a, roots={}, today=days) == normalise(b, roots={}, today=days)
    assert normalise(a, roots={}) != normalise(b, roots={})


@given(st.text(), st.text())
def test_first_difference_is_empty_only_for_equal_texts(a, b):
    assert (first_difference(a, b) == "") == (a == b)


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ("x\ny\nz", "x\nq\nz", "line 2: 'q' instead of 'y'"),
        ("x", "x\ny", "line 2: 'y' instead of the end"),
        ("x\ny", "x", "line 2: ends instead of 'y'"),
    ],
)
def test_first_difference_names_the_line(a, b, says):
    assert first_difference(a, b) == says


def test_long_lines_are_shortened_around_the_difference():
    a = "a" * 500 + "1" + "b" * 500
    said = first_difference(a, a.replace("1", "2"))
    assert len(said) < 260 and "a2b" in said and "a1b" in said
