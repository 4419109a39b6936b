"""«Samples of translated rows and rules of elimination|Translation by hand, elimination by rule|Rows translated by hand»."""

import unittest
from decimal import Decimal

from $calc.$mod_group import $c_internal, $f_group, $f_masters, $f_pairs, $f_translate

#: «entity, account -> amount in $currency, with a pocket calculator|(entity, account): $currency, by hand»
SAMPLES = {
$samples
}


class «Translation|GroupRules|Consolidating»(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.entities, cls.rates, cls.lines = $f_masters()
        cls.rows = {code: $f_translate(entity, cls.rates, cls.lines) for code, entity in cls.entities.items()}
        cls.group = $f_group()

    def test_samples(self):
        for (code, account), expected in SAMPLES.items():
            with self.subTest(entity=code, account=account):
                found = [$row[4] for $row in self.rows[code] if $row[0] == account]
                self.assertEqual(found, [Decimal(expected)])

    def test_trial_balances_balance_in_local_currency(self):
        for code, rows in self.rows.items():
            self.assertEqual(sum($row[3] for $row in rows), 0, code)

    def test_lines_sum_to_zero(self):
        self.assertEqual(sum(self.group["$o_lines"].values()), 0)

    def test_group_currency_leaves_no_reserve(self):
        for code, entity in self.entities.items():
            if entity["currency"] == "$currency":
                self.assertEqual(self.group["$o_reserve"][code], 0, code)

    def test_pairs_cancel_to_cents(self):
        totals = {}
        for code, partner, account, line, _, $amount in $f_pairs():
            if account in $c_internal:
                key = (*sorted((code, partner)), line in ("$w_revenue", "$w_cost"))
                totals[key] = totals.get(key, 0) + $amount
        for key, rest in totals.items():
            self.assertLess(abs(rest), Decimal("0.05"), key)


if __name__ == "__main__":
    unittest.main()
