"""Peer: TCP server of pymodbus with 1000 registers from 40000. Arguments: port."""
import asyncio
import sys

from pymodbus.server import StartAsyncTcpServer

BASE, COUNT = 40000, 1000


def context():
    """The classic data store, which is the faster one, or the simulator's where a release has no other."""
    values = list(range(COUNT))
    try:
        from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext
    except ImportError:
        from pymodbus.simulator import DataType, SimData, SimDevice

        return SimDevice(id=1, simdata=[SimData(BASE, values=values, datatype=DataType.REGISTERS)])
    try:
        from pymodbus.datastore import ModbusDeviceContext as Unit
    except ImportError:
        from pymodbus.datastore import ModbusSlaveContext as Unit
    # the classic block counts from 1
    return ModbusServerContext(Unit(hr=ModbusSequentialDataBlock(BASE + 1, values)), True)


asyncio.run(StartAsyncTcpServer(context(), address=("127.0.0.1", int(sys.argv[1]))))
