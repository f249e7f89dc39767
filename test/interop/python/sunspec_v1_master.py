"""pysunspec, the first generation, as a SunSpec master: sunspec_v1_master.py HOST PORT [UNIT]."""

import re
import sys

from sunspec.core.client import TCP, ClientDevice
from sunspec.core.util import SunSpecError

from line_server import Refused, serve

host, port, *unit = sys.argv[1:]
device = ClientDevice(TCP, slave_id=int(unit[0]) if unit else 1, ipaddr=host, ipport=int(port), timeout=5)


def refusable(action):
    """Runs an exchange; a Modbus exception is told by its code."""
    try:
        return action()
    except SunSpecError as fault:
        code = re.search(r"exception:? (\d+)", str(fault))
        raise Refused(int(code.group(1))) if code else fault


def model_of(model):
    return device.models[model][0]


def points_of(model):
    """Yields (path, point); repeating blocks are counted from 0: [1].DCW."""
    for index, block in enumerate(model_of(model).blocks):
        prefix = "" if index == 0 else f"[{index - 1}]."
        for points in (block.points_sf, block.points):
            for name, point in points.items():
                yield prefix + name, point


def scan():
    device.scan()
    device.modbus_device.connect()
    models = [{"id": int(m.id), "address": m.addr - 2, "length": int(m.len), "error": m.load_error or ""} for m in device.models_list]
    return {"base": device.base_addr, "models": models}


def describe(model):
    """What the definition says of each point, and whether the device implements it."""
    return [
        {"path": path, "mandatory": bool(point.point_type.mandatory), "implemented": point.value_base is not None}
        for path, point in points_of(model)
    ]


def read(model):
    refusable(model_of(model).read_points)
    return {path: point.value for path, point in points_of(model)}


def write_model(model, values):
    """Writes several points the way pysunspec joins them into requests."""
    points = dict(points_of(model))
    for path, value in values.items():
        points[path].value = value
    refusable(model_of(model).write_points)


serve({"scan": scan, "describe": describe, "read": read, "write_model": write_model})
device.close()
