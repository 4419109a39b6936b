"""Text in YAML is read once: its nodes show what was written, its values what it means."""

import pytest

from simulator.core.yaml_text import load_text, refuse_duplicates
from simulator.errors import UsageError


def test_nodes_show_what_was_written_and_values_what_it_means() -> None:
    root, value = load_text("a: 1\n<<: {a: 2, b: 3}\nc: [x, {d: 4}]\n", "x.yaml")
    assert value == {"a": 1, "b": 3, "c": ["x", {"d": 4}]}
    assert root is not None and [(key.value, key.start_mark.line) for key, _ in root.value] == [
        ("a", 0), ("<<", 1), ("c", 2),
    ]  # fmt: skip
    refuse_duplicates(root, "x.yaml")  # what is merged is not given twice
    assert load_text("", "x.yaml") == (None, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x 1\nb: *x\n", r"x.yaml:2: `\*x` is an alias; write the value out"),
        ("a:\n  - *nowhere\n", r"x.yaml:2: `\*nowhere` is an alias"),
        ("a: 1\n---\nb: 2\n", r"x.yaml:2: not valid YAML: but found another document"),
        ("a: [1\nb: 2\n", r"x.yaml:2: not valid YAML"),
        ("a: 2001-99-99\n", r"x.yaml: a value that YAML cannot read \(ValueError"),
        ("[" * 50_000, r"x.yaml: a value that YAML cannot read \(RecursionError"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        load_text(text, "x.yaml")
    assert "\n" not in str(caught.value)
