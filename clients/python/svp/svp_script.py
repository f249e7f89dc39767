"""`script` and `ts` of SVP without its window: parameters, log, results, timers, and time that passes in `sleep` alone."""

from __future__ import annotations

import datetime as _datetime
import os
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence

import derbench

#: simulated seconds of one step
_LONGEST_STEP_S = 600.0
#: newest version of SVP whose scripts have run here
_SVP_VERSION = "1.5.9"


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
        values: Mapping[str, Any],
        clock: Clock,
        folder: str,
        write: Callable[[str], None] = print,
        debug: bool = False,
    ) -> None:
        self.info, self.name, self.desc = info, info.name, info.desc
        self._config_name, self._clock, self._write, self._debug = config_name, clock, write, debug
        self._values = dict(values)
        self._timers: List[_Timer] = []
        self._in_callback = False
        self._result_dir = os.path.abspath(folder)
        self._results_dir = os.path.dirname(self._result_dir) + os.sep
        self._files_dir = os.path.join(self._results_dir, "Files")
        self.result_status: Optional[str] = None
        #: values of all parameters that count, which some scripts read without `param_value`
        self.params = {name: self.param_value(name) for name in info.params if self.param_value(name) is not None}

    def param_value(self, name: str, param_defs: Any = None, param_value: Any = None) -> Any:
        value = self._values.get(name)
        return self.info.default(name, self.param_value) if value is None else value

    param_get = param_value

    def get_active_params(self) -> Dict[str, Any]:
        return dict(self.params)

    def group_params(self, group: Optional[str] = None, params: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        prefix = "" if group is None else group + "."
        names = [name for name in self.params if name.startswith(prefix) and "." not in name[len(prefix) :]]
        return {**(params or {}), **{name[len(prefix) :]: self.params[name] for name in names}}

    def log(self, message: Any, level: str = "I") -> None:
        self._write(f"{self._clock.now.isoformat(sep=' ', timespec='milliseconds')} {level} {message}")

    def log_debug(self, message: Any) -> None:
        if self._debug:
            self.log(message, "D")

    def log_warning(self, message: Any) -> None:
        self.log(message, "W")

    def log_error(self, message: Any) -> None:
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
        """Names a file for the report of SVP; it lies in the result folder already."""

    def result(self, status: Optional[str] = None, params: Any = None) -> None:
        self.result_status = status
        self.log(f"Test result: {status}")

    def svp_version(self, required: Any = None) -> str:
        """Scripts refuse an SVP that is older than they are."""
        return _SVP_VERSION

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
