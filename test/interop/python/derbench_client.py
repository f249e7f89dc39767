"""Tests of clients/python/derbench. COMMAND: program and first arguments of the simulator, as JSON."""

import datetime
import http.server
import json
import os
import socket
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

from derbench import Client, DerbenchError, Exchange, Simulator, _API_VERSION, _default_command, _target

command = json.loads(os.environ["COMMAND"])


def simulator(**settings):
    return Simulator(command, **settings)


class Refusals(unittest.TestCase):
    def refused(self, code, status=None):
        test = self

        class Refused:
            def __enter__(self):
                return self

            def __exit__(self, _type, error, _trace):
                test.assertIsInstance(error, DerbenchError)
                test.assertEqual((error.code, error.status), (code, status))
                self.error = error
                return True

        return Refused()


class Breaking:
    """A server that answers by `answer(request)`, and drops the connection where that is None. A `status` may be in it."""

    def __init__(self, answer, keep_alive_s=5, api_version="%d.%d.0" % _API_VERSION):
        self.requests = requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = self.path.replace("/api/sim/", "")
                if path == "server-info":
                    reply = {"api_version": api_version}
                else:
                    requests.append((self.client_address[1], self.command, path, json.loads(body or "null")))
                    reply = answer(*requests[-1][1:])
                if reply is None:
                    self.close_connection = True
                    return
                text = json.dumps(reply).encode()
                self.send_response(reply.get("status", 200))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.send_header("Keep-Alive", f"timeout={keep_alive_s}")
                self.end_headers()
                self.wfile.write(text)
                self.close_connection = path == "last"

            do_POST = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self):
        self.thread.start()
        self.client = Client(f"http://127.0.0.1:{self.server.server_address[1]}", timeout_s=20)
        return self

    def __exit__(self, *_):
        self.client.close()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def ports(self):
        return [port for port, *_ in self.requests]

    @property
    def calls(self):
        return [f"{method} {path}" for _, method, path, _ in self.requests]


class Versions(Refusals):
    def test_refuses_another_major_version_before_the_first_request(self):
        major, minor = _API_VERSION
        with Breaking(lambda *_: {}, api_version=f"{major + 1}.0.0") as there:
            for _ in range(2):
                with self.refused("incompatible") as found:
                    there.client.post("controls/time", {"mode": "paused"})
                self.assertIn(f"serves version {major + 1}.0.0", found.error.detail)
            self.assertEqual(there.calls, [])

    def test_warns_once_of_a_lower_minor_version_and_takes_a_higher_one(self):
        major, minor = _API_VERSION
        with Breaking(lambda *_: {}, api_version=f"{major}.{minor - 1}.0") as there:
            with self.assertWarnsRegex(UserWarning, f"serves version {major}.{minor - 1}.0"):
                there.client.get("overview")
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                there.client.get("overview")
        with Breaking(lambda *_: {}, api_version=f"{major}.{minor + 1}.0") as there, warnings.catch_warnings():
            warnings.simplefilter("error")
            there.client.get("overview")


class Commands(Refusals):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)

    def program(self, *parts):
        path = os.path.join(os.path.realpath(self.folder.name), *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n")
        os.chmod(path, 0o755)
        return path

    def test_the_variable_comes_first_then_the_path_then_the_packages_of_the_folder_and_those_above(self):
        above = self.program("node_modules", ".bin", "derbench")
        os.makedirs("tests/unit")
        os.chdir("tests/unit")
        self.assertEqual(self.found(), [above])
        on_path = self.program("bin", "derbench")
        self.assertEqual(self.found(PATH=os.path.dirname(on_path)), [on_path])
        both = {"PATH": os.path.dirname(on_path), "DERBENCH_COMMAND": "node 'a b/main.js'"}
        self.assertEqual(self.found(**both), ["node", "a b/main.js"])

    def test_without_any_the_program_beside_this_client_is_taken(self):
        with mock.patch("os.path.exists", lambda path: path.endswith(os.path.join("dist", "main.js"))):
            [node, main] = self.found()
        self.assertEqual((node, os.path.basename(main)), ("node", "main.js"))
        with mock.patch("os.path.exists", lambda _: False), self.refused("start-failed") as found:
            self.found()
        self.assertIn("npm install", found.error.detail)
        with self.refused("start-failed") as found:
            self.found(DERBENCH_COMMAND="node '")
        self.assertIn("DERBENCH_COMMAND", found.error.detail)

    def found(self, **variables):
        with mock.patch.dict(os.environ, {"PATH": "/nowhere", "DERBENCH_COMMAND": "", **variables}):
            return _default_command()


class Connections(Refusals):
    def test_one_connection_carries_all_requests_of_a_thread(self):
        with Breaking(lambda *_: {}) as there:
            for _ in range(3):
                there.client.get("health")
            there.client.post("stop")
            self.assertEqual(len(set(there.ports)), 1)
            other = threading.Thread(target=there.client.get, args=("health",))
            other.start()
            other.join()
            self.assertNotEqual(there.ports[-1], there.ports[0])
            there.client.close()
            there.client.get("health")
            self.assertNotIn(there.ports[-1], there.ports[:-1])

    def test_does_not_wait_for_more_before_it_sends(self):
        with Breaking(lambda *_: {}) as there:
            there.client.get("health")
            sent = there.client._line().connection.sock
            self.assertNotEqual(sent.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), 0)

    def test_opens_another_connection_where_the_server_may_be_about_to_close_the_old_one(self):
        with Breaking(lambda *_: {}, keep_alive_s=1) as there:
            for _ in range(3):
                there.client.post("stop")
            self.assertEqual(len(set(there.ports)), 3)

    def test_opens_another_connection_where_the_server_has_closed_the_old_one(self):
        with Breaking(lambda *_: {}) as there:
            there.client.post("last")
            self.assertEqual(there.client._line().connection.sock.recv(1, socket.MSG_PEEK), b"")
            there.client.post("stop")
            self.assertEqual(there.calls, ["POST last", "POST stop"])

    def test_a_connection_that_breaks_at_its_first_request_is_not_tried_again(self):
        with Breaking(lambda *_: None) as there, self.refused("not-reachable"):
            there.client.get("health")
        self.assertEqual(there.calls, ["GET health"])

    def broken(self, act, dropped):
        """Calls of act when each call of `dropped` loses its connection once, behind a first request."""
        left = list(dropped)

        def answer(method, path, _body):
            call = f"{method} {path}"
            if call in left:
                left.remove(call)
                return None
            return {"session": "7f", "time_s": 1 if path == "exchange" else 2, "devices": [], "pace": "stepped"}

        with Breaking(answer) as there:
            exchange = Exchange(there.client)
            exchange.attach()
            try:
                act(exchange)
            finally:
                self.calls = there.calls[1:]

    def test_repeats_a_question_once_and_an_order_never(self):
        self.broken(lambda exchange: exchange.trial(va_pu=1), ["POST exchange/trial"])
        self.assertEqual(self.calls, ["POST exchange/trial"] * 2)
        self.broken(lambda exchange: exchange._client.get("health"), ["GET health"])
        self.assertEqual(self.calls, ["GET health"] * 2)
        with self.refused("not-reachable"):
            self.broken(lambda exchange: exchange.trial(va_pu=1), ["POST exchange/trial"] * 2)
        with self.refused("not-reachable"):
            self.broken(lambda exchange: exchange._client.post("stop"), ["POST stop"])
        self.assertEqual(self.calls, ["POST stop"])

    def test_a_lost_answer_of_a_step_is_read_and_the_step_never_sent_again(self):
        calls = ["POST exchange/step", "GET exchange/values"]
        self.broken(lambda exchange: self.assertEqual(exchange.step(to_s=2)["time_s"], 2), calls[:1])
        self.assertEqual(self.calls, calls)
        with self.refused("not-reachable") as found:
            self.broken(lambda exchange: exchange.step(dt_s=0.5), calls[:1])
        self.assertIn("the step to 1.5 s has not ended, the exchange is at 2 s", str(found.error))
        self.assertEqual(self.calls, calls)

    def test_columns_of_another_session_are_not_taken_for_the_answer(self):
        def act(exchange):
            exchange.session = "other"
            exchange.step(to_s=2)

        with self.refused("conflict") as found:
            self.broken(act, ["POST exchange/step"])
        self.assertIn("it is not known whether the step to 2 s has ended: devices are attached in another session", str(found.error))
        self.assertEqual(found.error.__cause__.code, "not-reachable")


class LostAttachments(Refusals):
    """A simulator that loses the connection of the first `POST exchange`."""

    def setUp(self):
        self.owners = []

    def attached(self, arrives=True, by=None, **attachment):
        """The exchange after `attach`. arrives: the lost request has attached the devices; by: owner of another session."""
        description = {"attached": False, "session": "7f", "time_s": 0, "devices": [], "pace": "stepped"}
        description.update({} if by is None else {"attached": True, "owner": by, "since": "2026-06-21T12:00:00.000Z"})

        def answer(method, _path, body):
            if method == "POST" and (arrives or self.requests > 0):
                description.update({"attached": True, "owner": body["owner"], "since": "2026-06-21T12:00:00.000Z"})
                self.owners.append(body["owner"])
            self.requests += 1
            return None if self.requests == 1 else description

        self.requests = 0
        with Breaking(answer) as there:
            exchange = Exchange(there.client, **attachment)
            try:
                exchange.attach()
            finally:
                self.calls = there.calls
        return exchange

    def test_a_session_of_an_owner_that_nobody_else_has_is_taken_over(self):
        for _ in range(2):
            self.assertEqual(self.attached().session, "7f")
            self.assertEqual(self.calls, ["POST exchange", "GET exchange"])
        self.assertEqual(len(set(self.owners)), 2)

    def test_a_request_that_did_not_arrive_is_sent_again(self):
        self.assertEqual(self.attached(arrives=False, owner="lab").session, "7f")
        self.assertEqual(self.calls, ["POST exchange", "GET exchange", "POST exchange"])

    def waited(self, owner=None, by=None):
        """The session after a request whose answer is lost, and which attaches the devices after `GET exchange`."""
        description = {"session": "7f", "time_s": 0, "devices": [], "pace": "stepped", "since": "2026-06-21T12:00:00.000Z"}
        conflict = {"status": 409, "code": "conflict", "detail": "there is an exchange"}

        def answer(method, _path, body):
            self.requests += 1
            if method == "POST":
                self.owners.append(by or body["owner"])
                return None if self.requests == 1 else conflict
            attached = self.requests > 2
            return {**description, "attached": attached, "owner": self.owners[0] if attached else None}

        self.requests = 0
        with Breaking(answer) as there:
            exchange = Exchange(there.client, owner=owner)
            try:
                exchange.attach()
            finally:
                self.calls = there.calls
        return exchange.session

    def test_a_request_that_waited_for_a_tick_and_attached_then_is_taken_over(self):
        self.assertEqual(self.waited(), "7f")
        self.assertEqual(self.calls, ["POST exchange", "GET exchange"] * 2)
        for choice in ({"owner": "lab"}, {"by": "grid"}):
            with self.refused("conflict") as found:
                self.waited(**choice)
            self.assertIn("ends it", found.error.detail)

    def test_a_session_that_may_be_of_another_client_is_left_and_its_end_named(self):
        for attachment, whose in (
            ({"owner": "lab"}, "of this request or of another client"),
            ({"owner": "lab", "arrives": False, "by": "grid"}, "of another client"),
            ({"arrives": False, "by": "grid"}, "of another client"),
        ):
            with self.refused("conflict") as found:
                self.attached(**attachment)
            self.assertIn(f'in a session {whose}: client.post("exchange/end", {{"session": "7f"}}) ends it', found.error.detail)
            self.assertEqual(self.calls, ["POST exchange", "GET exchange"])


class WithSimulator(Refusals):
    @classmethod
    def setUpClass(cls):
        cls.sim = simulator(devices=[{"device_type": "PV"}, {"device_type": "EVSE"}], tick=1, dnp3_enable=True).start()
        cls.client = cls.sim.client

    @classmethod
    def tearDownClass(cls):
        assert cls.sim.stop() == 0, cls.sim.log

    def test_listens_on_free_ports_that_devices_name(self):
        self.assertEqual([each["modbus"]["port"] for each in self.client.devices()], self.sim.modbus_ports)
        self.assertNotIn(8502, self.sim.modbus_ports)
        self.assertRegex(self.sim.lines[0], f"^HTTP .*:{self.sim.http_port}/")
        self.assertTrue(any(line.startswith("DNP3") for line in self.sim.lines))

    def test_writes_waits_and_reads(self):
        client = self.client
        client.environment(irradiance_w_m2=1000)
        client.write(704, {"WMaxLimPct": 50, "WMaxLimPctEna": "ENABLED"})
        self.assertEqual(client.until("701.W", lambda watts: watts <= 5000, device=0), 5000)
        self.assertEqual(client.until("701.InvSt", "THROTTLED"), "THROTTLED")
        self.assertEqual(client.until("701.InvSt", 4), 4)
        self.assertEqual(client.point("metrics.power_kw"), 5)
        self.assertEqual(client.text("status.inverter_state"), client.overview()["status"]["inverter_state"])
        self.assertEqual([each["point"] for each in client.changes()], ["704.WMaxLimPctEna", "704.WMaxLimPct"])
        self.assertEqual(client.alarms() + client.alarms(device=0), [])
        self.assertTrue(client.get("history", format="csv", limit=1).startswith("timestamp,"))

    def test_steps(self):
        client = self.client
        before = client.time()
        self.assertEqual(client.step()["time"]["tick"], before["tick"] + 1)
        self.assertEqual(client.step(ticks=1001)["time"]["tick"], before["tick"] + 1002)
        self.assertEqual(client.step_to("18:00:30")["time"]["clock_time"], "18:00:30")
        self.assertTrue(client.step(seconds=1.25)["time"]["sim_time"].endswith("T18:00:31.250Z"))
        self.assertTrue(client.step_to("12:00")["time"]["sim_time"].endswith("-22T12:00:00.000Z"))
        client.rate(60)
        with self.refused("conflict", 409):
            client.step()
        client.pause()

    def test_surroundings_faults_and_messages(self):
        client = self.client
        self.assertEqual(client.grid(voltage_pu=1.02)["voltage_a_pu"], 1.02)
        self.assertEqual(client.grid()["voltage_b_pu"], 1.02)
        self.assertEqual(client.grid_event("sag", residual_pu=0.6)["event"]["name"], "sag")
        self.assertIsNone(client.grid_event(None)["event"])
        client.grid(voltage_pu=1)
        fault = client.fault("scale", points=["701.W"], factor=0.5)
        self.assertEqual([each["id"] for each in client.clear_faults()], [fault["id"]])
        self.assertTrue(client.record("modbus")["enabled"])
        self.assertEqual(client.messages("modbus", limit=5), [])

    def test_charging(self):
        client = self.client
        client.plug(soc_pct=40)
        self.assertLess(client.until("metrics.power_kw", lambda kw: kw < -5, device=1), -5)
        self.assertEqual(client.connector()["status"], "charging")
        client.stop_charging()
        client.unplug()
        with self.refused("unknown-resource", 404):
            client.plug(connector=3)

    def test_exchange(self):
        class Array:
            def tolist(self):
                return [1.02, 1.01]

        exchange = Exchange(self.client, devices=[1, 0], phases=True, owner="here")
        with exchange:
            self.assertEqual([each["kind"] for each in exchange.devices], ["evse", "pv"])
            answer = exchange.step(dt_s=2.5, va_pu=Array(), vb_pu=None, frequency_hz=60)
            self.assertEqual((answer["time_s"], exchange.time_s, len(answer["p_w"])), (2.5, 2.5, 2))
            self.assertEqual(self.client.grid(device=0)["voltage_b_pu"], 1.01)
            trial = exchange.trial(dt_s=1.5, va_pu=[0.98, 1.03])
            self.assertEqual(exchange.values()["time_s"], 2.5)
            # off by more than the daemon takes, as a long sum of steps is
            answer = exchange.step(to_s=4 + 4e-7, va_pu=[0.98, 1.03])
            self.assertEqual(answer["time_s"], 4)
            for name in ("p_w", "q_var", "pc_w", "qc_var"):
                for asked, became in zip(trial[name], answer[name]):
                    self.assertAlmostEqual(asked, became, delta=10)
            self.assertEqual(exchange.values()["pa_w"], exchange.values(va_pu=(1, 1))["pa_w"])
            with self.refused("conflict", 409):
                Exchange(self.client).attach()
            with self.refused("validation", 422) as found:
                exchange.step(dt_s=1, va_pu=[1, 1, 1])
            self.assertEqual([each["name"] for each in found.error.issues], ["/va_pu"])
            for wrong in ({}, {"to_s": 5, "dt_s": 1}, {"to_s": "5"}, {"to_s": 4}, {"to_s": 4.0009}, {"to_s": 86_404.001}):
                with self.refused("validation"):
                    exchange.step(**wrong)
            for dt_s in (float("nan"), 0, -1, 0.0009, 86_400.001):
                for act in (exchange.step, exchange.trial):
                    with self.refused("validation") as found:
                        act(dt_s=dt_s)
                    self.assertIn("dt_s from 0.001 to 86400 s", found.error.detail)
            for value in (float("nan"), object(), [object()]):
                with self.refused("validation"):
                    exchange.step(dt_s=1, va_pu=value)
            scenario = {"name": "beside", "steps": [{"at": "1 s", "expect": {"point": "701.W", "at_least": 0}}]}
            kept = self.client.post("scenarios", {"scenario": scenario})
            with self.refused("conflict", 409):
                self.client.post(f"scenarios/{kept['id']}/start")
            self.assertEqual(self.client.get("exchange")["time_s"], 4)
        self.assertFalse(self.client.get("exchange")["attached"])
        exchange.end()
        with self.refused("conflict"):
            exchange.step(dt_s=1)
        with self.refused("not-found", 404):
            with exchange:
                self.client.post("exchange/end", {"session": exchange.session})
                self.client.get("nothing")

    def test_a_step_counts_from_the_present_where_a_running_clock_has_passed_the_last_answer(self):
        client = self.client
        client.rate(60)
        with Exchange(client) as exchange:
            client.pause()
            client.step(ticks=3)
            begin_s = client.get("exchange")["time_s"]
            self.assertGreaterEqual(begin_s, 3)
            self.assertEqual(exchange.step(dt_s=0.001)["time_s"], round(begin_s + 0.001, 6))
            client.step(ticks=2)
            with self.refused("validation") as found:
                exchange.step(to_s=begin_s)
            self.assertIn("after the present", found.error.detail)
            self.assertAlmostEqual(exchange.step(to_s=begin_s + 200)["time_s"], begin_s + 200)

    def test_refusals(self):
        client = self.client
        with self.refused("validation", 422) as found:
            client.write(704, {"Foo": 1})
        self.assertEqual([each["name"] for each in found.error.issues], ["/points/Foo"])
        with self.refused("unknown-device", 404):
            client.device(7)
        with self.refused("not-found", 404):
            client.get("nothing")
        with self.refused("validation"):
            client.point("metrics.power_mw")
        with self.refused("validation"):
            client.step_to("25:00")
        with self.refused("validation"):
            client.step(ticks=1, seconds=1)
        with self.refused("not-a-number"):
            client.point("1.Mn")
        with self.refused("not-a-number"):
            client.point("metrics.state_of_charge_pct")
        with self.refused("not-a-text"):
            client.text("701.W")
        with self.refused("timeout") as found:
            client.until("701.InvSt", "OFF", timeout_s=2.5)
        self.assertRegex(str(found.error), r'"OFF" within 2\.500 s of simulated time \(\d ticks\); its last value was [A-Z]+ \(\d\)$')
        client.rate(1)
        with self.refused("timeout") as found:
            client.until("701.W", -1, timeout_s=0)
        self.assertIn("of real time (0 ticks)", str(found.error))
        client.pause()

    def test_arguments_that_mean_nothing_are_refused_before_a_request(self):
        away = Client("http://127.0.0.1:1")

        async def verdict(_value):
            return False

        for url, hint in {
            "localhost:8111": "did you mean http://localhost:8111?",
            "ftp://localhost": "as http://localhost:8111",
            "http://localhost:99999": "0-65535",
            "http://localhost:abc": "as http://localhost:8111",
            "http://" + "a" * 80: "as http://localhost:8111",
        }.items():
            with self.refused("validation") as found:
                Client(url)
            self.assertIn(hint, found.error.detail)
        for wrong in (
            lambda: Client(timeout_s=float("nan")),
            lambda: away.until("701.W", None),
            lambda: away.until("701.W", object()),
            lambda: away.until("701.W", float("nan")),
            lambda: away.until("701.W", 1, timeout_s=float("nan")),
            lambda: away.step("5"),
            lambda: away.step(ticks=1000.5),
            lambda: away.step(seconds=float("nan")),
            lambda: away.step(seconds=float("inf")),
            lambda: away.step_to(5),
            lambda: away.rate(float("nan")),
            lambda: away.post("controls/grid", {"voltage_pu": object()}),
            lambda: away.get("\udc80"),
            lambda: away.get("health", name="\udc80"),
            lambda: away.write(704, None),
            lambda: away.ready(timeout_s=float("nan")),
            lambda: Simulator("npx derbench"),
            lambda: Simulator([]),
            lambda: Simulator(ready_timeout_s="1"),
        ):
            with self.refused("validation"):
                wrong()
        with self.refused("validation") as found:
            self.client.until("701.W", verdict)
        self.assertIn("not async", found.error.detail)
        with self.refused("validation") as found:
            self.client.step(seconds=1e15)
        for path in ("a b", "\u00fc", "a#b"):
            with self.refused("not-found", 404):
                self.client.get(path)
        with self.refused("config-invalid"):
            simulator(grid={"voltage_pu": object()}).start()
        with self.refused("start-failed"):
            Simulator(command, seed="\0").start()

    def test_starts_again_after_its_end_and_not_twice(self):
        again = simulator(website_ip="127.0.0.1")
        with again:
            first = again.http_port
            with self.refused("start-failed") as found:
                again.start()
            self.assertIn("started already", found.error.detail)
            self.assertEqual(again.http_port, first)
            again.client.step()
        lines = again.lines
        self.assertIsNone(again.stop())
        with again:
            self.assertEqual(len(again.lines), len(lines))
            self.assertEqual(again.client.time()["tick"], 0)
            self.assertTrue(again.client.url.endswith(f":{again.http_port}"))
            again.client.post("stop")
            again._process.wait(timeout=20)
            self.assertEqual(again.start().client.time()["tick"], 0)

    def test_times_of_day_are_those_of_the_zone(self):
        def next_time(to, sim_time, timezone="Europe/Berlin"):
            instant = _target(to, {"sim_time": sim_time, "timezone": timezone})
            return instant.astimezone(datetime.timezone.utc).isoformat()

        self.assertEqual(next_time("12:00", "2026-03-28T20:00:00.250Z"), "2026-03-29T10:00:00+00:00")
        self.assertEqual(next_time("02:30", "2026-03-29T00:59:50.000Z"), "2026-03-30T00:30:00+00:00")
        self.assertEqual(next_time("02:30", "2026-10-25T00:30:00.000Z"), "2026-10-25T00:30:00+00:00")
        self.assertEqual(next_time("02:30", "2026-10-25T00:30:00.001Z"), "2026-10-25T01:30:00+00:00")
        self.assertEqual(next_time("12:00", "2026-03-28T12:00:01.000Z", "UTC"), "2026-03-29T12:00:00+00:00")
        with self.refused("validation"):
            next_time("12:00", "2026-03-28T12:00:01.000Z", "No/Zone")
        night = {"start_date": "2026-03-28", "start_clock_time": "20:00:00", "wall_clock_timezone": "Europe/Berlin"}
        with simulator(tick=60, **night) as sim:
            reached = sim.client.step_to("12:00")["time"]
            self.assertEqual((reached["sim_time"], reached["clock_time"]), ("2026-03-29T10:00:00.000Z", "12:00:00"))

    def test_a_simulator_that_cannot_start(self):
        with self.refused("config-invalid") as found:
            simulator(tick=0, devices=[{"device_type": "PVV"}]).start()
        self.assertIn("DERBENCH_TICK", found.error.detail)
        self.assertIn("devices[0].device_type", found.error.detail)
        with self.refused("config-invalid"):
            simulator(config="mixed-site", grid={}).start()
        with self.refused("listen-failed") as found:
            simulator(website_port=self.sim.http_port).start()
        with self.refused("start-failed"):
            Simulator(["no-such-program"]).start()
        with self.refused("not-reachable"):
            simulator().client
        with self.refused("timeout"):
            simulator(ready_timeout_s=0.01).start()

    def test_a_simulator_that_does_not_answer(self):
        away = Client("http://127.0.0.1:1")
        with self.refused("not-reachable"):
            away.time()
        with self.refused("timeout"):
            away.ready(timeout_s=0)
        self.client.ready()
        with socket.create_server(("127.0.0.1", 0)) as silent:
            began = time.monotonic()
            with self.refused("timeout"):
                Client(f"http://127.0.0.1:{silent.getsockname()[1]}").ready(timeout_s=0.3)
            self.assertLess(time.monotonic() - began, 5)


if __name__ == "__main__":
    unittest.main()
