"""PV, batteries and charging stations on the 34-node test feeder in OpenDSS: vehicles, a cloud, commands, an outage.

    python -m cosim.opendss_mixed

The simulator is the plant, OpenDSS the grid. A controller moves the batteries over Modbus while a cloud passes, a head-end
curtails PV, and after an outage of the feeder head the devices come back one after another.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from derbench import Client, Exchange

from . import feeders
from .example import Report, arguments, run
from .master import Master
from .node_map import NodeMap
from .opendss_loop import Loop
from .volt_var import by_formula

_PV_BUSES = (
    *("808", "812", "814", "850", "816", "824", "828", "830", "854", "852"),
    *("832", "858", "834", "842", "844", "846", "848", "860", "836", "840"),
)
_BATTERY_BUSES = ("830", "858", "844", "836", "890")
_CHARGER_BUSES = ("816", "824", "854", "832", "834", "842", "846", "860", "862", "890")
_BUSES = (*_PV_BUSES, *_BATTERY_BUSES, *_CHARGER_BUSES)
_MAP = NodeMap([{"device": at, "bus": bus, "phases": "abc"} for at, bus in enumerate(_BUSES)])
_PV = range(len(_PV_BUSES))
_BATTERIES = range(_PV.stop, _PV.stop + len(_BATTERY_BUSES))
_CHARGERS = range(_BATTERIES.stop, len(_BUSES))
_CURTAILED = [_PV_BUSES.index(bus) for bus in ("844", "846", "848", "860", "836", "840")]
_PV_W = 25_000
#: percent of rated power: below what the sun gives, so that power stays the same to the watt
_LIMIT_PCT = 90
_SUN, _SHADE = 1000, 250
#: seconds until the cloud is at the next PV, and in which it covers one
_CLOUD_PACE_S, _CLOUD_EDGE_S = 2, 10
_OUTAGE_S, _DELAY_S, _SPREAD_S = 20, 10, 60


def site(_options: argparse.Namespace) -> Dict[str, Any]:
    """The devices, in the order of the map."""
    ratings = {"WMaxRtg": _PV_W, "VAMaxRtg": 1.1 * _PV_W, "VNomRtg": 480}
    return {
        "devices": [
            {"device_type": "PV-3Phase", "profile": {"models": {"702": ratings}}, "count": len(_PV)},
            {"device_type": "Batt-3Phase", "profile": "Batt-LFP-100kW-3Phase", "count": len(_BATTERIES)},
            {"device_type": "EVSE", "evse_profile": "EVSE-AC-22kW-1port", "count": len(_CHARGERS)},
        ],
        "start_clock_time": "12:00:00",
        "seed": 34,
    }


class Feeder(Loop):
    """The loop on this feeder, with what happens from step to step."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(exchange, feeders.ieee34(), _MAP)
        self.exchange = exchange

    def course(self, seconds: int, act: Callable[[int], None]) -> List[float]:
        """Steps of 1 s with an act before each; answers the power of the feeder head, W."""
        head = []
        for second in range(seconds):
            act(second)
            self.run(1)
            head.append(self.grid.head_power()[0])
        return head

    def total(self, devices: Sequence[int]) -> float:
        """W of some devices together."""
        return math.fsum(self.answer["p_w"][at] for at in devices)

    def dark(self, seconds: int) -> None:
        """One step without a grid."""
        self.answer = self.exchange.step(dt_s=seconds, va_pu=0)


def _settings(client: Client) -> None:
    client.environment(irradiance_w_m2=_SUN)
    for device in _PV:
        client.write(704, {"WMaxLimPct": _LIMIT_PCT, "WMaxLimPctEna": "ENABLED"}, device=device)
        client.write(705, {"Ena": "ENABLED"}, device=device)
        # the head is at 105 %, where enter service would end by default
        client.write(703, {"ESDlyTms": _DELAY_S, "ESRndTms": _SPREAD_S, "ESRmpTms": 10, "ESVHi": 106}, device=device)


def _published(feeder: Feeder, report: Report) -> None:
    voltages = feeder.grid.voltages()
    nodes = [(bus, phase, value) for bus, values in feeders.SOLUTION_34.items() for phase, value in zip("abc", values)]
    report.heading("34-node feeder without devices, against the published solution")
    report.columns("published voltage, pu", [voltages[bus, phase] for bus, phase, _ in nodes], [v for *_, v in nodes], 3e-4)


def _calm(client: Client, feeder: Feeder, report: Report) -> None:
    before = feeder.run(60)
    for station in client.get("evse")["evses"]:
        client.plug(charge_point=station["id"])
    voltages = feeder.run(90)
    report.heading("20 PV with volt-var, 10 vehicles, against the curve and equal currents")
    report.columns("power of PV, W", [feeder.answer["p_w"][at] for at in _PV], [_PV_W * _LIMIT_PCT / 100] * len(_PV), 1e-3)
    report.true("every vehicle charges", all(feeder.answer["p_w"][at] < -10_000 for at in _CHARGERS))
    report.true("vehicles lower the voltage of bus 890", voltages["890", "a"] < before["890", "a"] - 0.002)
    judge = Feeder(feeder.exchange).grid
    ratings = [each["s_rated_va"] if at in _PV else 0 for at, each in enumerate(feeder.exchange.devices)]
    fixed = [0.0 if at in _PV else var for at, var in enumerate(feeder.answer["q_var"])]
    expected, vars_ = by_formula(judge, _MAP, feeder.answer["p_w"], ratings, fixed)
    nodes = [(place.bus, phase) for place in _MAP.places for phase in place.phases]
    report.columns("voltage of each phase, pu", [voltages[node] for node in nodes], [expected[node] for node in nodes], 1e-6)
    report.columns("reactive power, var", [feeder.answer["q_var"][at] for at in _PV], [vars_[at] for at in _PV], 1)


def _cloud(client: Client, feeder: Feeder, batteries: Optional[Sequence[Master]]) -> Tuple[float, float]:
    """Lets a cloud come and go; answers the largest change of PV power and of the power of the feeder head, W."""
    feeder.run(20)
    sunny, head = feeder.total(_PV), feeder.grid.head_power()[0]
    seconds = _CLOUD_PACE_S * len(_PV) + _CLOUD_EDGE_S + 5
    lost = [0.0]

    def act(light: int, second: int) -> None:
        if second % _CLOUD_PACE_S == 0 and second // _CLOUD_PACE_S in _PV:
            client.environment(device=second // _CLOUD_PACE_S, irradiance_w_m2=light, ramp_s=_CLOUD_EDGE_S)
        lost.append(sunny - feeder.total(_PV))
        for battery in batteries or ():
            battery.write(704, {"WSet": lost[-1] / len(_BATTERIES)})

    heads = feeder.course(seconds, lambda second: act(_SHADE, second))
    heads += feeder.course(seconds, lambda second: act(_SUN, second))
    return max(lost), max(abs(value - head) for value in heads)


def _clouds(client: Client, feeder: Feeder, report: Report) -> None:
    report.heading("a cloud, without the batteries and with them")
    lost, alone = _cloud(client, feeder, None)
    with contextlib.ExitStack() as stack:
        batteries = [stack.enter_context(Master(client, device)) for device in _BATTERIES]
        for battery in batteries:
            battery.write(704, {"WSetEna": 1, "WSetMod": 1, "WSet": 0})
        _, shared = _cloud(client, feeder, batteries)
    most = _PV_W * len(_PV) * _LIMIT_PCT / 100
    report.true(f"the cloud takes more than 60 % of the power of PV ({lost / 1000:.0f} kW)", lost > 0.6 * most)
    report.true(f"the feeder head has to replace it ({alone / 1000:.0f} kW)", alone > 0.8 * lost)
    report.true(f"batteries, commanded over Modbus, leave less than a quarter of it ({shared / 1000:.0f} kW)", shared < 0.25 * alone)
    report.figures["cloud_w"] = {"lost": lost, "head_alone": alone, "head_with_batteries": shared}


def _curtailment(client: Client, feeder: Feeder, report: Report) -> None:
    before = feeder.run(20)
    for device in _CURTAILED:
        with Master(client, device) as master:
            master.write(704, {"WMaxLimPct": 10})
    after = feeder.run(30)
    report.heading("a head-end curtails six PV over Modbus to 10 %")
    report.columns("power, W", [feeder.answer["p_w"][at] for at in _CURTAILED], [0.1 * _PV_W] * len(_CURTAILED), 1)
    report.true("the voltage at bus 848 falls by more than 0.3 %", before["848", "a"] - after["848", "a"] > 0.003)
    for device in _CURTAILED:
        client.write(704, {"WMaxLimPct": _LIMIT_PCT}, device=device)
    feeder.run(20)


def _outage(feeder: Feeder, report: Report) -> None:
    report.heading("an outage of the feeder head")
    feeder.dark(_OUTAGE_S)
    report.true("no device gives or takes power in the dark", all(value == 0 for value in feeder.answer["p_w"]))
    began = feeder.exchange.time_s
    served: Dict[int, float] = {}

    def act(_second: int) -> None:
        for at in _PV:
            if feeder.answer["p_w"][at] > 0:
                served.setdefault(at, feeder.answer["time_s"] - began)

    feeder.course(_DELAY_S + _SPREAD_S + 30, act)
    returns = sorted(served.values())
    report.true("every PV is back", len(returns) == len(_PV))
    report.true(f"none before its delay of {_DELAY_S} s", returns[0] >= _DELAY_S)
    report.true(f"and none later than the spread of {_SPREAD_S} s", returns[-1] <= _DELAY_S + _SPREAD_S + 2)
    report.true("the delays of PV are spread over more than half of it", returns[-1] - returns[0] > _SPREAD_S / 2)
    report.columns("power of PV after it, W", [feeder.answer["p_w"][at] for at in _PV], [_PV_W * _LIMIT_PCT / 100] * len(_PV), 1e-3)
    report.figures["returns_s"] = returns


def example(_options: argparse.Namespace, client: Client, report: Report) -> None:
    """The whole course."""
    with Exchange(client, phases=True, owner="opendss_mixed") as exchange:
        feeder = Feeder(exchange)
        _published(feeder, report)
        _settings(client)
        _calm(client, feeder, report)
        _clouds(client, feeder, report)
        _curtailment(client, feeder, report)
        _outage(feeder, report)


if __name__ == "__main__":
    sys.exit(run(arguments(__doc__), site, example))
