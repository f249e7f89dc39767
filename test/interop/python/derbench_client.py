"""Tests of clients/python/derbench.py. COMMAND: program and first arguments of the simulator, as JSON."""

import datetime
import json
import os
import socket
import time
import unittest

from derbench import Client, DerbenchError, Simulator, _target

command = json.loads(os.environ["COMMAND"])


def simulator(**settings):
    return Simulator(command, **settings)


class WithSimulator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sim = simulator(devices=[{"device_type": "PV"}, {"device_type": "EVSE"}], tick=1, dnp3_enable=True).start()
        cls.client = cls.sim.client

    @classmethod
    def tearDownClass(cls):
        assert cls.sim.stop() == 0, cls.sim.log

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
