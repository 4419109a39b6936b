"""The tests that the agent writes: one method for each rule that a first script missed, with figures agreed from
outside."""

from __future__ import annotations

import textwrap

from .case import Case, Twist, Unit
from .journal import spin

_HEAD = '''"""«Figures of $nouns that were agreed|Rules that once were missed|What $control stated, rule by rule»."""

import unittest
from decimal import Decimal

from $calc.$m_calc import $f_figures, $f_load


class $t_class(unittest.TestCase):
    def $t_check(self, name, **expected):
        found = $f_figures($f_load(name))
        for key, $amount in expected.items():
            with self.subTest(figure=key):
                self.assertEqual(found[key], Decimal($amount))
'''
_TAIL = """

if __name__ == "__main__":
    unittest.main()
"""


class Proofs:
    def __init__(self, case: Case) -> None:
        self.case = case
        picked = case.w.pick(
            t_class="AgreedFigures Agreed FiguresByRule RulesMissed Confirmed",
            t_check="check agrees expect holds confirm",
        )
        self.names = case.n | picked | {"nouns": case.nouns, "control": case.control}
        self.module = f"tests.test_{case.n['module']}"
        self.path = f"tests/test_{case.n['module']}.py"
        self.cls = picked["t_class"]
        self._methods: list[str] = []
        self._r = case.w.part("proofs")

    def method(self, twist: Twist) -> str:
        return f"test_{twist.key}"

    def added(self, unit: Unit, twist: Twist, told: str) -> str:
        """The test module with a method for this rule at its end. told: cause and change, for its docstring."""
        done = self.case.units[: self.case.units.index(unit)]
        calls = [self._call(u) for u in (unit, *done[-3:])]
        said = textwrap.indent(textwrap.fill(spin(self._r, told), 100), "        ")
        title = f"{twist.title[0].upper()}{twist.title[1:]}: {unit.name}."
        rest = "        # what was agreed before must not move\n"
        body = calls[0] + (rest + "".join(calls[1:]) if done else "")
        self._methods.append(
            f'\n    def {self.method(twist)}(self):\n        """{title}\n\n{said}\n        """\n{body}'
        )
        return self.case.w.fill(_HEAD, self.names) + "".join(self._methods) + _TAIL

    def _call(self, unit: Unit) -> str:
        right, n = self.case.right(unit), self.case.n
        rows = "".join(f'            {n[f"o_{k}"]}="{self.case.text(k, right[k])}",\n' for k in self.case.wanted)
        return f'        self.{self.names["t_check"]}(\n            "{unit.name}",\n{rows}        )\n'
