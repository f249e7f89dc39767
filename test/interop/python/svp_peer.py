"""The SVP drivers of derbench, and the host: svp_peer.py URL RESULTS FOLDER..., the folders being those of SVP."""

import contextlib
import importlib
import inspect
import io
import os
import sys

from line_server import serve

answers = sys.stdout
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "clients", "python"))

import derbench
from svp import svp_host as host

url, results, *folders = sys.argv[1:]
KINDS = {"gridsim": "GridSim", "das": "DAS", "pvsim": "PVSim", "der": "DER", "der1547": "DER1547"}
client = derbench.Client(url)
drivers = {}


def quiet(action):
    """SVP prints, and the standard output belongs to the answers."""
    with contextlib.redirect_stdout(sys.stderr):
        return action()


def bases():
    host.install_modules(folders)
    return {kind: quiet(lambda: host.import_drivers(kind)) for kind in KINDS}


def open_drivers(device=0):
    """Drivers of a device, whose clock their `sleep` steps."""
    host.prepare(client, device)
    clock = host.Clock(client)
    info = host.ScriptInfo(name="drivers")
    modules = bases()
    for module in modules.values():
        module.params(info)
    values = host.equipment_parameters(client, url, device)
    ts = host.Script(info, "drivers", values, clock, results, lambda line: print(line, file=sys.stderr))
    drivers["ts"] = ts
    for kind, module in modules.items():
        drivers[kind] = quiet(lambda: getattr(module, f"{kind}_init")(ts))
    return sorted(drivers)


def call(driver, method, args=(), named=None):
    return quiet(lambda: getattr(drivers[driver], method)(*args, **(named or {})))


def misfits():
    """Methods of the base classes that a driver lacks, or has with other arguments."""
    wrong = []
    for kind, base in bases().items():
        name = KINDS[kind]
        own = getattr(importlib.import_module(f"svpelab.{kind}_derbench"), name)
        for method, declared in inspect.getmembers(getattr(base, name), inspect.isfunction):
            expected = list(inspect.signature(declared).parameters.values())
            offered = list(inspect.signature(getattr(own, method)).parameters.values())
            same = [(each.name, each.default) for each in expected] == [(each.name, each.default) for each in offered[: len(expected)]]
            optional = all(each.default is not inspect.Parameter.empty for each in offered[len(expected) :])
            if not same or not optional:
                wrong.append(f"{name}.{method}{inspect.signature(getattr(own, method))}")
            if inspect.getsource(declared).rstrip().endswith("pass") and getattr(own, method) is declared and not method.startswith("_"):
                wrong.append(f"{name}.{method} is left to the base class")
    return wrong


def run(script, more=None, config=None):
    """Runs a script as the command line does: exit code, lines, and the rows of the summary."""
    output = io.StringIO()
    arguments = [*(f"--svp={folder}" for folder in folders), f"--script={script}", f"--url={url}", f"--results={results}"]
    arguments += [f"--set={name}={value}" for name, value in (more or {}).items()]
    arguments += [f"--config={config}"] if config else []
    with contextlib.redirect_stdout(output):
        code = host.main(arguments)
    return {"code": code, "lines": output.getvalue().splitlines()}


serve({"open_drivers": open_drivers, "call": call, "misfits": misfits, "run": run}, out=answers)
