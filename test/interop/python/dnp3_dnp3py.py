"""A DNP3 master made of dnp3py, driven by lines of JSON. Arguments: host port outstation master."""

import asyncio
import sys

from dnp3.master.config import MasterConfig
from dnp3.master.handler import DefaultSOEHandler
from dnp3.master.master import Master
from dnp3.master.tcp_runner import MasterTcpRunner

from line_server import serve

host, port, outstation, address = sys.argv[1:5]
loop = asyncio.new_event_loop()
handler = DefaultSOEHandler()
master = Master(
    config=MasterConfig(address=int(address), outstation_address=int(outstation)), handler=handler
)
runner = MasterTcpRunner(master=master, host=host, port=int(port))


def run(work):
    return loop.run_until_complete(asyncio.wait_for(work, 30))


def facts(infos):
    """Of each fragment: sequence number and indications."""
    return [{"iin": str(info.iin), "sequence": info.sequence} for info in infos]


def opened():
    run(runner.open())
    return runner.is_open


def integrity():
    return facts(run(runner.integrity_poll()))


def classes(one=False, two=False, three=False):
    return facts(run(runner.class_poll(class_1=one, class_2=two, class_3=three)))


def counts():
    return {
        "BI": len(handler.binary_inputs),
        "BO": len(handler.binary_outputs),
        "AI": len(handler.analog_inputs),
        "AO": len(handler.analog_outputs),
        "CTR": len(handler.counters),
    }


def values(points):
    def value(point):
        kind = point.rstrip("0123456789")
        index = int(point[len(kind) :])
        found = {
            "BI": handler.get_binary_input,
            "BO": handler.get_binary_output,
            "AI": handler.get_analog_input,
            "AO": handler.get_analog_output,
            "CTR": handler.get_counter,
        }[kind](index)
        return None if found is None else found.value

    return {point: value(point) for point in points}


def operate(commands, select=True):
    """commands: [["BO", index, on] | ["AO", index, value], ...]; the status of each in the last answer"""
    builder = master.command_builder()
    for kind, index, value in commands:
        if kind == "AO":
            builder.add_analog(index, value)
        elif value:
            builder.latch_on(index)
        else:
            builder.latch_off(index)
    steps = (
        [(builder.build_select, master.build_select), (builder.build_operate, master.build_operate)]
        if select
        else [(builder.build_direct_operate, master.build_direct_operate)]
    )
    answer = None
    for task, request in steps:
        answer = run(runner.request(request(task())))
    return [str(info) for info in answer]


def unsolicited(on):
    act = runner.enable_unsolicited if on else runner.disable_unsolicited
    result = run(act())
    return facts(result if isinstance(result, list) else [result])


def listen(seconds=20):
    info = run(runner.listen_unsolicited(timeout=seconds))
    return None if info is None else facts([info])[0]


def closed():
    run(runner.close())


operations = [opened, integrity, classes, counts, values, operate, unsolicited, listen, closed]
serve({operation.__name__: operation for operation in operations})
