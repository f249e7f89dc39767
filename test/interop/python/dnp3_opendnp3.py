"""A DNP3 master made of opendnp3 (through pydnp3), driven by lines of JSON. Arguments: host port outstation master unsolicited."""

import os
import sys
import threading

from pydnp3 import asiodnp3, asiopal, opendnp3, openpal

from line_server import serve

# the library lets go of callbacks in threads of its own, where Python objects must not end
kept = []
answers = os.fdopen(os.dup(1), "w")
# the library prints its log to the standard output
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

VISITORS = {
    opendnp3.ICollectionIndexedBinary: ("BI", opendnp3.IVisitorIndexedBinary),
    opendnp3.ICollectionIndexedBinaryOutputStatus: ("BO", opendnp3.IVisitorIndexedBinaryOutputStatus),
    opendnp3.ICollectionIndexedCounter: ("CTR", opendnp3.IVisitorIndexedCounter),
    opendnp3.ICollectionIndexedFrozenCounter: ("FCTR", opendnp3.IVisitorIndexedFrozenCounter),
    opendnp3.ICollectionIndexedAnalog: ("AI", opendnp3.IVisitorIndexedAnalog),
    opendnp3.ICollectionIndexedAnalogOutputStatus: ("AO", opendnp3.IVisitorIndexedAnalogOutputStatus),
}


def visitor_of(base, take):
    class Visitor(base):
        def __init__(self):
            super().__init__()

        def OnValue(self, indexed):
            take(indexed.index, indexed.value)

    return Visitor()


class Book(opendnp3.ISOEHandler):
    """Everything that the outstation has reported."""

    def __init__(self):
        super().__init__()
        self.values = {}
        self.events = []
        self.changed = threading.Condition()

    def Process(self, info, values):
        name, base = VISITORS.get(type(values), (None, None))
        if name is None:
            return

        def take(index, measurement):
            value = measurement.value
            flags = measurement.flags.value
            self.values[f"{name}{index}"] = [value, flags]
            if info.isEventVariation:
                self.events.append(
                    {"point": f"{name}{index}", "value": value, "flags": flags, "time": measurement.time.value}
                )

        with self.changed:
            values.Foreach(visitor_of(base, take))
            self.changed.notify_all()

    def Start(self):
        pass

    def End(self):
        pass


class Application(opendnp3.IMasterApplication):
    """Notes indications and the end of tasks; the time of this master runs an hour ahead."""

    def __init__(self):
        super().__init__()
        self.iin = [0, 0]
        self.done = []
        self.opened = 0
        self.changed = threading.Condition()

    def Now(self):
        import time

        return openpal.UTCTimestamp(int(time.time() * 1000) + 3_600_000)

    def AssignClassDuringStartup(self):
        return False

    def ConfigureAssignClassRequest(self, write):
        pass

    def OnClose(self):
        pass

    def OnOpen(self):
        with self.changed:
            self.opened += 1
            self.changed.notify_all()

    def OnReceiveIIN(self, iin):
        self.iin = [iin.LSB, iin.MSB]

    def OnStateChange(self, value):
        pass

    def OnKeepAliveInitiated(self):
        pass

    def OnKeepAliveFailure(self):
        pass

    def OnKeepAliveSuccess(self):
        pass

    def OnTaskStart(self, kind, task):
        pass

    def OnTaskComplete(self, info):
        with self.changed:
            self.done.append([str(info.type).split(".")[-1], str(info.result).split(".")[-1]])
            self.changed.notify_all()


def limit(seconds):
    return openpal.TimeDuration().Milliseconds(int(seconds * 1000))


class Master:
    def __init__(self, host, port, outstation, master, unsolicited):
        self.book = Book()
        self.application = Application()
        self.logger = asiodnp3.ConsoleLogger().Create()
        self.manager = asiodnp3.DNP3Manager(1, self.logger)
        retry = asiopal.ChannelRetry(limit(0.1), limit(0.5))
        self.listener = asiodnp3.PrintingChannelListener().Create()
        self.channel = self.manager.AddTCPClient("client", 0, retry, host, "127.0.0.1", port, self.listener)
        config = asiodnp3.MasterStackConfig()
        config.master.responseTimeout = limit(5)
        config.master.disableUnsolOnStartup = True
        config.master.timeSyncMode = opendnp3.TimeSyncMode.NonLAN
        fields = opendnp3.ClassField(0x0E) if unsolicited else opendnp3.ClassField(0)
        config.master.unsolClassMask = fields
        config.master.startupIntegrityClassMask = opendnp3.ClassField(0x0F)
        config.link.LocalAddr = master
        config.link.RemoteAddr = outstation
        self.master = self.channel.AddMaster("master", self.book, self.application, config)
        self.master.Enable()

    def wait_for(self, number, kind, seconds=20):
        """Until a task of a kind is done that was not among the first `number` ones."""
        application = self.application
        with application.changed:
            found = lambda: next((each for each in application.done[number:] if each[0] == kind), None)
            if not application.changed.wait_for(lambda: found() is not None, seconds):
                raise TimeoutError(f"no {kind} among {application.done[number:]}")
            return found()[1]

    def begun(self, seconds=20):
        """Until the start-up conversation is over."""
        return {"integrity": self.wait_for(0, "STARTUP_INTEGRITY_POLL", seconds), "tasks": self.application.done}

    def task(self, kind):
        return self.wait_for(0, kind)

    def scan(self, classes):
        number = len(self.application.done)
        self.book.events.clear()
        self.master.ScanClasses(opendnp3.ClassField(classes))
        return self.wait_for(number, "USER_TASK")

    def range(self, group, variation, start, stop):
        number = len(self.application.done)
        self.master.ScanRange(opendnp3.GroupVariationID(group, variation), start, stop)
        return self.wait_for(number, "USER_TASK")

    def all(self, group, variation):
        number = len(self.application.done)
        self.master.ScanAllObjects(opendnp3.GroupVariationID(group, variation))
        return self.wait_for(number, "USER_TASK")

    def perform(self, function, headers):
        number = len(self.application.done)
        code = opendnp3.FunctionCodeFromType(function)
        # class of objects, then the points that get it
        made = []
        for header in headers:
            if len(header) == 2:
                made.append(opendnp3.Header.AllObjects(*header))
            else:
                made.append(opendnp3.Header.Range16(*header))
        self.master.PerformFunction("function", code, made)
        return self.wait_for(number, "USER_TASK")

    def values(self, points):
        return {point: self.book.values.get(point) for point in points}

    def counts(self):
        kinds = {}
        for point in self.book.values:
            kind = point.rstrip("0123456789")
            kinds[kind] = kinds.get(kind, 0) + 1
        return kinds

    def events(self):
        return list(self.book.events)

    def event_of(self, point, seconds=20):
        """The next event of a point that is reported, now or later."""
        with self.book.changed:
            found = lambda: next((each for each in self.book.events if each["point"] == point), None)
            if not self.book.changed.wait_for(lambda: found() is not None, seconds):
                raise TimeoutError(f"no event of {point}")
            return found()

    def forget_events(self):
        with self.book.changed:
            self.book.events.clear()

    def operate(self, commands, select=True):
        """commands: [["BO", index, code] | ["AO", index, value, "Int32" | "Int16" | "Float32" | "Double64"], ...]"""
        made = opendnp3.CommandSet()
        for kind, index, value, *form in commands:
            if kind == "BO":
                code = opendnp3.ControlCodeFromType(value)
                item = opendnp3.WithIndex(opendnp3.ControlRelayOutputBlock(code), index)
            else:
                item = opendnp3.WithIndex(getattr(opendnp3, f"AnalogOutput{form[0]}")(value), index)
            made.Add([item])
        ready = threading.Event()
        results = []

        class Visitor(opendnp3.IVisitorCommandPointResult):
            def __init__(self):
                super().__init__()

            def OnValue(self, value):
                results.append(
                    {
                        "index": value.index,
                        "state": opendnp3.CommandPointStateToString(value.state),
                        "status": opendnp3.CommandStatusToString(value.status),
                    }
                )

        visitor = Visitor()
        summary = []

        def finished(result):
            summary.append(opendnp3.TaskCompletionToString(result.summary))
            result.Foreach(visitor)
            ready.set()

        kept.extend([made, visitor, finished])
        act = self.master.SelectAndOperate if select else self.master.DirectOperate
        act(made, finished, opendnp3.TaskConfig().Default())
        if not ready.wait(20):
            raise TimeoutError("no answer to the control")
        return {"summary": summary[0], "results": results}

    def restart(self, warm=False):
        ready = threading.Event()
        found = []

        def finished(result):
            found.append([opendnp3.TaskCompletionToString(result.summary), str(result.restartTime)])
            ready.set()

        kept.append(finished)
        kind = opendnp3.RestartType.WARM if warm else opendnp3.RestartType.COLD
        self.master.Restart(kind, finished, opendnp3.TaskConfig().Default())
        if not ready.wait(20):
            raise TimeoutError("no answer to the restart")
        return found[0]

    def iin(self):
        return self.application.iin

    def tasks(self):
        return list(self.application.done)

    def clear_tasks(self):
        with self.application.changed:
            self.application.done.clear()


host, port, outstation, address, unsolicited = sys.argv[1:6]
master = Master(host, int(port), int(outstation), int(address), unsolicited == "yes")
names = [
    "begun", "task", "scan", "range", "all", "perform", "values", "counts", "events", "event_of", "forget_events",
    "operate", "restart", "iin", "tasks", "clear_tasks",
]
serve({name: getattr(master, name) for name in names}, out=answers)
master.master.Disable()
os._exit(0)
