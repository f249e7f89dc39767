"""Client of a derbench simulator, and a simulator for the length of a `with` block.

The standard library only, Python 3.9 or later: install the wheel, or put the folder above this one on PYTHONPATH. It is part
of the npm package (`node_modules/derbench/clients/python`).

    from derbench import Simulator

    with Simulator() as sim:
        client = sim.client
        client.environment(irradiance_w_m2=1000)
        client.write(704, {"WMaxLimPct": 50, "WMaxLimPctEna": "ENABLED"})
        assert client.until("701.W", lambda watts: watts <= 5000) == 5000

The clock of a `Simulator` is paused: time passes in steps of the script, so that a test never waits and always gives the
same result. Every refusal raises `DerbenchError`.
"""

from __future__ import annotations

import atexit
import datetime
import http.client
import inspect
import json
import math
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time as _time
import warnings
import uuid
import zoneinfo
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Client", "DerbenchError", "Exchange", "Simulator"]

Json = Any
Wanted = Union[float, int, str, Callable[[Any], bool]]

_PREFIX = "/api/sim/"
#: version of the HTTP interface that this client was written for, major and minor
_API_VERSION = (1, 16)
#: paths that every version answers alike
_UNVERSIONED = ("health", "server-info", "stop")
#: length of a step of an exchange, simulated seconds
_MIN_STEP_S, _MAX_STEP_S = 0.001, 86_400
#: ticks of one request: longer ones could meet the time limit of a request
_TICKS_PER_REQUEST = 1000
#: real seconds: more than a socket takes as its limit are refused
_LONGEST_REQUEST_S = 2_000_000
#: real seconds that one look of `ready` takes at least
_SHORTEST_LOOK_S = 0.1
#: real seconds by which a connection is given up before the simulator may close it
_KEEP_ALIVE_MARGIN_S = 1
#: characters that a path may have unquoted: separators, and what the caller has quoted already
_PATH_CHARACTERS = "/?&=%:@!$'()*+,;~[]"


class DerbenchError(Exception):
    """A refused request, or none that could be made.

    status: HTTP status of the answer; None: there was none.
    code: code of the problem, as `validation` or `conflict`; without an answer `validation` (of an argument),
        `not-reachable`, `timeout`, `not-a-number`, `not-a-text`, `config-invalid`, `listen-failed`, `start-failed`,
        `incompatible` (the simulator has another major version of the HTTP interface).
    detail: what happened, in words.
    issues: each refused member: a dict with `in`, `name`, `detail` and sometimes `allowed`.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        status: Optional[int] = None,
        issues: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.issues = list(issues)


class Client:
    """A running simulator. Paths are those of the description (`/docs`) behind `/api/sim/`.

    `device` selects a device by its index; without it the first one, or the common surroundings of all. Each thread has one
    connection, which stays open from request to request; it closes with `close`, or with the client.
    """

    def __init__(self, url: str = "http://127.0.0.1:8111", timeout_s: float = 300) -> None:
        """url: address of the simulator, with `http://` or `https://`. timeout_s: real seconds that one request may take."""
        scheme, self._host, self._port, path = _address(url)
        self.url = url.rstrip("/")
        self._connection_type = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        self._lines = threading.local()
        self._base = _quoted(path.rstrip("/"), _PATH_CHARACTERS)
        self._timeout_s = _seconds("timeout_s", timeout_s, _LONGEST_REQUEST_S)
        self._is_compatible = False

    # requests

    def get(self, path: str, /, **query: Any) -> Json:
        """The answer to GET: what JSON says, or the text of an answer of another type."""
        return self._request("GET", path, query)

    def post(self, path: str, body: Optional[Mapping[str, Any]] = None, /, **query: Any) -> Json:
        """The answer to POST."""
        return self._request("POST", path, query, {} if body is None else body)

    def patch(self, path: str, body: Mapping[str, Any], /, **query: Any) -> Json:
        """The answer to PATCH."""
        return self._request("PATCH", path, query, body)

    def delete(self, path: str, /, **query: Any) -> Json:
        """The answer to DELETE."""
        return self._request("DELETE", path, query)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: Optional[Mapping[str, Any]] = None,
        timeout_s: Optional[float] = None,
        is_repeatable: bool = False,
    ) -> Json:
        """is_repeatable: a second request would change nothing, so that it is sent again if a kept connection breaks."""
        if not isinstance(path, str):
            raise _refusal(path, "a path as controls/time")
        target = self._base + _quoted(path if path.startswith(_PREFIX) else _PREFIX + path.lstrip("/"), _PATH_CHARACTERS)
        given = {name: _query_text(value) for name, value in query.items() if value is not None}
        if given:
            target += ("&" if "?" in target else "?") + _encoded(urlencode, given)
        headers = {} if body is None else {"Content-Type": "application/json"}
        text = None if body is None else _json_text(body)
        if not self._is_compatible and path not in _UNVERSIONED:
            self._check_version(timeout_s)
        line = self._line()
        line.connection.timeout = self._timeout_s if timeout_s is None else timeout_s
        was_open = line.is_open()
        try:
            try:
                status, kind, text = line.ask(method, target, text, headers)
            except ConnectionError:
                if not was_open or not (is_repeatable or method == "GET"):
                    raise
                status, kind, text = line.ask(method, target, text, headers)
        except (OSError, http.client.HTTPException) as error:
            raise DerbenchError("not-reachable", f"{self.url} gives no answer: {error or type(error).__name__}") from error
        if not 200 <= status <= 299:
            raise _problem(status, text)
        if kind != "application/json":
            return text
        try:
            return json.loads(text)
        except ValueError as error:
            raise DerbenchError("unknown", f"{self.url} answers with JSON that cannot be read: {error}", status) from error

    def _check_version(self, timeout_s: Optional[float]) -> None:
        """Reads the version of the HTTP interface once. Raises DerbenchError `incompatible` for another major version."""
        try:
            info = self._request("GET", "server-info", {}, timeout_s=timeout_s)
        except DerbenchError as error:
            if error.status is None:
                raise
            info = None  # what answers there will say more about the request itself
        version = info.get("api_version") if isinstance(info, dict) else None
        match = re.match(r"(\d+)\.(\d+)", version) if isinstance(version, str) else None
        if match is not None and int(match[1]) != _API_VERSION[0]:
            raise DerbenchError(
                "incompatible",
                f"{self.url} serves version {version} of the HTTP interface; this client speaks version {_API_VERSION[0]}",
            )
        if match is not None and int(match[2]) < _API_VERSION[1]:
            warnings.warn(
                f"{self.url} serves version {version} of the HTTP interface; this client expects"
                f" {_API_VERSION[0]}.{_API_VERSION[1]}, so that some calls may be unknown there",
                stacklevel=2,
            )
        self._is_compatible = True

    def _line(self) -> "_Line":
        line: Optional[_Line] = getattr(self._lines, "line", None)
        if line is None:
            line = self._lines.line = _Line(self._connection_type(self._host, self._port))
        return line

    def close(self) -> None:
        """Closes the connection of this thread; the next request opens another one."""
        self._line().connection.close()

    def ready(self, timeout_s: float = 30) -> None:
        """Waits until the simulator answers, within timeout_s real seconds. Raises DerbenchError `timeout`."""
        end = _time.monotonic() + _seconds("timeout_s", timeout_s, _LONGEST_REQUEST_S, least=0)
        while True:
            left = max(end - _time.monotonic(), _SHORTEST_LOOK_S)
            try:
                self._request("GET", "health", {}, timeout_s=min(left, self._timeout_s))
                return
            except DerbenchError as error:
                if error.code != "not-reachable":
                    raise
                if _time.monotonic() >= end:
                    raise DerbenchError("timeout", f"{error.detail} (for {timeout_s} s)") from error
            _time.sleep(max(0, min(0.1, end - _time.monotonic())))

    # the clock

    def time(self) -> Json:
        """The simulated clock: mode, rate, sim_time, tick, ..."""
        return self.get("controls/time")

    def pause(self) -> Json:
        """From here on time passes only in steps."""
        return self.post("controls/time", {"mode": "paused"})

    def rate(self, rate: float) -> Json:
        """Lets the clock run: simulated seconds per real second, 0.01 to 3600."""
        return self.post("controls/time", {"mode": "accelerated", "rate": rate})

    def step(
        self,
        ticks: Optional[int] = None,
        seconds: Optional[float] = None,
        to: Optional[str] = None,
        device: Optional[int] = None,
    ) -> Json:
        """Runs ticks of the paused clock, and answers `time` and `snapshot` when they are done.

        One of ticks, seconds (simulated) and to (an instant as 2026-06-21T12:05:00Z, or the next time of day as 12:05);
        without one of them a single tick. Raises DerbenchError `conflict` unless the clock is paused.
        """
        if sum(each is not None for each in (ticks, seconds, to)) > 1:
            raise DerbenchError("validation", "a step takes one of ticks, seconds and to")
        if seconds is None and to is None:
            return self._step_ticks(1 if ticks is None else _whole("ticks", ticks), device)
        if seconds is not None:
            _finite("seconds", seconds)
        now = self.time()
        present = _instant(now["sim_time"])
        try:
            end = present + datetime.timedelta(seconds=seconds or 0) if to is None else _target(to, now)
            text = _text_of(end)
        except OverflowError as error:
            raise _refusal(seconds if to is None else to, "a step to a date before the year 10000") from error
        whole_ticks = -(-(end - present).total_seconds() // _tick_seconds(now)) - 1
        whole = int(whole_ticks // _TICKS_PER_REQUEST) * _TICKS_PER_REQUEST
        if whole > 0:
            self._step_ticks(whole, device)
        return self.post("controls/time/step", {"until": text}, device=device)

    def _step_ticks(self, ticks: int, device: Optional[int]) -> Json:
        while ticks > _TICKS_PER_REQUEST:
            self.post("controls/time/step", {"ticks": _TICKS_PER_REQUEST}, device=device)
            ticks -= _TICKS_PER_REQUEST
        return self.post("controls/time/step", {"ticks": ticks}, device=device)

    def step_to(self, time: str, device: Optional[int] = None) -> Json:
        """Steps to an instant as 2026-06-21T12:05:00Z, or to the next time of day as 12:05."""
        if not isinstance(time, str):
            raise _refusal(time, _INSTANTS)
        return self.step(to=time, device=device)

    # devices

    def overview(self, device: Optional[int] = None) -> Json:
        """Snapshot of a device, and all devices, protocols and alarms."""
        return self.get("overview", device=device)

    def devices(self) -> List[Json]:
        """Snapshot of each device, with its name, alarms and Modbus address."""
        answer: List[Json] = self.get("devices")["devices"]
        return answer

    def device(self, index: int) -> Json:
        """One of `devices`."""
        return self.get("devices", device=index)["devices"][0]

    def registers(self, model: Union[int, str], points: Optional[Sequence[str]] = None, device: Optional[int] = None) -> Json:
        """A model of the map, or some of its points."""
        return self.get(f"registers/{model}", points=points, device=device)

    def point(self, name: str, device: Optional[int] = None) -> float:
        """The number in a point as `701.W`, in engineering units, or in a member of the snapshot as `metrics.power_kw`.

        Raises DerbenchError `not-a-number`, also where the device does not have the quantity.
        """
        value, _ = self._sample(name, device)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        raise DerbenchError("not-a-number", f"{name} is no number: {_given(value)}")

    def text(self, name: str, device: Optional[int] = None) -> str:
        """The name of the value of an enumeration as `701.InvSt`, or a text as `1.Mn`. Raises `not-a-text`."""
        value, symbol = self._sample(name, device)
        if symbol is not None:
            return symbol
        if isinstance(value, str):
            return value
        raise DerbenchError("not-a-text", f"{name} is no text: {_given(value)}")

    def _sample(self, name: str, device: Optional[int]) -> Tuple[Any, Optional[str]]:
        """Value and, of an enumeration, its name."""
        if not isinstance(name, str):
            raise _refusal(name, _NAMES)
        named = re.fullmatch(r"(\d+(?::\d+)?)\.(.+)", name)
        if named:
            points = self.registers(named[1], [named[2]], device)["points"]
            return (points[0]["value"], points[0].get("symbol")) if points else (None, None)
        found: Any = self.overview(device)
        for step in name.split("."):
            found = found[step] if isinstance(found, dict) and step in found else _Missing
        if found is None or isinstance(found, (int, float, str)):
            return found, None
        raise _refusal(name, _NAMES)

    def write(self, model: Union[int, str], points: Mapping[str, Union[float, int, str]], device: Optional[int] = None) -> Json:
        """Writes points of a model, all or none: numbers in engineering units, enumerations by name or number."""
        if not isinstance(points, Mapping):
            raise _refusal(points, 'points with their values, as {"WMaxLimPct": 50}')
        return self.post(f"registers/{model}", {"points": dict(points)}, device=device)

    def until(
        self,
        name: str,
        wanted: Wanted,
        timeout_s: float = 60,
        device: Optional[int] = None,
        simulated: Optional[bool] = None,
    ) -> Any:
        """Waits until a point as `701.W`, or a member of the snapshot as `status.inverter_state`, is as wanted.

        wanted: a number or word that it equals (of an enumeration its number or name), or a function that gets the value
        (of an enumeration its name) and says whether it passes; not None, and no `async` function, which are refused with
        `validation`. A value that the device does not have now never passes.
        While the clock is paused this steps tick by tick; else it looks twice per tick. timeout_s is simulated time while
        the clock is paused, unless `simulated` says otherwise. Returns the value that passed. Raises DerbenchError
        `timeout` with the last value.
        """
        _check_wanted(wanted)
        _seconds("timeout_s", timeout_s, math.inf, least=0)
        now = self.time()
        by_simulation = now["mode"] == "paused" if simulated is None else simulated
        first, first_tick, first_real = _instant(now["sim_time"]), now["tick"], _time.monotonic()
        while True:
            value, symbol = self._sample(name, device)
            shown = value if symbol is None else symbol
            if value is not None and _passes(value, symbol, wanted):
                return value if not callable(wanted) and wanted == value else shown
            if by_simulation:
                elapsed = (_instant(now["sim_time"]) - first).total_seconds()
            else:
                elapsed = _time.monotonic() - first_real
            left = timeout_s - elapsed
            if left <= 0:
                aim = "what the test waits for" if callable(wanted) else json.dumps(wanted)
                clock = "simulated" if by_simulation else "real"
                last = "none" if value is None else f"{shown}" if symbol is None else f"{symbol} ({value})"
                raise DerbenchError(
                    "timeout",
                    f"{name} did not become {aim} within {elapsed:.3f} s of {clock} time "
                    f"({now['tick'] - first_tick} ticks); its last value was {last}",
                )
            if now["mode"] == "paused":
                is_last = by_simulation and left < _tick_seconds(now)
                body: Dict[str, Any] = {"ticks": 1}
                if is_last:
                    body = {"until": _text_of(first + datetime.timedelta(seconds=timeout_s))}
                now = self.post("controls/time/step", body)["time"]
            else:
                # twice per tick, so that none is passed over
                pause_s = min(max(now["tick_interval_s"] / 2, 0.02), 1)
                _time.sleep(pause_s if by_simulation else min(pause_s, left))
                now = self.time()

    def changes(self, device: Optional[int] = None) -> List[Json]:
        """Points that are not as they were at the start, with their writers."""
        answer: List[Json] = self.get("registers/changes", device=device)["changes"]
        return answer

    def alarms(self, device: Optional[int] = None) -> List[Json]:
        """Active alarms, of one device or of all."""
        whole = self.overview() if device is None else self.device(device)
        answer: List[Json] = whole["alarms"]["active"]
        return answer

    # surroundings

    def grid(self, device: Optional[int] = None, **change: Any) -> Json:
        """Changes the grid, as grid(voltage_pu=1.05, ramp_s=5); without members it only answers how it is."""
        return self._set("controls/grid", device, change)

    def grid_event(self, event: Optional[str], device: Optional[int] = None, **parameters: Any) -> Json:
        """Starts an event of `GET grid-events`, as grid_event("sag", residual_pu=0.6); None stops the one under way."""
        body = {"event": event} if event is None else {"event": event, "parameters": parameters}
        return self.post("controls/grid/event", body, device=device)

    def environment(self, device: Optional[int] = None, **change: Any) -> Json:
        """Changes irradiance, temperatures and load; without members it only answers how they are."""
        return self._set("controls/environment", device, change)

    def _set(self, path: str, device: Optional[int], change: Mapping[str, Any]) -> Json:
        return self.post(path, change, device=device) if change else self.get(path, device=device)

    # faults

    def fault(self, kind: str, device: Optional[int] = None, **parameters: Any) -> Json:
        """Injects a fault of `GET faults/kinds`, as fault("scale", points=["701.W"], factor=0.5); `protocol` if not Modbus."""
        faults = self.post("faults", {"inject": [{"kind": kind, **parameters}]}, device=device)["faults"]
        return max(faults, key=lambda each: each["id"])

    def clear_faults(self) -> List[Json]:
        """Ends all faults, and answers those that have ended since the start, with their strikes."""
        answer: List[Json] = self.post("faults", {"clear": True})["ended"]
        return answer

    # charging stations

    def connector(self, charge_point: str = "SIM-CP-1", connector: int = 1) -> Json:
        """State of a connector of a charging station."""
        return self.get(_connector(charge_point, connector))

    def plug(self, charge_point: str = "SIM-CP-1", connector: int = 1, **ev: Any) -> Json:
        """Plugs a vehicle in: members in which it differs from the one of the profile, as soc_pct=40."""
        return self.post(_connector(charge_point, connector) + "/plug", {"ev": ev})

    def unplug(self, charge_point: str = "SIM-CP-1", connector: int = 1) -> Json:
        """Unplugs the vehicle."""
        return self.post(_connector(charge_point, connector) + "/unplug")

    def authorize(self, id_token: str, charge_point: str = "SIM-CP-1", connector: int = 1) -> Json:
        """Presents a token, with OCPP to the central system."""
        return self.post(_connector(charge_point, connector) + "/authorize", {"id_token": id_token})

    def start_charging(self, id_token: Optional[str] = None, charge_point: str = "SIM-CP-1", connector: int = 1) -> Json:
        """Starts a session; no token is needed where plugging in authorises."""
        body = {} if id_token is None else {"id_token": id_token}
        return self.post(_connector(charge_point, connector) + "/start", body)

    def stop_charging(self, charge_point: str = "SIM-CP-1", connector: int = 1) -> Json:
        """Ends the session; None when only an authorisation was withdrawn."""
        return self.post(_connector(charge_point, connector) + "/stop")

    # messages

    def record(self, protocol: str, enabled: bool = True) -> Json:
        """Keeps the messages of `modbus`, `csip` or `dnp3` from here on; those of OCPP are always kept."""
        return self.post(f"{protocol}/messages", {"enabled": enabled})

    def messages(self, protocol: str, charge_point: str = "SIM-CP-1", **query: Any) -> List[Json]:
        """The kept messages of `modbus`, `csip`, `dnp3` or `ocpp`, oldest first."""
        path = f"ocpp/{_quoted(charge_point)}/messages" if protocol == "ocpp" else f"{protocol}/messages"
        answer: List[Json] = self.get(path, **query)["messages"]
        return answer


class Exchange:
    """Devices attached to a grid outside of the simulator, which gives their voltages and takes their power.

        with Exchange(client, phases=True) as exchange:
            answer = exchange.step(dt_s=1, va_pu=[1.01, 1.02])
            answer["p_w"], answer["q_var"]

    Columns have one value for each device, in the order of `devices`; numpy arrays do as well as lists. Members are those of
    `POST exchange/step`: `va_pu`, `vb_pu`, `vc_pu`, `v_v`, `frequency_hz`, `angle_deg`, `outage`, `island`; None leaves one out.
    """

    def __init__(self, client: Client, **attachment: Any) -> None:
        """attachment: members of `POST exchange`, such as devices, outputs, phases and owner; nothing is attached yet.

        owner: None is a name that no other exchange has, so that `attach` can tell its session from one of somebody else.
        """
        self._client = client
        self._has_unique_owner = attachment.get("owner") is None
        self._attachment = {"owner": f"python {uuid.uuid4().hex[:12]}", **_present(attachment)}
        #: None before `attach` and after `end`
        self.session: Optional[str] = None
        #: simulated seconds since the attachment, at the last answer
        self.time_s = 0.0
        self._is_stepped = True
        #: attached devices: index, name, kind, wiring, v_nom_ln_v, s_rated_va, p_max_w, p_min_w
        self.devices: List[Json] = []

    def __enter__(self) -> "Exchange":
        self.attach()
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            self.end()
        except DerbenchError:
            if kind is None:
                raise

    def attach(self) -> Json:
        """Attaches the devices, and answers the description of the exchange. Raises DerbenchError `conflict` if there is one.

        If the answer is lost, `GET exchange` says whether the devices are attached. The session is taken over when `owner` was
        left out; else it may be that of another client, and the error says how to end it.
        """
        try:
            description = self._client.post("exchange", self._attachment)
        except DerbenchError as error:
            if error.code != "not-reachable":
                raise
            description = self._attached(error)
        self.session, self.time_s, self.devices = description["session"], description["time_s"], description["devices"]
        self._is_stepped = description["pace"] == "stepped"
        return description

    def _attached(self, lost: DerbenchError) -> Json:
        """The description of the exchange after a lost answer; attaches again if the request did not arrive."""
        description = self._client.get("exchange")
        if not description["attached"]:
            try:
                return self._client.post("exchange", self._attachment)
            except DerbenchError as error:
                if error.code != "conflict":
                    raise
                # the lost request was waiting for the end of a tick, and has attached the devices since
                description = self._client.get("exchange")
                if not description["attached"]:
                    raise
        return self._taken_over(description, lost)

    def _taken_over(self, description: Json, lost: DerbenchError) -> Json:
        """The description again if the session can only be that of this exchange."""
        owner = description["owner"]
        if owner != self._attachment["owner"] or not self._has_unique_owner:
            end = f'client.post("exchange/end", {json.dumps({"session": description["session"]})})'
            whose = "of this request or of another client" if owner == self._attachment["owner"] else "of another client"
            since = f"{json.dumps(owner)} is attached since {description['since']}"
            raise DerbenchError("conflict", f"{lost.detail}; {since}, in a session {whose}: {end} ends it") from lost
        return description

    def step(self, to_s: Optional[float] = None, dt_s: Optional[float] = None, **values: Any) -> Json:
        """Puts values in and runs one step, to an instant since the attachment or of a length; answers the columns at its end.

        A step takes 0.001 to 86400 s; its length counts from the last answer, or from the present where the devices were
        attached to a running clock, which `Client.pause` has to stop before. A step is never sent twice: if its answer is
        lost, that of `GET exchange/values` counts when it is of the same instant.
        """
        body = self._body(values)
        to_s = body["to_s"] = self._end_s(to_s, dt_s)
        try:
            return self._answer(self._client.post("exchange/step", body))
        except DerbenchError as error:
            if error.code != "not-reachable":
                raise
            try:
                answer = self.values()
            except DerbenchError as later:
                detail = f"{error.detail}; it is not known whether the step to {to_s} s has ended: {later.detail}"
                raise DerbenchError(later.code, detail) from error
            if abs(answer["time_s"] - to_s) > 1e-6:
                detail = f"{error.detail}; the step to {to_s} s has not ended, the exchange is at {answer['time_s']} s"
                raise DerbenchError("not-reachable", detail) from error
            return answer

    def _end_s(self, to_s: Optional[float], dt_s: Optional[float]) -> float:
        """The instant at which a step ends, simulated seconds since the attachment."""
        if to_s is None and dt_s is not None:
            _seconds("dt_s", dt_s, _MAX_STEP_S, least=_MIN_STEP_S)
            return round(self._begin_s() + dt_s, 6)
        if to_s is None or dt_s is not None:
            raise DerbenchError("validation", "a step takes one of to_s and dt_s")
        _finite("to_s", to_s)
        begin_s = self._begin_s()
        if not _MIN_STEP_S <= round(to_s - begin_s, 6) <= _MAX_STEP_S:
            raise _refusal(to_s, f"to_s after the present {begin_s:g} s, by {_MIN_STEP_S:g} to {_MAX_STEP_S} s")
        # a sum of steps such as 0.1 s is off its decimal text by microseconds after a day
        return round(to_s, 6)

    def _begin_s(self) -> float:
        """The present instant, simulated seconds since the attachment: a clock that runs has passed the last answer."""
        if not self._is_stepped:
            self.values()
        return self.time_s

    def trial(self, dt_s: Optional[float] = None, **values: Any) -> Json:
        """Powers after dt_s at other values, None: when all responses have ended. Changes nothing, no time passes."""
        if dt_s is not None:
            _seconds("dt_s", dt_s, _MAX_STEP_S, least=_MIN_STEP_S)
        body = {"phases": self._attachment.get("phases", False), **self._body(values), "dt_s": dt_s}
        return self._client._request("POST", "exchange/trial", {}, body, is_repeatable=True)

    def values(self, **values: Any) -> Json:
        """Columns of the last tick; values are put in before, without a step. `ramp_s`: they are reached by a ramp."""
        if _present(values):
            return self._answer(self._client.post("exchange/values", self._body(values)))
        answer = self._client.get("exchange/values")
        if answer["session"] != self.session:
            raise DerbenchError("conflict", "devices are attached in another session")
        return self._answer(answer)

    def end(self) -> None:
        """Returns the devices to the grid of the simulator; does nothing when none are attached."""
        if self.session is None:
            return
        try:
            self._client.post("exchange/end", {"session": self.session})
        except DerbenchError as error:
            # the simulator has ended it, after a silence for example
            if error.code != "conflict":
                raise
        self.session = None

    def _body(self, values: Mapping[str, Any]) -> Dict[str, Any]:
        if self.session is None:
            raise DerbenchError("conflict", "no devices are attached; attach() comes first")
        return {"session": self.session, **_present(values)}

    def _answer(self, answer: Json) -> Json:
        self.time_s = answer["time_s"]
        return answer


class Simulator:
    """A simulator in a process of its own, on free ports and with its clock paused.

    Settings are given by their names in configuration files, as Simulator(N=3, tick=1); a path among them starts at
    the working directory. With `devices`, `grid` or `faults` (blocks of a configuration file) paths inside of these
    must be absolute. Variables DERBENCH_... of the environment do not count.

        with Simulator(config="mixed-site") as sim:
            print(sim.http_port, sim.modbus_ports, sim.client.point("701.W"))
    """

    def __init__(
        self,
        command: Optional[Sequence[str]] = None,
        devices: Optional[Sequence[Mapping[str, Any]]] = None,
        grid: Optional[Mapping[str, Any]] = None,
        faults: Optional[Sequence[Any]] = None,
        ready_timeout_s: float = 60,
        **settings: Any,
    ) -> None:
        """command: program and first arguments, as ["node", "dist/main.js"]; nothing is started yet.

        None: the variable DERBENCH_COMMAND, `derbench` on PATH, that of `node_modules` of the working directory or of one
        above, or the package that this file is part of, whichever comes first.
        """
        self._command = None if command is None else _words(command)
        blocks = {"devices": devices, "grid": grid, "faults": faults}
        self._blocks = {name: block for name, block in blocks.items() if block is not None}
        self._ready_timeout_s = _seconds("ready_timeout_s", ready_timeout_s, _LONGEST_REQUEST_S)
        presets: Dict[str, Any] = {"website_port": 0, "mb_port": 0}
        if not settings.get("wall_clock"):
            presets["start_paused"] = True
        if settings.get("dnp3_enable"):
            presets["dnp3_port"] = 0
        if settings.get("proxy") is not None:
            presets["proxy_port"] = 0
        self._settings = {**presets, **{name: value for name, value in settings.items() if value is not None}}
        self._process: Optional[subprocess.Popen[str]] = None
        self._readers: List[threading.Thread] = []
        self._lines: List[str] = []
        self._log: List[str] = []
        self._changed = threading.Condition()
        self._file: Optional[str] = None
        self._client: Optional[Client] = None
        #: port of the HTTP interface
        self.http_port = 0
        #: Modbus TCP port of each device at the start, in their order
        self.modbus_ports: List[int] = []

    def __enter__(self) -> "Simulator":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def client(self) -> Client:
        """A client of it. Raises DerbenchError before it has been started."""
        if self._client is None:
            raise DerbenchError("not-reachable", "the simulator has not been started")
        return self._client

    @property
    def lines(self) -> List[str]:
        """The lines about listeners that the simulator printed."""
        return [line.strip() for line in self._lines[1:]]

    @property
    def log(self) -> List[str]:
        """The log lines so far."""
        return list(self._log)

    def start(self) -> "Simulator":
        """Starts it and waits until it is ready; after `stop` it starts anew, on other free ports.

        Raises DerbenchError with what it printed; `start-failed` while it runs already.
        """
        if self._process is not None and self._process.poll() is None:
            raise DerbenchError("start-failed", "the simulator has been started already; stop() comes first")
        self.stop()
        self._lines, self._log, self._client, self.modbus_ports = [], [], None, []
        command = _default_command() if self._command is None else self._command
        program = shutil.which(command[0])
        if program is None:
            raise DerbenchError("start-failed", f"there is no program {command[0]}")
        try:
            # a process group of its own, so that a program between this one and the simulator (npx) ends with it
            self._process = subprocess.Popen(
                [program, *command[1:]],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=os.name == "posix",
            )
        except (OSError, ValueError) as error:
            self._remove_file()
            raise DerbenchError("start-failed", f"{program} cannot be started: {error}") from error
        atexit.register(self.stop)
        for pipe, lines in ((self._process.stdout, self._lines), (self._process.stderr, self._log)):
            reader = threading.Thread(target=self._read, args=(pipe, lines), daemon=True)
            reader.start()
            self._readers.append(reader)
        try:
            self._wait_until_ready()
            self._client = Client(f"http://{self._http_host()}:{self.http_port}")
            endpoints = [each["modbus"] for each in self.client.devices()]
            self.modbus_ports = [each["port"] for each in endpoints if each is not None]
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> Optional[int]:
        """Stops it in order, and answers its exit code; None: it was not running."""
        process, self._process = self._process, None
        if process is None:
            return None
        atexit.unregister(self.stop)
        if self._client is not None:
            self._client.close()
        if process.poll() is None and self.http_port != 0:
            try:
                Client(self.client.url, timeout_s=5).post("stop")
            except DerbenchError:
                pass  # it is ended below
        try:
            code = process.wait(timeout=10 if self.http_port != 0 else 0)
        except subprocess.TimeoutExpired:
            _kill(process)
            code = process.wait()
        for reader in self._readers:
            reader.join(timeout=5)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        self._readers, self.http_port = [], 0
        self._remove_file()
        return code

    def _remove_file(self) -> None:
        file, self._file = self._file, None
        if file is not None and os.path.exists(file):
            os.unlink(file)

    def _environment(self) -> Dict[str, str]:
        settings = dict(self._settings)
        if self._blocks:
            if "config" in settings:
                raise DerbenchError("config-invalid", "config is given beside devices, grid or faults; allowed: one of the two")
            text = _json_text(self._blocks, "config-invalid")
            with tempfile.NamedTemporaryFile("w", prefix="derbench-", suffix=".json", delete=False) as file:
                file.write(text)
            settings["config"] = self._file = file.name
        own = {name: value for name, value in os.environ.items() if not name.startswith("DERBENCH_")}
        return {**own, **{f"DERBENCH_{name.upper()}": _setting_text(value) for name, value in settings.items()}}

    def _read(self, pipe: Any, lines: List[str]) -> None:
        for line in pipe:
            with self._changed:
                lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def _http_host(self) -> str:
        host = str(self._settings.get("website_ip", "127.0.0.1"))
        return "127.0.0.1" if host == "0.0.0.0" else "[::1]" if host == "::" else f"[{host}]" if ":" in host else host

    def _wait_until_ready(self) -> None:
        end = _time.monotonic() + self._ready_timeout_s
        with self._changed:
            while not any("nothing is kept" in line for line in self._lines):
                if not any(reader.is_alive() for reader in self._readers):
                    break
                left_s = end - _time.monotonic()
                if left_s <= 0:
                    raise DerbenchError("timeout", self._output(f"the simulator was not ready in {self._ready_timeout_s} s"))
                self._changed.wait(min(0.2, left_s))
        for line in self._lines:
            found = re.match(r" *HTTP +http://.*:(\d+)/", line)
            if found:
                self.http_port = int(found[1])
                return
        assert self._process is not None
        code = self._process.wait()
        name = {2: "config-invalid", 3: "listen-failed"}.get(code, "start-failed")
        raise DerbenchError(name, self._output(f"the simulator ended with exit code {code}"))

    def _output(self, what: str) -> str:
        return "\n".join([what, *self._lines[-20:], *self._log[-20:]])


class _Missing:
    """In place of a member that is not there."""


class _Line:
    """A connection that stays open between requests. `http.client` sends without waiting for more (TCP_NODELAY)."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.connection = connection
        self._until = math.inf

    def __del__(self) -> None:
        self.connection.close()

    def is_open(self) -> bool:
        """Whether a request can go over the open connection; one that the simulator has closed, or soon will, is closed."""
        socket = self.connection.sock
        if socket is None:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(socket, selectors.EVENT_READ)
            has_ended = len(selector.select(0)) > 0
        if has_ended or _time.monotonic() > self._until:
            self.connection.close()
            return False
        socket.settimeout(self.connection.timeout)
        return True

    def ask(self, method: str, target: str, text: Optional[str], headers: Dict[str, str]) -> Tuple[int, str, str]:
        """Status, media type and text of the answer."""
        try:
            self.connection.request(method, target, text, headers)
            answer = self.connection.getresponse()
            kept = re.search(r"timeout=(\d+)", answer.headers.get("Keep-Alive", ""))
            body = answer.read().decode(errors="replace")
        except BaseException:
            self.connection.close()
            raise
        self._until = math.inf if kept is None else _time.monotonic() + int(kept[1]) - _KEEP_ALIVE_MARGIN_S
        return answer.status, answer.headers.get_content_type(), body


def _kill(process: "subprocess.Popen[str]") -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=5)
            return
        process.kill()
    except ProcessLookupError:
        pass
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def _connector(charge_point: str, connector: int) -> str:
    return f"evse/{_quoted(charge_point)}/connectors/{connector}"


#: what a name of a value, and an instant, may be
_NAMES = "a point such as 701.W, or a member of the snapshot such as metrics.power_kw"
_INSTANTS = "an instant as 2026-06-21T12:05:00Z, or a time of day as 12:05"


def _refusal(given: Any, allowed: str, code: str = "validation") -> DerbenchError:
    shown = json.dumps(given) if isinstance(given, str) else f"{given!r:.200}"
    return DerbenchError(code, f"given {shown}; allowed: {allowed}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _finite(name: str, value: Any) -> None:
    if not _is_number(value) or not math.isfinite(value):
        raise _refusal(value, f"a finite number of {name}")


def _seconds(name: str, value: Any, longest: float, least: float = 0.001) -> float:
    """A span of time, checked."""
    if not _is_number(value) or not math.isfinite(value) or not least <= value <= longest:
        span = f"from {least:g} to {longest} s" if math.isfinite(longest) else f"from {least:g} s on, finite"
        raise _refusal(value, f"{name} {span}")
    return float(value)


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refusal(value, f"a whole number of {name}")
    return value


def _address(url: Any) -> Tuple[str, str, Optional[int], str]:
    """Scheme, host, port and path of the address of a simulator."""
    allowed = "an address as http://localhost:8111"
    if not isinstance(url, str):
        raise _refusal(url, allowed)
    if "://" not in url:
        raise _refusal(url, f"{allowed}; did you mean http://{url}?")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError as error:
        raise _refusal(url, f"{allowed} ({error})") from error
    if parts.scheme not in ("http", "https") or host == "" or parts.query or parts.fragment:
        raise _refusal(url, allowed)
    return parts.scheme, host, port, parts.path


def _encoded(encode: Callable[..., str], text: Any, **options: str) -> str:
    try:
        return encode(text, **options)
    except UnicodeError as error:
        raise _refusal(text, "characters of Unicode") from error


def _quoted(text: Any, safe: str = "") -> str:
    return _encoded(quote, str(text), safe=safe)


def _json_text(value: Any, code: str = "validation") -> str:
    try:
        return json.dumps(value, allow_nan=False, default=_listed)
    except (TypeError, ValueError, RecursionError) as error:
        raise DerbenchError(code, f"{value!r:.200} cannot be written as JSON: {error}") from error


def _listed(value: Any) -> Any:
    """A list, or number, of an array or number of numpy."""
    try:
        return value.tolist()
    except AttributeError:
        raise TypeError(f"{type(value).__name__} is no list and no number") from None


def _present(members: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _words(command: Any) -> List[str]:
    """Program and first arguments."""
    allowed = 'a list of program and arguments, as ["npx", "derbench"]'
    if isinstance(command, (str, bytes, os.PathLike)) or not command:
        raise _refusal(command, allowed)
    try:
        return [os.fsdecode(each) for each in command]
    except TypeError as error:
        raise _refusal(command, allowed) from error


def _default_command() -> List[str]:
    """The command of a simulator that was started without one. Raises DerbenchError `start-failed` if there is none."""
    text = os.environ.get("DERBENCH_COMMAND", "")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise DerbenchError("start-failed", f"DERBENCH_COMMAND is {_given(text)}: {error}") from error
    if words:
        return words
    folder = os.getcwd()
    folders = [folder]
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        folders.append(folder)
    for program in ("derbench", *(os.path.join(each, "node_modules", ".bin", "derbench") for each in folders)):
        path = shutil.which(program)
        if path is not None:
            return [path]
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    main = os.path.join(package, "dist", "main.js")
    if os.path.exists(main):
        return ["node", main]
    raise DerbenchError(
        "start-failed",
        "there is no command derbench. Install it: npm install --save-dev ./derbench-VERSION.tgz (a file of a release, or made"
        " by npm pack in a checkout); or name it: DERBENCH_COMMAND='node dist/main.js'",
    )


def _check_wanted(wanted: Any) -> None:
    is_value = isinstance(wanted, (bool, str)) or _is_number(wanted) and not math.isnan(wanted)
    if not is_value and not callable(wanted):
        raise _refusal(wanted, "a number, a word, or a function that gets the value")


def _passes(value: Any, symbol: Optional[str], wanted: Wanted) -> bool:
    if not callable(wanted):
        return wanted == symbol or (wanted == value and isinstance(wanted, bool) == isinstance(value, bool))
    verdict = wanted(value if symbol is None else symbol)
    if inspect.isawaitable(verdict):
        if inspect.iscoroutine(verdict):
            verdict.close()
        raise _refusal(wanted, "a function that gets the value, and is not async")
    return bool(verdict)


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(str(each) for each in value) if isinstance(value, (list, tuple)) else str(value)


def _setting_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(str(each) for each in value) if isinstance(value, (list, tuple)) else str(value)


def _given(value: Any) -> str:
    return "the device does not have it" if value is None else f"it is {json.dumps(value)}"


def _problem(status: int, text: str) -> DerbenchError:
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None  # an answer of some other server
    if not isinstance(problem, dict):
        problem = {}
    detail = problem.get("detail") or text[:500] or f"HTTP status {status}"
    return DerbenchError(problem.get("code", "unknown"), detail, status, problem.get("errors") or ())


def _tick_seconds(time: Json) -> float:
    """Simulated seconds of a tick."""
    return float(time["tick_interval_s"] * time["rate"])


def _instant(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def _text_of(instant: datetime.datetime) -> str:
    return instant.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _second_of_day(clock: str) -> Optional[int]:
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", clock)
    return None if found is None else int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3] or 0)


def _target(to: str, now: Json) -> datetime.datetime:
    """The instant of a text, or the next time of day of the simulated clock, the present included."""
    present = _instant(now["sim_time"])
    second = _second_of_day(to) if isinstance(to, str) else None
    if second is not None:
        return _next_time_of_day(second, present, now["timezone"])
    try:
        instant = _instant(to)
    except (AttributeError, ValueError):
        instant = None
    if instant is None or instant.tzinfo is None:
        raise _refusal(to, _INSTANTS)
    return instant


def _next_time_of_day(second: int, present: datetime.datetime, timezone: str) -> datetime.datetime:
    """The first instant from the present on at which clocks of the zone show a second of the day.

    An hour that a change of the time leaves out is that of the next day; of an hour that comes twice both count.
    """
    zone = _zone(timezone)
    time = datetime.time(second // 3600, second // 60 % 60, second % 60)
    today = present.astimezone(zone).date()
    days = [today + datetime.timedelta(days=ahead) for ahead in range(4)]
    shown = [datetime.datetime.combine(day, time, zone).replace(fold=fold) for day in days for fold in (0, 1)]
    instants = [each.astimezone(datetime.timezone.utc) for each in shown]
    return min(each for each in instants if each >= present and each.astimezone(zone).time() == time)


def _zone(name: str) -> datetime.tzinfo:
    if name == "UTC":
        return datetime.timezone.utc
    try:
        return zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        detail = f"this Python has no data of the time zone {name}: install tzdata, or give an instant as 2026-06-21T12:05:00Z"
        raise DerbenchError("validation", detail) from error
