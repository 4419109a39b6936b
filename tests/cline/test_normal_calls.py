"""Tool calls in one spelling: what is the same call, however it was written."""

from __future__ import annotations

import pytest

from simulator.cline.live.normal_calls import normal_calls


def native(arguments: str, name: str = "read_file") -> tuple[tuple[str, str], ...]:
    return normal_calls("sdk", "", [{"name": name, "arguments": arguments}])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"path": "a", "n": 1}', '{"n":1.0,"path":"a"}', True),
        ('{"a": [1, {"c": 2.0, "b": 3}]}', '{"a":[1.0,{"b":3,"c":2}]}', True),
        ('{"path": "a"}', '{"path": "a "}', False),
        ('{"n": 1}', '{"n": "1"}', False),
        ('{"n": 1.5}', '{"n": 1}', False),
        ('{"path": "a"', '{"path": "a"}', False),  # a client would mend it; it is another text all the same
        ('{"path": "a"', '{"path": "a"', True),
    ],
)
def test_arguments(one: str, other: str, same: bool) -> None:
    assert (native(one) == native(other)) is same


def test_names_and_order_count() -> None:
    assert native("{}", "list_files") != native("{}")
    two = [{"name": "a", "arguments": "{}"}, {"name": "b", "arguments": "{}"}]
    assert normal_calls("sdk", "", two) != normal_calls("sdk", "", two[::-1])


def test_calls_in_text_are_of_clients_that_write_them_there() -> None:
    text = "I read it.\n<read_file>\n<path>src/a.py</path>\n</read_file>"
    assert normal_calls("classic-xml", text, ()) == (("read_file", '{"path":"src/a.py"}'),)
    assert normal_calls("sdk", text, ()) == ()
    blank = text.replace("<path>", "<path> ").replace("I read it.", "Let me look.")
    assert normal_calls("classic-xml", blank, ()) == normal_calls("classic-xml", text, ())


def test_a_call_that_the_end_cut_is_not_the_whole_one() -> None:
    text = "<read_file>\n<path>src/a.py</path>\n"
    ((name, arguments),) = normal_calls("classic-xml", text, ())
    assert (name, arguments) == ("read_file (cut)", '{"path":"src/a.py"}')
