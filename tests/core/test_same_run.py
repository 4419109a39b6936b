"""Which runs are one run: copies, and what virtual time gives again. Each counts once, on one side."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from fixtures_fold import reply

from simulator.core.compare.same import Identity, alike, apart, distinct, identity
from simulator.core.record import Request
from simulator.core.table import Table, table_of
from simulator.errors import UsageError

MANIFEST: dict[str, Any] = {"t0_unix_s": 1.79e9, "pid": 7, "seed": 1, "host": {"cores": 2}, "engine": {"kind": "real"}}
VIRTUAL: dict[str, Any] = {"kind": "emulated", "virtual": True}


def rows(run: str, at_s: float = 0.0) -> Table:
    record = Request(**{**asdict(reply(at_s, [(100, 1)]).request), "run": run})
    return table_of(Request, [record])


def known(name: str, *, digest: str = "", at_s: float = 0.0, table: bool = True, **changes: Any) -> Identity:
    return identity(name, {**MANIFEST, **changes}, digest or name, rows(name, at_s) if table else None)


A = known("a")


@pytest.mark.parametrize(
    ("other", "copy", "repeats"),
    [
        (known("a2"), True, True),  # began in the same process at the same moment
        (known("a2", table=False), True, True),
        (known("b", t0_unix_s=1.8e9), False, False),
        (known("b", pid=8), False, False),
        (known("b", seed=2), False, False),
        (known("b", host={"cores": 4}), False, False),
        (known("a3", digest="a", t0_unix_s=1.8e9, pid=8), True, True),  # its manifest was written anew
        (known("a3", digest="a", t0_unix_s=None), True, True),
    ],
)
def test_a_copy_under_whatever_name(other: Identity, copy: bool, repeats: bool) -> None:
    for one, two in ((A, other), (other, A)):
        assert one.is_copy_of(two) is copy and one.repeats(two) is repeats
    assert distinct([A, other])[0] == ([0] if repeats else [0, 1])
    if copy:
        with pytest.raises(UsageError, match="stands on both sides; a run compared with itself says nothing"):
            apart([A], [other])
    else:
        apart([A], [other])


def test_runs_without_records_or_a_beginning_are_not_one() -> None:
    bare = [identity(name, {"t0_unix_s": None}, "same digest of nothing", None) for name in "ab"]
    assert distinct(bare) == ([0, 1], [])


def test_virtual_time_gives_the_same_again_and_another_seed_does_not() -> None:
    first = known("v1", engine=VIRTUAL)
    again = known("v2", engine=VIRTUAL, t0_unix_s=1.8e9)
    other = known("v3", engine=VIRTUAL, t0_unix_s=1.81e9, seed=2)
    slower = known("v4", engine=VIRTUAL, t0_unix_s=1.82e9, at_s=0.5)
    kept, said = distinct([first, again, other, slower])
    assert kept == [0, 2, 3]
    assert len(said) == 1 and said[0].startswith(
        "v2 repeats v1: in virtual time a seed and a configuration always give"
    )
    apart([first], [again])  # a configuration that changes nothing may be asked about
    assert "changed nothing" in alike([first], [again])[0] and alike([first], [other, slower]) == []
    with pytest.raises(UsageError, match="v1 stands on both sides"):
        apart([first], [replace(first)])


def test_many_copies_are_told_in_one_sentence() -> None:
    kept, said = distinct([A, *(replace(A, name=f"c{n}") for n in range(5)), known("b", t0_unix_s=1.8e9)])
    assert kept == [0, 6] and said == ["c0, c1, c2 and 2 more repeat a: it is one run, so it is counted once"]
