"""«The helpers that everything rests on|Small facts about money, files and dates|Helper tests»."""

import tempfile
import unittest
from datetime import date
from decimal import Decimal
from pathlib import Path

from $pkg.$m_cal import $f_last, $f_shift
from $pkg.$m_money import $f_round
from $pkg.$m_tab import $f_day, $f_dump, $f_rows


class Helpers(unittest.TestCase):
    def test_half_a_cent(self):
        self.assertEqual($f_round(Decimal("${tie}5")), Decimal("$tie_right"))
        self.assertEqual($f_round(Decimal("-${tie}5")), Decimal("-$tie_right"))

    def test_more_places(self):
        self.assertEqual(str($f_round(Decimal(1) / 3, 6)), "0.333333")

    def test_month_ends(self):
        self.assertEqual($f_last(date(2024, 2, 3)), date(2024, 2, 29))
        self.assertEqual($f_shift(date(2023, 12, 31), 2), date(2024, 2, 29))
        self.assertEqual($f_shift(date(2024, 3, 31), -1), date(2024, 2, 29))

    def test_rows_and_results(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.csv"
            path.write_text("a,b\n2024-01-31,2.50\n", encoding="utf-8")
            (first,) = $f_rows(path)
            self.assertEqual($f_day(first["a"]), date(2024, 1, 31))
            $f_dump(Path(folder) / "x" / "r.json", {"v": Decimal("2.50")})
            self.assertIn('"v": "2.50"', (Path(folder) / "x" / "r.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
