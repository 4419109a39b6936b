"""Which request a schedule's rules choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.engine.embedded.faults import Faults, Schedule, load_faults
from simulator.errors import UsageError

Met = tuple[bool, bytes, float]


def hits(rules: str, met: list[Met], tmp_path: Path, seed: int = 0) -> list[str]:
    """The kind that each of the requests (chat, body, time) meets, "" for none."""
    path = tmp_path / "faults.yaml"
    path.write_text(f"seed: {seed}\nrules: [{rules}]\n")
    faults = Faults(load_faults(path))
    found = [faults.meet(chat=chat, body=body, now_s=now_s) for chat, body, now_s in met]
    return ["" if rule is None else rule.kind for rule in found]


def plain(n: int) -> list[Met]:
    return [(True, b"", 100.0 + k) for k in range(n)]


@pytest.mark.parametrize(
    ("rules", "chosen"),
    [
        ("{kind: cut, at: [0, 3]}", [0, 3]),
        ("{kind: cut, times: 2}", [0, 1]),
        ("{kind: cut, from_s: 2, until_s: 4}", [2, 3]),
        ("{kind: cut, from_s: 4}", [4, 5]),
        ("{kind: cut, probability: 1, times: 3}", [0, 1, 2]),
        ("{kind: cut, probability: 0}", []),
        ("{kind: cut, at: [1], from_s: 2}", []),
        ("", []),
    ],
)
def test_by_ordinal_times_and_time(rules: str, chosen: list[int], tmp_path: Path) -> None:
    assert [n for n, kind in enumerate(hits(rules, plain(6), tmp_path)) if kind] == chosen


def test_ordinals_count_the_requests_that_a_rule_is_about(tmp_path: Path) -> None:
    met = [(False, b"x", 0.0), (True, b"one", 0.0), (True, b"two", 0.0), (False, b"y", 0.0), (True, b"two", 0.0)]
    assert hits("{kind: cut, of: chat, at: [1]}", met, tmp_path) == ["", "", "cut", "", ""]
    assert hits("{kind: cut, of: completions, at: [1]}", met, tmp_path) == ["", "", "", "cut", ""]
    assert hits("{kind: cut, contains: two, at: [1]}", met, tmp_path) == ["", "", "", "", "cut"]
    assert hits("{kind: cut, contains: two}", met, tmp_path) == ["", "", "cut", "", "cut"]


def test_the_first_rule_that_applies_wins_and_the_others_keep_counting(tmp_path: Path) -> None:
    rules = "{kind: cut, at: [0]}, {kind: hang, at: [0, 1]}, {kind: empty, times: 1}"
    assert hits(rules, plain(4), tmp_path) == ["cut", "hang", "empty", ""]


def test_chance_repeats_by_seed(tmp_path: Path) -> None:
    rule = "{kind: cut, probability: 0.3}"
    first, again, other = (hits(rule, plain(500), tmp_path, seed) for seed in (1, 1, 2))
    assert first == again != other and 100 < first.count("cut") < 200


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("{kind: cut}", "else it never applies"),
        ("{kind: cut, status: 400, at: [1]}", "'status' goes with status, not with cut"),
        ("{kind: cut, from_s: 5, until_s: 2}", r"until_s \(2\) is not after from_s \(5\)"),
        ("{kind: cut, att: [1]}", "unknown key 'rules.0.att'"),
        ("{kind: hang, gap_s: 1, at: [1]}", "'gap_s' goes with slow_decode, trickle, not with hang"),
        ("{kind: cut, at: [1], after_chunks: -1}", "rules.0.after_chunks"),
        ("{kind: cut, contains: ''}", "rules.0.contains"),
        ("{kind: status, status: 418, at: [1]}", "rules.0.status"),
        ("{kind: cut, at: [3, -1]}", r"'rules.0.at.1': input should be greater than or equal to 0"),
        ("{kind: hang, at: [1], hang_s: .inf}", "'rules.0.hang_s': input should be"),
        ("{kind: trickle, at: [1], gap_s: .inf}", "'rules.0.gap_s': input should be"),
        ("{kind: slow_prefill, at: [1], factor: .inf}", "'rules.0.factor': input should be"),
        ("{kind: rate_limited, at: [1], retry_after_s: .inf}", "'rules.0.retry_after_s': input should be"),
        ("{kind: cut, at: [1], from_s: .nan}", "'rules.0.from_s': input should be"),
        ("{kind: hang, at: [1], hang_s: 1.0e+300}", "'rules.0.hang_s': input should be less than or equal to"),
        ("{kind: cut, at: [1], at: [2]}", r"faults.yaml:\d+: key `at` is given twice"),
    ],
)
def test_a_wrong_rule_is_told_by_file_and_key(rule: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        hits(rule, [], tmp_path)
    assert "faults.yaml" in str(caught.value) and "\n" not in str(caught.value)


def test_no_rules_no_faults() -> None:
    assert Faults(Schedule()).meet(chat=True, body=b"x", now_s=0.0) is None
