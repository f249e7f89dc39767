"""PV, batteries and chargers in the CIGRE low-voltage grid of pandapower, beside pandapower's own DERController.

    python -m cosim.pandapower_loop

A master commands the batteries over Modbus, and a vehicle arrives, while pandapower solves the grid step by step; then
volt-var is on, and volt-watt in its place.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from derbench import Client, Exchange

from .example import Report, arguments, required, run
from .master import Master
from .node_map import NodeMap
from .volt_var import CURVE, value_at

_PV_BUSES = ("R6", "R8", "R9", "R10", "R15", "R16", "R17", "R18")
_PV_PER_BUS = 4
_PV = len(_PV_BUSES) * _PV_PER_BUS
_BATTERIES = {_PV: "R10", _PV + 1: "R18"}
_CHARGERS = {_PV + 2: "R10", _PV + 3: "R17"}
_MAP = NodeMap(
    [
        {"device": device, "bus": f"Bus {bus}", "phases": "abc"}
        for device, bus in [*((at, _PV_BUSES[at // _PV_PER_BUS]) for at in range(_PV)), *_BATTERIES.items(), *_CHARGERS.items()]
    ]
)
_RATED_W = 10_000
#: percent of rated power: below what the sun gives, so that power stays the same to the watt
_LIMIT_PCT = 90
_BATTERY_W = -8000
#: per unit of nominal voltage, per unit of rated power: the default of 706
_VOLT_WATT = ((1.06, 1.0), (1.10, 0.0))
_SOURCE_PU = 1.03
_LOAD_SCALE = 0.2

Solved = Mapping[str, float]


def site(_options: argparse.Namespace) -> Dict[str, Any]:
    """The devices, in the order of the map."""
    return {
        "devices": [
            {"device_type": "PV-3Phase", "profile": "10kW-3Phase-EU", "count": _PV},
            {"device_type": "Batt-3Phase", "profile": "Batt-10kW-3Phase-EU", "count": len(_BATTERIES)},
            {"device_type": "EVSE", "evse_profile": "EVSE-AC-11kW-1port-EU", "count": len(_CHARGERS)},
        ],
        "start_clock_time": "12:00:00",
    }


class PandapowerGrid:
    """The CIGRE grid with an element of constant power for each device of the map."""

    def __init__(self) -> None:
        self._pp = required("pandapower", "pandapower")
        networks = required("pandapower.networks", "pandapower")
        self.net = networks.create_cigre_network_lv()
        self.net.ext_grid.vm_pu = _SOURCE_PU
        self.net.load.scaling = _LOAD_SCALE
        self.buses = {name: at for at, name in self.net.bus.name.items()}
        for place in _MAP.places:
            self._pp.create_sgen(self.net, self.buses[place.bus], p_mw=0, q_mvar=0, sn_mva=_RATED_W / 1e6)
        self._start = "auto"

    def solve(self, watts: Sequence[float], vars_: Sequence[float], **options: Any) -> List[float]:
        """Voltage of each device, per unit."""
        self.net.sgen.p_mw = [value / 1e6 for value in watts]
        self.net.sgen.q_mvar = [value / 1e6 for value in vars_]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._pp.runpp(self.net, tolerance_mva=1e-10, numba=False, init=self._start, **options)
        self._start = "results"
        return [float(self.net.res_bus.vm_pu[bus]) for bus in self.net.sgen.bus]


class Loop:
    """Devices of an exchange and the grid, step by step."""

    def __init__(self, exchange: Exchange, grid: PandapowerGrid) -> None:
        _MAP.check(exchange.devices, list(grid.buses))
        self._exchange, self._grid = exchange, grid
        self.answer = exchange.values()

    def run(self, steps: int) -> List[float]:
        """Steps of 1 s, each with the voltages of the powers before it; answers the last ones."""
        voltages: List[float] = []
        for _ in range(steps):
            voltages = self._grid.solve(self.answer["p_w"], self.answer["q_var"])
            self.answer = self._exchange.step(dt_s=1, va_pu=voltages)
        return voltages


def _set_pv(client: Client, model: int, points: Mapping[str, Any]) -> None:
    for device in range(_PV):
        client.write(model, points, device=device)


def _by_der_controller(answer: Mapping[str, Sequence[float]]) -> Tuple[List[float], List[float]]:
    """Voltages and var of the PV that pandapower finds by itself, the other devices as they are."""
    controllers = required("pandapower.control.controller.DERController", "pandapower")
    judge = PandapowerGrid()
    points = {"vm_points_pu": [v for v, _ in CURVE], "q_points_pu": [q for _, q in CURVE]}
    controllers.DERController(
        judge.net, list(range(_PV)), q_model=controllers.QModelQVCurve(points), max_q_error=1e-9, max_p_error=1e-9
    )
    vars_ = [0.0] * _PV + list(answer["q_var"][_PV:])
    voltages = judge.solve(answer["p_w"], vars_, run_control=True, max_iter=300)
    return voltages, [1e6 * value for value in judge.net.res_sgen.q_mvar[:_PV]]


def _by_volt_watt(answer: Mapping[str, Sequence[float]]) -> Tuple[List[float], List[float]]:
    """Voltages and watts of the PV where each follows the curve, the other devices as they are."""
    judge = PandapowerGrid()
    watts, most = list(answer["p_w"]), _LIMIT_PCT / 100
    for _ in range(500):
        voltages = judge.solve(watts, answer["q_var"])
        aims = [_RATED_W * min(most, value_at(_VOLT_WATT, voltage)) for voltage in voltages[:_PV]]
        if max(abs(aim - power) for aim, power in zip(aims, watts)) < 1e-3:
            return voltages, aims
        watts[:_PV] = [power + 0.3 * (aim - power) for aim, power in zip(aims, watts)]
    raise RuntimeError("the balance of curve and grid was not found")


def _commands(client: Client, loop: Loop, report: Report) -> None:
    report.heading("commands while the grid answers")
    before = loop.run(15)
    for device in _BATTERIES:
        with Master(client, device) as master:
            master.write(704, {"WSetEna": 1, "WSetMod": 1, "WSet": _BATTERY_W})
    charging = loop.run(15)
    battery = list(_BATTERIES)
    report.columns("battery power, W", [loop.answer["p_w"][at] for at in battery], [_BATTERY_W] * len(battery), 1)
    report.true("charging batteries, commanded over Modbus, lower their voltage by more than 0.2 %", _falls(before, charging, battery))
    charger = list(_CHARGERS)
    for station in client.get("evse")["evses"]:
        client.plug(charge_point=station["id"])
    plugged = loop.run(20)
    report.true("each vehicle takes more than 10 kW", all(loop.answer["p_w"][at] < -10_000 for at in charger))
    report.true("vehicles lower their voltage by more than 0.2 %", _falls(charging, plugged, charger))


def _falls(before: Sequence[float], after: Sequence[float], devices: Sequence[int]) -> bool:
    return all(before[at] - after[at] > 0.002 for at in devices)


def _functions(client: Client, loop: Loop, report: Report) -> None:
    for device in _BATTERIES:
        client.write(704, {"WSetEna": "DISABLED"}, device=device)
    off = loop.run(15)
    _set_pv(client, 705, {"Ena": "ENABLED"})
    volt_var = loop.run(50)
    voltages, vars_ = _by_der_controller(loop.answer)
    report.heading("volt-var, against DERController")
    report.columns("voltage, pu", volt_var, voltages, 1e-6)
    report.columns("reactive power, var", loop.answer["q_var"][:_PV], vars_, 1)
    report.true("volt-var lowers the highest voltage by more than 0.5 %", max(off) - max(volt_var) > 0.005)
    _set_pv(client, 705, {"Ena": "DISABLED"})
    _set_pv(client, 706, {"Ena": "ENABLED"})
    volt_watt = loop.run(100)
    voltages, watts = _by_volt_watt(loop.answer)
    report.heading("volt-watt, against the curve")
    report.columns("voltage, pu", volt_watt, voltages, 1e-6)
    report.columns("active power, W", loop.answer["p_w"][:_PV], watts, 1)
    lowest = min(loop.answer["p_w"][:_PV])
    report.true("volt-watt takes power from the PV with the highest voltage", lowest < 0.95 * _LIMIT_PCT / 100 * _RATED_W)
    report.figures["highest_pu"] = {"off": max(off), "volt_var": max(volt_var), "volt_watt": max(volt_watt)}


def example(_options: argparse.Namespace, client: Client, report: Report) -> None:
    """The whole course."""
    grid = PandapowerGrid()
    client.environment(irradiance_w_m2=1000)
    with Exchange(client, owner="pandapower_loop") as exchange:
        _set_pv(client, 704, {"WMaxLimPct": _LIMIT_PCT, "WMaxLimPctEna": "ENABLED"})
        loop = Loop(exchange, grid)
        _commands(client, loop, report)
        _functions(client, loop, report)
    for name, value in report.figures["highest_pu"].items():
        print(f"  highest voltage, {name.replace('_', '-')}: {value:.4f} pu")


if __name__ == "__main__":
    sys.exit(run(arguments(__doc__), site, example))
