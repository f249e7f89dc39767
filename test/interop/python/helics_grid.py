"""A grid in a federation of HELICS: one line to each device, on a source that swings. Prints what it saw at each instant."""

import cmath
import json
import math
import sys

import helics as h

#: per unit of voltage by W and by var: a curve of 44 % over 6 % makes a loop of a slope of about 0.5
R_PER_W, X_PER_VAR = 2e-6, 6e-6
TOLERANCE_PU = 1e-9


class Grid:
    def __init__(self, broker, count, unit="pu", nan_at=None, volts_per_device=None, period=1.0, x_per_var=X_PER_VAR):
        info = h.helicsCreateFederateInfo()
        h.helicsFederateInfoSetCoreName(info, "grid_core")
        h.helicsFederateInfoSetCoreTypeFromString(info, "zmqss")
        h.helicsFederateInfoSetBroker(info, broker)
        h.helicsFederateInfoSetCoreInitString(info, "--tick=1s --timeout=3s")
        h.helicsFederateInfoSetTimeProperty(info, h.HELICS_PROPERTY_TIME_PERIOD, period)
        self.federate = h.helicsCreateValueFederate("grid", info)
        self.count, self.nan_at, self.period, self.rows = count, nan_at, period, []
        self.volts, self.x_per_var = volts_per_device, x_per_var
        if self.volts is None:
            self.voltage = h.helicsFederateRegisterGlobalPublication(self.federate, "grid/voltage", h.HELICS_DATA_TYPE_VECTOR, unit)
            self.powers = [self.input(key, h.HELICS_DATA_TYPE_VECTOR) for key in ("active_power", "reactive_power")]
        else:
            self.voltages = [self.phase(at) for at in range(count)]
            self.powers = [self.input(f"der/{at}/power", h.HELICS_DATA_TYPE_COMPLEX) for at in range(count)]
        print("joined", flush=True)
        h.helicsFederateEnterExecutingMode(self.federate)

    def input(self, key, kind):
        port = h.helicsFederateRegisterInput(self.federate, key, kind, "")
        h.helicsInputAddTarget(port, f"derbench/{key}")
        return port

    def phase(self, at):
        port = h.helicsFederateRegisterPublication(self.federate, f"voltage{at}", h.HELICS_DATA_TYPE_COMPLEX, "V")
        h.helicsPublicationAddTarget(port, f"derbench/der/{at}/voltage_a")
        return port

    def read(self):
        """W and var into the grid; those of each device come as a load has them."""
        if self.volts is None:
            return [h.helicsInputGetVector(port) for port in self.powers]
        values = [h.helicsInputGetComplex(port) for port in self.powers]
        return [-value.real for value in values], [-value.imag for value in values]

    def solve(self, time):
        watts, vars_ = self.read()
        source = 1 + 0.035 * math.sin(time / 5)
        voltages = [source + R_PER_W * w + self.x_per_var * q + 0.002 * at for at, (w, q) in enumerate(zip(watts, vars_))]
        return {"time": time, "v": voltages[: self.count], "p": watts, "q": vars_}

    def publish(self, row):
        values = [math.nan if self.nan_at == row["time"] and at == 0 else v for at, v in enumerate(row["v"])]
        if self.volts is None:
            h.helicsPublicationPublishVector(self.voltage, values)
            return
        for port, value in zip(self.voltages, values):
            volts = cmath.rect(self.volts * value, math.radians(-30))
            h.helicsPublicationPublishComplex(port, volts.real, volts.imag)

    def run(self, until, iterate):
        time, rounds = 0, 0
        row = self.solve(time)
        self.publish(row)
        kind = h.HELICS_ITERATION_REQUEST_ITERATE_IF_NEEDED if iterate else h.HELICS_ITERATION_REQUEST_NO_ITERATION
        while time < until:
            granted, result = h.helicsFederateRequestTimeIterative(self.federate, time + self.period, kind)
            if result == h.HELICS_ITERATION_RESULT_ITERATING:
                rounds += 1
                new = self.solve(time)
                if max(abs(a - b) for a, b in zip(new["v"], row["v"])) > TOLERANCE_PU:
                    self.publish(new)
                else:
                    new["v"] = row["v"]
                row = new
                continue
            self.rows.append(row)
            time = granted
            row = self.solve(time)
            self.publish(row)
        return {"time": time, "rounds": rounds, "rows": self.rows}


options = json.loads(sys.argv[1])
until, iterate = options.pop("until"), options.pop("iterate", False)
grid = Grid(**options)
print("executing", flush=True)
result = grid.run(until, iterate)
h.helicsFederateDisconnect(grid.federate)
h.helicsFederateFree(grid.federate)
h.helicsCloseLibrary()
print(json.dumps(result))
