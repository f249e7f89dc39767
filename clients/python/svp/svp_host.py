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
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

import derbench

from .derbench_svp import MODE, line_neutral, phases_of

_DRIVERS = os.path.dirname(os.path.realpath(__file__))
_SCRIPT_MODULE = "svp_script"
_SUMMARY = "result_summary.csv"
#: equipment groups and the address parameters of their drivers
_REST_GROUPS = ("gridsim", "das", "pvsim")
_MODBUS_GROUPS = ("der", "der1547")
#: modules that p1547 imports to draw and to write workbooks
_DRAWING = ("xlsxwriter", "pylab", "matplotlib", "matplotlib.lines", "matplotlib.gridspec")
#: simulated seconds of one step
_LONGEST_STEP_S = 600.0
#: simulated seconds behind the enter-service ramp
_SETTLING_S = 60
#: 1547-2018, table 10: continuous operating region about the nominal frequency, Hz
_CONTINUOUS_HZ = 1.2
#: 1547-2018, table 10 and clause 6.4.2.1: continuous operation, per unit
_CONTINUOUS_PU = (0.88, 1.1)
_TYPES: Dict[str, Callable[[str], Any]] = {"int": int, "float": float, "string": str}


class ScriptFail(Exception):
    """A test that its script gives up."""


class ScriptParamError(Exception):
    """A parameter that is declared wrongly."""


class _Declared:
    """A parameter or a group, and the condition under which it counts."""

    def __init__(self, default: Any, active: Optional[str], active_value: Any, values: Sequence[Any]) -> None:
        self.default = default
        self.active = active
        self.active_values = active_value if isinstance(active_value, (list, tuple)) else [active_value]
        self.values = list(values)


class ScriptInfo:
    """Parameters of a script, as it declares them."""

    def __init__(self, name: str = "", label: str = "", desc: str = "", run: Any = None, version: str = "1.0.0") -> None:
        self.name, self.label, self.desc, self.run, self.version = name, label or name, desc, run, version
        self.groups: Dict[str, List[_Declared]] = {}
        self.params: Dict[str, List[_Declared]] = {}

    def logo(self, filename: str) -> None:
        """Logos belong to the reports of SVP."""

    def param_group(self, name: str, active: Optional[str] = None, active_value: Any = None, **_: Any) -> None:
        self.groups.setdefault(name, []).append(_Declared(None, active, active_value, ()))

    def param(
        self,
        name: str,
        default: Any = None,
        values: Sequence[Any] = (),
        active: Optional[str] = None,
        active_value: Any = None,
        **_: Any,
    ) -> None:
        self.params.setdefault(name, []).append(_Declared(default, active, active_value, values or ()))

    def param_add_value(self, name: str, value: Any, sorted: bool = True) -> None:
        if name not in self.params:
            raise ScriptParamError(f"param_add_value - unknown param name: {name}")
        self.params[name][0].values.append(value)

    def default(self, name: str, value_of: Callable[[str], Any]) -> Any:
        """The default of a parameter that counts; None where it or one of its groups does not."""
        parts = name.split(".")
        groups = [".".join(parts[:length]) for length in range(1, len(parts))]
        if not all(self._counting(self.groups.get(group, []), value_of) for group in groups):
            return None
        counting = self._counting(self.params.get(name, []), value_of)
        return counting.default if counting else None

    def _counting(self, declared: Iterable[_Declared], value_of: Callable[[str], Any]) -> Optional[_Declared]:
        for each in declared:
            if each.active is None or value_of(each.active) in each.active_values:
                return each
        return None


class _Timer:
    def __init__(self, due: _datetime.datetime, period: float, callback: Callable[[Any], None], arg: Any, repeating: bool):
        self.due, self.period, self.callback, self.arg, self.repeating = due, period, callback, arg, repeating


class Clock:
    """The paused clock of derbench; instants are UTC without a zone, as scripts compare them with `datetime.now()`."""

    def __init__(self, client: derbench.Client) -> None:
        self._client = client
        self.now = _datetime.datetime.fromisoformat(client.time()["sim_time"].rstrip("Z"))
        self._device_at = self.now

    def advance(self, to: _datetime.datetime) -> None:
        """Steps to an instant; derbench follows to the millisecond."""
        while self._device_at < to:
            until = min(to, self._device_at + _datetime.timedelta(seconds=_LONGEST_STEP_S))
            text = until.isoformat(timespec="milliseconds")
            until = _datetime.datetime.fromisoformat(text)
            if until <= self._device_at:
                break
            self._client.post("controls/time/step", {"until": text + "Z"})
            self._device_at = until
        self.now = max(self.now, to)


class Script:
    """`ts` of a script: parameters, log, results, and a time that passes in `sleep` alone."""

    def __init__(
        self,
        info: ScriptInfo,
        config_name: str,
        given: Mapping[str, Any],
        clock: Clock,
        folder: str,
        write: Callable[[str], None] = print,
        debug: bool = False,
    ) -> None:
        self.info, self.name, self.desc = info, info.name, info.desc
        self._config_name, self._clock, self._write, self._debug = config_name, clock, write, debug
        self._given = dict(given)
        self._timers: List[_Timer] = []
        self._in_callback = False
        self._result_dir = os.path.abspath(folder)
        self._results_dir = os.path.dirname(self._result_dir) + os.sep
        self._files_dir = os.path.join(self._results_dir, "Files")
        self.result_status: Optional[str] = None
        self.errors: List[str] = []
        self.files: List[str] = []
        #: values of all parameters that count, which some scripts read without `param_value`
        self.params = {name: self.param_value(name) for name in info.params if self.param_value(name) is not None}

    def param_value(self, name: str, param_defs: Any = None, param_value: Any = None) -> Any:
        value = self._given.get(name)
        return self.info.default(name, self.param_value) if value is None else value

    param_get = param_value

    def get_active_params(self) -> Dict[str, Any]:
        return dict(self.params)

    def group_params(self, group: Optional[str] = None, params: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        prefix = "" if group is None else group + "."
        own = [name for name in self.params if name.startswith(prefix) and "." not in name[len(prefix) :]]
        return {**(params or {}), **{name[len(prefix) :]: self.params[name] for name in own}}

    def log(self, message: Any, level: str = "I") -> None:
        self._write(f"{self._clock.now.isoformat(sep=' ', timespec='milliseconds')} {level} {message}")

    def log_debug(self, message: Any) -> None:
        if self._debug:
            self.log(message, "D")

    def log_warning(self, message: Any) -> None:
        self.log(message, "W")

    def log_error(self, message: Any) -> None:
        self.errors.append(str(message))
        self.log(message, "E")

    def log_active_params(self, param_group: Any = None, config: Any = None, level: int = 0) -> None:
        for name, value in self.params.items():
            self.log(f"{name} = {value}")

    def alert(self, message: Any) -> None:
        self.log(message, "W")

    def confirm(self, message: Any) -> bool:
        """Nobody is there to ask: every question is confirmed."""
        self.log(f"{message} Confirmed by the host.")
        return True

    def fail(self, reason: str) -> None:
        raise ScriptFail(reason)

    def config_name(self) -> str:
        return self._config_name

    def files_dir(self) -> str:
        return self._files_dir

    def result_dir(self) -> str:
        return self._result_dir

    def results_dir(self) -> str:
        return self._results_dir

    def result_file_path(self, name: str) -> str:
        return os.path.join(self._result_dir, name)

    def result_file(self, name: Optional[str] = None, status: Any = None, params: Any = None) -> None:
        if name is not None:
            self.files.append(name)

    def result(self, status: Optional[str] = None, params: Any = None) -> None:
        self.result_status = status
        self.log(f"Test result: {status}")

    def svp_version(self, required: Any = None) -> str:
        """The newest version of SVP that was tried with this host."""
        return "1.5.9"

    def timer_start(self, period: float, callback: Callable[[Any], None], arg: Any = None, repeating: bool = False) -> _Timer:
        due = self._clock.now + _datetime.timedelta(seconds=period)
        timer = _Timer(due, period, callback, arg, repeating)
        self._timers.append(timer)
        return timer

    def timer_cancel(self, timer: _Timer) -> None:
        if timer in self._timers:
            self._timers.remove(timer)

    def sleep(self, seconds: float) -> None:
        if self._in_callback:
            raise ScriptFail("sleep() cannot be called in a timer")
        wake = self._clock.now + _datetime.timedelta(seconds=max(0, seconds))
        while True:
            timer = min(self._timers, key=lambda each: each.due, default=None)
            if timer is None or timer.due > wake:
                break
            self._clock.advance(timer.due)
            if timer.repeating:
                timer.due += _datetime.timedelta(seconds=timer.period)
            else:
                self._timers.remove(timer)
            self._in_callback = True
            try:
                timer.callback(timer.arg)
            finally:
                self._in_callback = False
        self._clock.advance(wake)


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


def test_parameters(path: str) -> Tuple[str, Optional[str], Dict[str, Any]]:
    """Name, script and parameters of a `.tst` file, or of JSON as {"eut.v_nom": 277.1, ...}."""
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            return os.path.splitext(os.path.basename(path))[0], None, json.load(file)
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
    return root.get("name", ""), root.get("script"), values


def equipment_parameters(client: derbench.Client, url: str, index: int) -> Dict[str, Any]:
    """Modes, addresses and ratings that the drivers and `p1547` need, as the device has them."""
    device = client.device(index)
    read = {model: _points(client, model, index) for model in (701, 702, 711)}
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
        "eut.p_min": (read[711]["Ctl[0].PMin"] or 0) / 100 * rated["WMaxRtg"],
    })
    return values


def _points(client: derbench.Client, model: int, index: int) -> Dict[str, Any]:
    return {point["name"]: point["value"] for point in client.registers(model, device=index)["points"]}


def _first(folders: Sequence[str], *parts: str) -> str:
    for folder in folders:
        path = os.path.join(folder, *parts)
        if os.path.exists(path):
            return path
    raise SystemExit(f"{os.path.join(*parts)} is in none of {', '.join(folders)}")


def verdicts(path: str) -> Tuple[int, List[Dict[str, str]]]:
    """Lines of a result_summary.csv that pass, and those with a Fail."""
    if not os.path.exists(path):
        return 0, []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    failing = [row for row in rows if "Fail" in row.values()]
    return len([row for row in rows if "Pass" in row.values()]) - len([r for r in failing if "Pass" in r.values()]), failing


def prepare(client: derbench.Client, index: int) -> None:
    """Pauses the clock, takes a device back to the state of its start, and waits until it is in service at full power."""
    client.pause()
    client.post("commands", {"command": "reset", "scope": "device"}, device=index)
    client.step(ticks=2)
    if client.get("grid-support/trace", device=index)["now"]["service"] != "in_service":
        enter = _points(client, 703, index)
        client.step(seconds=enter["ESDlyTms"] + enter["ESRndTms"] + enter["ESRmpTms"] + _SETTLING_S)


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
    name, _, given = test_parameters(config) if config else (script, None, {})
    install_modules(folders)
    module = _import_script(_first(folders, "Scripts", f"{script}.py"))
    importlib.import_module("svpelab.result").result_workbook = lambda *_, **__: None  # type: ignore[attr-defined]
    prepare(client, device)
    clock = Clock(client)
    folder = os.path.join(os.path.abspath(results), name)
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(os.path.join(folder, _SUMMARY)):
        os.unlink(os.path.join(folder, _SUMMARY))  # scripts add to it
    values = {**given, **equipment_parameters(client, url, device), **(more or {})}
    ts = Script(module.script_info(), name, values, clock, folder, write, debug)
    _replace_time(clock, ts.sleep)
    code: Any = 1
    try:
        module.run(ts)
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except Exception:
        ts.log_error(traceback.format_exc())
    return code == 0 and ts.result_status != "Fail", ts


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
    except derbench.DerbenchError as error:
        print(f"svp_host: {error.detail}", file=sys.stderr)
        return 2
    passing, failing = verdicts(ts.result_file_path(_SUMMARY))
    print(f"{options.script}: {'ran to its end' if ended else 'did not run to its end'}; {passing} lines pass, {len(failing)} fail")
    for row in failing:
        print(json.dumps(row))
    return 2 if not ended else 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
