"""«Rates and multiples that can be checked by hand|Known answers for rate and multiples|Fund figures against sums made by hand»."""

import unittest
from datetime import date
from decimal import Decimal

from $calc.$mod_returns import FOLDER, $f_flows, $f_irr, $f_measure, $f_npv

#: «sum of calls, of fees, of payouts, added up from the files|calls, fees and payouts up to the reporting date»
SUMS = {
$sums
}


def listed(name):
    return $f_flows(FOLDER / f"{name}.csv")


class «Rates|MoneyWeighted|KnownRates»(unittest.TestCase):
    def test_one_year_at_${pct}_per_cent(self):
        flows = [(date($y0, 3, 1), Decimal(-$stake), "$w_call"), (date($y0, 3, 1).replace(year=$y0 + 1), Decimal($stake) * $grown / 100, "$w_nav")]
        days = (flows[1][0] - flows[0][0]).days
        self.assertAlmostEqual(float($f_irr(flows)), ($grown / 100) ** (365 / days) - 1, places=7)

    def test_loss_is_negative(self):
        flows = [(date($y0, 1, 1), Decimal(-$stake), "$w_call"), (date($y1, 1, 1), Decimal($half), "$w_nav")]
        self.assertLess($f_irr(flows), Decimal("-0.45"))

    def test_value_vanishes_at_own_rate(self):
        for name in SUMS:
            flows = listed(name)
            with self.subTest(position=name):
                self.assertLess(abs($f_npv(flows, $f_irr(flows))), 5)


class «Totals|PaidAndReturned|Multiples»(unittest.TestCase):
    def test_paid_in_holds_calls_and_fees(self):
        for name, (calls, fees, _) in SUMS.items():
            with self.subTest(position=name):
                self.assertEqual($f_measure(listed(name))["$o_paid"], Decimal(calls) + Decimal(fees))

    def test_payouts_stop_at_the_reporting_date(self):
        for name, (_, _, payouts) in SUMS.items():
            with self.subTest(position=name):
                self.assertEqual($f_measure(listed(name))["$o_back"], Decimal(payouts))

    def test_total_is_never_below_realised(self):
        for name in SUMS:
            figures = $f_measure(listed(name))
            self.assertGreaterEqual(figures["$o_tvpi"], figures["$o_dpi"], name)


if __name__ == "__main__":
    unittest.main()
