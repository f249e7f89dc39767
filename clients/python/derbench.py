"""Client of a derbench simulator, and a simulator for the length of a `with` block.

One file, the standard library only, Python 3.9 or later: copy it, or put its folder on PYTHONPATH. It is part of the npm
package (`node_modules/derbench/clients/python`).

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
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time as _time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Client", "DerbenchError", "Simulator"]

Json = Any
Wanted = Union[float, int, str, Callable[[Any], bool]]

_PREFIX = "/api/sim/"
#: ticks of one request: longer ones could meet the time limit of a request
_TICKS_PER_REQUEST = 1000


class DerbenchError(Exception):
    """A refused request, or none that could be made.

    status: HTTP status of the answer; None: there was none.
    code: code of the problem, as `validation` or `conflict`; without an answer `not-reachable`, `timeout`,
        `not-a-number`, `not-a-text`, `config-invalid`, `listen-failed`, `start-failed`.
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

    `device` selects a device by its index; without it the first one, or the common surroundings of all.
    """

    def __init__(self, url: str = "http://127.0.0.1:8111", timeout_s: float = 300) -> None:
        """url: address of the simulator. timeout_s: real seconds that one request may take."""
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        self._connection = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._base = parts.hostname or "127.0.0.1", parts.port, parts.path
        self._timeout_s = timeout_s

    # requests

    def get(self, path: str, /, **query: Any) -> Json:
        """The answer to GET: what JSON says, or the text of an answer of another type."""
        return self._request("GET", path, query)

    def post(self, path: str, body: Optional[Mapping[str, Any]] = None, /, **query: Any) -> Json:
        """The answer to POST."""
        return self._request("POST", path, query, {} if body is None else body)

    def delete(self, path: str, /, **query: Any) -> Json:
        """The answer to DELETE."""
        return self._request("DELETE", path, query)

    def _request(self, method: str, path: str, query: Mapping[str, Any], body: Optional[Mapping[str, Any]] = None) -> Json:
        path = path if path.startswith(_PREFIX) else _PREFIX + path.lstrip("/")
        given = {name: _query_text(value) for name, value in query.items() if value is not None}
        if given:
            path += ("&" if "?" in path else "?") + urlencode(given)
        headers = {} if body is None else {"Content-Type": "application/json"}
        connection = self._connection(self._host, self._port, timeout=self._timeout_s)
        try:
            connection.request(method, self._base + path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            status, kind, text = answer.status, answer.headers.get_content_type(), answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise DerbenchError("not-reachable", f"{self.url} gives no answer: {error or type(error).__name__}") from error
        finally:
            connection.close()
        if not 200 <= status <= 299:
            raise _problem(status, text)
        return json.loads(text) if kind == "application/json" else text

    def ready(self, timeout_s: float = 30) -> None:
        """Waits until the simulator answers. Raises DerbenchError `timeout`."""
        end = _time.monotonic() + timeout_s
        while True:
            try:
                self.get("health")
                return
            except DerbenchError as error:
                if error.code != "not-reachable":
                    raise
                if _time.monotonic() >= end:
                    raise DerbenchError("timeout", f"{error.detail} (for {timeout_s} s)") from error
            _time.sleep(0.1)

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
            return self._step_ticks(1 if ticks is None else ticks, device)
        now = self.time()
        present = _instant(now["sim_time"])
        end = present + datetime.timedelta(seconds=seconds or 0) if to is None else _target(to, now)
        whole_ticks = -(-(end - present).total_seconds() // _tick_seconds(now)) - 1
        whole = int(whole_ticks // _TICKS_PER_REQUEST) * _TICKS_PER_REQUEST
        if whole > 0:
            self._step_ticks(whole, device)
        return self.post("controls/time/step", {"until": _text_of(end)}, device=device)

    def _step_ticks(self, ticks: int, device: Optional[int]) -> Json:
        while ticks > _TICKS_PER_REQUEST:
            self.post("controls/time/step", {"ticks": _TICKS_PER_REQUEST}, device=device)
            ticks -= _TICKS_PER_REQUEST
        return self.post("controls/time/step", {"ticks": ticks}, device=device)

    def step_to(self, time: str, device: Optional[int] = None) -> Json:
        """Steps to an instant as 2026-06-21T12:05:00Z, or to the next time of day as 12:05."""
        return self.step(to=time, device=device)

    # devices

    def overview(self, device: Optional[int] = None) -> Json:
        """Snapshot of a device, and all devices, protocols and alarms."""
        return self.get("overview", device=device)

    def devices(self) -> List[Json]:
        """Snapshot of each device, with its name, alarms and Modbus address."""
        return self.get("devices")["devices"]

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
        named = re.fullmatch(r"(\d+)\.(.+)", name)
        if named:
            points = self.registers(named[1], [named[2]], device)["points"]
            return (points[0]["value"], points[0].get("symbol")) if points else (None, None)
        found: Any = self.overview(device)
        for step in name.split("."):
            found = found[step] if isinstance(found, dict) and step in found else _Missing
        if found is None or isinstance(found, (int, float, str)):
            return found, None
        allowed = "a point as 701.W, or a member of the snapshot as metrics.power_kw"
        raise DerbenchError("validation", f'given "{name}"; allowed: {allowed}')

    def write(self, model: Union[int, str], points: Mapping[str, Union[float, int, str]], device: Optional[int] = None) -> Json:
        """Writes points of a model, all or none: numbers in engineering units, enumerations by name or number."""
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
        (of an enumeration its name) and says whether it passes. A value that the device does not have now never passes.
        While the clock is paused this steps tick by tick; else it looks twice per tick. timeout_s is simulated time while
        the clock is paused, unless `simulated` says otherwise. Returns the value that passed. Raises DerbenchError
        `timeout` with the last value.
        """
        now = self.time()
        by_simulation = now["mode"] == "paused" if simulated is None else simulated
        first, first_tick, first_real = _instant(now["sim_time"]), now["tick"], _time.monotonic()
        while True:
            value, symbol = self._sample(name, device)
            shown = value if symbol is None else symbol
            if value is not None and (wanted(shown) if callable(wanted) else wanted in (value, symbol)):
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
                end = first + datetime.timedelta(seconds=timeout_s)
                body = {"until": _text_of(end)} if is_last else {"ticks": 1}
                now = self.post("controls/time/step", body)["time"]
            else:
                # twice per tick, so that none is passed over
                pause_s = min(max(now["tick_interval_s"] / 2, 0.02), 1)
                _time.sleep(pause_s if by_simulation else min(pause_s, left))
                now = self.time()

    def changes(self, device: Optional[int] = None) -> List[Json]:
        """Points that are not as they were at the start, with their writers."""
        return self.get("registers/changes", device=device)["changes"]

    def alarms(self, device: Optional[int] = None) -> List[Json]:
        """Active alarms, of one device or of all."""
        whole = self.overview() if device is None else self.device(device)
        return whole["alarms"]["active"]

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
        return self.post("faults", {"clear": True})["ended"]

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
        path = f"ocpp/{quote(charge_point, safe='')}/messages" if protocol == "ocpp" else f"{protocol}/messages"
        return self.get(path, **query)["messages"]


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
        command: Sequence[str] = ("npx", "derbench"),
        devices: Optional[Sequence[Mapping[str, Any]]] = None,
        grid: Optional[Mapping[str, Any]] = None,
        faults: Optional[Sequence[Any]] = None,
        ready_timeout_s: float = 60,
        **settings: Any,
    ) -> None:
        """command: program and first arguments, as ["node", "dist/main.js"]; nothing is started yet."""
        self._command = list(command)
        blocks = {"devices": devices, "grid": grid, "faults": faults}
        self._blocks = {name: block for name, block in blocks.items() if block is not None}
        self._ready_timeout_s = ready_timeout_s
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
        """Starts it and waits until it is ready. Raises DerbenchError with what it printed."""
        program = shutil.which(self._command[0])
        if program is None:
            raise DerbenchError("start-failed", f"there is no program {self._command[0]}")
        atexit.register(self.stop)
        # a process group of its own, so that a program between this one and the simulator (npx) ends with it
        self._process = subprocess.Popen(
            [program, *self._command[1:]],
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=os.name == "posix",
        )
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
        if self._file is not None:
            os.unlink(self._file)
            self._file = None
        return code

    def _environment(self) -> Dict[str, str]:
        settings = dict(self._settings)
        if self._blocks:
            if "config" in settings:
                raise DerbenchError("config-invalid", "config is given beside devices, grid or faults; allowed: one of the two")
            with tempfile.NamedTemporaryFile("w", prefix="derbench-", suffix=".json", delete=False) as file:
                json.dump(self._blocks, file)
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
                if _time.monotonic() > end:
                    raise DerbenchError("timeout", self._output(f"the simulator was not ready in {self._ready_timeout_s} s"))
                self._changed.wait(0.2)
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
    return f"evse/{quote(charge_point, safe='')}/connectors/{connector}"


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
    return DerbenchError(problem.get("code", "unknown"), detail, status, problem.get("errors", ()))


def _tick_seconds(time: Json) -> float:
    """Simulated seconds of a tick."""
    return time["tick_interval_s"] * time["rate"]


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
    second = _second_of_day(to)
    if second is None:
        try:
            instant = _instant(to)
        except ValueError:
            instant = None
        if instant is None or instant.tzinfo is None:
            allowed = "an instant as 2026-06-21T12:05:00Z, or a time of day as 12:05"
            raise DerbenchError("validation", f"given {json.dumps(to)}; allowed: {allowed}")
        return instant
    # the clock shows whole seconds
    shown = (_second_of_day(now["clock_time"]) or 0) + present.microsecond / 1e6
    return present + datetime.timedelta(seconds=(second - shown) % 86400)
