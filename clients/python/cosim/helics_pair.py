"""A federation of HELICS: a broker, a street in OpenDSS and the inverters of a simulator, each in a process of its own.

    python -m cosim.helics_pair

The loads of the street are at one phase above all, and volt-var is on. Voltages and powers at the end are compared with the
curve of the inverters, worked out without simulator and without HELICS.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from derbench import Client

from .example import Report, arguments, required, run
from .opendss_federate import STREET, circuit
from .opendss_grid import OpenDssGrid
from .volt_var import by_formula

_SECONDS = 80
#: simulated seconds at nominal voltage, after which reactive power is 0
_REST_S = 60
#: percent of rated power: below what the sun gives, so that power stays the same to the watt
_LIMIT_PCT = 90
#: real seconds after which the federation is given up
_LONGEST_S = 60
#: seconds; the broker and the federates find out within them that one of the others is gone
_HEARTBEAT = ["--tick=1s", "--timeout=3s"]


def site(_options: argparse.Namespace) -> Dict[str, Any]:
    """The devices, in the order of the map."""
    devices = [{"device_type": "PV-3Phase", "profile": "10kW-3Phase-EU", "count": len(STREET.places)}]
    return {"devices": devices, "start_clock_time": "12:00:00", "mb_enable": False}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _federation(url: str, is_iterated: bool) -> Tuple[Mapping[str, Any], str]:
    """Runs the federation; answers what the grid printed, and the last line of the other federate."""
    h = required("helics", "helics")
    port = _free_port()
    broker = h.helicsCreateBroker("zmqss", "", " ".join(["-f", "2", f"--port={port}", "--loglevel=error", *_HEARTBEAT]))
    common = ["--broker", f"127.0.0.1:{port}", "--core_type", "zmqss", "--until_s", str(_SECONDS)]
    common += ["--iterate", "yes" if is_iterated else "no"]
    programs = [
        [sys.executable, "-m", "cosim.opendss_federate", *common],
        [sys.executable, "-m", "cosim.helics_federate", "--url", url, "--phases", "--core_init", " ".join(_HEARTBEAT), *common],
    ]
    processes = [subprocess.Popen(each, stdout=subprocess.PIPE, text=True) for each in programs]
    try:
        outputs = [process.communicate(timeout=_LONGEST_S)[0].strip().splitlines() for process in processes]
    except subprocess.TimeoutExpired as error:
        sys.exit(f"a federate has not ended within {_LONGEST_S} s: {' '.join(error.cmd)}")
    finally:
        for process in processes:
            process.kill()
        h.helicsBrokerDestroy(broker)
    if any(process.returncode for process in processes):
        sys.exit("a federate has ended with an error")
    return json.loads(outputs[0][-1]), outputs[1][-1]


def _compare(report: Report, result: Mapping[str, Any], ratings: Sequence[float]) -> None:
    voltages = {(bus, phase): value for bus, phase, value in result["voltages"]}
    watts, vars_ = ([pair[at] for pair in result["powers"]] for at in (0, 1))
    grid = OpenDssGrid(circuit(), STREET, [{"index": at, "wiring": "three"} for at in STREET.devices])
    expected, curve = by_formula(grid, STREET, watts, ratings)
    nodes = [(place.bus, phase) for place in STREET.places for phase in "abc"]
    report.columns("active power, W", watts, [100.0 * _LIMIT_PCT] * len(watts), 1e-2)
    report.columns("voltage of each phase, pu", [voltages[node] for node in nodes], [expected[node] for node in nodes], 1e-6)
    report.columns("reactive power, var", vars_, curve, 1)


def example(_options: argparse.Namespace, client: Client, report: Report) -> None:
    """Both courses of time, one after the other."""
    client.environment(irradiance_w_m2=1000)
    for at in STREET.devices:
        client.write(704, {"WMaxLimPct": _LIMIT_PCT, "WMaxLimPctEna": "ENABLED"}, device=at)
        client.write(705, {"Ena": "ENABLED"}, device=at)
    ratings: List[float] = [10_000.0] * len(STREET.places)
    for is_iterated in (False, True):
        course = "voltages and powers of each second agree" if is_iterated else "a voltage acts until the next grant"
        report.heading(course)
        client.step(seconds=_REST_S)
        result, line = _federation(client.url, is_iterated)
        _compare(report, result, ratings)
        print(f"  {line}")


if __name__ == "__main__":
    sys.exit(run(arguments(__doc__), site, example))
