"""pysunspec2 as a SunSpec master: sunspec_master.py HOST PORT."""

import re
import sys

import sunspec2.modbus.client as client
from sunspec2.modbus.modbus import ModbusClientException

from line_server import Refused, serve

device = client.SunSpecModbusClientDeviceTCP(slave_id=1, ipaddr=sys.argv[1], ipport=int(sys.argv[2]), timeout=5)


def refusable(action):
    """Runs an exchange; a Modbus exception is told by its code."""
    try:
        return action()
    except ModbusClientException as fault:
        code = re.search(r"exception: (\d+)", str(fault))
        raise Refused(int(code.group(1))) if code else fault


def walk(group, prefix=""):
    """Yields (path, point); groups of a list are counted from 0: Crv[1].Pt[0].V."""
    for name, point in group.points.items():
        yield prefix + name, point
    for name, member in group.groups.items():
        if isinstance(member, list):
            for index, item in enumerate(member):
                yield from walk(item, f"{prefix}{name}[{index}].")
        else:
            yield from walk(member, f"{prefix}{name}.")


def model_of(model):
    return device.models[model][0]


def points_of(model):
    return dict(walk(model_of(model)))


def scan():
    device.scan(connect=True, full_model_read=True)
    device.connect()
    models = [{"id": m.model_id, "address": m.model_addr, "length": m.len, "error": m.error_info} for m in device.model_list]
    return {"base": device.base_addr, "models": models}


def describe(model):
    """What the master's own definition says of each point, and whether the device implements it."""
    return [
        {
            "path": path,
            "type": point.pdef["type"],
            "writable": point.pdef.get("access") == "RW",
            "mandatory": point.pdef.get("mandatory") == "M",
            "implemented": point.value is not None,
            "symbols": {s["name"]: s["value"] for s in point.pdef.get("symbols", [])},
        }
        for path, point in points_of(model).items()
    ]


def read(model):
    refusable(model_of(model).read)
    return {path: point.cvalue for path, point in points_of(model).items()}


def read_point(model, path):
    point = points_of(model)[path]
    refusable(point.read)
    return point.cvalue


def write_point(model, path, value):
    point = points_of(model)[path]
    point.cvalue = value
    try:
        refusable(point.write)
    finally:
        point.dirty = False


def write_model(model, values):
    """Sets points, then writes what has changed the way pysunspec2 groups it."""
    points = points_of(model)
    for path, value in values.items():
        points[path].cvalue = value
    try:
        refusable(model_of(model).write)
    finally:
        for point in points.values():
            point.dirty = False


serve({
    "scan": scan, "describe": describe, "read": read, "read_point": read_point,
    "write_point": write_point, "write_model": write_model,
})
device.close()
