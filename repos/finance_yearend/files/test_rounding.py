import unittest
from decimal import Decimal

from $pkg.$m_round import $f_ratio, $f_round


class «Rounding|Cents|MoneyRounding»(unittest.TestCase):
    def test_two_decimals(self):
        self.assertEqual(str($f_round(Decimal("${tie_a}"))), "${tie_a}0")

    def test_tie_follows_policy(self):
        self.assertEqual($f_round(Decimal("${tie_b}5")), Decimal("$tie_right"))

    def test_negative_mirrors_positive(self):
        self.assertEqual($f_round(Decimal("-${tie_b}5")), Decimal("-$tie_right"))

    def test_ratio_places(self):
        self.assertEqual(str($f_ratio(Decimal("1.23456"), 3)), "1.235")
