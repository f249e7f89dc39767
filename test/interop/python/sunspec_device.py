"""A device that is not ours: models encoded by pysunspec2, served by pymodbus. sunspec_device.py HOST PORT."""

import asyncio
import random
import sys
import threading

from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from sunspec2 import device

from line_server import serve
from points import walk

BASE = 40000
SEED = 20260621
SENTINEL_SHARE = 0.15
# repetitions and the points that count them
CHAIN = [
    (1, {}), (103, {}), (111, {}), (120, {}), (121, {}), (122, {}), (123, {}), (124, {}), (126, {"NCrv": 2, "curve": 2}),
    (160, {"N": 3, "module": 3}), (701, {}), (702, {}), (703, {}), (704, {}), (705, {"NPt": 4, "NCrv": 2}), (711, {"NCtl": 2}),
    (802, {}), (803, {"NStr": 2}), (804, {"NMod": 2}), (805, {"NCell": 3, "lithium-ion-module-cell": 3}),
]
RANGES = {
    "int16": (-32767, 32767), "uint16": (0, 65534), "count": (0, 65534), "acc16": (1, 65535), "bitfield16": (0, 0x7FFF),
    "int32": (-(2**31) + 1, 2**31 - 1), "uint32": (0, 2**32 - 2), "acc32": (1, 2**32 - 1), "bitfield32": (0, 0x7FFFFFFF),
    "int64": (-(2**63) + 1, 2**63 - 1), "uint64": (0, 2**64 - 2), "acc64": (1, 2**64 - 1),
}
chance = random.Random(SEED)


def value_for(point):
    """A raw value of the point's type, or none: not implemented."""
    kind = point.pdef["type"]
    if kind == "sunssf":
        return chance.randint(-4, 3)
    if kind == "pad" or chance.random() < SENTINEL_SHARE:
        return None
    symbols = point.pdef.get("symbols", [])
    if kind.startswith("enum"):
        return chance.choice(symbols)["value"] if symbols else chance.randint(0, 65534)
    if kind == "string":
        return "".join(chance.choice("ABCdef 123-_") for _ in range(chance.randint(1, 2 * int(point.pdef["size"])))).strip() or "x"
    if kind == "float32":
        return chance.uniform(-1e4, 1e4)
    return chance.randint(*RANGES[kind])


def build(model_id, counts):
    repeated = {name: [{} for _ in range(count)] for name, count in counts.items() if name[0].islower()}
    counted = {name: count for name, count in counts.items() if name[0].isupper()}
    model = device.Model(model_id, data={"ID": model_id, **counted, **repeated})
    for path, point in walk(model):
        if path not in ("ID", "L", *counted):
            point.value = value_for(point)
    model.points["L"].value = len(model.get_mb()) // 2 - 2
    return model


models = [build(model_id, counts) for model_id, counts in CHAIN]


def expected(point):
    """As the encoder has it: raw and scaled, in text where JSON has no room."""
    return {"type": point.pdef["type"], "raw": None if point.value is None else str(point.value), "scaled": point.cvalue}


def image():
    octets = b"SunS" + b"".join(model.get_mb() for model in models) + b"\xff\xff\x00\x00"
    return [int.from_bytes(octets[at : at + 2], "big") for at in range(0, len(octets), 2)]


def describe():
    return [{"id": model.model_id, "points": {path: expected(point) for path, point in walk(model)}} for model in models]


port = threading.Event()
port.number = 0


async def listen():
    served = SimDevice(id=1, simdata=[SimData(BASE, values=image(), datatype=DataType.REGISTERS)])
    server = ModbusTcpServer(served, address=(sys.argv[1], int(sys.argv[2])))
    await server.listen()
    port.number = server.transport.sockets[0].getsockname()[1]
    port.set()
    await server.serving


threading.Thread(target=lambda: asyncio.run(listen()), daemon=True).start()
if not port.wait(10):
    sys.exit("the server did not start")
serve({"port": lambda: port.number, "describe": describe})
