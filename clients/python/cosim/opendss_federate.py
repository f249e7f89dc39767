"""The street of `opendss_loop` as a federate of HELICS: powers in, voltages out.

    python -m cosim.opendss_federate --broker 127.0.0.1:23404 --until_s 120

It prints the last voltages by bus and phase, and the powers that it solved with, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Dict, List, Mapping, Tuple

from . import feeders
from .example import required
from .node_map import NodeMap
from .opendss_grid import OpenDssGrid

__all__ = ["LOAD_KW", "STREET", "circuit"]

LOAD_KW = (0.2, 0.5, 1.8)
STREET = NodeMap([{"device": at, "bus": bus, "phases": "abc"} for at, bus in enumerate(feeders.LOW_VOLTAGE_BUSES)])

_PHASES = "abc"
#: far below what the example judges; a grid that answers to smaller changes would iterate for ever
_TOLERANCE_PU = 1e-9


def circuit() -> List[str]:
    """A street whose load is at one phase above all."""
    return feeders.low_voltage(load_kw=LOAD_KW)


class GridFederate:
    """Solves once at each grant, and anew while powers of the same instant change."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._h = h = required("helics", "helics")
        info = h.helicsCreateFederateInfo()
        h.helicsFederateInfoSetCoreName(info, "grid_core")
        h.helicsFederateInfoSetCoreTypeFromString(info, options.core_type)
        h.helicsFederateInfoSetBroker(info, options.broker)
        h.helicsFederateInfoSetTimeProperty(info, h.HELICS_PROPERTY_TIME_PERIOD, 1.0)
        self._federate = h.helicsCreateValueFederate("grid", info)
        self._publications = {
            phase: h.helicsFederateRegisterGlobalPublication(
                self._federate, f"grid/voltage_{phase}", h.HELICS_DATA_TYPE_VECTOR, "pu"
            )
            for phase in _PHASES
        }
        for phase, publication in self._publications.items():
            h.helicsPublicationAddTarget(publication, f"{options.name}/voltage_{phase}")
        self._inputs = {
            key: self._input(f"{options.name}/{key}", unit)
            for phase in _PHASES
            for key, unit in ((f"active_power_{phase}", "W"), (f"reactive_power_{phase}", "VAR"))
        }
        devices = [{"index": at, "wiring": "three"} for at in STREET.devices]
        self._grid = OpenDssGrid(circuit(), STREET, devices)
        self.powers: List[Dict[str, Tuple[float, float]]] = []

    def _input(self, key: str, unit: str) -> Any:
        port = self._h.helicsFederateRegisterInput(self._federate, key.replace("/", "_"), self._h.HELICS_DATA_TYPE_VECTOR, unit)
        self._h.helicsInputAddTarget(port, key)
        return port

    def run(self, until_s: int, is_iterated: bool) -> Mapping[Tuple[str, str], float]:
        """Takes part until an instant; answers the voltages there."""
        h = self._h
        h.helicsFederateEnterExecutingMode(self._federate)
        kind = h.HELICS_ITERATION_REQUEST_ITERATE_IF_NEEDED if is_iterated else h.HELICS_ITERATION_REQUEST_NO_ITERATION
        voltages, present = self._solve(), 0.0
        self._publish(voltages)
        while present < until_s:
            granted, result = h.helicsFederateRequestTimeIterative(self._federate, present + 1, kind)
            before, voltages = voltages, self._solve()
            has_moved = max(abs(voltages[node] - before[node]) for node in voltages) > _TOLERANCE_PU
            if result != h.HELICS_ITERATION_RESULT_ITERATING or has_moved:
                self._publish(voltages)
            present = granted
        return voltages

    def close(self) -> None:
        """Leaves the federation."""
        self._h.helicsFederateDisconnect(self._federate)
        self._h.helicsCloseLibrary()

    def _solve(self) -> Mapping[Tuple[str, str], float]:
        columns = {key: self._h.helicsInputGetVector(port) for key, port in self._inputs.items()}
        self.powers = [
            {phase: (columns[f"active_power_{phase}"][at], columns[f"reactive_power_{phase}"][at]) for phase in _PHASES}
            for at in range(len(STREET.places))
        ]
        return self._grid.solve(self.powers)

    def _publish(self, voltages: Mapping[Tuple[str, str], float]) -> None:
        for phase, publication in self._publications.items():
            self._h.helicsPublicationPublishVector(publication, [voltages[place.bus, phase] for place in STREET.places])


def main() -> int:
    """The program. Returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broker", required=True, help="address, as 127.0.0.1:23404")
    parser.add_argument("--core_type", default="zmqss")
    parser.add_argument("--name", default="derbench", help="name of the federate with the devices")
    parser.add_argument("--until_s", type=int, required=True)
    parser.add_argument("--iterate", choices=("yes", "no"), default="no")
    options = parser.parse_args()
    federate = GridFederate(options)
    voltages = federate.run(options.until_s, options.iterate == "yes")
    federate.close()
    powers = [[sum(pair[at] for pair in each.values()) for at in (0, 1)] for each in federate.powers]
    print(json.dumps({"voltages": [[bus, phase, value] for (bus, phase), value in voltages.items()], "powers": powers}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
