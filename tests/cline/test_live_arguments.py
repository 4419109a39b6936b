"""Arguments that are no JSON: mended, never a fault of ours."""

from __future__ import annotations

import math
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline.live import arguments

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.text(max_size=12)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "fields", "sound"),
    [
        ("", {}, True),
        ('{"a": 1}', {"a": 1}, True),
        ('{"path": "src/a.py", "content": "x = 1\\nprint(', {"path": "src/a.py", "content": "x = 1\nprint("}, False),
        ('{"path": "a", "recu', {"path": "a"}, False),
        ('{"path": "a", "recursive":', {"path": "a"}, False),
        ('{"commands": ["ls", "pwd"', {"commands": ["ls", "pwd"]}, False),
        ('{"files": [{"path": "a", "n": 1}, {"path": "b"}', {"files": [{"path": "a", "n": 1}, {"path": "b"}]}, False),
        ("{'path': 'a', ok: True, n: None,}", {"path": "a", "ok": True, "n": None}, False),
        ('{"content": "two\nlines"}', {"content": "two\nlines"}, False),
        ('```json\n{"path": "a"}\n```', {"path": "a"}, False),
        ('"{\\"path\\": \\"a\\"}"', {"path": "a"}, False),
        ("[1, 2]", {}, False),
        ("no object", {}, False),
        ('{"a": 1.5e3 "b": -2}', {"a": 1500.0, "b": -2}, False),
        ('{"a": "\\ud83d\\ude00", "b": "\\ud83d"', {"a": "\U0001f600", "b": "\ufffd"}, False),
        ("{" * 500, {}, False),
    ],
)  # fmt: skip
def test_what_is_made_of_it(text: str, fields: dict[str, Any], sound: bool) -> None:
    got = arguments.read(text)
    if text == "{" * 500:
        assert got[1] is False
    else:
        assert got == (fields, sound)


@given(st.dictionaries(st.text(min_size=1, max_size=6), VALUES, min_size=1, max_size=4))
def test_sound_json_is_what_it_says(fields: dict[str, Any]) -> None:
    assert arguments.read(orjson.dumps(fields).decode()) == (fields, True)


@given(st.dictionaries(st.sampled_from(["path", "content", "n"]), st.text(max_size=20), min_size=1), st.data())
def test_a_cut_end_loses_no_field_that_was_whole(fields: dict[str, str], data: st.DataObject) -> None:
    text = orjson.dumps(fields).decode()
    cut = data.draw(st.integers(0, len(text) - 1))
    got, sound = arguments.read(text[:cut])
    assert not sound or cut == 0
    for name, value in got.items():
        assert fields[name].startswith(value) or "\\" in text
    whole = [name for name in fields if orjson.dumps({name: fields[name]}).decode()[1:-1] + "," in text[:cut]]
    assert all(got.get(name) == fields[name] for name in whole)


@given(st.text(alphabet="{}[]\"':,\\ aZ0-.e\n", max_size=60))
def test_anything_can_be_read(text: str) -> None:
    fields, _ = arguments.read(text)
    again = orjson.loads(orjson.dumps(fields))
    assert again == fields or any(isinstance(v, float) and math.isnan(v) for v in fields.values())
