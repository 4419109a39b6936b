"""Expressions in ripgrep's dialect: what each means, what is refused, and which may run for ever."""

import re
import shutil
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.drive.dialect import BadPattern
from simulator.drive.patterns import Pattern, TooSlow

#: expression, lines that it fits, lines that it does not
MEANINGS = [
    ("def total", ["def total(self)"], ["def Total"]),
    ("(?i)TOTAL", ["total", "TOTAL"], ["tot al"]),
    ("de(?i)f", ["def", "deF"], ["DEF"]),
    ("(a(?i)b|c)d", ["abd", "aBd", "Cd"], ["aBD", "Abd"]),
    ("x(?i)a|b", ["xA", "B"], ["XA", "x"]),
    ("(?i-s:a)b", ["Ab"], ["AB"]),
    ("(?-u)café", ["café"], ["cafe"]),
    ("[[:digit:]]+[[:space:]]", ["12 "], ["a1"]),
    ("[^[:alpha:]_]", ["a1"], ["a_b"]),
    ("[[:^digit:]]", ["a"], ["12"]),
    ("[[:punct:]]", ["a]"], ["ab"]),
    (r"foo\z", ["a foo"], ["foo "]),
    (r"\<total\>", ["a total b"], ["subtotal", "totals"]),
    (r"\b{start}to", ["a to"], ["auto"]),
    (r"\x{41}\x42\u0043", ["ABC"], ["abc"]),
    (r"\p{Lu}\p{Ll}+", ["Größe"], ["GRÖSSE"]),
    (r"\pL", ["é"], ["1"]),
    ("[a-z&&[^aeiou]]", ["b"], ["a"]),
    ("[a-z--[aeiou]]", ["b"], ["e"]),
    ("(?P<one>a)(?<two>b)", ["ab"], ["a b"]),
    ("a**b", ["b", "aab"], ["a"]),
    ("a++b", ["aab"], ["b"]),
    ("a{2,3}?b", ["aab"], ["ab"]),
    (r"foo\(\) \{", ["foo() {"], ["foo()"]),
    ("a}", ["a}"], ["a"]),
    ("[]a]", ["]"], ["b"]),
    ("[^]a]", ["b"], ["]a"]),
    (r"[\w.-]+@[\w.]+", ["me.x-y@b.org"], ["@"]),
    (r"a\/b\-\%", ["a/b-%"], ["ab"]),
    ("^$", [""], [" "]),
    ("TODO|FIXME|XXX", ["a FIXME"], ["todo"]),
    ("(foo|bar)+;", ["foobar;"], ["foo"]),
    ("#|&|~", ["a & b"], ["a"]),
    (r"(?i)STRASSE\pL*", ["Strasse"], ["Straße"]),
]


def _rg() -> int:
    """Its first version number, 0 without it."""
    if shutil.which("rg") is None:
        return 0
    told = re.search(r"ripgrep (\d+)", subprocess.run(["rg", "--version"], capture_output=True, text=True).stdout)
    return int(told[1]) if told else 0


@pytest.mark.parametrize(("expression", "fits", "not_"), MEANINGS)
def test_meaning(expression, fits, not_):
    pattern = Pattern(expression)
    assert [n for n, _ in pattern.find([*fits, *not_])] == list(range(len(fits)))


@pytest.mark.skipif(
    _rg() < 14, reason="ripgrep 14 or newer is not installed; older ones read some expressions otherwise"
)
@pytest.mark.parametrize(("expression", "fits", "not_"), MEANINGS)
def test_meaning_is_ripgreps(expression, fits, not_):
    text = "\n".join((*fits, *not_)) + "\n"
    found = subprocess.run(["rg", "-e", expression, "-"], input=text, capture_output=True, text=True).stdout
    assert found.splitlines() == fits


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("(", "not closed"),
        (")", "not opened"),
        ("[a", "not closed"),
        ("[z-a]", "bad character range"),
        ("*a", "nothing before '\\*'"),
        ("a|+", "nothing before"),
        ("interface{}", "begins no valid repetition"),
        ("function f() {", "begins no valid repetition"),
        (r"(a)\1", "backreferences"),
        ("(?=a)", "look-around"),
        ("(?<!a)b", "look-around"),
        ("(?>a)", "not supported"),
        (r"a\nb", "line by line"),
        ("a\nb", "line by line"),
        (r"\y", "means nothing"),
        ("a\\", "backslash"),
        ("a{1000}{1000}{1000}", "too large"),
        ("(((a{100}b){100}c){100}d)", "too large"),
        ("a{99999999999999999999}", "too large"),
        ("a{,3}", "begins no valid repetition"),
        (r"\x{110000}", "no character"),
        ("(" * 5_000 + ")" * 5_000, "nested"),
        ("[" * 50_000, "nested|not closed"),
        (r"\p{Nonesuch}", "property"),
    ],
)
def test_refusals(expression, why):
    with pytest.raises(BadPattern, match=why):
        Pattern(expression)


@given(st.text(r"ab()[]{}*+?|\^$.-&:,1iPp<>=!dwz", max_size=14), st.text("ab-1", max_size=8))
def test_any_text_is_a_pattern_or_refused(expression, line):
    try:
        Pattern(expression).find([line])
    except BadPattern as error:
        assert str(error)


@given(st.text("ab.*c", max_size=6), st.text("abc", max_size=8))
def test_plain_expressions_mean_what_they_mean_in_python(expression, line):
    try:
        wanted = re.search(expression, line)
    except re.error:
        return
    assert Pattern(expression).find([line]) == ([(0, wanted.start())] if wanted else [])


@pytest.mark.parametrize("expression", ["def total", r"\w+", r"(foo|bar)\s*=", "TODO|FIXME"])
def test_what_is_usual_is_known_to_end_soon(expression):
    assert Pattern(expression).soon(["x" * 400] * 3)


@pytest.mark.parametrize(
    "expression", ["(a+)+$", "(a|aa)+$", r"(?:\w+\s?)+;$", r"\w*\w*\w*\w*:", "(a?){40}[ab]{40}", "a?" * 40]
)
def test_what_may_not_end_is_known_before(expression):
    assert not Pattern(expression).soon(["a" * 400])


def test_many_lines_end_at_the_deadline():
    pattern, lines = Pattern(r"\w*\w*\w*:"), ["a" * 80] * 200_000
    assert pattern.soon(lines)
    began = time.monotonic()
    with pytest.raises(TooSlow):
        pattern.find(lines, began + 0.2)
    assert time.monotonic() - began < 20
