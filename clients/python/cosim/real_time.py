"""Real time: voltages put in beside a running clock, and how long their powers take.

    python -m cosim.real_time --devices 1000 --seconds 30

The clock runs at rate 1 with ticks of 0.1 s. Once per period the program puts in new voltages of all devices, which have volt-var,
and asks until the powers of the next tick are there. It prints the times from the request to its answer and to these powers,
and the real time between two ticks as the program sees it. The figures depend on the machine; judged is that the devices follow.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import Any, Dict, List, Sequence

from derbench import Client, Exchange

from .example import Report, arguments, run

#: volt-var does nothing within 2 % of nominal
AMPLITUDE_PU = 0.06
#: real seconds from one question for the next tick to another
QUESTION_S = 0.005
#: real seconds until all devices follow a jump of the voltage
LONGEST_WAIT_S = 20


def site(options: argparse.Namespace) -> Dict[str, Any]:
    """PV at noon."""
    return {
        "devices": [{"device_type": "PV-3Phase", "count": options.devices}],
        "tick": options.tick,
        "start_clock_time": "12:00:00",
    }


def percentiles(seconds: Sequence[float]) -> List[float]:
    """Median, 95 % and maximum, ms."""
    ordered = sorted(seconds)
    return [1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95, 1)]


class Course:
    """Voltages of a slow wave along the devices, put in once per period."""

    def __init__(self, exchange: Exchange, options: argparse.Namespace) -> None:
        self.exchange = exchange
        self.options = options
        self.answers: List[float] = []
        self.powers: List[float] = []
        self.intervals: List[float] = []
        self.ages: List[float] = []
        self._tick = exchange.values()["tick"] or 0
        self._tick_seen = 0.0

    def run(self) -> None:
        begin = time.monotonic()
        periods = round(self.options.seconds / self.options.period)
        for period in range(periods):
            due = begin + period * self.options.period
            self._watch(until=due)
            self._put(2 * math.pi * period * self.options.period / 20)

    def _put(self, phase: float) -> None:
        count = self.options.devices
        values = [1 + AMPLITUDE_PU * math.sin(phase + 2 * math.pi * place / count) for place in range(count)]
        asked = time.monotonic()
        answer = self.exchange.values(va_pu=values, ramp_s=self.options.ramp)
        self.answers.append(time.monotonic() - asked)
        before = answer["tick"]
        self._see(answer)
        while self._see(self.exchange.values()) <= before:
            time.sleep(QUESTION_S)
        self.powers.append(time.monotonic() - asked)

    def _watch(self, until: float) -> None:
        """Sees ticks until the next request is due."""
        while time.monotonic() + QUESTION_S < until:
            self._see(self.exchange.values())
            time.sleep(QUESTION_S)
        time.sleep(max(0.0, until - time.monotonic()))

    def _see(self, answer: Dict[str, Any]) -> int:
        tick = answer["tick"] or 0
        if tick > self._tick:
            seen = time.monotonic()
            if self._tick_seen > 0:
                self.intervals.append(seen - self._tick_seen)
            self._tick, self._tick_seen = tick, seen
            self.ages.append(answer["age_s"] or 0.0)
        return tick


def example(options: argparse.Namespace, client: Client, report: Report) -> None:
    for device in range(options.devices):
        client.write(705, {"Ena": "ENABLED"}, device=device)
    client.rate(1)
    with Exchange(client, owner="real time") as exchange:
        course = Course(exchange, options)
        course.run()
        skipped = client.get("health")["skipped_ticks"]
        print(f"\n{options.devices} devices, ticks of {options.tick} s, a ramp of {options.ramp} s, {options.seconds:g} s\n")
        print(f"  {'ms':44}{'median':>10}{'95 %':>10}{'maximum':>10}")
        for name, seconds in [
            ("from the request to its answer", course.answers),
            ("from the request to the next powers", course.powers),
            ("from one tick to the next, as seen", course.intervals),
        ]:
            figures = percentiles(seconds)
            report.figures[name] = figures
            print(f"  {name:44}" + "".join(f"{figure:10.1f}" for figure in figures))
        report.figures["skipped ticks"] = skipped
        print(f"  ticks: {len(course.intervals) + 1} seen, {skipped} skipped\n")
        for pu, sign, verb in [(0.94, 1, "injects"), (1.06, -1, "absorbs")]:
            exchange.values(va_pu=pu, ramp_s=options.ramp)
            report.true(f"every device {verb} reactive power at {pu} pu", follow(exchange, sign))


def follow(exchange: Exchange, sign: int) -> bool:
    """Waits for reactive power of one sign, which volt-var has after some seconds."""
    end = time.monotonic() + LONGEST_WAIT_S
    while time.monotonic() < end:
        if all(sign * var > 0 for var in exchange.values()["q_var"]):
            return True
        time.sleep(QUESTION_S)
    return False


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--devices", type=int, default=50, help="number of PV (default: 50)")
    parser.add_argument("--seconds", type=float, default=30, help="length of the course (default: 30)")
    parser.add_argument("--period", type=float, default=0.25, help="from one request to the next, s (default: 0.25)")
    parser.add_argument("--ramp", type=float, default=0.1, help="ramp_s of the voltages (default: 0.1)")
    parser.add_argument("--tick", type=float, default=0.1, help="tick of the simulator, s (default: 0.1)")
    return run(parser, site, example)


if __name__ == "__main__":
    sys.exit(main())
