import unittest

from till import split_bill, with_tip


class WithTip(unittest.TestCase):
    def test_a_tip_is_rounded_to_the_cent(self):
        self.assertEqual(with_tip(1999, 10), 2199)


class SplitBill(unittest.TestCase):
    def test_an_even_bill_is_split_evenly(self):
        self.assertEqual(split_bill(900, 3), [300, 300, 300])

    def test_the_shares_add_up_to_the_bill(self):
        self.assertEqual(sum(split_bill(1000, 3)), 1000)

    def test_nobody_pays_two_cents_more_than_another(self):
        shares = split_bill(1001, 7)
        self.assertLessEqual(max(shares) - min(shares), 1)


if __name__ == "__main__":
    unittest.main()
