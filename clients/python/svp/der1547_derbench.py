"""SVP driver: a derbench device as the equipment under test of `der1547`, by the SunSpec models 701 to 715 over Modbus.

Powers are in kW, kvar and kVA, curves in per unit, as the base class has them. `..._er_min` and `..._er_max` are left
out: SunSpec has no points for ranges of adjustability.
"""

import os

from . import der1547
from .derbench_svp import HOST, MODE, PORT, UNIT, SunSpecMap, declare, flag, line_neutral, without_none

der1547_driver = {"name": os.path.splitext(os.path.basename(__file__))[0], "mode": MODE}

#: keys of 702: rating point, setting point and factor
_CAPACITY = {
    "np_p_max": ("WMaxRtg", "WMax", 1e-3),
    "np_p_max_over_pf": ("WOvrExtRtg", "WMaxOvrExt", 1e-3),
    "np_over_pf": ("WOvrExtRtgPF", "WOvrExtPF", 1),
    "np_p_max_under_pf": ("WUndExtRtg", "WMaxUndExt", 1e-3),
    "np_under_pf": ("WUndExtRtgPF", "WUndExtPF", 1),
    "np_va_max": ("VAMaxRtg", "VAMax", 1e-3),
    "np_q_max_inj": ("VarMaxInjRtg", "VarMaxInj", 1e-3),
    "np_q_max_abs": ("VarMaxAbsRtg", "VarMaxAbs", 1e-3),
    "np_p_max_charge": ("WChaRteMaxRtg", "WChaRteMax", 1e-3),
    "np_apparent_power_charge_max": ("VAChaRteMaxRtg", "VAChaRteMax", 1e-3),
    "np_ac_v_nom": ("VNomRtg", "VNom", 1),
    "np_ac_v_max_er_max": ("VMaxRtg", "VMax", 1),
    "np_ac_v_min_er_min": ("VMinRtg", "VMin", 1),
}
#: keys of model 1
_IDENTITY = {"np_manufacturer": "Mn", "np_model": "Md", "np_serial_num": "SN", "np_fw_ver": "Vr"}
#: bits of 702.CtrlModes by the keys of np_supported_modes
_MODES = {
    "max_w": 0, "fixed_var": 2, "fixed_pf": 3, "volt_var": 4, "freq_watt": 5, "lv_trip": 7, "hv_trip": 8, "watt_var": 9,
    "volt_watt": 10, "lf_trip": 12, "hf_trip": 13,
}
#: bits of 701.Alrm
_ALARMS = (
    "ground_fault", "over_dc_volt", "disconn_open", "dc_disconn_open", "grid_disconn", "cabinet_open", "manual_shutdown",
    "over_temp", "over_freq", "under_freq", "over_volt", "under_volt", "fuse", "under_temp", "mem_or_comm", "hdwr_fail",
    "mfr_alrm",
)
#: values of 701.InvSt
_STATES = ("off", "sleeping", "starting", "mppt", "throttled", "shutting_down", "fault", "standby")
_CATEGORIES = ("CAT_A", "CAT_B")
_ABNORMAL_CATEGORIES = ("CAT_I", "CAT_II", "CAT_III")
_RUNNING, _THROTTLED = 3, 4
#: keys of 703 with their factor
_ENTER_SERVICE = {
    "es_v_low": ("ESVLo", 0.01), "es_v_high": ("ESVHi", 0.01), "es_f_low": ("ESHzLo", 1), "es_f_high": ("ESHzHi", 1),
    "es_delay": ("ESDlyTms", 1), "es_randomized_delay": ("ESRndTms", 1),
}
#: keys of 711
_DROOP = {"pf_dbof": "DbOf", "pf_dbuf": "DbUf", "pf_kof": "KOf", "pf_kuf": "KUf", "pf_olrt": "RspTms"}
_VA_MAX_PCT = 3
_VAR_MAX_PCT = 1


def der1547_info():
    return der1547_driver


def params(info, group_name=None):
    declare(info, group_name, HOST, PORT, UNIT)


class DER1547(der1547.DER1547):
    def __init__(self, ts, group_name, support_interfaces=None):
        der1547.DER1547.__init__(self, ts, group_name, support_interfaces=support_interfaces)
        self._map = SunSpecMap(ts, group_name, der1547.DER1547Error)

    def config(self):
        self.open()

    def open(self):
        self._map.model(1)

    def close(self):
        self._map.close()

    def info(self):
        return "derbench: " + ", ".join(str(value) for value in self._identity().values())

    def _identity(self):
        read = self._map.values(1)
        return {key: read[point] for key, point in _IDENTITY.items()}

    def get_nameplate(self):
        read = self._map.values(702)
        modes = read["CtrlModes"] or 0
        return {
            **_scaled(read, {key: (rating, factor) for key, (rating, _, factor) in _CAPACITY.items()}),
            "np_normal_op_cat": _name(_CATEGORIES, read["NorOpCatRtg"]),
            "np_abnormal_op_cat": _name(_ABNORMAL_CATEGORIES, read["AbnOpCatRtg"]),
            "np_supported_modes": {name: bool(modes >> bit & 1) for name, bit in _MODES.items()},
            "np_reactive_susceptance": read["ReactSusceptRtg"],
            **self._identity(),
        }

    def get_configuration(self):
        """Settings of 702; a setting that the device lacks has the value of the rating."""
        read = self._map.values(702)
        present = {key: (setting, factor) for key, (_, setting, factor) in _CAPACITY.items()}
        return {**self.get_nameplate(), **_scaled(read, present)}

    def set_configuration(self, params=None):
        changes = {key: value for key, value in (params or {}).items() if key in _CAPACITY}
        self._map.write(702, {_CAPACITY[key][1]: value / _CAPACITY[key][2] for key, value in changes.items()})
        return params

    def get_settings(self):
        return self.get_configuration()

    def set_settings(self, params=None):
        return self.set_configuration(params)

    def get_monitoring(self):
        read = self._map.values(701)
        volts = [read[f"VL{phase}"] for phase in (1, 2, 3)]
        alarms = read["Alrm"] or 0
        soc = self._map.values(713)["SoC"] if self._map.has(713) else None
        return {
            "mn_w": read["W"] / 1000,
            "mn_var": read["Var"] / 1000,
            "mn_v": [value for value in volts if value is not None] or [line_neutral(read["ACType"], read["LLV"])],
            "mn_hz": read["Hz"],
            "mn_st": read["InvSt"] in (_RUNNING, _THROTTLED),
            "mn_conn": read["ConnSt"] == 1,
            "mn_der_st": {f"mn_der_st_{name}": read["InvSt"] == value for value, name in enumerate(_STATES)},
            "mn_alrm": {f"mn_alm_{name}": bool(alarms >> bit & 1) for bit, name in enumerate(_ALARMS)},
            "mn_soc_pct": soc,
        }

    def get_const_pf(self):
        controls = self._map.model(704)
        injecting, absorbing = controls.PFWInj, controls.PFWAbs
        return without_none({
            "const_pf_mode_enable": bool(controls.PFWInjEna.cvalue),
            "const_pf_excitation": _excitation(injecting.Ext.cvalue),
            "const_pf_inj": injecting.PF.cvalue,
            "const_pf_abs": absorbing.PF.cvalue,
        })

    def set_const_pf(self, params=None):
        """`const_pf_inj` and `const_pf_abs` are the power factors while injecting and while absorbing active power."""
        enable = flag(params.get("const_pf_mode_enable"))
        excitation = _excitation_value(params.get("const_pf_excitation"))
        settings = {"PFWInj": params.get("const_pf_inj"), "PFWAbs": params.get("const_pf_abs")}
        groups = {
            name: {"PF": abs(value), "Ext": excitation} for name, value in settings.items() if value is not None
        }
        self._map.write(704, {**groups, "PFWInjEna": enable})
        return params

    def get_qv(self):
        read, curve = self._map.curve(705)
        return {
            "qv_mode_enable": bool(read["Ena"]),
            "qv_vref": curve["VRef"] / 100,
            "qv_vref_auto_mode": bool(curve["VRefAutoEna"]),
            "qv_vref_olrt": curve["VRefAutoTms"],
            **_curve_points(curve, qv_curve_v_pts="V", qv_curve_q_pts="Var"),
            "qv_olrt": curve["RspTms"],
        }

    def set_qv(self, params=None):
        points = _curve_change(params, V="qv_curve_v_pts", Var="qv_curve_q_pts")
        reference = params.get("qv_vref")
        self._adopt(705, {
            **points,
            "DeptRef": _VA_MAX_PCT if points else None,
            "VRef": None if reference is None else reference * 100,
            "VRefAutoEna": flag(params.get("qv_vref_auto_mode")),
            "VRefAutoTms": params.get("qv_vref_olrt"),
            "RspTms": params.get("qv_olrt"),
        })
        self._enable(705, params.get("qv_mode_enable"))
        return params

    def get_qp(self):
        read, curve = self._map.curve(712)
        points = curve["Pt"][: curve["ActPt"]]
        generating = [point for point in points if point["W"] >= 0]
        load = [point for point in reversed(points) if point["W"] < 0]
        return {
            "qp_mode_enable": bool(read["Ena"]),
            "qp_curve_p_gen_pts": [point["W"] / 100 for point in generating],
            "qp_curve_q_gen_pts": [point["Var"] / 100 for point in generating],
            "qp_curve_p_load_pts": [point["W"] / 100 for point in load],
            "qp_curve_q_load_pts": [point["Var"] / 100 for point in load],
        }

    def set_qp(self, params=None):
        generating = _curve_change(params, W="qp_curve_p_gen_pts", Var="qp_curve_q_gen_pts")
        load = _curve_change(params, W="qp_curve_p_load_pts", Var="qp_curve_q_load_pts")
        points = [*reversed(load.get("Pt", [])), *generating.get("Pt", [])]
        if points:
            self._adopt(712, {"ActPt": len(points), "Pt": points, "DeptRef": _VA_MAX_PCT})
        self._enable(712, params.get("qp_mode_enable"))
        return params

    def get_pv(self):
        read, curve = self._map.curve(706)
        return {
            "pv_mode_enable": bool(read["Ena"]),
            **_curve_points(curve, pv_curve_v_pts="V", pv_curve_p_pts="W"),
            "pv_olrt": curve["RspTms"],
        }

    def set_pv(self, params=None):
        points = _curve_change(params, V="pv_curve_v_pts", W="pv_curve_p_pts")
        self._adopt(706, {**points, "RspTms": params.get("pv_olrt")})
        self._enable(706, params.get("pv_mode_enable"))
        return params

    def get_const_q(self):
        """`const_q` in per unit of the reactive power rating, without a sign."""
        read = self._map.values(704)
        value = read["VarSetPct"]
        return without_none({
            "const_q_mode_enable": bool(read["VarSetEna"]),
            "const_q_mode_excitation": None if value is None else "inj" if value >= 0 else "abs",
            "const_q": None if value is None else abs(value) / 100,
        })

    def set_const_q(self, params=None):
        value, excitation = params.get("const_q"), params.get("const_q_mode_excitation")
        setting = {"VarSetEna": flag(params.get("const_q_mode_enable"))}
        if value is not None:
            percent = abs(value) * 100 if excitation == "inj" else -abs(value) * 100 if excitation == "abs" else value * 100
            setting.update({"VarSetMod": _VAR_MAX_PCT, "VarSetPct": percent})
        self._map.write(704, setting)
        return params

    def get_p_lim(self):
        read = self._map.values(704)
        return {"p_lim_mode_enable": bool(read["WMaxLimPctEna"]), "p_lim_w": read["WMaxLimPct"] / 100}

    def set_p_lim(self, params=None):
        limit = params.get("p_lim_w")
        percent = None if limit is None else limit * 100
        self._map.write(704, {"WMaxLimPct": percent, "WMaxLimPctEna": flag(params.get("p_lim_mode_enable"))})
        return params

    def get_pf(self):
        read, droop = self._map.curve(711)
        return {"pf_mode_enable": bool(read["Ena"]), **{key: droop[point] for key, point in _DROOP.items()}}

    def set_pf(self, params=None):
        self._adopt(711, {point: params.get(key) for key, point in _DROOP.items()})
        self._enable(711, params.get("pf_mode_enable"))
        return params

    def get_es_permit_service(self):
        read = self._map.values(703)
        ramp = read["ESRmpTms"]
        return {
            "es_permit_service": bool(read["ES"]),
            **_scaled(read, _ENTER_SERVICE),
            "es_randomized_delay": bool(read["ESRndTms"]),
            **({"es_ramp_rate": 100 / ramp} if ramp else {}),
        }

    def set_es_permit_service(self, params=None):
        """`es_randomized_delay` True keeps the random part that the device has; False sets it to 0."""
        values = {
            point: params[key] / factor
            for key, (point, factor) in _ENTER_SERVICE.items()
            if params.get(key) is not None and key != "es_randomized_delay"
        }
        rate = params.get("es_ramp_rate")
        self._map.write(703, {
            **values,
            "ES": flag(params.get("es_permit_service")),
            "ESRndTms": 0 if params.get("es_randomized_delay") is False else None,
            "ESRmpTms": None if not rate else 100 / rate,
        })
        return params

    def get_ui(self):
        return {"ui_mode_enable": bool(self._map.values(704)["AntiIslEna"])}

    def set_ui(self, params=None):
        self._map.write(704, {"AntiIslEna": flag((params or {}).get("ui_mode_enable"))})
        return params

    def _trip(self, model, axis, kind, key, factor):
        _, curve = self._map.curve(model)
        points = curve[kind]["Pt"][: curve[kind]["ActPt"]]
        letter = "v" if axis == "V" else "f"
        return {
            f"{key}_{letter}_pts": [point[axis] * factor for point in points],
            f"{key}_t_pts": [point["Tms"] for point in points],
        }

    def _set_trip(self, model, axis, kind, key, factor, params):
        letter = "v" if axis == "V" else "f"
        values, times = params.get(f"{key}_{letter}_pts"), params.get(f"{key}_t_pts")
        if values is None or times is None or len(values) != len(times):
            raise der1547.DER1547Error(f"{key}_{letter}_pts and {key}_t_pts come together, with as many values")
        points = [{axis: value / factor, "Tms": time} for value, time in zip(values, times)]
        self._adopt(model, {kind: {"ActPt": len(points), "Pt": points}})
        return params

    def get_ov(self, params=None):
        return self._trip(708, "V", "MustTrip", "ov_trip", 0.01)

    def set_ov(self, params=None):
        return self._set_trip(708, "V", "MustTrip", "ov_trip", 0.01, params)

    def get_uv(self, params=None):
        return self._trip(707, "V", "MustTrip", "uv_trip", 0.01)

    def set_uv(self, params=None):
        return self._set_trip(707, "V", "MustTrip", "uv_trip", 0.01, params)

    def get_of(self, params=None):
        return self._trip(710, "Hz", "MustTrip", "of_trip", 1)

    def set_of(self, params=None):
        return self._set_trip(710, "Hz", "MustTrip", "of_trip", 1, params)

    def get_uf(self, params=None):
        return self._trip(709, "Hz", "MustTrip", "uf_trip", 1)

    def set_uf(self, params=None):
        return self._set_trip(709, "Hz", "MustTrip", "uf_trip", 1, params)

    def get_ov_mc(self, params=None):
        return self._trip(708, "V", "MomCess", "ov_mc", 0.01)

    def set_ov_mc(self, params=None):
        return self._set_trip(708, "V", "MomCess", "ov_mc", 0.01, params)

    def get_uv_mc(self, params=None):
        return self._trip(707, "V", "MomCess", "uv_mc", 0.01)

    def set_uv_mc(self, params=None):
        return self._set_trip(707, "V", "MomCess", "uv_mc", 0.01, params)

    def set_cease_to_energize(self, params=None):
        """Ceasing to energize is a permit that is withheld."""
        cease = params.get("cease_to_energize")
        self.set_es_permit_service({"es_permit_service": None if cease is None else not cease})
        return params

    def get_conn(self):
        return {"conn": self._map.values(701)["ConnSt"] == 1}

    def set_conn(self, params=None):
        """Stop and start of 715.OpCtl."""
        self._map.write(715, {"OpCtl": flag(params.get("conn"))})
        return params

    def set_error(self, params=None):
        raise der1547.DER1547Error("faults are injected over REST: POST /api/sim/faults")

    def _adopt(self, model, change):
        if without_none(change):
            self._map.adopt(model, without_none(change))

    def _enable(self, model, enable):
        self._map.write(model, {"Ena": flag(enable)})


def _scaled(read, keys):
    return {key: read[point] * factor for key, (point, factor) in keys.items() if read[point] is not None}


def _name(names, value):
    return None if value is None else names[value]


def _excitation(value):
    return None if value is None else "inj" if value == 0 else "abs"


def _excitation_value(name):
    return None if name is None else 0 if name == "inj" else 1


def _curve_points(curve, **points):
    shown = curve["Pt"][: curve["ActPt"]]
    return {key: [each[point] / 100 for each in shown] for key, point in points.items()}


def _curve_change(params, **keys):
    """Points of a curve in percent, from lists in per unit; empty where neither list is given."""
    axes = {point: params.get(key) for point, key in keys.items()}
    if all(values is None for values in axes.values()):
        return {}
    if any(values is None for values in axes.values()) or len({len(values) for values in axes.values()}) > 1:
        raise der1547.DER1547Error(f"{' and '.join(keys.values())} come together, with as many values")
    pairs = [{point: value * 100 for point, value in zip(axes, row)} for row in zip(*axes.values())]
    return {"ActPt": len(pairs), "Pt": pairs}
