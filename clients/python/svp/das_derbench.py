"""SVP driver: the registers 701 and 714 of a derbench device as a data acquisition system, over REST."""

import os
import time

from . import das
from .derbench_svp import DEVICE, MODE, URL, Rest, declare, parameter

das_driver = {"name": os.path.splitext(os.path.basename(__file__))[0], "mode": MODE}

#: channels of a phase, and their quantities in 701
_CHANNELS = {
    "AC_VRMS": "V", "AC_IRMS": "A", "AC_P": "W", "AC_S": "VA", "AC_Q": "Var", "AC_PF": "PF", "AC_FREQ": "Hz"
}
#: channels of the DC side, and their points in 714
_DC_CHANNELS = {"DC_V": "Prt[0].DCV", "DC_I": "DCA", "DC_P": "DCW"}


def das_info():
    return das_driver


def params(info, group_name=None):
    declare(info, group_name, URL, DEVICE, ("sample_interval", "Sample interval (ms); 0: samples of the script only", 1000))


class DAS(das.DAS):
    def __init__(self, ts, group_name, points=None, sc_points=None, support_interfaces=None):
        das.DAS.__init__(self, ts, group_name, points=points, sc_points=sc_points, support_interfaces=support_interfaces)
        self.device = Device(Rest(ts, group_name, das.DASError), int(parameter(ts, group_name, "sample_interval")))
        self.data_points = list(self.device.data_points)
        self._init_sc_points()


class Device:
    """Reads all channels at once; waveforms do not exist, for derbench works with effective values."""

    def __init__(self, rest, sample_interval):
        self._rest = rest
        self.sample_interval = sample_interval
        self.data_points = [
            "TIME", *_DC_CHANNELS, *(f"{channel}_{phase}" for phase in (1, 2, 3) for channel in _CHANNELS)
        ]
        self._has_dc = rest.has_model(714)
        self._started_at = time.time()

    def info(self):
        return "derbench registers of " + self._rest.identity()

    def open(self):
        pass

    def close(self):
        pass

    def data_capture(self, enable=True, channels=None):
        self._started_at = time.time()

    def data_read(self):
        dc = self._rest.registers(714, list(_DC_CHANNELS.values())) if self._has_dc else {}
        phases = self._rest.phase_quantities(list(_CHANNELS.values()))
        return [
            time.time() - self._started_at,
            *(dc.get(point) for point in _DC_CHANNELS.values()),
            *(phase[quantity] for phase in phases for quantity in _CHANNELS.values()),
        ]

    def waveform_config(self, params):
        raise das.DASError(_NO_WAVEFORMS)

    def waveform_capture(self, enable=True, sleep=None):
        raise das.DASError(_NO_WAVEFORMS)

    def waveform_status(self):
        return das.WFM_STATUS_INACTIVE

    def waveform_force_trigger(self):
        raise das.DASError(_NO_WAVEFORMS)

    def waveform_capture_dataset(self):
        return []


_NO_WAVEFORMS = "derbench has effective values, and no waveforms"
