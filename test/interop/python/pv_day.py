"""The course of a PV array through a weather series, computed with pvlib: path of the series as argument."""

import csv
import sys

import numpy as np
import pvlib

from line_server import serve

# the record of the CEC data base, as in the documentation of pvlib
CS5P_220M = {
    "alpha_sc": 0.004539,
    "a_ref": 2.6373,
    "I_L_ref": 5.114,
    "I_o_ref": 8.196e-10,
    "R_sh_ref": 381.68,
    "R_s": 1.065,
}
LAG_S = 400

with open(sys.argv[1], newline="") as file:
    ROWS = list(csv.DictReader(file))


def column(name, at):
    """Values of a column at these times, on straight lines between its rows."""
    return np.interp(at, [float(row["time_s"]) for row in ROWS], [float(row[name]) for row in ROWS])


def lagged(target, step_s):
    """First-order lag behind a target, by small steps of the trapezoidal rule."""
    share = step_s / (2 * LAG_S)
    value = np.empty_like(target)
    value[0] = target[0]
    for i in range(1, len(target)):
        value[i] = ((1 - share) * value[i - 1] + share * (target[i - 1] + target[i])) / (1 + share)
    return value


def day(start_s, end_s, every_s, series, parallel, ac_w, efficiency):
    """Cell temperature, DC voltage and DC power every so many seconds, and both energies, from rest at the start."""
    at = np.arange(start_s, end_s + 0.5)
    light = column("irradiance_w_m2", at)
    air, wind = column("ambient_temperature_c", at), column("wind_speed_m_s", at)
    cell = lagged(pvlib.temperature.faiman(light, air, wind, u0=25.0, u1=6.84), 1.0)
    diode = pvlib.pvsystem.calcparams_desoto(light, cell, **CS5P_220M)
    best = pvlib.pvsystem.max_power_point(*diode, method="newton")
    dc = np.asarray(best["p_mp"]) * series * parallel
    ac = pvlib.inverter.pvwatts(dc, ac_w / efficiency, eta_inv_nom=efficiency)
    shown = slice(every_s, None, every_s)
    return {
        "cell_c": cell[shown].tolist(),
        "dc_v": (np.asarray(best["v_mp"]) * series)[shown].tolist(),
        "dc_w": dc[shown].tolist(),
        "dc_wh": float(np.trapezoid(dc) / 3600),
        "ac_wh": float(np.trapezoid(ac) / 3600),
    }


serve({"day": day})
