"""A circuit of OpenDSS with the devices of a node map as elements of constant power, one for each phase."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence, Tuple

from .example import required
from .node_map import NodeMap

__all__ = ["OpenDssGrid", "engine"]

_PHASES = "abc"
#: solver settings far below the differences that examples judge
_PRECISION = ["set tolerance=1e-10", "set maxiterations=200"]


def engine() -> Any:
    """An engine of OpenDSS for one circuit, beside all others of this process."""
    return required("opendssdirect", "opendssdirect.py").dss.NewContext()


class OpenDssGrid:
    """Solves a circuit for powers of devices.

    `solve` answers voltages in per unit of the base of each bus. The device is connected by an ideal transformer where its
    nominal voltage is not that of the bus.
    """

    def __init__(self, circuit: Sequence[str], places: NodeMap, devices: Sequence[Mapping[str, Any]]) -> None:
        """circuit: commands of OpenDSS up to `calcvoltagebases`. devices: those attached. Raises NodeMapError."""
        self._dss = engine()
        for command in [*circuit, *_PRECISION]:
            self._dss.Text.Command(command)
        self._dss.Solution.Solve()
        self.buses = self._buses()
        places.check(devices, self.buses)
        self._places = places
        self._elements: List[Tuple[int, str, str]] = []
        for at, place in enumerate(places.places):
            for phase in place.phases:
                self._add(at, place.bus, phase)

    def solve(self, powers: Sequence[Mapping[str, Tuple[float, float]]]) -> Dict[Tuple[str, str], float]:
        """Voltage at each bus and phase, per unit, with W and var of each device and phase as `NodeMap.phase_powers` has them."""
        generators = self._dss.Generators
        for at, phase, name in self._elements:
            watts, vars_ = powers[at][phase]
            generators.Name(name)
            generators.kW(watts / 1000)
            generators.kvar(vars_ / 1000)
        self._dss.Solution.Solve()
        if not self._dss.Solution.Converged():
            raise RuntimeError("OpenDSS finds no solution")
        return self.voltages()

    def voltages(self) -> Dict[Tuple[str, str], float]:
        """Those of the last solution."""
        names, values = self._dss.Circuit.AllNodeNames(), self._dss.Circuit.AllBusMagPu()
        nodes = (name.rsplit(".", 1) for name in names)
        return {(bus, _PHASES[int(node) - 1]): value for (bus, node), value in zip(nodes, values) if node in "123"}

    def head_power(self) -> Tuple[float, float]:
        """W and var that the source gives."""
        kw, kvar = self._dss.Circuit.TotalPower()[:2]
        return -1000 * kw, -1000 * kvar

    def command(self, text: str) -> None:
        """Any command of OpenDSS."""
        self._dss.Text.Command(text)

    def _buses(self) -> Dict[str, str]:
        phases: Dict[str, str] = {}
        for bus, phase in self.voltages():
            phases[bus] = phases.get(bus, "") + phase
        return phases

    def _add(self, at: int, bus: str, phase: str) -> None:
        name = f"device{at}{phase}"
        self._dss.Circuit.SetActiveBus(bus)
        kv = self._dss.Bus.kVBase()
        node = _PHASES.index(phase) + 1
        self._dss.Text.Command(
            f"new generator.{name} bus1={bus}.{node} phases=1 kv={kv} kw=0 kvar=0 model=1 vminpu=0.1 vmaxpu=2 status=fixed"
        )
        self._elements.append((at, phase, name))
