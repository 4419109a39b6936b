"""Sessions that are asked the same in the same words: their folder tells them apart, whenever it is learned of."""

from __future__ import annotations

from pathlib import Path

from simulator.core.solution import Said, Solution, Way
from simulator.engine.embedded.brain.library import Library

REQUEST = "Please find out why the last line is lost, and mend it."


def solution(number: int, *, alike: bool = True) -> Solution:
    ways = (Way(Said(f"I am {number}.")),)
    return Solution(f"s{number}", "", "sdk", "native", f"/home/dev/task-{number:04d}", REQUEST, ways, alike)


def asked(number: int) -> list[dict[str, str]]:
    system = f"Your working directory is /home/dev/task-{number:04d}."
    return [{"role": "system", "content": system}, {"role": "user", "content": REQUEST}]


def test_the_folder_decides_also_for_what_is_added_later(tmp_path: Path) -> None:
    path = tmp_path / "solutions.jsonl"
    path.write_bytes(solution(0).line() + solution(1).line())
    library = Library(path)
    first, second = (library.find(asked(n), native=True) for n in (0, 1))
    assert first is not None and second is not None
    assert (first.solution.session, second.solution.session) == ("s0", "s1")
    assert first.key != second.key, "each has luck of its own"
    with path.open("ab") as file:
        file.write(solution(2).line())
    third = library.find(asked(2), native=True)
    assert third is not None and third.solution.session == "s2"
    unnamed = library.find(asked(7), native=True)
    assert unnamed is not None and unnamed.solution.session == "s0", "a client in a folder of its own is answered too"


def test_other_requests_keep_their_luck_wherever_they_are(tmp_path: Path) -> None:
    keys = set()
    for number in range(2):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(solution(number, alike=False).line())
        found = Library(path).find(asked(number), native=True)
        assert found is not None
        keys.add(found.key)
    assert len(keys) == 1
