"""Peer: times `run()` of an OpenDER PV model with grid-support functions on.

Argument: JSON with step_s, steps (of one cycle), warm_cycles, cycles, and the grid at the start of each step of a
cycle: voltage_pu and frequency_hz, lists of that length or one number each.
Prints one line of JSON: median over the cycles of microseconds per step, mean output of the last cycle, versions.
"""
import json
import platform
import statistics
import sys
from importlib.metadata import version
from time import perf_counter

from opender import DER, DER_PV

given = json.loads(sys.argv[1])
steps = given["steps"]


def course(values):
    return values if isinstance(values, list) else [values] * steps


grid = list(zip(course(given["voltage_pu"]), course(given["frequency_hz"])))
available_kw = 100

# settings that are not named stand at IEEE 1547 defaults of category B, as those of the other side
DER.t_s = given["step_s"]
der = DER_PV(
    NP_P_MAX=100e3, NP_VA_MAX=100e3, NP_Q_MAX_INJ=44e3, NP_Q_MAX_ABS=44e3, NP_P_MAX_CHARGE=100e3, NP_AC_V_NOM=480,
    NP_PHASE="THREE", NP_NORMAL_OP_CAT="CAT_B", NP_ABNORMAL_OP_CAT="CAT_III", ES_PERMIT_SERVICE=True,
    QV_MODE_ENABLE=True, PV_MODE_ENABLE=True, PF_MODE_ENABLE=True, QP_MODE_ENABLE=False,
    AP_LIMIT_ENABLE=True, AP_LIMIT=0.8,
)


def cycle_us():
    spent = 0.0
    for v_pu, hz in grid:
        der.update_der_input(v_pu=v_pu, f=hz, p_dc_kw=available_kw)
        begin = perf_counter()
        der.run()
        spent += perf_counter() - begin
    return spent / steps * 1e6


def mean_output():
    p_kw = q_kvar = 0.0
    for v_pu, hz in grid:
        der.update_der_input(v_pu=v_pu, f=hz, p_dc_kw=available_kw)
        der.run()
        p_kw += float(der.p_out_kw)
        q_kvar += float(der.q_out_kvar)
    return p_kw / steps, q_kvar / steps


for _ in range(given["warm_cycles"]):
    cycle_us()
step_us = statistics.median(cycle_us() for _ in range(given["cycles"]))
mean_kw, mean_kvar = mean_output()
if der.der_status != "Continuous Operation":
    sys.exit(f"the model is not in service: {der.der_status}")
versions = f"OpenDER {version('opender')}, numpy {version('numpy')}, Python {platform.python_version()}"
print(json.dumps({"stepUs": step_us, "meanKw": mean_kw, "meanKvar": mean_kvar, "versions": versions}))
