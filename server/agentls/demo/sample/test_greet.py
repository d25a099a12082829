"""What greet.py should do."""

import unittest

from greet import greet, seat


class Greetings(unittest.TestCase):
    def test_a_greeting_has_the_name_in_it(self) -> None:
        self.assertEqual(greet("Ada"), "Hello, Ada!")

    def test_friends_share_a_table(self) -> None:
        self.assertEqual(seat("Ada", ["Grace"]), ["Grace", "Ada"])

    def test_strangers_do_not_share_a_table(self) -> None:
        seat("Ada")
        self.assertEqual(seat("Grace"), ["Grace"])
