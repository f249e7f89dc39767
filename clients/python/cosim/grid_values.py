"""Values of a grid on their way to the exchange and back: what adapters of co-simulation frameworks share."""

from __future__ import annotations

import logging
import math
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .convergence import powers_of
from .node_map import NodeMap

__all__ = ["AdapterError", "Approach", "GridValues", "RareWarning", "phases_of"]

_PHASES = "abc"
#: HELICS reads an input that never had a value as about -1e49
_NO_VALUE = -1e48
_MIN_SHARE = 1 / 16
_WARNING_INTERVAL_S = 60


class AdapterError(ValueError):
    """Settings, or values of another simulator, that cannot be used."""


class RareWarning:
    """A warning that is logged once per minute at most."""

    def __init__(self, log: logging.Logger) -> None:
        self._log, self._next = log, -math.inf

    def __call__(self, text: str, *values: Any) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _WARNING_INTERVAL_S
            self._log.warning(text, *values)


def phases_of(description: Mapping[str, Any], node_map: Optional[NodeMap]) -> List[str]:
    """Phases of the grid behind the columns of each attached device, from the answer to the attachment.

    Raises NodeMapError, and AdapterError while the clock runs, which the master of a co-simulation has to lead.
    """
    if description["pace"] == "running":
        raise AdapterError("the clock of the simulator runs: start it with --start_paused yes, or pause it by POST controls/time")
    if node_map is None:
        return [_PHASES] * len(description["devices"])
    node_map.check(description["devices"])
    return [place.phases for place in node_map.places]


class GridValues:
    """Values of the grid so far: for each quantity one for each device."""

    def __init__(self, count: int, nominal_hz: float, places: Sequence[str], warn: RareWarning) -> None:
        """places: phases of the grid behind the columns a, b and c of each device."""
        self._count, self._places, self._warn = count, places, warn
        self._first = {"frequency": nominal_hz, "voltage_angle": 0.0}
        self._lists: Dict[str, List[float]] = {}
        #: values that were no numbers
        self.invalid_count = 0

    def put(self, quantity: str, values: Mapping[int, float]) -> None:
        """Values by place; the last one stays where a value is no number."""
        column = self._lists.setdefault(quantity, [self._first.get(quantity, 1.0)] * self._count)
        for at, value in values.items():
            if math.isfinite(value) and value > _NO_VALUE:
                column[at] = float(value)
            else:
                self.invalid_count += 1
                self._warn("%s of place %d is no number (%s): the last value stays", quantity, at, value)

    def put_vector(self, quantity: str, vector: Sequence[float]) -> None:
        """One value for each device, or one for all. Raises AdapterError for another length."""
        if len(vector) not in (1, self._count):
            raise AdapterError(f"{quantity} has {len(vector)} values; {self._count} devices are attached")
        values = list(vector) * self._count if len(vector) == 1 else vector
        self.put(quantity, dict(enumerate(values)))

    def columns(self) -> Dict[str, List[float]]:
        """Members of a step: none of a quantity that never had a value."""
        columns = self._voltages()
        if "frequency" in self._lists:
            columns["frequency_hz"] = list(self._lists["frequency"])
        if "voltage_angle" in self._lists:
            columns["angle_deg"] = [(degrees + 180) % 360 - 180 for degrees in self._lists["voltage_angle"]]
        return columns

    def _voltages(self) -> Dict[str, List[float]]:
        names = [name for name in self._lists if name not in self._first]
        if not names:
            return {}
        if len(names) == 1:
            return {"va_pu": list(self._lists[names[0]])}
        # a phase without an input has the voltage of another one
        phases = {phase: self._lists.get(f"voltage_{phase}", self._lists[names[0]]) for phase in _PHASES}
        return {
            f"v{column}_pu": [phases[(place + place[0] * 2)[at]][n] for n, place in enumerate(self._places)]
            for at, column in enumerate(_PHASES)
        }


class Approach:
    """Powers that are given to a grid in the rounds of one instant, on their way to those of the trials.

    The share of the way that a round goes halves each time that the way grows: a steep volt-var curve on a weak grid would
    swing for ever. Powers are damped and not voltages, since a grid falls silent where devices are at a limit.
    """

    def __init__(self) -> None:
        self.begin({}, {})

    def begin(self, columns: Mapping[str, List[float]], answer: Mapping[str, Any]) -> None:
        """Starts an instant, with its first voltages and the answer to them."""
        self._columns, self._answer, self._powers = dict(columns), answer, powers_of(answer)
        self._share, self._way = 1.0, math.inf

    def next(
        self, columns: Mapping[str, List[float]], tolerance_pu: float, trial: Callable[[], Mapping[str, Any]]
    ) -> Optional[Dict[str, Any]]:
        """The answer to voltages with the powers of the next round; None where voltages and powers agree.

        Voltages that stay end the way: the powers are then those of the last trial. They need not be close to them before,
        since active and reactive power on their ways can hold a voltage together.
        """
        if self._difference(columns) > self._share * tolerance_pu:
            return self._toward(columns, trial())
        if self._share == 1:
            return None
        self._share, self._powers = 1.0, powers_of(self._answer)
        return dict(self._answer)

    def _difference(self, columns: Mapping[str, List[float]]) -> float:
        """Maximum difference of a voltage from that of the last trial, per unit; infinite for other columns than those."""
        if columns.keys() != self._columns.keys():
            return math.inf
        names = [name for name in columns if name.endswith("_pu")]
        return max((abs(a - b) for name in names for a, b in zip(columns[name], self._columns[name])), default=0.0)

    def _toward(self, columns: Mapping[str, List[float]], answer: Mapping[str, Any]) -> Dict[str, Any]:
        aims = powers_of(answer)
        way = max(abs(a - b) for name, aim in aims.items() for a, b in zip(aim, self._powers[name]))
        if way > self._way:
            self._share = max(self._share / 2, _MIN_SHARE)
        self._columns, self._answer, self._way = dict(columns), answer, way
        self._powers = {
            name: [a + self._share * (b - a) for a, b in zip(self._powers[name], aim)] for name, aim in aims.items()
        }
        return {**answer, **self._powers}
