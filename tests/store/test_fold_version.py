"""A summary says by which rules it was folded; one of other rules is not believed where its run can be folded again.

Which rules there were is written down here: FIGURES has, for the newest fold, a digest of what kept runs come to.
"""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from simulator.cli.diff import digest
from simulator.cli.history import Question
from simulator.cli.history import main as history_main
from simulator.cli.reading import opened
from simulator.cli.report import current, fold, write_report
from simulator.core.history import Wanted
from simulator.core.judgement import FOLD, judged_again
from simulator.store.folder import RunFolder

ROOT = Path(__file__).resolve().parents[2]
LADDER = ROOT / "reports" / "h200_ladder" / "runs"
#: fold -> what these two runs come to. When the test below fails because figures or judgements were changed on purpose:
#: raise FOLD in simulator/core/judgement.py by one and put the digest that it prints here in place of the last.
FIGURES = {5: "30c85d87e438c9f5"}
KEPT = (ROOT / "tests" / "store" / "schemas" / "1", ROOT / "reports" / "h200_random_weights" / "baseline")
#: texts that are judgements; all others are words, which may be changed as one likes
JUDGED = ("where", "past", "verdict", "code", "source")
MakeRun = Callable[..., Path]


def facts(value: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every number to about five digits, every judgement. Steps of the logarithm: no measured time, which has whole
    microseconds, lies on the edge of one."""
    if isinstance(value, dict):
        for key in sorted(value):
            if key not in ("fold", "folded_from"):
                yield from facts(value[key], (*path, key))
    elif isinstance(value, list):
        for n, each in enumerate(value):
            yield from facts(each, (*path, str(n)))
    elif isinstance(value, float):
        size = math.floor(math.log(abs(value)) * 1e5 + 0.137) if abs(value) > 1e-9 else None
        yield f"{'.'.join(path)} {value > 0} {size}"
    elif not isinstance(value, str) or set(path[-2:]) & set(JUDGED):
        yield f"{'.'.join(path)} {value}"


def test_other_figures_are_another_fold() -> None:
    told = [line for folder in KEPT for line in facts(fold(RunFolder.open(folder), folder))]
    assert len(told) > 1_000
    found = hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
    assert {FOLD: found} == FIGURES, f"the same records fold to other figures: {{{FOLD + 1}: {found!r}}}"


def aged(folder: Path, **more: Any) -> dict[str, Any]:
    """The folder's summary as an earlier version might have left it."""
    write_report(folder, show=False)
    path = folder / "summary.json"
    summary: dict[str, Any] = orjson.loads(path.read_bytes())
    del summary["fold"]
    summary["limit"]["agent"] = summary["limit"]["agent"] | {"where": "engine front end"}
    path.write_bytes(orjson.dumps(summary | more))
    return summary


def test_every_command_reads_an_older_fold_by_todays_rules_and_leaves_the_file(make_run: MakeRun) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    today = fold(RunFolder.open(folder), folder)
    assert today["limit"]["agent"]["where"] != "engine front end" and today["fold"] == FOLD
    aged(folder)
    before = (folder / "summary.json").read_bytes()
    told = (
        current(RunFolder.open(folder)),
        opened(folder).summary,
        dict(digest(RunFolder.open(folder), "a", alone=False).summary),
    )
    assert all(each == today for each in told)
    assert (folder / "summary.json").read_bytes() == before
    write_report(folder, show=False)
    assert orjson.loads((folder / "summary.json").read_bytes()) == orjson.loads(orjson.dumps(today))


def test_without_chunk_times_the_figures_stay_and_are_judged_again(make_run: MakeRun) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    today = fold(RunFolder.open(folder), folder)
    older = aged(folder)
    (folder / "chunks.bin").unlink()
    found = current(RunFolder.open(folder))
    assert found["limit"] == today["limit"] and found["agent"] == older["agent"]
    assert "fold" not in found, "its figures are not of this fold"


def test_other_warnings_stay(make_run: MakeRun) -> None:
    older = aged(make_run(slots=2, window_s=5, synthetic=0))
    only = {"code": "engine_changed", "what": "pid 1 then, 2 now", "why": "", "cure": ""}
    gone = {"code": "front_end_backlog", "what": "agent: 256 of 392 ms", "why": "", "cure": ""}
    found = judged_again(older | {"warnings": [only, gone, *older["warnings"]]})
    assert found["warnings"] == [only, *older["warnings"]]


def test_a_list_of_runs_judges_the_client_by_todays_limits(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    older = aged(folder)
    for past in (older["client"], older["client"]["agent"]):
        past |= {"verdict": "client-limited", "reasons": ["by a limit of then"]}
    (folder / "summary.json").write_bytes(orjson.dumps(older))
    assert history_main(Question((folder,), Wanted(), None, every=True, paths=False, json=True, pick=False)) == 0
    (run,) = orjson.loads(capsys.readouterr().out)["runs"]
    assert run["client"] == "ok"


@pytest.mark.parametrize("lacks", ["client", "engine", "warnings", "agent", "ttft_s"])
def test_a_summary_that_lacks_what_todays_rules_ask_for_stays_as_it_is(make_run: MakeRun, lacks: str) -> None:
    older = aged(make_run(slots=2, window_s=5, synthetic=0))
    del (older if lacks in older else older["agent"])[lacks]
    assert judged_again(older) == older


@pytest.mark.parametrize("name", ["baseline-0", "mtp1-0"])
def test_published_runs_name_one_limit_whoever_asks(name: str, tmp_path: Path) -> None:
    """Folded before a rule changed; one with chunk times, one without."""
    folder = LADDER / name
    stored = orjson.loads((folder / "summary.json").read_bytes())
    wheres = [
        {kind: each["limit"][kind]["where"] for kind in ("agent", "synthetic")}
        for each in (
            current(RunFolder.open(folder)),
            opened(folder).summary,
            digest(RunFolder.open(folder), "a", alone=False).summary,
        )
    ]
    shutil.copytree(folder, tmp_path / name)
    reported = write_report(tmp_path / name, show=False).summary
    assert wheres == [{"agent": "none", "synthetic": "none"}] * 3
    assert {kind: reported["limit"][kind]["where"] for kind in ("agent", "synthetic")} == wheres[0]
    assert stored["limit"]["agent"]["where"] == "engine front end", "or this shows nothing"
