from __future__ import annotations

import pytest
from soak import ENGINES, Soak


@pytest.mark.parametrize("name", ENGINES)
def test_nothing_breaks_in_thousands_of_random_steps(name: str) -> None:
    """The million is `python tests/engine/embedded/soak.py`."""
    counts = Soak(name, seed=11).play(4_000)
    assert counts["finished"] > 300 and counts["aborts"] > 10 and counts["preemptions"] > 0 and counts["resets"] > 0
    if "no cache" in name:
        assert counts["hit_tok"] == 0
    else:
        assert 0 < counts["hit_tok"] <= counts["best_tok"], "some hits, never more than there is to find"
    assert ("async" in name) == (counts["wasted"] > 0)
