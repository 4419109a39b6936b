"""«Schedules of $group against hand-made figures|Hand calculations for the loan schedules|What must hold for every schedule»."""

import unittest
from datetime import date
from decimal import Decimal

from $calc.$mod_loans import $f_load, $f_schedule, $f_shift

#: «first period, worked out with pencil and contract|interest of the first period, by hand|by hand from the contract: first interest»
FIRST_INTEREST = {
$first_interest
}
#: «last date by contract, before special repayments|the contract's last due date»
CONTRACT_END = {
$contract_end
}


class «Schedules|LoanSchedules|ScheduleRules»(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.loans = $f_load()
        cls.rows = {key: $f_schedule(loan) for key, loan in cls.loans.items()}

    def test_first_interest(self):
        for key, expected in FIRST_INTEREST.items():
            with self.subTest(loan=key):
                self.assertEqual(self.rows[key][0][2], Decimal(expected))

    def test_no_schedule_outlives_its_contract(self):
        for key, end in CONTRACT_END.items():
            with self.subTest(loan=key):
                self.assertLessEqual(self.rows[key][-1][0], date.fromisoformat(end))

    def test_every_loan_is_repaid(self):
        for key, rows in self.rows.items():
            with self.subTest(loan=key):
                repaid = sum($row[3] + $row[4] for $row in rows)
                self.assertEqual(repaid, Decimal(self.loans[key]["$k_principal"]))
                self.assertEqual(rows[-1][5], 0)

    def test_balances_are_carried(self):
        for key, rows in self.rows.items():
            for earlier, later in zip(rows, rows[1:]):
                with self.subTest(loan=key, due=later[0]):
                    self.assertEqual(earlier[5], later[1])
                    self.assertEqual(later[2], later[2].quantize(Decimal("0.01")))

    def test_a_31_comes_back_after_february(self):
        self.assertEqual($f_shift(date($y0, 12, 31), 2), date($y1, 2, $feb))
        self.assertEqual($f_shift(date($y0, 12, 31), 3), date($y1, 3, 31))


if __name__ == "__main__":
    unittest.main()
