"""Feeders as commands of OpenDSS, written from tables of their lines and loads.

`low_voltage` is ours. `ieee13` and `ieee34` have the line, load and regulator data that the IEEE PES Test Feeder Working Group
publishes for its 13- and 34-node test feeders, with the regulators at the published taps and the distributed loads half at
each end of their lines; `SOLUTION_13` and `SOLUTION_34` are published voltages.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

__all__ = ["LOW_VOLTAGE_BUSES", "SOLUTION_13", "SOLUTION_34", "ieee13", "ieee34", "low_voltage"]

Watts = Tuple[float, float, float]

LOW_VOLTAGE_BUSES = [f"n{n}" for n in range(1, 11)]

_WIDE = "vminpu=0.3 vmaxpu=2"


def low_voltage(load_kw: Watts = (0.5, 0.5, 0.5), source_pu: float = 1.01, ohm_per_km: Tuple[float, float] = (0.32, 0.08)) -> List[str]:
    """A street of ten nodes at 400/230 V, 60 m of line between them.

    load_kw: of each node, at phases a, b and c. ohm_per_km: resistance and reactance, by default of a cable.
    """
    r, x = ohm_per_km
    commands = [
        f"new circuit.street basekv=0.4 pu={source_pu} phases=3 bus1=source r1=0.008 x1=0.02 r0=0.008 x0=0.02",
        f"new linecode.cable nphases=3 r1={r} x1={x} r0={r} x0={x} c1=0 c0=0 units=km",
    ]
    for before, bus in zip(["source", *LOW_VOLTAGE_BUSES], LOW_VOLTAGE_BUSES):
        commands.append(f"new line.{bus} bus1={before} bus2={bus} linecode=cable length=0.06 units=km")
        for node, kw in enumerate(load_kw, 1):
            commands.append(f"new load.{bus}{node} bus1={bus}.{node} phases=1 kv=0.2309401077 kw={kw} kvar={kw / 4} model=1 {_WIDE}")
    return [*commands, "set voltagebases=[0.4]", "calcvoltagebases"]


# Lower triangles by phase: ohm of resistance and reactance, and microsiemens of susceptance, per mile.
_CODES: Dict[str, Tuple[str, Sequence[float], Sequence[float], Sequence[float]]] = {
    "601": (
        "abc",
        (0.3465, 0.1560, 0.3375, 0.1580, 0.1535, 0.3414),
        (1.0179, 0.5017, 1.0478, 0.4236, 0.3849, 1.0348),
        (6.2998, -1.9958, 5.9597, -1.2595, -0.7417, 5.6386),
    ),
    "602": (
        "abc",
        (0.7526, 0.1580, 0.7475, 0.1560, 0.1535, 0.7436),
        (1.1814, 0.4236, 1.1983, 0.5017, 0.3849, 1.2112),
        (5.6990, -1.0817, 5.1795, -1.6905, -0.6588, 5.4246),
    ),
    "603": ("bc", (1.3294, 0.2066, 1.3238), (1.3471, 0.4591, 1.3569), (4.7097, -0.8999, 4.6658)),
    "604": ("ac", (1.3238, 0.2066, 1.3294), (1.3569, 0.4591, 1.3471), (4.6658, -0.8999, 4.7097)),
    "605": ("c", (1.3292,), (1.3475,), (4.5193,)),
    "606": (
        "abc",
        (0.7982, 0.3192, 0.7891, 0.2849, 0.3192, 0.7982),
        (0.4463, 0.0328, 0.4041, -0.0143, 0.0328, 0.4463),
        (96.8897, 0, 96.8897, 0, 0, 96.8897),
    ),
    "607": ("a", (1.3425,), (0.5124,), (88.9912,)),
    "300": (
        "abc",
        (1.3368, 0.2101, 1.3238, 0.2130, 0.2066, 1.3294),
        (1.3343, 0.5779, 1.3569, 0.5015, 0.4591, 1.3471),
        (5.3350, -1.5313, 5.0979, -0.9943, -0.6212, 4.8880),
    ),
    "301": (
        "abc",
        (1.9300, 0.2327, 1.9157, 0.2359, 0.2288, 1.9219),
        (1.4115, 0.6442, 1.4281, 0.5691, 0.5238, 1.4209),
        (5.1207, -1.4364, 4.9055, -0.9402, -0.5951, 4.7154),
    ),
    "302": ("a", (2.7995,), (1.4855,), (4.2251,)),
    "303": ("b", (2.7995,), (1.4855,), (4.2251,)),
    "304": ("b", (1.9217,), (1.4212,), (4.3637,)),
}

# Loads: bus, connection (wye or delta), model (1 power, 2 impedance, 5 current), kW and kvar by phase; in a delta a is a-b.
Load = Tuple[str, str, int, Watts, Watts]
# Lines: from, to, feet, code.
Line = Tuple[str, str, float, str]

_LINES_13: Sequence[Line] = (
    ("rg60", "632", 2000, "601"),
    ("632", "645", 500, "603"),
    ("645", "646", 300, "603"),
    ("632", "633", 500, "602"),
    ("632", "mid", 1000, "601"),
    ("mid", "671", 1000, "601"),
    ("671", "684", 300, "604"),
    ("684", "652", 800, "607"),
    ("684", "611", 300, "605"),
    ("671", "680", 1000, "601"),
    ("671", "692", 1, "601"),
    ("692", "675", 500, "606"),
)
_LOADS_13: Sequence[Load] = (
    ("634", "wye", 1, (160, 120, 120), (110, 90, 90)),
    ("645", "wye", 1, (0, 170, 0), (0, 125, 0)),
    ("646", "delta", 2, (0, 230, 0), (0, 132, 0)),
    ("652", "wye", 2, (128, 0, 0), (86, 0, 0)),
    ("671", "delta", 1, (385, 385, 385), (220, 220, 220)),
    ("675", "wye", 1, (485, 68, 290), (190, 60, 212)),
    ("692", "delta", 5, (0, 0, 170), (0, 0, 151)),
    ("611", "wye", 5, (0, 0, 170), (0, 0, 80)),
    ("mid", "wye", 1, (17, 66, 117), (10, 38, 68)),
)

#: magnitudes of phases a, b and c, per unit; 0 for a phase that the node lacks
SOLUTION_13: Dict[str, Watts] = {
    "632": (1.0210, 1.0420, 1.0174),
    "633": (1.0180, 1.0401, 1.0148),
    "634": (0.9940, 1.0218, 0.9960),
    "645": (0, 1.0329, 1.0155),
    "646": (0, 1.0311, 1.0134),
    "671": (0.9900, 1.0529, 0.9778),
    "680": (0.9900, 1.0529, 0.9778),
    "684": (0.9881, 0, 0.9758),
    "611": (0, 0, 0.9738),
    "652": (0.9825, 0, 0),
    "675": (0.9835, 1.0553, 0.9758),
}

_LINES_34: Sequence[Line] = (
    ("800", "802", 2580, "300"),
    ("802", "806", 1730, "300"),
    ("806", "808", 32230, "300"),
    ("808", "810", 5804, "303"),
    ("808", "812", 37500, "300"),
    ("812", "814", 29730, "300"),
    ("814r", "850", 10, "301"),
    ("850", "816", 310, "301"),
    ("816", "818", 1710, "302"),
    ("818", "820", 48150, "302"),
    ("820", "822", 13740, "302"),
    ("816", "824", 10210, "301"),
    ("824", "826", 3030, "303"),
    ("824", "828", 840, "301"),
    ("828", "830", 20440, "301"),
    ("830", "854", 520, "301"),
    ("854", "856", 23330, "303"),
    ("854", "852", 36830, "301"),
    ("852r", "832", 10, "301"),
    ("832", "858", 4900, "301"),
    ("858", "864", 1620, "302"),
    ("858", "834", 5830, "301"),
    ("834", "860", 2020, "301"),
    ("860", "836", 2680, "301"),
    ("836", "840", 860, "301"),
    ("836", "862", 280, "301"),
    ("862", "838", 4860, "304"),
    ("834", "842", 280, "301"),
    ("842", "844", 1350, "301"),
    ("844", "846", 3640, "301"),
    ("846", "848", 530, "301"),
    ("888", "890", 10560, "300"),
)
_LOADS_34: Sequence[Load] = (
    ("860", "wye", 1, (20, 20, 20), (16, 16, 16)),
    ("840", "wye", 5, (9, 9, 9), (7, 7, 7)),
    ("844", "wye", 2, (135, 135, 135), (105, 105, 105)),
    ("848", "delta", 1, (20, 20, 20), (16, 16, 16)),
    ("890", "delta", 5, (150, 150, 150), (75, 75, 75)),
    ("830", "delta", 2, (10, 10, 25), (5, 5, 10)),
)
# Distributed loads: from, to, and then as loads.
_SPREAD_34: Sequence[Tuple[str, str, str, int, Watts, Watts]] = (
    ("802", "806", "wye", 1, (0, 30, 25), (0, 15, 14)),
    ("808", "810", "wye", 5, (0, 16, 0), (0, 8, 0)),
    ("818", "820", "wye", 2, (34, 0, 0), (17, 0, 0)),
    ("820", "822", "wye", 1, (135, 0, 0), (70, 0, 0)),
    ("816", "824", "delta", 5, (0, 5, 0), (0, 2, 0)),
    ("824", "826", "wye", 5, (0, 40, 0), (0, 20, 0)),
    ("824", "828", "wye", 1, (0, 0, 4), (0, 0, 2)),
    ("828", "830", "wye", 1, (7, 0, 0), (3, 0, 0)),
    ("854", "856", "wye", 1, (0, 4, 0), (0, 2, 0)),
    ("832", "858", "delta", 2, (7, 2, 6), (3, 1, 3)),
    ("858", "864", "wye", 1, (2, 0, 0), (1, 0, 0)),
    ("858", "834", "delta", 1, (4, 15, 13), (2, 8, 7)),
    ("834", "860", "delta", 2, (16, 20, 110), (8, 10, 55)),
    ("860", "836", "delta", 1, (30, 10, 42), (15, 6, 22)),
    ("836", "840", "delta", 5, (18, 22, 0), (9, 11, 0)),
    ("862", "838", "wye", 1, (0, 28, 0), (0, 14, 0)),
    ("842", "844", "wye", 1, (9, 0, 0), (5, 0, 0)),
    ("844", "846", "wye", 1, (0, 25, 20), (0, 12, 11)),
    ("846", "848", "wye", 1, (0, 23, 0), (0, 11, 0)),
)

SOLUTION_34: Dict[str, Watts] = {
    "802": (1.0475, 1.0484, 1.0484),
    "808": (1.0136, 1.0296, 1.0289),
    "812": (0.9763, 1.0100, 1.0069),
    "814": (0.9467, 0.9945, 0.9893),
    "850": (1.0176, 1.0255, 1.0203),
    "824": (1.0082, 1.0158, 1.0116),
    "830": (0.9894, 0.9982, 0.9938),
    "852": (0.9581, 0.9680, 0.9637),
    "832": (1.0359, 1.0345, 1.0360),
    "858": (1.0336, 1.0322, 1.0338),
    "834": (1.0309, 1.0295, 1.0313),
    "844": (1.0307, 1.0291, 1.0311),
    "836": (1.0303, 1.0287, 1.0308),
    "890": (0.9167, 0.9235, 0.9177),
}


def ieee13() -> List[str]:
    """The 13-node test feeder, 4.16 kV, from its regulator on at taps of 10, 8 and 11."""
    return [
        "new circuit.ieee13 basekv=4.16 pu=1 phases=3 bus1=650 angle=0 r1=1e-6 x1=1e-5 r0=1e-6 x0=1e-5",
        *_codes("601", "602", "603", "604", "605", "606", "607"),
        *_regulator("60", "650", "rg60", 4.16, (10, 8, 11)),
        *_lines(_LINES_13),
        "new transformer.xfm1 windings=2 buses=[633 634] conns=[wye wye] kvs=[4.16 0.48] kvas=[500 500] %rs=[0.55 0.55] xhl=2",
        *_loads(_LOADS_13, {"634": 0.48}, 4.16),
        *_capacitor("675", 4.16, (1, 2, 3), 200),
        *_capacitor("611", 4.16, (3,), 100),
        "set voltagebases=[4.16 0.48]",
        "calcvoltagebases",
    ]


def ieee34() -> List[str]:
    """The 34-node test feeder, 24.9 kV at 1.05 per unit, with its two regulators at their published taps."""
    spread: List[Load] = [
        (bus, connection, model, _halves(kw), _halves(kvar))
        for first, last, connection, model, kw, kvar in _SPREAD_34
        for bus in (first, last)
    ]
    return [
        "new circuit.ieee34 basekv=24.9 pu=1.05 phases=3 bus1=800 angle=0 r1=1e-4 x1=1e-3 r0=1e-4 x0=1e-3",
        *_codes("300", "301", "302", "303", "304"),
        *_lines(_LINES_34),
        *_regulator("10", "814", "814r", 24.9, (12, 5, 5)),
        *_regulator("11", "852", "852r", 24.9, (13, 11, 12)),
        "new transformer.xfm1 windings=2 buses=[832 888] conns=[wye wye] kvs=[24.9 4.16] kvas=[500 500] %rs=[0.95 0.95] xhl=4.08",
        *_loads([*_LOADS_34, *spread], {"890": 4.16}, 24.9),
        *_capacitor("844", 24.9, (1, 2, 3), 100),
        *_capacitor("848", 24.9, (1, 2, 3), 150),
        "set voltagebases=[24.9 4.16]",
        "calcvoltagebases",
    ]


def _halves(values: Watts) -> Watts:
    return (values[0] / 2, values[1] / 2, values[2] / 2)


def _triangle(values: Sequence[float], scale: float = 1) -> str:
    rows, left = [], list(values)
    while left:
        size = len(rows) + 1
        rows.append(" ".join(f"{value * scale:.8g}" for value in left[:size]))
        del left[:size]
    return "[" + " | ".join(rows) + "]"


def _codes(*names: str) -> List[str]:
    nanofarads = 1e3 / (2 * 3.141592653589793 * 60)
    return [
        f"new linecode.{name} nphases={len(_CODES[name][0])} basefreq=60 units=mi rmatrix={_triangle(_CODES[name][1])} "
        f"xmatrix={_triangle(_CODES[name][2])} cmatrix={_triangle(_CODES[name][3], nanofarads)}"
        for name in names
    ]


def _lines(lines: Sequence[Line]) -> List[str]:
    commands = []
    for first, last, feet, code in lines:
        nodes = "".join(f".{'abc'.index(phase) + 1}" for phase in _CODES[code][0])
        commands.append(
            f"new line.{first}-{last} phases={len(_CODES[code][0])} bus1={first}{nodes} bus2={last}{nodes} linecode={code} "
            f"length={feet / 5280:.10g} units=mi"
        )
    return commands


def _regulator(name: str, first: str, last: str, kv: float, taps: Sequence[int]) -> List[str]:
    phase_kv = kv / 3**0.5
    return [
        f"new transformer.reg{name}{node} phases=1 windings=2 buses=[{first}.{node} {last}.{node}] kvs=[{phase_kv:.9g} {phase_kv:.9g}] "
        f"kvas=[2000 2000] xhl=0.01 %loadloss=0.001 taps=[1 {1 + 0.00625 * tap}]"
        for node, tap in enumerate(taps, 1)
    ]


def _loads(loads: Sequence[Load], levels: Dict[str, float], kv: float) -> List[str]:
    commands = []
    for at, (bus, connection, model, kws, kvars) in enumerate(loads):
        level = levels.get(bus, kv)
        for node, (kw, kvar) in enumerate(zip(kws, kvars), 1):
            if kw == 0:
                continue
            nodes = f"{node}" if connection == "wye" else f"{node}.{node % 3 + 1}"
            phase_kv = level / 3**0.5 if connection == "wye" else level
            commands.append(
                f"new load.{bus}-{at}-{node} bus1={bus}.{nodes} phases=1 conn={connection} kv={phase_kv:.9g} kw={kw} kvar={kvar} "
                f"model={model} {_WIDE}"
            )
    return commands


def _capacitor(bus: str, kv: float, nodes: Sequence[int], kvar: float) -> List[str]:
    return [f"new capacitor.{bus}-{node} bus1={bus}.{node} phases=1 kv={kv / 3**0.5:.9g} kvar={kvar}" for node in nodes]
