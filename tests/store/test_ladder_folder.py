"""A ladder's folder: one ladder at a time, whole runs told from others, what is not whole kept aside."""

import multiprocessing
from pathlib import Path

import pytest

from simulator.errors import UsageError
from simulator.store.folder import RunFolder
from simulator.store.ladder import LADDER, LadderFolder, read_ladder


def opened(path: Path) -> LadderFolder:
    folder = LadderFolder.open(path)
    assert folder is not None
    return folder


def _hold(path: Path, held: object, done: object) -> None:
    folder = opened(path)
    held.set()  # type: ignore[attr-defined]
    done.wait(30)  # type: ignore[attr-defined]
    folder.close()


def test_another_process_has_to_wait(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(tmp_path, held, done))
    other.start()
    try:
        assert held.wait(60)
        assert LadderFolder.open(tmp_path) is None
    finally:
        done.set()
        other.join()
    opened(tmp_path).close()


def run(folder: LadderFolder, name: str, *, summary: bool = True, **ending: object) -> None:
    writer = RunFolder.create(folder.run(name), {"scenario": {}})
    if ending:
        writer.finish(ending)
    if summary:
        RunFolder.open(folder.run(name)).write_summary({"agent": None})


@pytest.mark.parametrize(
    ("made", "whole"),
    [
        ({"stopped": ""}, True),
        ({"stopped": "time limit"}, True),
        ({"stopped": "interrupted"}, False),
        ({"stopped": "", "engine_changed": ["pid"]}, False),
        ({"stopped": "", "summary": False}, False),
        ({}, False),
    ],
)
def test_only_a_run_that_came_to_its_end_is_whole(tmp_path: Path, made: dict[str, object], whole: bool) -> None:
    folder = opened(tmp_path / "ladder")
    run(folder, "a-0", **made)  # type: ignore[arg-type]
    assert (folder.whole("a-0") is not None) == whole
    assert folder.whole("b-0") is None
    folder.close()


def test_what_is_set_aside_stays_to_be_read(tmp_path: Path) -> None:
    folder = opened(tmp_path / "ladder")
    assert folder.set_aside("a-0") is None
    for _ in range(2):
        run(folder, "a-0")
        folder.set_aside("a-0")
    assert [path.name for path in sorted((folder.path / "aside").iterdir())] == ["a-0-1", "a-0-2"]
    assert not folder.run("a-0").exists() and RunFolder.open(folder.path / "aside" / "a-0-2").manifest["schema"] == 1
    folder.close()


def test_other_things_are_never_taken_for_a_ladder(tmp_path: Path) -> None:
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"holds other things \(runs\)"):
        LadderFolder.open(tmp_path)
    with pytest.raises(UsageError, match=r"holds no ladder\.json"):
        read_ladder(tmp_path)
    (tmp_path / LADDER).write_text("[]")
    with pytest.raises(UsageError, match="not a JSON object"):
        read_ladder(tmp_path)
