"""A scenario with assertions on voltages, beside PV inverters along a street in OpenDSS.

    python -m cosim.opendss_scenario                          every assertion holds
    python -m cosim.opendss_scenario --set volt_var=false     the last inverters leave their band of voltage

The clock runs, ten times as fast as real time. At each tick OpenDSS solves the street for the powers of the devices, and the
voltages go back by `exchange/values`; the simulator judges the scenario meanwhile. `--scenario FILE` takes another one for the
same devices.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any, Dict, Tuple

from derbench import Client, Exchange

from . import feeders
from .example import Report, arguments, run
from .node_map import NodeMap
from .opendss_grid import OpenDssGrid

_SCENARIO = os.path.join(os.path.dirname(__file__), "street_voltages.yaml")
_PLACES = NodeMap([{"device": at, "bus": bus, "phases": "abc"} for at, bus in enumerate(feeders.LOW_VOLTAGE_BUSES)])
_RATE = 10
#: real seconds from one solution to the next, a fifth of a tick
_PERIOD_S = 0.02


def site(_: argparse.Namespace) -> Dict[str, Any]:
    """The devices along the street."""
    devices = [{"device_type": "PV-3Phase", "profile": "10kW-3Phase-EU", "count": len(_PLACES.places)}]
    return {"devices": devices, "start_clock_time": "12:00:00", "tick": 1}


def parameter(text: str) -> Tuple[str, Any]:
    """A name and its value: a number or a truth where it reads as one, else text."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"name=value is required, not {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _run_beside(client: Client, exchange: Exchange, scenario: str, parameters: Dict[str, Any]) -> Dict[str, Any]:
    """Solves the street at each tick until the scenario has ended; answers its run."""
    grid = OpenDssGrid(feeders.low_voltage(), _PLACES, exchange.devices)
    answer = exchange.values()
    scenario_run = client.post(f"scenarios/{scenario}/start", {"pace": "real", "parameters": parameters})["run"]
    while scenario_run["state"] == "running":
        voltages = grid.solve(_PLACES.phase_powers(answer))
        answer = exchange.values(**_PLACES.voltages(lambda bus, phase: voltages[bus, phase]))
        time.sleep(_PERIOD_S)
        scenario_run = client.get(f"scenarios/{scenario}")["run"]
    return scenario_run


def _judge(scenario_run: Dict[str, Any], report: Report) -> None:
    for assertion in scenario_run["assertions"]:
        report.true(assertion["name"], assertion["state"] == "passed")
    report.true("the scenario has passed", scenario_run["state"] == "passed")
    print("".join(f"\n  {sentence}" for sentence in scenario_run["failures"]))
    report.figures["failures"] = scenario_run["failures"]


def example(options: argparse.Namespace, client: Client, report: Report) -> None:
    """The scenario from its start to its end."""
    with open(options.scenario, encoding="utf-8") as file:
        scenario = client.post("scenarios", {"yaml": file.read()})["id"]
    client.rate(_RATE)
    try:
        with Exchange(client, phases=True, owner="opendss_scenario") as exchange:
            _judge(_run_beside(client, exchange, scenario, dict(options.parameters)), report)
    finally:
        client.pause()


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--scenario", metavar="FILE", default=_SCENARIO, help="default: street_voltages.yaml beside this file")
    parser.add_argument(
        "--set", dest="parameters", metavar="NAME=VALUE", type=parameter, action="append", default=[], help="a parameter of the scenario"
    )
    sys.exit(run(parser, site, example))
