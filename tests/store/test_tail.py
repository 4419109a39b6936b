"""Following a file that grows."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from simulator.store.folder import Tail


def test_only_whole_new_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    tail = Tail(path)
    assert tail.lines() == []
    with path.open("ab") as file:
        for text, lines in (
            (b'{"a"', []),
            (b': 1}\n{"b": 2}\n{"c', [b'{"a": 1}', b'{"b": 2}']),
            (b'": 3}\n', [b'{"c": 3}']),
        ):
            file.write(text)
            file.flush()
            assert tail.lines() == lines
    assert tail.lines() == []


def test_objects_pass_over_what_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\nbroken\n7\n{"b": 2}\n')
    assert list(Tail(path).objects()) == [{"a": 1}, {"b": 2}]


def test_a_replaced_file_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(path)
    assert tail.lines() == [b"one", b"two"]
    path.write_bytes(b"new\n")
    assert tail.lines() == [b"new"]


def test_a_long_file_comes_in_pieces_and_a_long_line_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    short = [b"%07d" % i for i in range(200)]
    path.write_bytes(b"\n".join(short) + b"\n")
    tail = Tail(path, block_bytes=1_000)
    pieces = [tail.lines() for _ in range(2)]
    assert [line for piece in pieces for line in piece] == short
    assert 0 < len(pieces[0]) < len(short) and tail.lines() == []
    path.write_bytes(b"x" * 1_010 + b"\nlast\n")
    tail = Tail(path, block_bytes=1_000)
    assert [len(line) for line in tail.lines()] == [1_010]
    assert tail.lines() == [b"last"]


@given(st.lists(st.binary(max_size=6).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_any_cut_gives_the_same_lines(lines: list[bytes], data: st.DataObject) -> None:
    import tempfile

    content = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        tail, got = Tail(path), []
        for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True):
            with path.open("ab") as file:
                file.write(content[a:b])
            got += tail.lines()
    assert got == lines
