import unittest
from datetime import date
from decimal import Decimal

from $pkg.$m_days import days, $f_frac


class «DayBases|DayCount|InterestDays»(unittest.TestCase):
    def test_actual_days(self):
        self.assertEqual(days(date($y0, 2, 1), date($y0, 3, 1), "ACT/365"), $feb)

    def test_act_360_divides_by_360(self):
        self.assertEqual($f_frac(Decimal(7200), date($y0, 1, 1), date($y0, 3, 31), "ACT/360"), 20 * $q1)

    def test_thirty_from_month_end(self):
        self.assertEqual(days(date($y0, 1, 31), date($y0, 2, 28), "30E/360"), 28)

    def test_thirty_to_month_end(self):
        self.assertEqual(days(date($y0, $month_a, 15), date($y0, $month_b, 31), "30E/360"), $thirty)

    def test_thirty_whole_year(self):
        self.assertEqual($f_frac(Decimal("$tie_a"), date($y0, 4, 30), date($y1, 4, 30), "30E/360"), Decimal("$tie_a"))
