"""derbench as a simulator of mosaik: an entity for each device, voltages in, powers out.

    SIM_CONFIG = {"derbench": {"cmd": "%(python)s -m cosim.mosaik_simulator %(addr)s"}}
    with mosaik.World(SIM_CONFIG) as world:
        sim = world.start("derbench", url="http://127.0.0.1:8111")
        pv = sim.PV.create(10)

Needs the package `mosaik-api-v3`. Parameters, attributes and the course of time: docs/how-to/helics-mosaik.md.
"""

from __future__ import annotations

import logging
import math
import signal
import sys
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Union

from derbench import Client, DerbenchError, Exchange, Simulator

from .deadline import deadline
from .grid_values import AdapterError, Approach, GridValues, RareWarning, phases_of
from .node_map import NodeMap

try:
    import mosaik_api_v3
except ImportError:
    sys.exit("cosim.mosaik_simulator needs the Python package mosaik-api-v3: pip install mosaik-api-v3")

__all__ = ["DerbenchSim"]

log = logging.getLogger("derbench.mosaik")

Json = Any

#: kinds of devices by model; None: any kind
_MODELS: Mapping[str, Optional[str]] = {
    "PV": "pv",
    "Battery": "battery",
    "Wind": "wind",
    "FuelCell": "fuelcell",
    "Hybrid": "hybrid-dc",
    "EVSE": "evse",
    "Device": None,
}
#: quantities of the grid by attribute
_QUANTITIES = {
    "v_pu": ("voltage_a", "voltage_b", "voltage_c"),
    "v_a_pu": ("voltage_a",),
    "v_b_pu": ("voltage_b",),
    "v_c_pu": ("voltage_c",),
    "frequency_hz": ("frequency",),
}
#: points of model 704 by attribute
_SET_POINTS = {
    "p_set_w": lambda watts: {"WSetMod": "WATTS", "WSet": watts, "WSetEna": "ENABLED"},
    "q_set_var": lambda vars_: {"VarSetMod": "VARS", "VarSet": vars_, "VarSetEna": "ENABLED"},
}
_POWERS = {
    "p_w": "p_w",
    "q_var": "q_var",
    **{f"p_{phase}_w": f"p{phase}_w" for phase in "abc"},
    **{f"q_{phase}_var": f"q{phase}_var" for phase in "abc"},
    **{f"i_{phase}_a": f"i{phase}_a" for phase in "abc"},
}
_STATES = ("soc_pct", "status")
_MIN_STEP_S = 0.001
_LONGEST_FINALIZE_S = 30


def _meta(mode: str) -> Json:
    model: Dict[str, Any] = {
        "public": True,
        "params": ["device"],
        "attrs": [*_QUANTITIES, *_SET_POINTS, *_POWERS, *_STATES],
    }
    if mode == "hybrid":
        model.update({"trigger": list(_QUANTITIES), "non-persistent": list(_POWERS)})
    return {"api_version": "3.0", "type": mode, "models": {name: dict(model) for name in _MODELS}}


class DerbenchSim(mosaik_api_v3.Simulator):
    """Devices of one simulator, whose clock must be paused, or of one that it starts and ends."""

    def __init__(self) -> None:
        super().__init__(_meta("time-based"))
        self._simulator: Optional[Simulator] = None
        self._client: Optional[Client] = None
        self._exchange: Optional[Exchange] = None
        self._node_map: Optional[NodeMap] = None
        self._stock: List[Json] = []
        #: index of the device of each entity, in the order of all columns
        self._devices: Dict[str, int] = {}
        self._set_points: Dict[Any, float] = {}
        self._answer: Dict[str, Any] = {}
        self._has_news = True
        self._present_s = 0.0
        self._is_new = True
        self._approach = Approach()
        self._silence: Dict[str, Any] = {}

    def init(
        self,
        sid: str,
        time_resolution: float = 1.0,
        url: Optional[str] = None,
        flags: Optional[Mapping[str, Any]] = None,
        map: Union[str, Sequence[Any], None] = None,
        step_size: int = 1,
        mode: str = "time-based",
        tolerance_pu: float = 1e-6,
        idle_timeout_s: float = 0,
        on_silence: str = "detach",
    ) -> Json:
        """url: address of a simulator that runs. flags: arguments of `derbench.Simulator`, to start one on free ports.

        map: node map, as a list or the path of a file. step_size: steps of the world from one step to the next.
        tolerance_pu: voltages that move by less than this end a loop at one instant. idle_timeout_s, on_silence: as of
        `POST exchange`, for a world that was killed.
        """
        if (url is None) == (flags is None):
            raise AdapterError("one of url and flags is required")
        if mode not in ("time-based", "hybrid"):
            raise AdapterError(f"mode is {mode!r}; allowed: time-based, hybrid")
        if not isinstance(step_size, int) or step_size < 1 or step_size * time_resolution < _MIN_STEP_S:
            allowed = f"a whole number of steps, {_MIN_STEP_S} s or more"
            raise AdapterError(f"a step of {step_size} x {time_resolution} s; allowed: {allowed}")
        self.meta = _meta(mode)
        self._mode, self._resolution_s, self._step_size, self._tolerance_pu = mode, time_resolution, step_size, tolerance_pu
        self._silence = {"idle_timeout_s": idle_timeout_s, "on_silence": on_silence}
        if map is not None:
            self._node_map = NodeMap.load(map) if isinstance(map, str) else NodeMap(map)
        if flags is not None:
            self._simulator = Simulator(**flags).start()
        self._client = Client(url) if url is not None else self._simulator.client
        self._stock = self._client.devices()
        return self.meta

    def create(self, num: int, model: str, device: Optional[int] = None) -> List[Json]:
        """Entities of devices of a kind: that of an index, or the next ones. Raises AdapterError where there are none left."""
        if device is not None and num != 1:
            raise AdapterError(f"device {device} is one; {num} entities of it were asked for")
        kind = _MODELS[model]
        free = [each for each in self._stock if each["device_index"] not in self._devices.values()]
        fit = [each for each in free if kind in (None, each["asset_type"]) and device in (None, each["device_index"])]
        if len(fit) < num:
            left = ", ".join(f"{each['device_index']} ({each['asset_type']})" for each in free) or "none"
            named = f"{model} {device}" if device is not None else f"{num} {model}"
            raise AdapterError(f"{named} cannot be had; devices that are left: {left}")
        return [self._entity(each, model) for each in fit[:num]]

    def _entity(self, device: Json, model: str) -> Json:
        eid = f"device_{device['device_index']}"
        self._devices[eid] = device["device_index"]
        return {"eid": eid, "type": model, "extra_info": {"device": device["device_index"], "kind": device["asset_type"]}}

    def setup_done(self) -> None:
        """Attaches the devices. Raises NodeMapError for a map that does not fit them."""
        if not self._devices:
            raise AdapterError("no entity was created")
        devices = list(self._devices.values()) if self._node_map is None else self._node_map.devices
        without = [index for index in self._devices.values() if index not in devices]
        if without:
            raise AdapterError(f"the map has no place for the devices {', '.join(str(each) for each in without)}")
        outputs = ["p_w", "q_var", *_STATES]
        self._exchange = Exchange(self._client, devices=devices, outputs=outputs, phases=True, owner="mosaik", **self._silence)
        description = self._exchange.attach()
        phases = phases_of(description, self._node_map)
        self._grid = GridValues(len(devices), description["nominal_hz"], phases, RareWarning(log))
        self._places = {eid: devices.index(index) for eid, index in self._devices.items()}
        self._answer = self._exchange.values(
            va_pu=1.0, frequency_hz=description["nominal_hz"], angle_deg=0.0, outage=False, island=False
        )

    def step(self, time: int, inputs: Mapping[str, Mapping[str, Mapping[str, Any]]], max_advance: int) -> int:
        """Values that are put in act from the instant of the step before on."""
        now_s = round(time * self._resolution_s, 6)
        is_later = now_s > self._present_s
        if is_later and self._mode == "hybrid":
            self._step_to(self._present_s)
        self._present_s = now_s
        self._take(inputs)
        if self._mode == "hybrid":
            self._approach_instant(is_later or self._is_new)
        else:
            self._step_to(now_s)
        self._is_new = False
        return (time // self._step_size + 1) * self._step_size

    def get_data(self, outputs: Mapping[str, Sequence[str]]) -> Json:
        """Values of the last step; in the mode `hybrid` powers only after voltages have moved, so that a loop ends."""
        return {
            eid: {name: self._value(eid, name) for name in names if self._has_news or name in _STATES}
            for eid, names in outputs.items()
        }

    def finalize(self) -> None:
        """Returns the devices to the grid of the simulator, and ends a simulator that was started here."""
        try:
            if self._exchange is not None and self._exchange.session is not None:
                if self._present_s > self._exchange.time_s:
                    self._step_to(self._present_s)
                self._exchange.end()
        except DerbenchError as error:
            log.warning("the exchange was not ended: %s", error)
        finally:
            if self._simulator is not None:
                self._simulator.stop()

    def _step_to(self, to_s: float) -> None:
        columns = self._grid.columns()
        if to_s > self._exchange.time_s:
            self._answer.update(self._exchange.step(to_s=to_s, **columns))
        elif columns:
            self._exchange.values(**columns)

    def _approach_instant(self, is_first: bool) -> None:
        """Powers at the present instant; the exchange stays at the one before until the world goes on."""
        columns = self._grid.columns()
        if is_first:
            answer = self._trial(columns)
            self._approach.begin(columns, answer)
        else:
            answer = self._approach.next(columns, self._tolerance_pu, lambda: self._trial(columns))
        self._has_news = answer is not None
        self._answer.update(answer or {})

    def _trial(self, columns: Mapping[str, List[float]]) -> Mapping[str, Any]:
        ahead_s = round(self._present_s - self._exchange.time_s, 6)
        return self._exchange.trial(dt_s=ahead_s, phases=True, **columns) if ahead_s > 0 else self._answer

    def _take(self, inputs: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
        for eid, attributes in inputs.items():
            taken: Set[str] = set()
            for name, sources in attributes.items():
                quantities = _QUANTITIES.get(name, (name,))
                if len(sources) > 1 or not taken.isdisjoint(quantities):
                    raise AdapterError(f"{eid}.{name} has more than one source: {', '.join(sources)}")
                taken.update(quantities)
                value = next(iter(sources.values()))
                if name in _SET_POINTS:
                    self._set(eid, name, value)
                else:
                    for quantity in quantities:
                        self._grid.put(quantity, {self._places[eid]: math.nan if value is None else value})

    def _set(self, eid: str, name: str, value: Optional[float]) -> None:
        if value is None or self._set_points.get((eid, name)) == value:
            return
        self._client.write(704, _SET_POINTS[name](value), device=self._devices[eid])
        self._set_points[eid, name] = value

    def _value(self, eid: str, name: str) -> Optional[float]:
        value = self._answer[_POWERS.get(name, name)][self._places[eid]]
        return 0.0 if value is None and name in _POWERS else value


class _Program(DerbenchSim):
    """A process of its own, which mosaik ends 0.1 s after it was asked to finalize."""

    def finalize(self) -> None:
        """To its end: devices that stay attached would stop the clock of the simulator."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with deadline(_LONGEST_FINALIZE_S, "finalize"):
            super().finalize()


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    sys.exit(mosaik_api_v3.start_simulation(_Program(), "derbench as a simulator of mosaik.", configure_logging=False))
