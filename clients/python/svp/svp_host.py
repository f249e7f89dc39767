"""Runs a test script of SVP without its window, against a derbench whose clock is paused: hours of a test take minutes.

    python -m svp.svp_host --svp svp_1547.1/1547.1 --svp svp_energy_lab --script VV --url http://127.0.0.1:8111

`--svp` names the folders that have `Lib/svpelab`, `Scripts` and `Tests`; several are searched in this order. The host is
`script` and `ts` to the script. `ts.sleep` steps the clock of derbench, and `datetime` and `time` of the script and of
svpelab show that clock. Results are files as SVP writes them, without the workbook.

Exit codes: 0 the script ran to its end and no line of result_summary.csv has a Fail; 1 some have; 2 it did not run.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime as _datetime
import glob as _glob
import importlib
import importlib.util
import json
import os
import shlex
import sys
import time as _time
import traceback
import types
import xml.etree.ElementTree as ElementTree
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import derbench

from .derbench_svp import MODE, line_neutral, phases_of
from .svp_script import Clock, Script, ScriptFail, ScriptInfo, ScriptParamError

_DRIVERS = os.path.dirname(os.path.realpath(__file__))
_SCRIPT_MODULE = "svp_test_script"
_SUMMARY = "result_summary.csv"
#: equipment groups and the address parameters of their drivers
_REST_GROUPS = ("gridsim", "das", "pvsim")
_MODBUS_GROUPS = ("der", "der1547")
#: modules that p1547 imports to draw and to write workbooks
_DRAWING = ("xlsxwriter", "pylab", "matplotlib", "matplotlib.lines", "matplotlib.gridspec")
#: simulated seconds for ramps of commands and responses
_SETTLING_S = 30
#: 1547-2018, table 10: continuous operating region about the nominal frequency, Hz
_CONTINUOUS_HZ = 1.2
#: 1547-2018, 5.2: below this share of the rating no reactive power is asked for
_POWER_MIN_SHARE = 0.05
#: 1547-2018, table 10 and clause 6.4.2.1: continuous operation, per unit
_CONTINUOUS_PU = (0.88, 1.1)
_TYPES: Dict[str, Callable[[str], Any]] = {"int": int, "float": float, "string": str}


class _Drawing(types.ModuleType):
    """In place of a module that draws: any name is another one."""

    __path__: List[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Drawing(f"{self.__name__}.{name}")


def install_modules(folders: Sequence[str]) -> None:
    """`script`, `svpelab` with our drivers alone, and stand-ins for what draws and is not installed."""
    host = types.ModuleType("script")
    for name, value in {
        "ScriptInfo": ScriptInfo, "Script": Script, "ScriptFail": ScriptFail, "ScriptParamError": ScriptParamError,
        "RESULT_COMPLETE": "Complete", "RESULT_PASS": "Pass", "RESULT_FAIL": "Fail",
    }.items():
        setattr(host, name, value)
    sys.modules["script"] = host
    package = types.ModuleType("svpelab")
    package.__path__ = [_DRIVERS, *(os.path.join(folder, "Lib", "svpelab") for folder in folders)]
    sys.modules["svpelab"] = package
    for name in _DRAWING:
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = _Drawing(name)


@contextlib.contextmanager
def _only_our_drivers() -> Iterator[None]:
    """Base classes look for drivers in their folder when they are imported; inside of this they see ours."""
    real = _glob.glob
    _glob.glob = lambda pattern, **more: real(os.path.join(_DRIVERS, os.path.basename(pattern)), **more)
    try:
        yield
    finally:
        _glob.glob = real


def import_drivers(kind: str) -> types.ModuleType:
    """The base module of a kind of equipment, as gridsim, with our driver."""
    with _only_our_drivers():
        return importlib.import_module(f"svpelab.{kind}")


def _import_script(path: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(_SCRIPT_MODULE, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_SCRIPT_MODULE] = module
    module.__dict__["sys"] = sys  # some scripts end by sys.exit without importing it
    with _only_our_drivers():
        spec.loader.exec_module(module)
    return module


def _simulated_time(clock: Clock, sleep: Callable[[float], None]) -> Tuple[type, types.ModuleType, types.ModuleType]:
    """`datetime.datetime`, `datetime` and `time` that show a clock."""
    epoch = _datetime.datetime(1970, 1, 1)

    class SimulatedDatetime(_datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "SimulatedDatetime":
            now = clock.now if tz is None else clock.now.replace(tzinfo=_datetime.timezone.utc).astimezone(tz)
            return cls.combine(now.date(), now.timetz())

        @classmethod
        def utcnow(cls) -> "SimulatedDatetime":
            return cls.now()

        @classmethod
        def today(cls) -> "SimulatedDatetime":
            return cls.now()

    dates = types.ModuleType("datetime")
    dates.__dict__.update({**_datetime.__dict__, "datetime": SimulatedDatetime})
    times = types.ModuleType("time")
    seconds = lambda: (clock.now - epoch).total_seconds()  # noqa: E731
    times.__dict__.update({**_time.__dict__, "time": seconds, "monotonic": seconds, "perf_counter": seconds, "sleep": sleep})
    return SimulatedDatetime, dates, times


def _replace_time(clock: Clock, sleep: Callable[[float], None]) -> None:
    """Puts simulated time into the script and all modules of svpelab."""
    moment, dates, times = _simulated_time(clock, sleep)
    replacements = {id(_datetime.datetime): moment, id(_datetime): dates, id(_time): times}
    for module_name, module in list(sys.modules.items()):
        if module_name == _SCRIPT_MODULE or module_name.startswith("svpelab."):
            for name, value in list(vars(module).items()):
                if id(value) in replacements:
                    setattr(module, name, replacements[id(value)])


def test_parameters(path: str) -> Tuple[str, Dict[str, Any]]:
    """Name and parameters of a `.tst` file, or of JSON as {"eut.v_nom": 277.1, ...}."""
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            return os.path.splitext(os.path.basename(path))[0], json.load(file)
    root = ElementTree.parse(path).getroot()
    values = {}
    for element in root.iter("param"):
        kind, text = _TYPES.get(element.get("type", ""), str), element.text or ""
        count, start = element.get("index_count"), element.get("index_start")
        if count is None or start is None:
            values[element.get("name", "")] = kind(text)
        else:
            entries = {int(start) + place: kind(value) for place, value in enumerate(shlex.split(text))}
            values[element.get("name", "")] = {"index_count": int(count), "index_start": int(start), **entries}
    return root.get("name", ""), values


def equipment_parameters(client: derbench.Client, url: str, index: int) -> Dict[str, Any]:
    """Modes, addresses and ratings that the drivers and `p1547` need, as the device has them."""
    device = client.device(index)
    read = {model: _points(client, model, index) for model in (701, 702)}
    kind, rated = read[701]["ACType"], read[702]
    hz = 50.0 if abs(read[701]["Hz"] - 50) < 5 else 60.0
    v_nom = line_neutral(kind, rated["VNomRtg"])
    values: Dict[str, Any] = {f"{group}.mode": MODE for group in (*_REST_GROUPS, *_MODBUS_GROUPS)}
    for group in _REST_GROUPS:
        values.update({f"{group}.{MODE}.url": url, f"{group}.{MODE}.device": index})
    modbus = device["modbus"]
    for group in _MODBUS_GROUPS if modbus else ():
        address = {"host": modbus["host"], "port": modbus["port"], "unit": modbus["unit_id"]}
        values.update({f"{group}.{MODE}.{name}": value for name, value in address.items()})
    values.update({
        f"gridsim.{MODE}.f_nom": hz,
        "eut.phases": phases_of(kind), "eut.v_nom": v_nom, "eut.f_nom": hz,
        "eut.v_low": _CONTINUOUS_PU[0] * v_nom, "eut.v_high": _CONTINUOUS_PU[1] * v_nom,
        "eut.f_min": hz - _CONTINUOUS_HZ, "eut.f_max": hz + _CONTINUOUS_HZ,
        "eut.s_rated": rated["VAMaxRtg"], "eut.p_rated": rated["WMaxRtg"], "eut.var_rated": rated["VarMaxInjRtg"],
        "eut.p_min": _POWER_MIN_SHARE * rated["WMaxRtg"],
    })
    return values


def _points(client: derbench.Client, model: int, index: int) -> Dict[str, Any]:
    return {point["name"]: point["value"] for point in client.registers(model, device=index)["points"]}


def _first(folders: Sequence[str], *parts: str) -> str:
    for folder in folders:
        path = os.path.join(folder, *parts)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"{os.path.join(*parts)} is in none of {', '.join(folders)}")


def verdicts(path: str) -> Tuple[int, List[Dict[str, str]]]:
    """Lines of a result_summary.csv that pass, and those with a Fail."""
    if not os.path.exists(path):
        return 0, []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    failing = [row for row in rows if "Fail" in row.values()]
    return sum("Pass" in row.values() for row in rows if row not in failing), failing


def prepare(client: derbench.Client, index: int) -> None:
    """Pauses the clock, takes a device back to the state of its start, and waits until it is in service and settled."""
    client.pause()
    client.post("commands", {"command": "reset", "scope": "device"}, device=index)
    client.step(ticks=2)
    wait_s = _SETTLING_S
    if client.get("grid-support/trace", device=index)["now"]["service"] != "in_service":
        enter = _points(client, 703, index)
        wait_s += enter["ESDlyTms"] + enter["ESRndTms"] + enter["ESRmpTms"]
    client.step(seconds=wait_s)


def run(
    folders: Sequence[str],
    script: str,
    client: derbench.Client,
    url: str,
    device: int = 0,
    config: Optional[str] = None,
    more: Optional[Mapping[str, Any]] = None,
    results: str = "Results",
    write: Callable[[str], None] = print,
    debug: bool = False,
) -> Tuple[bool, Script]:
    """Runs a script; whether it came to its end, and its `ts`. The device is reset before."""
    name, file_values = test_parameters(config) if config else (script, {})
    install_modules(folders)
    module = _import_script(_first(folders, "Scripts", f"{script}.py"))
    importlib.import_module("svpelab.result").result_workbook = lambda *_, **__: None  # type: ignore[attr-defined]
    prepare(client, device)
    clock = Clock(client)
    folder = os.path.join(os.path.abspath(results), name)
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(os.path.join(folder, _SUMMARY)):
        os.unlink(os.path.join(folder, _SUMMARY))  # scripts add to it
    values = {**file_values, **equipment_parameters(client, url, device), **(more or {})}
    ts = Script(module.script_info(), name, values, clock, folder, write, debug)
    _replace_time(clock, ts.sleep)
    try:
        module.run(ts)
    except SystemExit as end:
        return end.code in (None, 0) and ts.result_status != "Fail", ts
    except Exception:
        ts.log_error(traceback.format_exc())
        return False, ts
    return ts.result_status != "Fail", ts


def _setting(text: str) -> Tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: NAME=VALUE, as lap.iter=1")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="svp_host", description="Runs a test script of SVP against derbench.")
    parser.add_argument("--svp", action="append", required=True, metavar="FOLDER", help="folder with Lib/svpelab, Scripts; repeat")
    parser.add_argument("--script", required=True, help="name of the script, as VV")
    parser.add_argument("--config", help=".tst file of SVP, or JSON with parameters; ratings are those of the device")
    parser.add_argument("--set", action="append", default=[], type=_setting, metavar="NAME=VALUE", help="a parameter; repeat")
    parser.add_argument("--url", default="http://127.0.0.1:8111")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--results", default="Results", metavar="FOLDER")
    parser.add_argument("--debug", action="store_true", help="also the debug lines of the script")
    options = parser.parse_args(arguments)
    client = derbench.Client(options.url)
    try:
        ended, ts = run(
            options.svp, options.script, client, options.url, options.device, options.config, dict(options.set),
            options.results, debug=options.debug,
        )
    except (derbench.DerbenchError, FileNotFoundError) as error:
        print(f"svp_host: {error}", file=sys.stderr)
        return 2
    passing, failing = verdicts(ts.result_file_path(_SUMMARY))
    print(f"{options.script}: {'ran to its end' if ended else 'did not run to its end'}; {passing} lines pass, {len(failing)} fail")
    for row in failing:
        print(json.dumps(row))
    return 2 if not ended else 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
