"""SVP driver: the irradiance of a derbench device as a PV simulator, over REST."""

import os

from . import pvsim
from .derbench_svp import DEVICE, MODE, URL, Rest, declare, parameter

pvsim_driver = {"name": os.path.splitext(os.path.basename(__file__))[0], "mode": MODE}

#: standard test conditions of modules
_RATED_IRRADIANCE_W_M2 = 1000.0
_RATED_CELL_C = 25.0
#: range of `controls/environment`
_IRRADIANCE_MAX_W_M2 = 1500.0


def pvsim_info():
    return pvsim_driver


def params(info, group_name=None):
    declare(info, group_name, URL, DEVICE, ("efficiency", "DC power per power that a script asks for: 1 / efficiency", 1.0))


class PVSim(pvsim.PVSim):
    """The maximum power of the array is set by its irradiance, at a fixed cell temperature."""

    def __init__(self, ts, group_name, params=None, support_interfaces=None):
        pvsim.PVSim.__init__(self, ts, group_name, params=params, support_interfaces=support_interfaces)
        self._rest = Rest(ts, group_name, pvsim.PVSimError)
        self._efficiency = float(parameter(ts, group_name, "efficiency"))
        self._rated_w = self._rated_power()
        self._pmp = self._rated_w * self._efficiency
        self._irradiance = _RATED_IRRADIANCE_W_M2

    def _rated_power(self):
        """DC power of the array at rated irradiance and temperature, W."""
        self._rest.environment(irradiance_w_m2=_RATED_IRRADIANCE_W_M2, cell_temperature_c=_RATED_CELL_C)
        self.ts.sleep(2 * self._rest.tick_s())
        return self._rest.get("dc-iv")["mpp"]["p"]

    def close(self):
        pass

    def info(self):
        return "derbench irradiance of " + self._rest.identity()

    def irradiance_set(self, irradiance=1000):
        """Light on the array of `iv_curve_config`, which has its power at 1000 W/m2."""
        self._irradiance = float(irradiance)
        self._apply()

    def iv_curve_config(self, pmp, vmp):
        """Maximum power, W; the voltage of the maximum power point is that of the device's array."""
        self._pmp = float(pmp)
        self._apply()

    def power_set(self, power):
        self._pmp, self._irradiance = float(power), _RATED_IRRADIANCE_W_M2
        self._apply()

    def _apply(self):
        irradiance = self._irradiance * self._pmp / self._efficiency / self._rated_w
        if irradiance > _IRRADIANCE_MAX_W_M2:
            self.ts.log_warning(f"{self._pmp:.0f} W are more than the array gives at {_IRRADIANCE_MAX_W_M2:.0f} W/m2")
        self._rest.environment(
            irradiance_w_m2=min(irradiance, _IRRADIANCE_MAX_W_M2), cell_temperature_c=_RATED_CELL_C
        )

    def power_on(self):
        self._apply()

    def profile_load(self, profile_name):
        raise pvsim.PVSimError("profiles of irradiance are series of derbench (--dc_profile)")

    def profile_start(self):
        raise pvsim.PVSimError("no profile has been loaded")
