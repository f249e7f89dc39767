"""Tests of clients/python/cosim that need no simulator and no solver."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from cosim.convergence import converge
from cosim.deadline import DeadlineError, deadline
from cosim.example import Report, required
from cosim.node_map import NodeMap, NodeMapError

DEVICES = [{"index": 0, "wiring": "three"}, {"index": 1, "wiring": "single"}, {"index": 2, "wiring": "split"}]
ROWS = [
    {"device": 1, "bus": "n4", "phases": "b"},
    {"device": 0, "bus": "n4", "phases": "abc"},
    {"device": 2, "bus": "n5", "phases": "ca"},
]


class Map(unittest.TestCase):
    def problems(self, act):
        with self.assertRaises(NodeMapError) as caught:
            act()
        for problem in caught.exception.problems:
            self.assertIn(problem, str(caught.exception))
        return caught.exception.problems

    def test_gives_voltages_of_the_phases_of_a_device_and_takes_its_power_back_to_them(self):
        places = NodeMap(ROWS)
        places.check(DEVICES, {"n4": "abc", "n5": "ac"})
        self.assertEqual(places.devices, [1, 0, 2])
        volts = {("n4", "a"): 1.01, ("n4", "b"): 1.02, ("n4", "c"): 1.03, ("n5", "c"): 1.06, ("n5", "a"): 1.04}
        self.assertEqual(
            places.voltages(lambda bus, phase: volts[bus, phase]),
            {"va_pu": [1.02, 1.01, 1.06], "vb_pu": [1.02, 1.02, 1.04], "vc_pu": [1.02, 1.03, 1.06]},
        )
        columns = {
            "pa_w": [100, 1, 5],
            "pb_w": [None, 2, 6],
            "pc_w": [None, 3, None],
            "qa_var": [-10, 0.1, 0.5],
            "qb_var": [None, 0.2, 0.6],
            "qc_var": [None, 0.3, None],
        }
        self.assertEqual(places.phase_powers(columns)[2], {"c": (5, 0.5), "a": (6, 0.6)})
        sums = places.injections(columns)
        self.assertEqual(sums[("n4", "b")], (102, -9.8))
        self.assertEqual(sums[("n4", "a")], (1, 0.1))
        self.assertEqual(set(sums), {*volts})

    def test_a_removed_device_gives_nothing(self):
        columns = {f"{name}": [None] for name in ("pa_w", "pb_w", "pc_w", "qa_var", "qb_var", "qc_var")}
        self.assertEqual(NodeMap(ROWS[:1]).injections(columns), {("n4", "b"): (0.0, 0.0)})

    def test_all_problems_of_the_rows_are_reported_at_once(self):
        rows = [
            {"device": 0, "bus": "n3", "phases": "abb"},
            {"device": 0, "bus": "", "phases": "abc"},
            {"device": True, "bus": "n3", "phases": "d", "phase": "a"},
            7,
        ]
        self.assertEqual(
            self.problems(lambda: NodeMap(rows)),
            [
                "device 0: phases must be one or more of a, b and c, such as 'abc' or 'b'",
                "device 0: bus must be the name of a bus",
                "device True: has an unknown member 'phase'",
                "device True: device must be the index of a device",
                "device True: phases must be one or more of a, b and c, such as 'abc' or 'b'",
                "place 3: is no object with device, bus and phases",
                "device 0 is named twice",
            ],
        )
        for wrong in ([], {}, None):
            self.assertIn("a list of places", self.problems(lambda: NodeMap(wrong))[0])

    def test_all_problems_with_devices_and_buses_are_reported_at_once(self):
        rows = [
            {"device": 0, "bus": "n9", "phases": "ab"},
            {"device": 1, "bus": "n5", "phases": "b"},
            {"device": 3, "bus": "n4", "phases": "abc"},
            {"device": 2, "bus": "n4", "phases": "abc"},
        ]
        self.assertEqual(
            self.problems(lambda: NodeMap(rows).check(DEVICES, {"n4": "abc", "n5": "ac"})),
            [
                "device 0 has the wiring three, 3 of the phases a, b and c; the map has 'ab'",
                "device 0: there is no bus 'n9'",
                "device 1: bus 'n5' has no phase b",
                "device 3 is not attached",
                "device 2 has the wiring split, 2 of the phases a, b and c; the map has 'abc'",
            ],
        )
        NodeMap(ROWS).check(DEVICES, ["n4", "n5"])
        NodeMap(ROWS).check(DEVICES)

    def test_reads_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "map.json")
            with open(path, "w") as file:
                json.dump(ROWS, file)
            self.assertEqual(NodeMap.load(path).places, NodeMap(ROWS).places)
            with open(path, "w") as file:
                file.write("[{")
            self.assertIn("is not JSON", self.problems(lambda: NodeMap.load(path))[0])


class Street:
    """One device behind a line: its Q falls with the voltage, which rises with Q by `gain` of what Q falls by."""

    def __init__(self, gain, limit=1000.0):
        self.gain, self.limit, self.asked = gain, limit, []

    def solve(self, powers):
        return {"va_pu": [1.05 + powers["q_var"][0] * 1e-5]}

    def trial(self, va_pu):
        self.asked.append(va_pu[0])
        q = -self.gain * 1e5 * (va_pu[0] - 1.0)
        return {"p_w": [5000.0], "q_var": [max(-self.limit, min(self.limit, q))], "status": [3]}

    def balance(self, **options):
        return converge(self.solve, self.trial, {"p_w": [5000.0], "q_var": [0.0]}, **options)


class Balances(unittest.TestCase):
    def test_a_gentle_curve_needs_no_halving(self):
        street = Street(0.1)
        found = street.balance(tolerance_w=1e-6)
        self.assertTrue(found.has_converged)
        self.assertAlmostEqual(found.powers["q_var"][0], -0.1 * 5000 / 1.1, 4)
        self.assertEqual(found.voltages, {"va_pu": [street.asked[-1]]})
        self.assertLess(found.rounds, 13)

    def test_a_steep_curve_that_swings_or_bounces_between_its_ends_is_halved(self):
        for gain, limit in ((3, 1e9), (30, 1e9), (3, 4000), (1000, 4900), (1, 1e9)):
            found = Street(gain, limit).balance()
            self.assertTrue(found.has_converged, (gain, limit, found))
            self.assertAlmostEqual(found.powers["q_var"][0], max(-limit, -gain * 5000 / (1 + gain)), 1)

    def test_moves_that_grow_without_turning_are_halved_too(self):
        def trial(x, y):
            return {"q_var": [1000 + 0.3 * x - 1.2 * y, 1.2 * x + 0.3 * y]}

        found = converge(lambda powers: dict(zip("xy", powers["q_var"])), trial, {"q_var": [0.0, 0.0]}, tolerance_w=1)
        self.assertTrue(found.has_converged)
        self.assertAlmostEqual(found.powers["q_var"][0], 700 / (0.7**2 + 1.2**2), delta=2)

    def test_says_when_no_balance_was_found(self):
        street = Street(30, 1e9)
        found = street.balance(max_rounds=2)
        self.assertEqual((found.has_converged, found.rounds, len(street.asked)), (False, 2, 2))

    def test_null_of_a_removed_device_counts_as_nothing(self):
        found = converge(lambda _: {}, lambda: {"p_w": [None], "q_var": [1.0]}, {"p_w": [0.0], "q_var": [1.0]})
        self.assertEqual((found.has_converged, found.rounds), (True, 1))


class Packages(unittest.TestCase):
    def test_a_missing_one_ends_the_example_with_a_sentence(self):
        self.assertIs(required("json", "json"), json)
        with self.assertRaises(SystemExit) as ended:
            required("no_such_solver", "no-such-solver")
        self.assertIn("This example needs the Python package no-such-solver: pip install no-such-solver", ended.exception.code)


class Deadlines(unittest.TestCase):
    def test_a_wait_that_does_not_end_is_left_with_the_place_of_its_threads(self):
        cleared = []
        with tempfile.TemporaryFile("w+") as printed, contextlib.redirect_stderr(printed):
            with self.assertRaisesRegex(DeadlineError, "^the wait has not ended within 0.1 s$"):
                with deadline(0.1, "the wait"):
                    try:
                        threading.Event().wait(60)
                    except (Exception, KeyboardInterrupt):
                        self.fail("nothing in the block catches it")
                    finally:
                        cleared.append(True)
            printed.seek(0)
            text = printed.read()
        self.assertEqual(cleared, [True])
        self.assertRegex(text, r"(?s)^the wait has not ended within 0.1 s; its threads stand at:\n.*File .*threading\.py")

    def test_a_block_that_ends_in_time_is_left_alone(self):
        before = signal.getsignal(signal.SIGINT)
        with deadline(60, "the block"):
            pass
        with self.assertRaises(KeyError), deadline(60, "the block"):
            raise KeyError("its own")
        with self.assertRaises(KeyboardInterrupt), deadline(60, "the block"):
            signal.raise_signal(signal.SIGINT)
        self.assertIs(signal.getsignal(signal.SIGINT), before)

    def test_a_block_that_does_not_clean_up_ends_the_program(self):
        program = (
            "import threading\nfrom cosim.deadline import deadline\nwait = threading.Event().wait\n"
            "with deadline(0.1, 'the wait', grace_s=0.1):\n    try:\n        wait(60)\n    finally:\n        wait(60)\n"
        )
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
        self.assertEqual(ended.returncode, 1)
        self.assertTrue(ended.stderr.endswith("the wait has not ended within 0.1 s, and does not clean up\n"), ended.stderr)


class Tables(unittest.TestCase):
    def test_one_value_out_of_bounds_is_enough(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            report = Report()
            self.assertFalse(report.holds)
            report.compare("voltage", 1.0, 1.001, 0.002, "pu")
            self.assertTrue(report.holds)
            report.columns("power", [1, 2, 3], [1, 2.5, 3], 0.4, "W")
            report.true("the sun shines", True)
            self.assertFalse(report.holds)
        self.assertRegex(printed.getvalue(), r"power, worst of 3, W +2\.500000 +2\.000000 +5\.0e-01 +4e-01  <-- out of bounds")
        self.assertEqual([row["holds"] for row in report.rows], [True, False, True])
        for wrong in ([], [1]):
            with self.assertRaises(ValueError):
                report.columns("power", wrong, [1, 2], 1)

    def test_nothing_is_never_in_bounds(self):
        with contextlib.redirect_stdout(io.StringIO()):
            report = Report()
            report.compare("voltage", float("nan"), 1, 1)
            report.columns("power", [1, float("nan")], [1, 1], 1)
        self.assertEqual([row["holds"] for row in report.rows], [False, False])


if __name__ == "__main__":
    unittest.main()
