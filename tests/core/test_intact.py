"""What is told of records that are not all there once; whole ones are told nothing of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fixtures_fold import reply
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.chunks import Chunks, pack
from simulator.core.intact import faults
from simulator.core.record import Request
from simulator.core.table import table_of


def run(counts: list[int]) -> tuple[list[Request], bytes]:
    """Requests with so many chunks each, and the chunks as they are packed."""
    packed, rows = b"", []
    for number, count in enumerate(counts):
        rows.append(
            replace(
                reply(0.0, [(100, 1)]).request, request=number, chunks=count, chunks_at=len(packed) if count else -1
            )
        )
        packed += pack([7] * count, [1] * count)
    return rows, packed


def told(
    rows: list[Request], packed: bytes, *, complete: bool = True, unreadable: int = 0, **more: list[str]
) -> list[str]:
    words = Chunks(np.frombuffer(packed, dtype="<u2"))
    return list(
        faults(table_of(Request, rows), words, more.get("sessions", []), complete=complete, unreadable=unreadable)
    )


@given(st.lists(st.integers(0, 4), max_size=12), st.randoms())
def test_whole_ones_in_any_order(counts: list[int], chance: object) -> None:
    rows, packed = run(counts)
    chance.shuffle(rows)  # type: ignore[attr-defined]
    assert told(rows, packed, sessions=["s0", "s1"]) == []
    assert told(rows, b"") == [], "a published run may keep no chunk times"


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.data())
def test_each_that_is_lost_or_doubled_is_told(counts: list[int], data: st.DataObject) -> None:
    rows, packed = run(counts)
    one = data.draw(st.integers(0, len(rows) - 1))
    assert told(rows[:one] + rows[one + 1 :], packed), "its chunk times are nobody's now"
    assert told([*rows, rows[one]], packed)
    assert told(rows, packed + pack([1], [1])) == ["6 bytes of its chunk times are no request's"]


ROWS, PACKED = run([2, 0, 3, 1])
DOUBLED = ["4 of its requests stand more than once", "chunk times of 3 requests are another's as well"]


@pytest.mark.parametrize(
    ("rows", "packed", "more", "expected"),
    [
        ([], b"", {}, []),
        (ROWS * 2, PACKED, {}, DOUBLED),
        (ROWS + ROWS[1:2], PACKED, {}, ["1 of its requests stands more than once"]),
        ([ROWS[0], ROWS[2], ROWS[3]], PACKED, {}, ["1 of its 4 requests is missing"]),
        (ROWS[:3], PACKED, {}, ["6 bytes of its chunk times are no request's"]),
        (ROWS[2:], PACKED, {}, ["2 of its 4 requests are missing", "12 bytes of its chunk times are no request's"]),
        (ROWS[:1] + ROWS[2:], PACKED, {"unreadable": 1}, []),
        (ROWS[2:], PACKED, {"complete": False}, []),
        (ROWS * 2, PACKED, {"complete": False}, DOUBLED),
        (ROWS, PACKED[:-2], {}, []),  # torn at its end, which is told of elsewhere
        (ROWS, PACKED, {"sessions": ["s0", "s1", "s0"]}, ["1 of its sessions stands more than once"]),
    ],
)  # fmt: skip
def test_in_words(rows: list[Request], packed: bytes, more: dict[str, object], expected: list[str]) -> None:
    assert told(rows, packed, **more) == expected  # type: ignore[arg-type]
