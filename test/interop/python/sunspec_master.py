"""pysunspec2 as a SunSpec master: sunspec_master.py HOST PORT[/UNIT] [CA CERTIFICATE KEY], with the three files inside
TLS; or sunspec_master.py /PATH BAUD PARITY on a serial line."""

import re
import sys

import sunspec2.modbus.client as client
from sunspec2.modbus.modbus import ModbusClientException

from line_server import Refused, serve
from points import walk


def device_of(target, number, *more):
    """The device behind the arguments of the command line, whose unit id is 1 where none is given."""
    if target.startswith("/"):
        return client.SunSpecModbusClientDeviceRTU(slave_id=1, name=target, baudrate=int(number), parity=more[0], timeout=5)
    tls = dict(zip(("cafile", "certfile", "keyfile"), more))
    port, _, unit = number.partition("/")
    return client.SunSpecModbusClientDeviceTCP(
        slave_id=int(unit or 1), ipaddr=target, ipport=int(port), timeout=5, tls=bool(tls), **tls
    )


device = device_of(*sys.argv[1:])


def refusable(action):
    """Runs an exchange; a Modbus exception is told by its code."""
    try:
        return action()
    except ModbusClientException as fault:
        code = re.search(r"exception:? (\d+)", str(fault))
        raise Refused(int(code.group(1))) if code else fault


def model_of(model, place=1):
    """The model at its first place, or at a further one of a chain that repeats it."""
    return device.models[model][place - 1]


def points_of(model, place=1):
    return dict(walk(model_of(model, place)))


def found():
    """What the last scan has found, also when it was broken off."""
    models = [{"id": m.model_id, "address": m.model_addr, "length": m.len, "error": m.error_info} for m in device.model_list]
    return {"base": device.base_addr, "models": models}


def scan():
    device.scan(connect=True, full_model_read=True)
    device.connect()
    return found()


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


def read(model, place=1):
    refusable(model_of(model, place).read)
    return {path: point.cvalue for path, point in points_of(model, place).items()}


def read_point(model, path):
    point = points_of(model)[path]
    # pysunspec2 reads a point of an inner group with its group only
    refusable(getattr(point, "read", point.group.read))
    return point.cvalue


def write_points(model, values, write):
    """Sets points and runs a write; what is refused must not stay behind as the master's own idea of the device."""
    points = points_of(model)
    before = {path: points[path].value for path in values}
    for path, value in values.items():
        points[path].cvalue = value
    try:
        refusable(write)
    except Exception:
        for path, value in before.items():
            points[path].value = value
        raise
    finally:
        for path in values:
            points[path].dirty = False


def write_point(model, path, value):
    point = points_of(model)[path]
    write_points(model, {path: value}, getattr(point, "write", point.group.write))


def write_model(model, values):
    """Writes several points the way pysunspec2 joins them into requests."""
    write_points(model, values, model_of(model).write)


serve({
    "scan": scan, "found": found, "describe": describe, "read": read, "read_point": read_point,
    "write_point": write_point, "write_model": write_model,
})
device.close()
