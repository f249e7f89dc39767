"""PV inverters on a feeder in OpenDSS, with volt-var off and on, beside OpenDSS's own InvControl.

    python -m cosim.opendss_loop                     a street of ten nodes, balanced and with a load at one phase
    python -m cosim.opendss_loop --feeder ieee13     the 13-node test feeder, which is unbalanced by nature
    python -m cosim.opendss_loop --feeder weak       an overhead line and a steep curve, for which steps need trials

The simulator is the plant, OpenDSS the grid: OpenDSS solves, the inverters get their voltages and step, and their powers go
back into the next solution.
"""

from __future__ import annotations

import argparse
import functools
import sys
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from derbench import Client, Exchange

from . import feeders
from .convergence import converge, powers_of
from .example import Report, arguments, run
from .node_map import NodeMap
from .opendss_grid import OpenDssGrid
from .volt_var import by_formula, by_inv_control

_STREET_MAP = NodeMap([{"device": at, "bus": bus, "phases": "abc"} for at, bus in enumerate(feeders.LOW_VOLTAGE_BUSES)])
_IEEE13_MAP = NodeMap([{"device": at, "bus": bus, "phases": "abc"} for at, bus in enumerate(("632", "671", "680", "675", "634"))])
#: percent of rated power: below what the sun gives, so that power stays the same to the watt
_LIMIT_PCT = 90
#: per unit of nominal voltage and of rated apparent power
_STEEP = ((0.965, 0.44), (0.97, 0.0), (1.03, 0.0), (1.035, -0.44))
_LONG_STEP_S = 5


def site(options: argparse.Namespace) -> Dict[str, Any]:
    """The devices of a feeder."""
    if options.feeder != "ieee13":
        devices = [{"device_type": "PV-3Phase", "profile": "10kW-3Phase-EU", "count": len(_STREET_MAP.places)}]
    else:
        ratings = {"WMaxRtg": 200_000, "VAMaxRtg": 200_000, "VNomRtg": 480}
        devices = [{"device_type": "PV-3Phase", "profile": {"models": {"702": ratings}}, "count": len(_IEEE13_MAP.places)}]
    return {"devices": devices, "start_clock_time": "12:00:00", "mb_enable": False}


class Loop:
    """Devices of an exchange and a grid, step by step."""

    def __init__(self, exchange: Exchange, circuit: Sequence[str], places: NodeMap) -> None:
        self.places = places
        self.grid = OpenDssGrid(circuit, places, exchange.devices)
        self._exchange = exchange
        self.answer = exchange.values()

    def run(self, seconds: float, step_s: float = 1) -> Mapping[Tuple[str, str], float]:
        """Steps of a length, each with the voltages of the powers before it; answers the last voltages."""
        voltages = self.grid.voltages()
        for _ in range(round(seconds / step_s)):
            voltages = self.grid.solve(self.places.phase_powers(self.answer))
            self.answer = self._exchange.step(dt_s=step_s, **self._columns(voltages))
        return voltages

    def run_with_trials(self, seconds: float, step_s: float) -> Tuple[Mapping[Tuple[str, str], float], int]:
        """Steps of a length, each with the voltages of the powers at its end; answers the last ones, and all rounds."""
        rounds = 0
        for _ in range(round(seconds / step_s)):
            balance = converge(self._solve, functools.partial(self._exchange.trial, dt_s=step_s), powers_of(self.answer))
            if not balance.has_converged:
                raise RuntimeError(f"no balance in {balance.rounds} rounds")
            rounds += balance.rounds
            self.answer = self._exchange.step(dt_s=step_s, **balance.voltages)
        return self.grid.voltages(), rounds

    def _solve(self, powers: Mapping[str, Sequence[float]]) -> Dict[str, List[float]]:
        return self._columns(self.grid.solve(self.places.phase_powers(powers)))

    def _columns(self, voltages: Mapping[Tuple[str, str], float]) -> Dict[str, List[float]]:
        return self.places.voltages(lambda bus, phase: voltages[bus, phase])


def _volt_var(client: Client, exchange: Exchange, is_on: bool) -> None:
    for device in exchange.devices:
        client.write(705, {"Ena": "ENABLED" if is_on else "DISABLED"}, device=device["index"])


def _limit(client: Client, exchange: Exchange) -> None:
    for device in exchange.devices:
        client.write(704, {"WMaxLimPct": _LIMIT_PCT, "WMaxLimPctEna": "ENABLED"}, device=device["index"])


def _at_places(places: NodeMap, voltages: Mapping[Tuple[str, str], float]) -> List[float]:
    return [voltages[place.bus, phase] for place in places.places for phase in place.phases]


def _means(places: NodeMap, voltages: Mapping[Tuple[str, str], float]) -> List[float]:
    return [sum(voltages[place.bus, phase] for phase in "abc") / 3 for place in places.places]


def _against_formula(loop: Loop, circuit: Sequence[str], exchange: Exchange, report: Report, voltages: Any) -> None:
    grid = OpenDssGrid(circuit, loop.places, exchange.devices)
    expected, vars_ = by_formula(grid, loop.places, loop.answer["p_w"], [each["s_rated_va"] for each in exchange.devices])
    report.columns("voltage of each phase, pu", _at_places(loop.places, voltages), _at_places(loop.places, expected), 1e-6)
    report.columns("reactive power, var", loop.answer["q_var"], vars_, 1)


def _street(client: Client, exchange: Exchange, report: Report) -> None:
    circuit, watts = feeders.low_voltage(), [100.0 * _LIMIT_PCT] * len(_STREET_MAP.places)
    loop = Loop(exchange, circuit, _STREET_MAP)
    _limit(client, exchange)
    off = loop.run(30)
    report.heading("street, volt-var off, against the same power in OpenDSS")
    report.columns("active power, W", loop.answer["p_w"], watts, 1e-3)
    report.columns("reactive power, var", loop.answer["q_var"], [0.0] * len(watts), 1e-3)
    _volt_var(client, exchange, True)
    on = loop.run(60)
    expected, vars_ = by_inv_control(circuit, feeders.LOW_VOLTAGE_BUSES, 0.4, loop.answer["p_w"], 10_000)
    report.heading("street, volt-var on, against InvControl")
    report.columns("voltage, pu", _means(_STREET_MAP, on), _means(_STREET_MAP, expected), 1e-6)
    report.columns("reactive power, var", loop.answer["q_var"], vars_, 1)
    report.true("volt-var lowers the voltage at the end of the street", off["n10", "a"] - on["n10", "a"] > 0.005)
    report.figures["street"] = {
        "off": [off[bus, "a"] for bus in feeders.LOW_VOLTAGE_BUSES],
        "on": [on[bus, "a"] for bus in feeders.LOW_VOLTAGE_BUSES],
        "inv_control": [expected[bus, "a"] for bus in feeders.LOW_VOLTAGE_BUSES],
    }


def _one_sided_street(exchange: Exchange, report: Report) -> None:
    circuit = feeders.low_voltage(load_kw=(0.2, 0.5, 1.8))
    loop = Loop(exchange, circuit, _STREET_MAP)
    voltages = loop.run(60)
    report.heading("street with loads of 0.2, 0.5 and 1.8 kW by phase, against the curve and equal currents")
    _against_formula(loop, circuit, exchange, report, voltages)
    report.heading("the same against InvControl, whose phases share the power in another way")
    for is_balanced in (False, True):
        expected, vars_ = by_inv_control(circuit, feeders.LOW_VOLTAGE_BUSES, 0.4, loop.answer["p_w"], 10_000, is_balanced)
        name = f"balanced={'yes' if is_balanced else 'no'}"
        report.columns(f"mean voltage, pu, {name}", _means(_STREET_MAP, voltages), _means(_STREET_MAP, expected), 1e-4)
        report.columns(f"phase voltage, pu, {name}", _at_places(_STREET_MAP, voltages), _at_places(_STREET_MAP, expected), 1e-2)
        report.columns(f"reactive power, var, {name}", loop.answer["q_var"], vars_, 5)


def _ieee13(client: Client, exchange: Exchange, report: Report) -> None:
    circuit = feeders.ieee13()
    loop = Loop(exchange, circuit, _IEEE13_MAP)
    before = loop.grid.voltages()
    nodes = [(bus, phase, value) for bus, values in feeders.SOLUTION_13.items() for phase, value in zip("abc", values) if value]
    report.heading("13-node feeder without devices, against the published solution")
    report.columns("published voltage, pu", [before[bus, phase] for bus, phase, _ in nodes], [v for *_, v in nodes], 3e-4)
    _limit(client, exchange)
    _volt_var(client, exchange, True)
    voltages = loop.run(90)
    report.heading("five PV of 200 kW with volt-var, against the curve and equal currents")
    _against_formula(loop, circuit, exchange, report, voltages)
    report.figures["ieee13"] = {"q_var": loop.answer["q_var"]}


def _weak(client: Client, exchange: Exchange, report: Report) -> None:
    circuit = feeders.low_voltage(ohm_per_km=(0.32, 0.35))
    loop = Loop(exchange, circuit, _STREET_MAP)
    _limit(client, exchange)
    loop.run(30)
    points = [{"v_pct": 100 * v, "var_pct": 100 * q} for v, q in _STEEP]
    for device in exchange.devices:
        client.post("grid-support/volt-var", {"enabled": True, "points": points}, device=device["index"])
    last = len(exchange.devices) - 1
    swing = []
    for _ in range(40):
        loop.run(_LONG_STEP_S, _LONG_STEP_S)
        swing.append(loop.answer["q_var"][last])
    voltages, rounds = loop.run_with_trials(60, _LONG_STEP_S)
    report.heading(f"overhead line and steep curve, in steps of {_LONG_STEP_S} s")
    report.true("without trials reactive power swings by more than 1 kvar", max(swing[-6:]) - min(swing[-6:]) > 1000)
    expected, vars_ = by_formula(
        OpenDssGrid(circuit, _STREET_MAP, exchange.devices), _STREET_MAP, loop.answer["p_w"], [10_000] * (last + 1), curve=_STEEP
    )
    report.columns("with trials: voltage, pu", _at_places(_STREET_MAP, voltages), _at_places(_STREET_MAP, expected), 1e-6)
    report.columns("with trials: reactive power, var", loop.answer["q_var"], vars_, 1)
    report.figures["weak"] = {"swing_var": swing[-6:], "rounds": rounds}


def example(options: argparse.Namespace, client: Client, report: Report) -> None:
    """The whole course of one feeder."""
    client.environment(irradiance_w_m2=1000)
    with Exchange(client, phases=True, owner="opendss_loop") as exchange:
        if options.feeder == "street":
            _street(client, exchange, report)
            _one_sided_street(exchange, report)
        elif options.feeder == "ieee13":
            _ieee13(client, exchange, report)
        else:
            _weak(client, exchange, report)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--feeder", choices=("street", "ieee13", "weak"), default="street", help="default: %(default)s")
    sys.exit(run(parser, site, example))
