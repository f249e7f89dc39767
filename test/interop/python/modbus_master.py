"""pymodbus as a raw Modbus TCP master: modbus_master.py HOST PORT [TIMEOUT [FRAMING]]; the time-out is in seconds, 5
when absent, the framing `socket` (MBAP, when absent) or `rtu`."""

import socket
import sys
import time

from pymodbus.client import ModbusTcpClient
from pymodbus.framer import FramerSocket, FramerType
from pymodbus.pdu import DecodePDU
from pymodbus.pdu.register_message import ReadHoldingRegistersRequest

from line_server import Refused, serve

host, port = sys.argv[1], int(sys.argv[2])
timeout = float(sys.argv[3]) if len(sys.argv) > 3 else 5
framing = FramerType(sys.argv[4]) if len(sys.argv) > 4 else FramerType.SOCKET
client = ModbusTcpClient(host, port=port, framer=framing, timeout=timeout, retries=0)


class AnyCountRequest(ReadHoldingRegistersRequest):
    """pymodbus refuses illegal counts itself; here they shall reach the device."""

    MAX_COUNT = 65535

    def verifyCount(self, max_count, count=-1):
        pass


def checked(answer):
    if answer.isError():
        raise Refused(answer.exception_code)
    return answer


def read_holding(address, count):
    return checked(client.read_holding_registers(address, count=count)).registers


def read_input(address, count):
    return checked(client.read_input_registers(address, count=count)).registers


def read_any(address, count):
    return checked(client.execute(False, AnyCountRequest(dev_id=1, address=address, count=count))).registers


def read_value(table, address, count, type, word_order):
    """One value of several registers, put together by the library."""
    registers = (read_input if table == "input" else read_holding)(address, count)
    return client.convert_from_registers(registers, client.DATATYPE[type], word_order=word_order)


def write_value(address, value, type, word_order):
    write_many(address, client.convert_to_registers(value, client.DATATYPE[type], word_order=word_order))


def write_one(address, value):
    checked(client.write_register(address, value))


def write_many(address, values):
    checked(client.write_registers(address, values))


OTHERS = {
    1: lambda: client.read_coils(0),
    2: lambda: client.read_discrete_inputs(0),
    5: lambda: client.write_coil(0, True),
    7: lambda: client.read_exception_status(),
    15: lambda: client.write_coils(0, [True]),
    22: lambda: client.mask_write_register(address=40000),
    23: lambda: client.readwrite_registers(read_address=40000, read_count=1, write_address=40000, values=[1]),
    43: lambda: client.read_device_information(),
}


def other_function(code):
    checked(OTHERS[code]())


def pipeline(addresses):
    """Sends one read per address in a single write, then takes the answers in the order they come."""
    framer = FramerSocket(DecodePDU(False))
    requests = [
        ReadHoldingRegistersRequest(dev_id=1, transaction_id=number, address=address, count=1)
        for number, address in enumerate(addresses, start=1)
    ]
    answers = []
    with socket.create_connection((host, port), timeout=5) as connection:
        connection.sendall(b"".join(framer.buildFrame(request) for request in requests))
        pending = b""
        while len(answers) < len(requests):
            used, answer = framer.handleFrame(pending, 1, 0)
            pending = pending[used:]
            if answer is None:
                received = connection.recv(4096)
                if not received:
                    raise ConnectionError(f"closed after {len(answers)} of {len(requests)} answers")
                pending += received
            else:
                answers.append({"transaction": answer.transaction_id, "register": answer.registers[0]})
    return answers


def timed_reads(address, count, times):
    """Longest of several reads, in milliseconds."""
    longest = 0.0
    for _ in range(times):
        begin = time.monotonic()
        read_holding(address, count)
        longest = max(longest, time.monotonic() - begin)
    return longest * 1000


if not client.connect():
    sys.exit(f"cannot connect to {host}:{port}")
serve({
    "read_holding": read_holding, "read_input": read_input, "read_any": read_any, "write_one": write_one,
    "read_value": read_value, "write_value": write_value,
    "write_many": write_many, "other_function": other_function, "pipeline": pipeline, "timed_reads": timed_reads,
})
client.close()
