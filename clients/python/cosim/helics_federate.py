"""derbench as a value federate of HELICS: voltages in, powers out.

    helics_broker -f 2 --coretype=zmqss &
    python -m cosim.helics_federate --url http://127.0.0.1:8111 --core_type zmqss --until_s 3600

Needs the package `helics` (3.6 or later). Keys, units and the course of time: docs/how-to/helics-mosaik.md.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import signal
import sys
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

from derbench import Client, DerbenchError, Exchange

from .grid_values import AdapterError, Approach, GridValues, RareWarning, phases_of
from .node_map import NodeMap

try:
    import helics as h
except ImportError:
    h = None  # `Federate` says what to install

__all__ = ["Federate", "Settings"]

log = logging.getLogger("derbench.helics")

Json = Any
Answer = Mapping[str, Any]

_PHASES = "abc"
_INPUT_UNITS = {"voltage_a": "pu", "voltage_b": "pu", "voltage_c": "pu", "frequency": "Hz", "voltage_angle": "deg"}
_POWERS = {"active_power": ("p_w", "W"), "reactive_power": ("q_var", "VAR")}
#: kinds of publications that read as a list of numbers
_VECTOR_KINDS = ("double", "int64", "double_vector", "complex_vector")
#: the exchange takes no shorter step
_MIN_STEP_S = 0.001


@dataclass(frozen=True)
class Settings:
    """Settings of a federate; the flags of the program have the same names."""

    name: str = "derbench"
    core_type: str = "zmq"
    #: address of the broker; empty: the default of HELICS
    broker: str = ""
    core_init: str = ""
    period_s: float = 1
    offset_s: float = 0
    #: None: until the federation ends
    until_s: Optional[float] = None
    #: False: a value of another federate acts from its own instant on, within a period too
    uninterruptible: bool = True
    iterate: bool = False
    max_iterations: int = 50
    tolerance_pu: float = 1e-6
    #: complex values of each device in place of vectors
    per_device: bool = False
    #: publishes powers as loads have them: positive out of the grid
    as_loads: bool = False
    #: publishes the power of each phase too
    phases: bool = False
    #: publications of other federates by key of an input, without the name of this federate
    targets: Mapping[str, str] = field(default_factory=dict)
    #: None: all devices, each at the phases a, b and c
    node_map: Optional[NodeMap] = None
    #: real time without values of this federate after which `on_silence` happens; 0: never
    idle_timeout_s: float = 0
    #: detach, keep, outage or nominal, as of `POST exchange`
    on_silence: str = "detach"

    def __post_init__(self) -> None:
        rules = {
            f"period_s is {self.period_s}; allowed: {_MIN_STEP_S} to 86400": _MIN_STEP_S <= self.period_s <= 86_400,
            f"offset_s is {self.offset_s}; allowed: 0 to less than period_s": 0 <= self.offset_s < self.period_s,
            f"until_s is {self.until_s}; allowed: {_MIN_STEP_S} and more": self.until_s is None or self.until_s >= _MIN_STEP_S,
            f"max_iterations is {self.max_iterations}; allowed: 1 and more": self.max_iterations >= 1,
            f"tolerance_pu is {self.tolerance_pu}; allowed: more than 0": self.tolerance_pu > 0,
            "iterate cannot be combined with uninterruptible no": self.uninterruptible or not self.iterate,
        }
        problems = [text for text, is_kept in rules.items() if not is_kept]
        if problems:
            raise AdapterError("; ".join(problems))


class _Input(NamedTuple):
    """An input. place: the device that a complex voltage in V belongs to; None: a vector."""

    key: str
    quantity: str
    unit: str
    place: Optional[int] = None


class _Output(NamedTuple):
    """A publication. value: from an answer of the exchange; None: the answer has no such column."""

    key: str
    unit: str
    value: Callable[[Answer], Union[List[float], complex, None]]


class Federate:
    """A federate for the devices of one simulator, whose clock must be paused."""

    def __init__(self, client: Client, settings: Settings = Settings()) -> None:
        """Connects nothing yet. Raises AdapterError without the package helics."""
        if h is None:
            raise AdapterError("the package helics is not installed: pip install 'helics>=3.6'")
        self._client, self._settings = client, settings
        devices = None if settings.node_map is None else settings.node_map.devices
        owner = f"helics:{settings.name}"[:64]
        silence = {"idle_timeout_s": settings.idle_timeout_s, "on_silence": settings.on_silence}
        self._exchange = Exchange(client, devices=devices, phases=settings.phases, owner=owner, **silence)
        self._federate: Any = None
        # HELICS crashes where one thread frees what another one disconnects
        self._lock = threading.RLock()
        self._is_leaving = False
        self._inputs: List[Tuple[_Input, Any]] = []
        self._outputs: List[Tuple[_Output, Any]] = []
        self._checked: Set[str] = set()
        self._warn = RareWarning(log)
        self._grid = GridValues(0, 0, [], self._warn)
        self.grants = self.trials = self.trials_inexact = 0

    @property
    def invalid_count(self) -> int:
        """Values of inputs that were no numbers."""
        return self._grid.invalid_count

    def run(self) -> None:
        """Takes part in the federation until its end, or `until_s`.

        Raises DerbenchError and AdapterError; an error here ends the whole federation, which would wait for powers forever.
        """
        try:
            self._connect()
            if self._is_leaving:
                return
            description = self._exchange.attach()
            self._register(description)
            self._enter(description)
            self._run_iterated() if self._settings.iterate else self._run_stepwise()
        except h.HelicsException as error:
            if not self._is_leaving:
                raise AdapterError(f"HELICS: {error}") from error
        except Exception as error:
            if self._federate is not None:
                h.helicsFederateGlobalError(self._federate, 1, f"{self._settings.name}: {error}")
            raise
        finally:
            self._close()

    def leave(self) -> None:
        """Leaves the federation, from another thread or a handler of signals; the others go on."""
        self._is_leaving = True
        with self._lock:
            if self._federate is not None:
                h.helicsFederateDisconnect(self._federate)

    # connection

    def _connect(self) -> None:
        settings, info = self._settings, h.helicsCreateFederateInfo()
        # cores of one machine that have no names were seen to wait for each other forever
        h.helicsFederateInfoSetCoreName(info, f"{settings.name}_core")
        h.helicsFederateInfoSetCoreTypeFromString(info, settings.core_type)
        if settings.core_init:
            h.helicsFederateInfoSetCoreInitString(info, settings.core_init)
        if settings.broker:
            h.helicsFederateInfoSetBroker(info, settings.broker)
        if settings.uninterruptible:
            h.helicsFederateInfoSetFlagOption(info, h.HELICS_FLAG_UNINTERRUPTIBLE, True)
            h.helicsFederateInfoSetTimeProperty(info, h.HELICS_PROPERTY_TIME_PERIOD, settings.period_s)
            h.helicsFederateInfoSetTimeProperty(info, h.HELICS_PROPERTY_TIME_OFFSET, settings.offset_s)
        self._federate = h.helicsCreateValueFederate(settings.name, info)

    def _register(self, description: Json) -> None:
        settings, devices, federate = self._settings, self._exchange.devices, self._federate
        places = phases_of(description, settings.node_map)
        self._grid = GridValues(len(devices), description["nominal_hz"], places, RareWarning(log))
        inputs, outputs = (_device_ports if settings.per_device else _vector_ports)(devices, places, settings.phases)
        _check_targets(settings.targets, [each.key for each in inputs])
        for each in inputs:
            kind = h.HELICS_DATA_TYPE_VECTOR if each.place is None else h.HELICS_DATA_TYPE_COMPLEX
            port = h.helicsFederateRegisterGlobalInput(federate, f"{settings.name}/{each.key}", kind, each.unit)
            if each.key in settings.targets:
                h.helicsInputAddTarget(port, settings.targets[each.key])
            self._inputs.append((each, port))
        for output in outputs:
            kind = h.HELICS_DATA_TYPE_COMPLEX if output.unit == "VA" else h.HELICS_DATA_TYPE_VECTOR
            port = h.helicsFederateRegisterGlobalPublication(federate, f"{settings.name}/{output.key}", kind, output.unit)
            self._outputs.append((output, port))

    def _enter(self, description: Json) -> None:
        settings, federate = self._settings, self._federate
        text = h.helicsFederateRegisterGlobalPublication(federate, f"{settings.name}/devices", h.HELICS_DATA_TYPE_STRING, "")
        h.helicsFederateEnterInitializingMode(federate)
        h.helicsPublicationPublishString(text, json.dumps(description))
        self._publish(self._exchange.values(
            va_pu=1.0, frequency_hz=description["nominal_hz"], angle_deg=0.0, outage=False, island=False
        ))
        h.helicsFederateEnterExecutingMode(federate)

    def _close(self) -> None:
        try:
            self._exchange.end()
        except DerbenchError as error:
            log.warning("the exchange was not ended: %s", error)
        with self._lock:
            federate, self._federate = self._federate, None
            if federate is not None:
                h.helicsFederateDisconnect(federate)
                h.helicsFederateFree(federate)

    # values

    def _read(self) -> None:
        for each, port in self._inputs:
            if not h.helicsInputIsUpdated(port):
                continue
            if each.key not in self._checked:
                self._check(each, port)
            if each.place is not None:
                volts = abs(h.helicsInputGetComplex(port))
                self._grid.put(each.quantity, {each.place: volts / self._exchange.devices[each.place]["v_nom_ln_v"]})
            elif h.helicsInputGetPublicationType(port) == "complex_vector":
                self._grid.put_vector(each.quantity, [abs(value) for value in h.helicsInputGetComplexVector(port)])
            else:
                self._grid.put_vector(each.quantity, h.helicsInputGetVector(port))

    def _check(self, each: _Input, port: Any) -> None:
        """HELICS converts neither the units of vectors nor complex numbers to one number."""
        unit, kind = h.helicsInputGetInjectionUnits(port), h.helicsInputGetPublicationType(port)
        if unit not in ("", each.unit):
            raise AdapterError(f"{self._settings.name}/{each.key} has the unit {each.unit}; its publication has {unit}")
        if each.place is None and kind not in _VECTOR_KINDS:
            raise AdapterError(f"{self._settings.name}/{each.key} is a vector; its publication has the type {kind}")
        self._checked.add(each.key)

    def _publish(self, answer: Answer) -> None:
        for output, port in self._outputs:
            value = output.value(answer)
            if value is not None and self._settings.as_loads and output.unit:
                value = -value if isinstance(value, complex) else [-each for each in value]
            if isinstance(value, complex):
                h.helicsPublicationPublishComplex(port, value.real, value.imag)
            elif value is not None:
                h.helicsPublicationPublishVector(port, value)

    def _step(self, to_s: float, columns: Mapping[str, Any]) -> Answer:
        answer = self._exchange.step(to_s=to_s, **columns)
        for event in answer["events"]:
            log.info("%.6f s: device %d: %s", event["time_s"], event["device"], event["event"])
        return answer

    # time

    def _instant(self, number: int) -> float:
        """Instant of a grant by its number from 0 on, which is 0 s only for an offset of 0."""
        return round(self._settings.offset_s + number * self._settings.period_s, 6)

    def _until(self) -> float:
        """The end: an instant of a grant where less than a step of the exchange would be left behind it."""
        until = math.inf if self._settings.until_s is None else self._settings.until_s
        if until < math.inf:
            last = self._instant(math.floor(round((until - self._settings.offset_s) / self._settings.period_s, 6)))
            if last > 0 and until - last < _MIN_STEP_S:
                return last
        return until

    def _has_ended(self, granted: float) -> bool:
        return self._is_leaving or granted >= h.HELICS_TIME_MAXTIME

    def _run_stepwise(self) -> None:
        """A value acts from the last grant on; its effect is published at the next one."""
        until = self._until()
        number = 0 if self._settings.offset_s > 0 else 1
        while self._exchange.time_s < until:
            target = min(self._instant(number), until)
            granted = h.helicsFederateRequestTime(self._federate, target)
            if self._has_ended(granted):
                return
            self.grants += 1
            if granted >= target:
                self._read()
                self._publish(self._step(target, self._grid.columns()))
                number += 1
            else:
                self._put_between(round(granted, 6), target)

    def _put_between(self, granted: float, target: float) -> None:
        # the step to the target must not be too short
        instant = round(min(granted, target - _MIN_STEP_S), 6)
        if round(instant - self._exchange.time_s, 6) >= _MIN_STEP_S:
            self._step(instant, {})
        self._read()
        self._exchange.values(**self._grid.columns())

    def _run_iterated(self) -> None:
        """Powers of an instant belong to the voltages of that instant, which act from the instant before on.

        The exchange stays at the instant before, where trials begin, until the federation goes on.
        """
        until = self._until()
        approach = Approach()
        number = 0 if self._settings.offset_s > 0 else 1
        present, rounds = 0.0, 0
        while True:
            ahead = self._instant(number) if present >= until else min(self._instant(number), until)
            granted, is_iterating = self._request(ahead, rounds < self._settings.max_iterations)
            if self._has_ended(granted):
                break
            self._read()
            columns = self._grid.columns()
            if is_iterating:
                rounds += 1
                self._iterate(present, columns, approach)
                continue
            if rounds >= self._settings.max_iterations:
                self._warn("%g s: no agreement after %d iterations", present, rounds)
            if present > self._exchange.time_s:
                self._publish({"status": self._step(present, columns)["status"]})
            if present >= until:
                return
            self.grants += 1
            present, rounds, number = ahead, 0, number + 1
            answer = self._trial(present, columns)
            approach.begin(columns, answer)
            self._publish(answer)
        if present > self._exchange.time_s:
            self._step(present, self._grid.columns())

    def _request(self, ahead: float, may_iterate: bool) -> Tuple[float, bool]:
        """The granted time, and whether new values have come for the present one."""
        kind = h.HELICS_ITERATION_REQUEST_ITERATE_IF_NEEDED if may_iterate else h.HELICS_ITERATION_REQUEST_NO_ITERATION
        granted, result = h.helicsFederateRequestTimeIterative(self._federate, ahead, kind)
        return granted, result == h.HELICS_ITERATION_RESULT_ITERATING

    def _iterate(self, present: float, columns: Mapping[str, List[float]], approach: Approach) -> None:
        if present <= self._exchange.time_s:
            self._exchange.values(**columns)
            return
        answer = approach.next(columns, self._settings.tolerance_pu, lambda: self._trial(present, columns))
        if answer is not None:
            self._publish(answer)

    def _trial(self, present: float, columns: Mapping[str, Any]) -> Answer:
        ahead_s = round(present - self._exchange.time_s, 6)
        answer = self._exchange.trial(dt_s=ahead_s, phases=self._settings.phases, **columns)
        self.trials += 1
        self.trials_inexact += 0 in answer["exact"]
        return answer


def _numbers(answer: Answer, name: str) -> Optional[List[float]]:
    """A column; 0 for a device that was removed."""
    return [value or 0.0 for value in answer[name]] if name in answer else None


def _of_phase(answer: Answer, name: str, phase: str, places: Sequence[str]) -> Optional[List[float]]:
    """Power into a phase of the grid; 0 of a device that is not connected to it. name: `p_w` or `q_var`."""
    kind, unit = name.split("_")
    columns = [_numbers(answer, f"{kind}{column}_{unit}") for column in _PHASES]
    if None in columns:
        return None
    return [columns[place.index(phase)][at] if phase in place else 0.0 for at, place in enumerate(places)]


Ports = Tuple[List[_Input], List[_Output]]


def _vector_ports(devices: Sequence[Json], places: Sequence[str], has_phases: bool) -> Ports:
    inputs = [_Input(name, name, unit) for name, unit in _INPUT_UNITS.items()]
    outputs = [_Output(key, unit, lambda answer, name=name: _numbers(answer, name)) for key, (name, unit) in _POWERS.items()]
    for phase in _PHASES if has_phases else "":
        for key, (name, unit) in _POWERS.items():
            value = lambda answer, name=name, phase=phase: _of_phase(answer, name, phase, places)  # noqa: E731
            outputs.append(_Output(f"{key}_{phase}", unit, value))
    outputs.append(_Output("status", "", lambda answer: _numbers(answer, "status")))
    return inputs, outputs


def _device_ports(devices: Sequence[Json], places: Sequence[str], has_phases: bool) -> Ports:
    inputs = [_Input("frequency", "frequency", _INPUT_UNITS["frequency"])]
    outputs = []
    for at, (device, place) in enumerate(zip(devices, places)):
        key = f"der/{device['index']}"
        inputs += [_Input(f"{key}/voltage_{phase}", f"voltage_{phase}", "V", at) for phase in sorted(place)]
        total = lambda answer, at=at: _complex(_numbers(answer, "p_w"), _numbers(answer, "q_var"), at)  # noqa: E731
        outputs.append(_Output(f"{key}/power", "VA", total))
        for phase in place if has_phases else "":
            value = lambda answer, at=at, phase=phase: _complex(  # noqa: E731
                _of_phase(answer, "p_w", phase, places), _of_phase(answer, "q_var", phase, places), at
            )
            outputs.append(_Output(f"{key}/power_{phase}", "VA", value))
    return inputs, outputs


def _complex(watts: Optional[List[float]], vars_: Optional[List[float]], at: int) -> Optional[complex]:
    return None if watts is None or vars_ is None else complex(watts[at], vars_[at])


def _check_targets(targets: Mapping[str, str], keys: Sequence[str]) -> None:
    unknown = [key for key in targets if key not in keys]
    if unknown:
        shown = ", ".join(keys[:10]) + (", .." if len(keys) > 10 else "")
        raise AdapterError(f"targets names no input: {', '.join(unknown)}; inputs: {shown}")


def _is_yes(text: str) -> bool:
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: yes, no")
    return text == "yes"


def _targets_of(path: str) -> Dict[str, str]:
    with open(path, encoding="utf-8") as file:
        targets = json.load(file)
    if not isinstance(targets, dict) or not all(isinstance(value, str) for value in targets.values()):
        raise AdapterError(f'{path}: an object such as {{"voltage_a": "grid/voltage_a"}} is required')
    return targets


def _arguments(argv: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cosim.helics_federate", description="derbench as a federate of HELICS.")
    preset = Settings()
    parser.add_argument("--url", default="http://127.0.0.1:8111", help="address of the simulator, whose clock must be paused")
    parser.add_argument("--name", default=preset.name, help="name of the federate, and the first part of its keys")
    parser.add_argument("--core_type", default=preset.core_type, help="as the broker has it: zmq, zmqss, tcpss, ...")
    parser.add_argument("--broker", default=preset.broker, help="address of the broker, as 127.0.0.1:23404")
    parser.add_argument("--core_init", default=preset.core_init, help="further options of the core of HELICS")
    parser.add_argument("--period_s", type=float, default=preset.period_s)
    parser.add_argument("--offset_s", type=float, default=preset.offset_s)
    parser.add_argument("--until_s", type=float, help="default: until the federation ends")
    parser.add_argument("--uninterruptible", type=_is_yes, default=True, help="no: values of others act at their own instants")
    parser.add_argument("--iterate", type=_is_yes, default=False, help="yes: voltages and powers of an instant agree")
    parser.add_argument("--max_iterations", type=int, default=preset.max_iterations)
    parser.add_argument("--tolerance_pu", type=float, default=preset.tolerance_pu)
    parser.add_argument("--per_device", action="store_true", help="complex values of each device in place of vectors")
    parser.add_argument("--as_loads", action="store_true", help="powers positive out of the grid, as loads have them")
    parser.add_argument("--phases", action="store_true", help="publishes the power of each phase too")
    parser.add_argument(
        "--idle_timeout_s", type=float, default=preset.idle_timeout_s, help="silence that ends the exchange of a killed federate"
    )
    parser.add_argument("--on_silence", default=preset.on_silence, choices=("detach", "keep", "outage", "nominal"))
    parser.add_argument("--targets", help="JSON file: key of an input, and the publication that it reads")
    parser.add_argument("--map", help="JSON file: devices, and their buses and phases")
    return parser.parse_args(argv)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """The program. Returns its exit code."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    members = vars(_arguments(argv))
    url, targets, node_map = (members.pop(name) for name in ("url", "targets", "map"))
    errors: List[BaseException] = []
    try:
        settings = Settings(
            **members,
            targets={} if targets is None else _targets_of(targets),
            node_map=None if node_map is None else NodeMap.load(node_map),
        )
        federate = Federate(Client(url), settings)
    except (DerbenchError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2

    def run() -> None:
        try:
            federate.run()
        except BaseException as error:
            errors.append(error)

    # a request of HELICS does not return for a signal: the main thread has to be free for it
    thread = threading.Thread(target=run, daemon=True)

    def leave(number: int, _: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        federate.leave()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    thread.start()
    thread.join()
    h.helicsCloseLibrary()
    if errors:
        print(errors[0], file=sys.stderr)
        return 1
    counts = f"{federate.grants} grants, {federate.trials} trials ({federate.trials_inexact} inexact)"
    print(f"{settings.name}: {counts}, {federate.invalid_count} invalid values")
    return 0


if __name__ == "__main__":
    sys.exit(main())
