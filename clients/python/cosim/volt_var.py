"""Volt-var by others than the simulator: what examples and tests compare it with."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .node_map import NodeMap
from .opendss_grid import OpenDssGrid, engine

__all__ = ["CURVE", "by_formula", "by_inv_control", "value_at"]

#: per unit of nominal voltage, per unit of rated apparent power: the default of 705, category B of IEEE 1547-2018
CURVE = ((0.92, 0.44), (0.98, 0.0), (1.02, 0.0), (1.08, -0.44))

Voltages = Dict[Tuple[str, str], float]
Curve = Sequence[Tuple[float, float]]


def value_at(curve: Curve, voltage: float) -> float:
    """Of a curve in straight lines, constant beyond its ends."""
    if voltage <= curve[0][0]:
        return curve[0][1]
    for (v0, q0), (v1, q1) in zip(curve, curve[1:]):
        if voltage <= v1:
            return q0 + (q1 - q0) * (voltage - v0) / (v1 - v0)
    return curve[-1][1]


def by_formula(
    grid: OpenDssGrid,
    places: NodeMap,
    watts: Sequence[float],
    ratings_va: Sequence[float],
    fixed_var: Optional[Sequence[float]] = None,
    curve: Curve = CURVE,
) -> Tuple[Voltages, List[float]]:
    """The balance of a grid with devices that follow the curve at the mean of their phases, in var by device.

    ratings_va: 0 for a device without volt-var. fixed_var: of each device beside its curve.

    Phases share P and Q in proportion to their voltages, as equal currents of one angle do. No simulator takes part.
    """
    fixed = fixed_var or [0.0] * len(watts)
    vars_ = list(fixed)
    voltages = grid.voltages()
    for _ in range(1000):
        split = []
        for place, power, var in zip(places.places, watts, vars_):
            phases = {phase: voltages[place.bus, phase] for phase in place.phases}
            total = math.fsum(phases.values())
            split.append({phase: (power * v / total, var * v / total) for phase, v in phases.items()})
        voltages = grid.solve(split)
        means = [math.fsum(voltages[place.bus, phase] for phase in place.phases) / len(place.phases) for place in places.places]
        aims = [var + rating * value_at(curve, mean) for var, rating, mean in zip(fixed, ratings_va, means)]
        if max(abs(aim - var) for aim, var in zip(aims, vars_)) < 1e-4:
            return voltages, aims
        vars_ = [var + 0.1 * (aim - var) for aim, var in zip(aims, vars_)]
    raise RuntimeError("the balance of curve and grid was not found")


def by_inv_control(
    circuit: Sequence[str], buses: Sequence[str], kv: float, watts: Sequence[float], rating_va: float, is_balanced: bool = False
) -> Tuple[Voltages, List[float]]:
    """The balance that InvControl of OpenDSS finds for three-phase PVSystems with `CURVE`, in var by device."""
    dss = engine()
    most = max(q for _, q in CURVE)
    commands = [
        *circuit,
        f"new xycurve.curve npts={len(CURVE)} xarray={_list(v for v, _ in CURVE)} yarray={_list(q / most for _, q in CURVE)}",
    ]
    for at, (bus, power) in enumerate(zip(buses, watts)):
        commands.append(
            f"new pvsystem.pv{at} bus1={bus} phases=3 kv={kv} kva={rating_va / 500} pmpp={power / 1000} irradiance=1 pf=1 "
            f"%cutin=0 %cutout=0 wattpriority=no kvarmax={most * rating_va / 1000} kvarmaxabs={most * rating_va / 1000} "
            f"balanced={'yes' if is_balanced else 'no'} vminpu=0.3 vmaxpu=2"
        )
    commands += [
        "new invcontrol.control mode=voltvar voltage_curvex_ref=rated vvc_curve1=curve refreactivepower=varmax monvoltagecalc=avg "
        "voltagechangetolerance=1e-7 varchangetolerance=1e-6 deltaq_factor=0.2",
        "set maxcontroliter=500",
        "set tolerance=1e-10",
        "set maxiterations=200",
        "solve",
    ]
    for command in commands:
        dss.Text.Command(command)
    return _node_voltages(dss), _pv_vars(dss, len(buses))


def _node_voltages(dss: Any) -> Voltages:
    pairs = zip(dss.Circuit.AllNodeNames(), dss.Circuit.AllBusMagPu())
    return {(name.rsplit(".", 1)[0], "abc"[int(name.rsplit(".", 1)[1]) - 1]): value for name, value in pairs}


def _pv_vars(dss: Any, count: int) -> List[float]:
    vars_ = []
    for at in range(count):
        dss.Circuit.SetActiveElement(f"pvsystem.pv{at}")
        vars_.append(-1000 * math.fsum(dss.CktElement.Powers()[1:6:2]))
    return vars_


def _list(values: Any) -> str:
    return "[" + " ".join(f"{value:.10g}" for value in values) + "]"
