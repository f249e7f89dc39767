"""A Modbus master beside an exchange: what a head-end or a plant controller would write while the grid is solved."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Mapping, Optional, Type, Union

from derbench import Client

from .example import required

__all__ = ["Master"]


class Master:
    """Writes points of a device with pysunspec2; enumerations as numbers."""

    def __init__(self, client: Client, device: int) -> None:
        sunspec = required("sunspec2.modbus.client", "pysunspec2")
        place = client.device(device)["modbus"]
        self._device = sunspec.SunSpecModbusClientDeviceTCP(
            slave_id=place["unit_id"], ipaddr="127.0.0.1", ipport=place["port"], timeout=20
        )
        self._device.scan()

    def __enter__(self) -> "Master":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._device.close()

    def write(self, model: int, points: Mapping[str, Union[float, int]]) -> None:
        """Points of a model in engineering units, in one request where they are neighbours."""
        target: Any = self._device.models[model][0]
        for name, value in points.items():
            target.points[name].cvalue = value
        target.write()
