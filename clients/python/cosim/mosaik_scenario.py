"""A world of mosaik: the CIGRE low-voltage grid in pandapower, and PV of a simulator at eight of its buses.

    python -m cosim.mosaik_scenario

Volt-var is on. Voltages and powers at the end are compared with those of pandapower's own DERController.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from derbench import Client

from .example import Report, arguments, required, run
from .volt_var import CURVE

_BUSES = [f"Bus {name}" for name in ("R6", "R8", "R9", "R10", "R15", "R16", "R17", "R18")]
_RATED_VA = 30_000
#: percent of rated power: below what the sun gives, so that power stays the same to the watt
_LIMIT_PCT = 90
_SOURCE_PU = 1.03
_LOAD_SCALE = 0.2
_SECONDS = 40
#: simulated seconds at nominal voltage, after which reactive power is 0
_REST_S = 60
#: far below what the example judges; a grid that answers to smaller changes would loop for ever
_TOLERANCE_PU = 1e-9

mosaik_api = required("mosaik_api_v3", "mosaik-api-v3")


def site(_options: argparse.Namespace) -> Dict[str, Any]:
    """The devices, in the order of the buses."""
    devices = [{"device_type": "PV-3Phase", "profile": "30kW-3MPPT-3Phase-EU", "count": len(_BUSES)}]
    return {"devices": devices, "start_clock_time": "12:00:00", "mb_enable": False}


class Grid:
    """The CIGRE grid with an element of constant power at each of the buses."""

    def __init__(self) -> None:
        self._pandapower = required("pandapower", "pandapower")
        networks = required("pandapower.networks", "pandapower")
        self.net = networks.create_cigre_network_lv()
        self.net.ext_grid.vm_pu = _SOURCE_PU
        self.net.load.scaling = _LOAD_SCALE
        self._start = "auto"
        numbers = {name: at for at, name in self.net.bus.name.items()}
        for bus in _BUSES:
            self._pandapower.create_sgen(self.net, numbers[bus], p_mw=0, q_mvar=0, sn_mva=_RATED_VA / 1e6)

    def solve(self, watts: Sequence[float], vars_: Sequence[float], **options: Any) -> List[float]:
        """Voltage of each of the buses, per unit."""
        self.net.sgen.p_mw = [value / 1e6 for value in watts]
        self.net.sgen.q_mvar = [value / 1e6 for value in vars_]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._pandapower.runpp(self.net, tolerance_mva=1e-10, numba=False, init=self._start, **options)
        self._start = "results"
        return [float(self.net.res_bus.vm_pu[bus]) for bus in self.net.sgen.bus]

    def by_der_controller(self, watts: Sequence[float]) -> Tuple[List[float], List[float]]:
        """Voltages, and var, where pandapower's own inverters follow the curve."""
        controllers = required("pandapower.control.controller.DERController", "pandapower")
        points = {"vm_points_pu": [v for v, _ in CURVE], "q_points_pu": [q for _, q in CURVE]}
        model = controllers.QModelQVCurve(points)
        controllers.DERController(self.net, list(range(len(_BUSES))), q_model=model, max_q_error=1e-9, max_p_error=1e-9)
        voltages = self.solve(watts, [0.0] * len(watts), run_control=True, max_iter=300)
        return voltages, [1e6 * value for value in self.net.res_sgen.q_mvar]


class GridSim(mosaik_api.Simulator):
    """The grid as a simulator of mosaik: an entity for each of the buses, powers in, voltages out."""

    def __init__(self) -> None:
        super().__init__({"models": {"Bus": {"public": True, "params": [], "attrs": ["p_w", "q_var", "v_pu"]}}})
        self.meta["extra_methods"] = ["result"]

    def init(self, sid: str, time_resolution: float = 1.0, is_looped: bool = False) -> Any:
        """is_looped: powers of the same instant make it solve again."""
        self._is_looped = is_looped
        if is_looped:
            self.meta["type"] = "hybrid"
            self.meta["models"]["Bus"].update({"trigger": ["p_w", "q_var"], "non-persistent": ["v_pu"]})
        self._grid, self._time, self._has_news = Grid(), -1, True
        self._solutions = 0
        self._powers = {bus: {"p_w": 0.0, "q_var": 0.0} for bus in _BUSES}
        self._voltages = dict.fromkeys(_BUSES, 1.0)
        return self.meta

    def create(self, num: int, model: str) -> List[Dict[str, str]]:
        """All buses."""
        return [{"eid": bus, "type": model} for bus in _BUSES[:num]]

    def step(self, time: int, inputs: Mapping[str, Mapping[str, Mapping[str, float]]], max_advance: int) -> int:
        """A solution."""
        for bus, attributes in inputs.items():
            self._powers[bus].update({name: sum(sources.values()) for name, sources in attributes.items()})
        powers = [self._powers[bus] for bus in _BUSES]
        new = dict(zip(_BUSES, self._grid.solve([each["p_w"] for each in powers], [each["q_var"] for each in powers])))
        self._has_news = time > self._time or max(abs(new[bus] - self._voltages[bus]) for bus in _BUSES) > _TOLERANCE_PU
        self._solutions += 1
        self._time, self._voltages = time, new
        return time + 1

    def get_data(self, outputs: Mapping[str, Sequence[str]]) -> Dict[str, Dict[str, float]]:
        """Voltages; none in a loop that has come to its end."""
        if self._is_looped and not self._has_news:
            return {}
        return {bus: {name: self._voltages[bus] for name in names} for bus, names in outputs.items()}

    def result(self) -> Dict[str, Any]:
        """The last solution, and how many there were."""
        powers = {name: [self._powers[bus][name] for bus in _BUSES] for name in ("p_w", "q_var")}
        return {**powers, "v_pu": list(self._voltages.values()), "solutions": self._solutions}


def _world(url: str, is_looped: bool) -> Dict[str, Any]:
    """Runs a world; answers the result of its grid."""
    mosaik = required("mosaik", "mosaik")
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    config = {
        "grid": {"python": "cosim.mosaik_scenario:GridSim"},
        "derbench": {"cmd": "%(python)s -m cosim.mosaik_simulator %(addr)s", "cwd": folder},
    }
    with mosaik.World(config, skip_greetings=True, configure_logging=False) as world:
        with world.group():
            grid = world.start("grid", is_looped=is_looped)
            derbench = world.start("derbench", url=url, mode="hybrid" if is_looped else "time-based")
        # the grid waits for powers; voltages go back within the instant, or to the next one
        back = {"weak": True} if is_looped else {"time_shifted": True, "initial_data": {"v_pu": 1.0}}
        for bus, device in zip(grid.Bus.create(len(_BUSES)), derbench.PV.create(len(_BUSES))):
            world.connect(device, bus, "p_w", "q_var")
            world.connect(bus, device, "v_pu", **back)
        world.run(until=_SECONDS, print_progress=False)
        return grid.result()


def example(_options: argparse.Namespace, client: Client, report: Report) -> None:
    """Both courses of time, one after the other."""
    client.environment(irradiance_w_m2=1000)
    for at in range(len(_BUSES)):
        client.write(704, {"WMaxLimPct": _LIMIT_PCT, "WMaxLimPctEna": "ENABLED"}, device=at)
        client.write(705, {"Ena": "ENABLED"}, device=at)
    for is_looped in (False, True):
        course = "voltages and powers of each second agree in a loop" if is_looped else "voltages act one second later"
        report.heading(course)
        client.step(seconds=_REST_S)
        result = _world(client.url, is_looped)
        voltages, vars_ = Grid().by_der_controller(result["p_w"])
        report.columns("active power, W", result["p_w"], [_RATED_VA * _LIMIT_PCT / 100] * len(_BUSES), 1e-2)
        report.columns("voltage, pu", result["v_pu"], voltages, 1e-6)
        report.columns("reactive power, var", result["q_var"], vars_, 1)
        print(f"  {result['solutions']} solutions for {_SECONDS} s")


if __name__ == "__main__":
    sys.exit(run(arguments(__doc__), site, example))
