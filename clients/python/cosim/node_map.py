"""Devices at the nodes of a grid: which bus and which phases each device is connected to.

A map is a list, in a file as JSON, and its order is that of every column of the exchange:

    [{"device": 0, "bus": "n3", "phases": "abc"}, {"device": 1, "bus": "n4", "phases": "b"}]

A device reads its phases from the columns a, b and c in turn: a single-phase device at phase b gets the voltage of b in
column a, and its power in column a goes back to b.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

__all__ = ["NodeMap", "NodeMapError", "Place"]

Node = Tuple[str, str]
#: phases of each bus, or only names of buses that have all three
Buses = Union[Mapping[str, str], Iterable[str]]

_COLUMNS = "abc"
_PHASES_OF_WIRING = {"single": 1, "split": 2, "three": 3}
_MEMBERS = ("device", "bus", "phases")


class NodeMapError(ValueError):
    """A map with problems, all of which `problems` lists."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("the node map is wrong:\n" + "\n".join(f"  {each}" for each in problems))
        self.problems = list(problems)


class Place(NamedTuple):
    """A device at a bus. phases: those of the bus behind the columns a, b and c of the device."""

    device: int
    bus: str
    phases: str


class NodeMap:
    """Places of devices, checked for themselves; `check` compares them with the devices and the buses that there are."""

    def __init__(self, rows: Any) -> None:
        """rows: the list of the JSON form. Raises NodeMapError."""
        if not isinstance(rows, (list, tuple)) or not rows:
            raise NodeMapError(['a list of places such as {"device": 0, "bus": "n3", "phases": "abc"} is required'])
        problems = [f"{_name(at, row)}: {problem}" for at, row in enumerate(rows) for problem in _row_problems(row)]
        problems += _repeated(rows)
        if problems:
            raise NodeMapError(problems)
        self.places = tuple(Place(row["device"], row["bus"], row["phases"]) for row in rows)

    @classmethod
    def load(cls, path: str) -> "NodeMap":
        """The map of a JSON file. Raises NodeMapError, and OSError for a file that cannot be read."""
        with open(path, encoding="utf-8") as file:
            try:
                rows = json.load(file)
            except ValueError as error:
                raise NodeMapError([f"{path} is not JSON: {error}"]) from error
        return cls(rows)

    @property
    def devices(self) -> List[int]:
        """Indexes of the devices, as the exchange attaches them."""
        return [place.device for place in self.places]

    def check(self, devices: Iterable[Mapping[str, Any]], buses: Optional[Buses] = None) -> None:
        """Compares the map with attached devices (`index`, `wiring`) and with the buses of a grid. Raises NodeMapError."""
        wirings = {device["index"]: device["wiring"] for device in devices}
        phases_of = buses if buses is None or isinstance(buses, Mapping) else dict.fromkeys(buses, _COLUMNS)
        problems = []
        for place in self.places:
            name = f"device {place.device}"
            wiring = wirings.get(place.device)
            if wiring is None:
                problems.append(f"{name} is not attached")
            elif len(place.phases) != _PHASES_OF_WIRING[wiring]:
                needed = _PHASES_OF_WIRING[wiring]
                problems.append(f"{name} has the wiring {wiring}, {needed} of the phases a, b and c; the map has {place.phases!r}")
            if phases_of is None:
                continue
            if place.bus not in phases_of:
                problems.append(f"{name}: there is no bus {place.bus!r}")
                continue
            missing = [phase for phase in place.phases if phase not in phases_of[place.bus]]
            if missing:
                problems.append(f"{name}: bus {place.bus!r} has no phase {', '.join(missing)}")
        if problems:
            raise NodeMapError(problems)

    def voltages(self, voltage: Callable[[str, str], float]) -> Dict[str, List[float]]:
        """Columns `va_pu`, `vb_pu` and `vc_pu` of a step. voltage: per unit of nominal at a bus and a phase.

        Columns of phases that a device lacks repeat its first one.
        """
        return {
            f"v{column}_pu": [voltage(place.bus, (place.phases + place.phases[0] * 2)[at]) for place in self.places]
            for at, column in enumerate(_COLUMNS)
        }

    def phase_powers(self, columns: Mapping[str, Sequence[Optional[float]]]) -> List[Dict[str, Tuple[float, float]]]:
        """W and var that each device gives to the phases of its bus, from an answer with phases; 0 of a removed device."""
        return [
            {
                phase: (columns[f"p{column}_w"][at] or 0.0, columns[f"q{column}_var"][at] or 0.0)
                for phase, column in zip(place.phases, _COLUMNS)
            }
            for at, place in enumerate(self.places)
        ]

    def injections(self, columns: Mapping[str, Sequence[Optional[float]]]) -> Dict[Node, Tuple[float, float]]:
        """W and var that all devices together give to each bus and phase, from an answer with phases."""
        sums: Dict[Node, Tuple[float, float]] = {}
        for place, powers in zip(self.places, self.phase_powers(columns)):
            for phase, (watts, vars_) in powers.items():
                before = sums.get((place.bus, phase), (0.0, 0.0))
                sums[place.bus, phase] = (before[0] + watts, before[1] + vars_)
        return sums


def _name(at: int, row: Any) -> str:
    device = row.get("device") if isinstance(row, Mapping) else None
    return f"place {at}" if device is None else f"device {device}"


def _row_problems(row: Any) -> List[str]:
    if not isinstance(row, Mapping):
        return ["is no object with device, bus and phases"]
    problems = [f"has an unknown member {name!r}" for name in row if name not in _MEMBERS]
    device, bus, phases = (row.get(name) for name in _MEMBERS)
    if not isinstance(device, int) or isinstance(device, bool) or device < 0:
        problems.append("device must be the index of a device")
    if not isinstance(bus, str) or not bus:
        problems.append("bus must be the name of a bus")
    if not isinstance(phases, str) or not phases or len(set(phases)) < len(phases) or not set(phases) <= set(_COLUMNS):
        problems.append("phases must be one or more of a, b and c, such as 'abc' or 'b'")
    return problems


def _repeated(rows: Sequence[Any]) -> List[str]:
    devices = [str(row["device"]) for row in rows if isinstance(row, Mapping) and "device" in row]
    return [f"device {device} is named twice" for device in sorted(set(devices)) if devices.count(device) > 1]
