"""Columns from records, sound and otherwise."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from fixtures_fold import failure, reply

from simulator.core.record import Request
from simulator.core.table import FREE_TEXT_KEPT, Builder, table_of


def test_numbers_texts_and_none() -> None:
    table = table_of(Request, [reply(1.5, [(10, 2)]).request, failure(2.0, "timeout").request])
    assert table.n == 2
    assert table["t_sent_s"].tolist() == [1.5, 2.0]
    assert table["output_tok"][0] == 2 and np.isnan(table["output_tok"][1])
    assert table.text("error").among("timeout", "cut").tolist() == [False, True]
    assert table.where(np.array([False, True])).text("error").at(0) == "timeout"


def test_an_empty_table_has_all_columns() -> None:
    table = table_of(Request, [])
    assert table.n == 0 and len(table["turn"]) == 0 and not table.text("kind").among("agent").any()


def test_rows_of_an_older_version_and_broken_rows() -> None:
    whole = asdict(reply(1.0, [(1, 1)]).request)
    older = {key: value for key, value in whole.items() if key != "server_ttft_s"}
    builder = Builder(Request)
    assert builder.add([whole, {**whole, "turn": "three"}, older, {**whole, "kind": 7}]) == 2
    table = builder.build()
    assert table.n == 2 and np.isnan(table["server_ttft_s"]).all()


def test_free_text_is_bounded_and_codes_are_not() -> None:
    rows = [asdict(failure(detail=f"detail {i}", session=f"s{i}").request) for i in range(FREE_TEXT_KEPT + 50)]
    builder = Builder(Request)
    assert builder.add(rows) == 0
    table = builder.build()
    assert len(table.text("detail").names) == FREE_TEXT_KEPT
    assert len(table.text("session").names) == FREE_TEXT_KEPT + 50
