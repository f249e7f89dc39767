"""A session of 1,000 steps on a feeder in OpenDSS; prints a digest of every answer: cosim_session.py COMMAND."""

import hashlib
import json
import math
import shlex
import sys

from cosim import feeders
from cosim.node_map import NodeMap
from cosim.opendss_loop import Loop
from derbench import Exchange, Simulator

STEPS = 1000
TYPES = ["PV-3Phase", "Batt-3Phase", "PV-1Phase", "HybridDC-3Phase", "EVSE"]


def digest(command):
    devices = [{"device_type": each, "count": 2} for each in TYPES]
    places = NodeMap(
        [
            {"device": at, "bus": feeders.LOW_VOLTAGE_BUSES[at], "phases": "b" if TYPES[at // 2] == "PV-1Phase" else "abc"}
            for at in range(len(devices) * 2)
        ]
    )
    answers = hashlib.sha256()
    with Simulator(shlex.split(command), devices=devices, start_clock_time="12:00:00", seed=7) as sim:
        client = sim.client
        client.environment(irradiance_w_m2=1000)
        client.plug()
        for device in range(2):
            client.write(705, {"Ena": "ENABLED"}, device=device)
        outputs = ["p_w", "q_var", "p_mean_w", "q_mean_var", "status", "soc_pct", "p_available_w", "q_limit_var"]
        with Exchange(client, phases=True, outputs=outputs) as exchange:
            loop = Loop(exchange, feeders.low_voltage(), places)
            for step in range(STEPS):
                if step % 100 == 50:
                    client.environment(irradiance_w_m2=600 + 400 * math.cos(step))
                loop.run(0.7, 0.7)
                answers.update(json.dumps({**loop.answer, "session": None}).encode())
            return answers.hexdigest(), exchange.time_s


print(*digest(sys.argv[1]))
