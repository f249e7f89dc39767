"""Tests of clients/python/cosim that need no simulator and no solver."""

import json
import os
import tempfile
import unittest

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
        ]
        self.assertEqual(
            self.problems(lambda: NodeMap(rows).check(DEVICES, {"n4": "abc", "n5": "ac"})),
            [
                "device 0 has the wiring three, 3 of the phases a, b and c; the map has 'ab'",
                "device 0: there is no bus 'n9'",
                "device 1: bus 'n5' has no phase b",
                "device 3 is not attached",
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


if __name__ == "__main__":
    unittest.main()
