"""SVP driver: the grid of a derbench device as a grid simulator, over REST."""

import csv
import os

from . import gridsim
from .derbench_svp import DEVICE, MODE, URL, Rest, declare, parameter

gridsim_driver = {"name": os.path.splitext(os.path.basename(__file__))[0], "mode": MODE}

#: symmetrical angles, degrees; the phases of a device stay there
_SYMMETRICAL = ({0.0}, {120.0, -120.0, 240.0, -240.0})
#: the simulated grid has no limit of current
_NO_LIMIT_A = 1e6
#: ranges of `controls/grid`
_V_MAX_PU = 2.0
_HZ_MIN, _HZ_MAX = 40.0, 70.0


def gridsim_info():
    return gridsim_driver


def params(info, group_name=None):
    declare(
        info,
        group_name,
        URL,
        DEVICE,
        ("v_nom", "Nominal voltage, line to neutral (V); 0: that of the device", 0.0),
        ("f_nom", "Nominal frequency (Hz)", 60.0),
    )


class GridSim(gridsim.GridSim):
    """`rocof` (Hz/s) and `rocom` (V/s) above 0 make later changes of frequency and voltage ramps."""

    def __init__(self, ts, group_name, params=None, support_interfaces=None):
        gridsim.GridSim.__init__(self, ts, group_name, params=params, support_interfaces=support_interfaces or {})
        self._rest = Rest(ts, group_name, gridsim.GridSimError)
        self._v_nom = float(parameter(ts, group_name, "v_nom") or 0) or self._rest.nominal_voltage()
        self._f_nom = float(parameter(ts, group_name, "f_nom"))
        self._rocof = self._rocom = 0.0
        self._timers = []
        if self.auto_config == "Enabled":
            self.config()

    def info(self):
        return "derbench grid of " + self._rest.identity()

    def config(self):
        self.relay(gridsim.RELAY_CLOSED)
        self.voltage(self._v_nom)
        self.freq(self._f_nom)

    def open(self):
        self.info()

    def close(self):
        self.profile_stop()

    def current_max(self, current=None):
        return _NO_LIMIT_A if current is None else current

    def freq(self, freq=None):
        present = self._rest.grid()["frequency_hz"]
        if freq is None:
            return present
        self._rest.grid(frequency_hz=float(freq), ramp_s=_ramp_s(abs(freq - present), self._rocof))
        return freq

    def rocof(self, rocof=None):
        if rocof is not None:
            self._rocof = float(rocof)
        return self._rocof

    def rocom(self, rocom=None):
        if rocom is not None:
            self._rocom = float(rocom)
        return self._rocom

    def voltage(self, voltage=None):
        present = self._present_voltages()
        if voltage is None:
            return present
        volts = tuple(voltage) if isinstance(voltage, (list, tuple)) else (voltage,) * 3
        if len(volts) != 3:
            raise gridsim.GridSimError(f"{len(volts)} voltages; allowed: one number, or three")
        change = max(abs(new - old) for new, old in zip(volts, present))
        self._set_voltages(volts, _ramp_s(change, self._rocom))
        return volts

    def _present_voltages(self):
        grid = self._rest.grid()
        return tuple(grid[f"voltage_{phase}_pu"] * self._v_nom for phase in "abc")

    def _set_voltages(self, volts, ramp_s, **more):
        pu = {f"voltage_{phase}_pu": float(value) / self._v_nom for phase, value in zip("abc", volts)}
        self._rest.grid(**pu, ramp_s=ramp_s, **more)

    def voltage_max(self, voltage=None):
        return (_V_MAX_PU * self._v_nom,) * 3 if voltage is None else voltage

    def voltage_min(self, voltage=None):
        return (0.0,) * 3 if voltage is None else voltage

    def frequency_max(self, frequency=None):
        return (_HZ_MAX,) * 3 if frequency is None else frequency

    def frequency_min(self, frequency=None):
        return (_HZ_MIN,) * 3 if frequency is None else frequency

    def config_asymmetric_phase_angles(self, mag=None, angle=None):
        """Sets magnitudes, V; angles other than 0, 120 and -120 degrees raise GridSimError."""
        angles = [0.0, -120.0, 120.0] if angle is None else [float(each) for each in angle]
        if angles[0] not in _SYMMETRICAL[0] or not all(each in _SYMMETRICAL[1] for each in angles[1:]):
            raise gridsim.GridSimError(f"angles {angles}: the phases of a derbench device stay 120 degrees apart")
        if mag is not None:
            self.voltage(tuple(mag))
        return list(self._present_voltages()), angles

    def relay(self, state=None):
        if state is None:
            return gridsim.RELAY_OPEN if self._rest.grid()["outage"] else gridsim.RELAY_CLOSED
        if state not in (gridsim.RELAY_OPEN, gridsim.RELAY_CLOSED):
            raise gridsim.GridSimError(f"relay {state!r}; allowed: {gridsim.RELAY_OPEN}, {gridsim.RELAY_CLOSED}")
        self._rest.grid(outage=state == gridsim.RELAY_OPEN)
        return state

    def regen(self, state=None):
        """The simulated grid always takes power."""
        return gridsim.REGEN_ON if state is None else state

    def profile_load(self, profile_name=None, v_step=100, f_step=100, t_step=None, profile=None):
        """Takes a list of (time s, V1, V2, V3, Hz), a CSV file of these columns, or a step: percent of nominal for t_step s."""
        if profile is not None:
            rows = profile
        elif t_step is not None:
            stepped = (*(self._v_nom * v_step / 100,) * 3, self._f_nom * f_step / 100)
            rows = [(0, *stepped), (t_step, *stepped), (t_step, *(self._v_nom,) * 3, self._f_nom)]
        elif profile_name is not None and os.path.exists(profile_name):
            with open(profile_name, newline="") as file:
                rows = list(csv.reader(file))[1:]
        else:
            raise gridsim.GridSimError(f"no profile {profile_name!r}: give a list, a CSV file, or t_step")
        self.profile = [tuple(float(value) for value in row) for row in rows if row]
        if any(len(row) != 5 for row in self.profile):
            raise gridsim.GridSimError("a row of a profile has time, three voltages and the frequency")

    def profile_start(self):
        """Each row holds at its time; between two rows values move in straight lines."""
        self.profile_stop()
        self._timers = [
            self.ts.timer_start(row[0], self._row, arg=place) for place, row in enumerate(self.profile) if row[0] > 0
        ]
        for place, row in enumerate(self.profile):
            if row[0] == 0:
                self._row(place)

    def _row(self, place):
        """Sets a row of the profile, and begins the way to the next one."""
        time, *volts, hz = self.profile[place]
        self._set_voltages(volts, 0, frequency_hz=hz)
        if place + 1 < len(self.profile):
            next_time, *next_volts, next_hz = self.profile[place + 1]
            if next_time > time and (next_volts, next_hz) != (volts, hz):
                self._set_voltages(next_volts, next_time - time, frequency_hz=next_hz)

    def profile_stop(self):
        timers, self._timers = self._timers, []
        for timer in timers:
            self.ts.timer_cancel(timer)

    def _measured(self, name, ph_list):
        phases = self._rest.phase_quantities([name])
        return tuple(phases[phase - 1][name] for phase in ph_list)

    def meas_power(self, ph_list=(1, 2, 3)):
        return self._measured("W", ph_list)

    def meas_va(self, ph_list=(1, 2, 3)):
        return self._measured("VA", ph_list)

    def meas_current(self, ph_list=(1, 2, 3)):
        return self._measured("A", ph_list)

    def meas_voltage(self, ph_list=(1, 2, 3)):
        return self._measured("V", ph_list)

    def meas_freq(self):
        return self._measured("Hz", (1, 2, 3))

    def meas_pf(self, ph_list=(1, 2, 3)):
        return self._measured("PF", ph_list)


def _ramp_s(change, rate):
    return change / rate if rate > 0 else 0
