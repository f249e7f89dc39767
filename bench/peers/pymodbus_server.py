"""Peer: TCP server of pymodbus with 1000 registers from 40000. Arguments: port."""
import asyncio
import sys

from pymodbus.server import StartAsyncTcpServer

BASE, COUNT = 40000, 1000


def context():
    """The data store: simulator classes since 3.13, the classic blocks before."""
    try:
        from pymodbus.simulator import DataType, SimData, SimDevice

        return SimDevice(id=1, simdata=[SimData(BASE, values=list(range(COUNT)), datatype=DataType.REGISTERS)])
    except ImportError:
        from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext

        try:
            from pymodbus.datastore import ModbusDeviceContext as Unit
        except ImportError:
            from pymodbus.datastore import ModbusSlaveContext as Unit
        # the classic block counts from 1
        return ModbusServerContext(Unit(hr=ModbusSequentialDataBlock(BASE + 1, list(range(COUNT)))), True)


asyncio.run(StartAsyncTcpServer(context(), address=("127.0.0.1", int(sys.argv[1]))))
