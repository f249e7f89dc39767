"""Common parts of the SVP drivers: their parameters, the REST client, and the SunSpec map of a device.

The drivers are written from the interface of SVP alone. In an SVP installation this file stands beside them in
`Lib/svpelab`, and the folder `derbench` in `Lib`; pysunspec2 serves the map.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type

import derbench

Json = Any
Values = Mapping[str, Any]

#: mode and parameter group of each driver
MODE = "derbench"

URL = ("url", "Address of derbench", "http://127.0.0.1:8111")
DEVICE = ("device", "Index of the device", 0)
HOST = ("host", "Modbus address of the device", "127.0.0.1")
PORT = ("port", "Modbus port of the device", 8502)
UNIT = ("unit", "Modbus unit id of the device", 1)

#: real seconds that one Modbus request may take
_MODBUS_TIMEOUT_S = 30
#: seconds between two looks at an adoption, and looks
_ADOPTION_LOOK_S = 1
_ADOPTION_LOOKS = 120
#: the stored set that curves are written to before they are adopted
_STORED_SET = 2
#: adoption results of models 705 to 712
_IN_PROGRESS, _COMPLETED = 0, 1
#: 701.ACType and 702.VNom: line-neutral voltage per nominal voltage
_NEUTRAL_SHARE = {0: 1, 1: 1 / 2, 2: 1 / math.sqrt(3)}
_PHASES = {0: "Single phase", 1: "Split phase", 2: "Three phase"}


def declare(info: Any, group_name: str, *parameters: Tuple[str, str, Any]) -> None:
    """Declares the mode of a driver, and parameters (name, label, default) in its group."""
    mode = f"{group_name}.mode"
    group = f"{group_name}.{MODE}"
    info.param_add_value(mode, MODE)
    info.param_group(group, label=f"{MODE} Parameters", active=mode, active_value=MODE, glob=True)
    for name, label, default in parameters:
        info.param(f"{group}.{name}", label=label, default=default)


def parameter(ts: Any, group_name: str, name: str) -> Any:
    """Value of a parameter that `declare` has declared."""
    return ts.param_value(f"{group_name}.{MODE}.{name}")


class Rest:
    """A device of derbench over REST; refusals become the error of the driver."""

    def __init__(self, ts: Any, group_name: str, error: Type[Exception]) -> None:
        self._client = derbench.Client(str(parameter(ts, group_name, "url")))
        self._index = int(parameter(ts, group_name, "device"))
        self._error = error

    def _asked(self, request: Callable[..., Json], *arguments: Any, **members: Any) -> Json:
        try:
            return request(*arguments, device=self._index, **members)
        except derbench.DerbenchError as error:
            raise self._error(error.detail) from error

    def registers(self, model: int, points: Optional[Sequence[str]] = None) -> Dict[str, Any]:
        """Points of a model by name, in engineering units; None where the device does not have one."""
        answer = self._asked(self._client.registers, model, points)
        return {point["name"]: point["value"] for point in answer["points"]}

    def grid(self, **change: Any) -> Json:
        """Changes the grid of the device, or answers how it is."""
        return self._asked(self._client.grid, **change)

    def environment(self, **change: Any) -> Json:
        """Changes the weather of the device, or answers how it is."""
        return self._asked(self._client.environment, **change)

    def get(self, path: str) -> Json:
        """An answer of derbench about the device."""
        return self._asked(self._client.get, path)

    def tick_s(self) -> float:
        """Simulated seconds from one tick to the next."""
        time = self._client.time()
        return time["tick_interval_s"] * time["rate"]

    def has_model(self, model: int) -> bool:
        """Whether the map of the device has a model."""
        return any(each["id"] == model for each in self.get("registers")["models"])

    def identity(self) -> str:
        """Manufacturer, model, serial number and version."""
        points = self.registers(1, ["Mn", "Md", "SN", "Vr"])
        return ", ".join(str(points.get(name)) for name in ("Mn", "Md", "SN", "Vr"))

    def nominal_voltage(self) -> float:
        """Nominal voltage between line and neutral, V."""
        return line_neutral(self.registers(701, ["ACType"])["ACType"], self.registers(702, ["VNomRtg"])["VNomRtg"])

    def phase_quantities(self, names: Sequence[str]) -> List[Dict[str, Any]]:
        """For phase 1, 2 and 3 the quantities of 701 (W, VA, Var, PF, A, V), and Hz; None for a phase that is not wired."""
        points = self.registers(701)
        phases = []
        for phase in (1, 2, 3):
            values = {name: points.get(f"{name}L{phase}") for name in names if name != "Hz"}
            if phase == 1 and points["ACType"] == 0:
                whole = {name: points.get("LNV" if name == "V" else name) for name in values}
                values = {name: whole[name] if value is None else value for name, value in values.items()}
            phases.append({**values, **({"Hz": points["Hz"]} if "Hz" in names else {})})
        return phases


def line_neutral(ac_type: int, v_nom: float) -> float:
    """Voltage between line and neutral of a nominal voltage as 702.VNom."""
    return v_nom * _NEUTRAL_SHARE[ac_type]


def phases_of(ac_type: int) -> str:
    """The word of SVP's parameter `eut.phases`."""
    return _PHASES[ac_type]


class SunSpecMap:
    """The SunSpec map of a device over Modbus TCP, by pysunspec2."""

    def __init__(self, ts: Any, group_name: str, error: Type[Exception]) -> None:
        self._ts = ts
        self._error = error
        self._address = [parameter(ts, group_name, name) for name in ("host", "port", "unit")]
        self._device: Any = None

    def _connected(self) -> Any:
        if self._device is None:
            from sunspec2.modbus import client

            host, port, unit = self._address
            device = client.SunSpecModbusClientDeviceTCP(
                slave_id=int(unit), ipaddr=str(host), ipport=int(port), timeout=_MODBUS_TIMEOUT_S
            )
            device.scan()
            device.connect()
            self._device = device
        return self._device

    def close(self) -> None:
        """Ends the connection; the next access opens another one."""
        device, self._device = self._device, None
        if device is not None:
            device.close()

    def _refusable(self, exchange: Callable[[], Any]) -> Any:
        try:
            return exchange()
        except self._error:
            raise
        except Exception as error:  # pysunspec2 has no common base of its exceptions
            raise self._error(f"{type(error).__name__}: {error}") from error

    def model(self, model: int) -> Any:
        """The first model of a number, read now."""

        def read() -> Any:
            models = self._connected().models.get(model)
            if not models:
                raise self._error(f"the device has no model {model}")
            models[0].read()
            return models[0]

        return self._refusable(read)

    def has(self, model: int) -> bool:
        """Whether the map has a model."""
        return bool(self._refusable(self._connected).models.get(model))

    def values(self, model: int) -> Dict[str, Any]:
        """Points of the fixed block of a model."""
        return {name: point.cvalue for name, point in self.model(model).points.items()}

    def write(self, model: int, values: Values) -> None:
        """Writes points; those of groups as {"PFWInj": {"PF": 0.9}}, None leaves a point as it is."""
        changed = self.model(model)
        self._refusable(lambda: (_assign(changed, values), changed.write()))

    def curve(self, model: int) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Fixed block of a curve model, and the curve in force with its groups."""
        read = self.model(model)
        return {name: point.cvalue for name, point in read.points.items()}, _contents(_sets(read)[0])

    def adopt(self, model: int, change: Values) -> None:
        """Puts a curve in force: a copy of the present one with a change, in a stored set, which the device adopts."""
        read = self.model(model)
        request, result = ("AdptCtlReq", "AdptCtlRslt") if model == 711 else ("AdptCrvReq", "AdptCrvRslt")

        def store() -> None:
            sets = _sets(read)
            _assign(sets[_STORED_SET - 1], _contents(sets[0], writable=True))
            _assign(sets[_STORED_SET - 1], change)
            read.write()
            getattr(read, request).cvalue = _STORED_SET
            read.write()

        self._refusable(store)
        for _ in range(_ADOPTION_LOOKS):
            state = getattr(self.model(model), result).cvalue
            if state != _IN_PROGRESS:
                break
            self._ts.sleep(_ADOPTION_LOOK_S)
        if state != _COMPLETED:
            raise self._error(f"the device has not adopted the curve of model {model}: {change}")


def _sets(model: Any) -> Any:
    return model.groups["Ctl" if "Ctl" in model.groups else "Crv"]


def _contents(group: Any, writable: bool = False) -> Dict[str, Any]:
    """Points and groups below a group, without those that the device lacks."""
    values: Dict[str, Any] = {
        name: point.cvalue
        for name, point in group.points.items()
        if point.cvalue is not None and (not writable or point.pdef.get("access") == "RW")
    }
    for name, inner in group.groups.items():
        values[name] = [_contents(each, writable) for each in inner] if isinstance(inner, list) else _contents(inner, writable)
    return values


def _assign(group: Any, values: Values) -> None:
    for name, value in values.items():
        if isinstance(value, Mapping):
            _assign(group.groups[name], value)
        elif isinstance(value, (list, tuple)):
            places = group.groups[name]
            if len(value) > len(places):
                raise ValueError(f"{len(value)} of {name}, and the device has room for {len(places)}")
            for place, entry in zip(places, value):
                _assign(place, entry)
        elif value is not None:
            group.points[name].cvalue = value


def without_none(values: Values) -> Dict[str, Any]:
    """The members that have a value."""
    return {name: value for name, value in values.items() if value is not None}


def flag(value: Any) -> Optional[int]:
    """An enable point of True or False; None stays None."""
    return None if value is None else int(bool(value))
