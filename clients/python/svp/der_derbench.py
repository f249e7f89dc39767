"""SVP driver: a derbench device as the equipment under test of `der`, by the SunSpec models 701 to 715 over Modbus."""

import os

from . import der
from .derbench_svp import HOST, MODE, PORT, UNIT, SunSpecMap, declare, flag, line_neutral, parameter, phases_of, without_none

der_driver = {"name": os.path.splitext(os.path.basename(__file__))[0], "mode": MODE}

#: names of 705.DeptRef, 706.DeptRef and 712.DeptRef
_VAR_REFERENCES = ("W_MAX_PCT", "VAR_MAX_PCT", "VAR_AVAL_PCT", "VA_MAX_PCT")
_WATT_REFERENCES = ("W_MAX_PCT", "W_AVAL_PCT")
#: `VArPct_Mod` of `reactive_power`: its percentage, and 704.VarSetMod
_VAR_MODES = {"WMax": ("VArWMaxPct", 0), "VArMax": ("VArMaxPct", 1), "VArAval": ("VArAvalPct", 2)}
_VARS = 4
#: voltages and powers of curves below this are per unit, above it percent
_PER_UNIT_MAX = 5
#: enables of the functions by their name in `controls_status`
_ENABLES = {
    "Fixed_W": (704, "WMaxLimPctEna"),
    "Set_W": (704, "WSetEna"),
    "Fixed_Var": (704, "VarSetEna"),
    "Fixed_PF": (704, "PFWInjEna"),
    "Fixed_PF_Abs": (704, "PFWAbsEna"),
    "Volt_Var": (705, "Ena"),
    "Volt_Watt": (706, "Ena"),
    "Freq_Watt": (711, "Ena"),
    "Watt_Var": (712, "Ena"),
}
_REVERSIONS = ("Ignored", "Written")


def der_info():
    return der_driver


def params(info, group_name=None):
    declare(
        info,
        group_name,
        HOST,
        PORT,
        UNIT,
        ("reversion", f"RvrtTms of scripts: {' or '.join(_REVERSIONS)}. CPF and CRP give a response time there", _REVERSIONS[0]),
    )


class DER(der.DER):
    """Curves in per unit (any voltage or power below 5) or percent; `RmpTms` and `RmpPtTms` are the response time."""

    def __init__(self, ts, group_name, support_interfaces=None):
        der.DER.__init__(self, ts, group_name, support_interfaces=support_interfaces)
        self._map = SunSpecMap(ts, group_name, der.DERError)
        self._writes_reversion = parameter(ts, group_name, "reversion") == _REVERSIONS[1]
        self._phase = self._v_nom = self._v_in_nom = self._v_low = self._v_high = None
        self._s_rated = self._p_rated = self._p_min = self._var_rated = None
        self._f_nom = self._f_min = self._f_max = None
        self._abs_ena = self._startup_time = self._imbalance_resp = None

    def config(self):
        """Reads the ratings, which the methods `phase` to `imbalance_resp` answer."""
        measured, rated = self._map.values(701), self._map.values(702)
        enter = self._map.values(703)
        self._phase = phases_of(measured["ACType"])
        self._v_nom = line_neutral(measured["ACType"], rated["VNomRtg"])
        self._v_low, self._v_high = (line_neutral(measured["ACType"], rated[name]) for name in ("VMinRtg", "VMaxRtg"))
        self._s_rated, self._p_rated, self._var_rated = rated["VAMaxRtg"], rated["WMaxRtg"], rated["VarMaxInjRtg"]
        self._p_min = 0.0
        self._abs_ena = "Yes" if rated["WChaRteMaxRtg"] else "No"
        self._startup_time = enter["ESDlyTms"] + enter["ESRmpTms"]
        self._imbalance_resp = "EUT response to the average of the three-phase effective (RMS)"

    def open(self):
        self._map.model(1)

    def close(self):
        self._map.close()

    def nameplate(self):
        rated = self._map.values(702)
        return {
            "WRtg": rated["WMaxRtg"], "VARtg": rated["VAMaxRtg"], "ARtg": rated["AMaxRtg"],
            "VArRtgQ1": rated["VarMaxInjRtg"], "VArRtgQ4": rated["VarMaxAbsRtg"],
            "PFRtgQ1": rated["PFOvrExtRtg"], "PFRtgQ4": rated["PFUndExtRtg"],
            "MaxChaRte": rated["WChaRteMaxRtg"], "MaxDisChaRte": rated["WDisChaRteMaxRtg"],
        }

    def measurements(self):
        read = self._map.values(701)
        names = {
            "A": "A", "AphA": "AL1", "AphB": "AL2", "AphC": "AL3", "PPVphAB": "VL1L2", "PPVphBC": "VL2L3",
            "PPVphCA": "VL3L1", "PhVphA": "VL1", "PhVphB": "VL2", "PhVphC": "VL3", "W": "W", "Hz": "Hz", "VA": "VA",
            "VAr": "Var", "PF": "PF", "WH": "TotWhInj", "TmpCab": "TmpCab", "TmpSnk": "TmpSnk", "TmpTrns": "TmpTrns",
            "TmpOt": "TmpOt", "St": "InvSt", "Evt1": "Alrm",
        }
        dc = self._map.values(714) if self._map.has(714) else {}
        return {**{key: read[name] for key, name in names.items()}, "DCA": dc.get("DCA"), "DCW": dc.get("DCW")}

    def settings(self, params=None):
        names = {"WMax": "WMax", "VRef": "VNom", "VMax": "VMax", "VMin": "VMin", "VAMax": "VAMax"}
        names.update({"VArMaxQ1": "VarMaxInj", "VArMaxQ4": "VarMaxAbs", "PFMinQ1": "PFOvrExt", "PFMinQ4": "PFUndExt"})
        if params is not None:
            self._refuse_unknown(params, [*names, "WGra"])
            self._map.write(702, {names[key]: value for key, value in params.items() if key in names})
            self.ramp_rate(params.get("WGra"))
        read = self._map.values(702)
        return {**{key: read[name] for key, name in names.items()}, "WGra": self._map.values(704)["WRmp"]}

    def _refuse_unknown(self, params, allowed):
        unknown = sorted(set(params) - set(allowed))
        if unknown:
            raise der.DERError(f"not in the models of the device: {', '.join(unknown)}")

    def conn_status(self, params=None):
        return self._map.values(701)["ConnSt"] == 1

    def controls_status(self, params=None):
        read = {model: self._map.values(model) for model in {model for model, _ in _ENABLES.values()}}
        return {name: bool(read[model][point]) for name, (model, point) in _ENABLES.items()}

    def connect(self, params=None):
        """By the permit service 703.ES: a return waits for the enter-service delay."""
        if params is not None:
            self._map.write(703, {"ES": flag(params.get("Conn"))})
        return {"Conn": bool(self._map.values(703)["ES"])}

    def _reversion(self, params, point):
        return {point: params.get("RvrtTms")} if self._writes_reversion else {}

    def fixed_pf(self, params=None):
        """Power factor while injecting: positive absorbs reactive power, negative injects it, as `p1547` has it."""
        if params is not None:
            pf = params.get("PF")
            setting = None if pf is None else {"PF": abs(pf), "Ext": 0 if pf < 0 else 1}
            enable = {"PFWInj": setting, "PFWInjEna": flag(params.get("Ena"))}
            self._map.write(704, {**enable, **self._reversion(params, "PFWInjRvrtTms")})
        controls = self._map.model(704)
        pf, excitation = controls.PFWInj.PF.cvalue, controls.PFWInj.Ext.cvalue
        signed = None if pf is None else -pf if excitation == 0 else pf
        return {"Ena": bool(controls.PFWInjEna.cvalue), "PF": signed, "RvrtTms": controls.PFWInjRvrtTms.cvalue}

    def limit_max_power(self, params=None):
        if params is not None:
            limit = {"WMaxLimPct": params.get("WMaxPct"), "WMaxLimPctEna": flag(params.get("Ena"))}
            self._map.write(704, {**limit, **self._reversion(params, "WMaxLimPctRvrtTms")})
        read = self._map.values(704)
        return {
            "Ena": bool(read["WMaxLimPctEna"]), "WMaxPct": read["WMaxLimPct"], "RvrtTms": read["WMaxLimPctRvrtTms"]
        }

    def reactive_power(self, params=None):
        """`Q` in var, or `VArPct_Mod` with its percentage; positive is over-excited."""
        if params is not None:
            setting = {"VarSetEna": flag(params.get("Ena"))}
            if params.get("Q") is not None:
                setting.update({"VarSetMod": _VARS, "VarSet": params["Q"]})
            elif params.get("VArPct_Mod") in _VAR_MODES:
                key, mode = _VAR_MODES[params["VArPct_Mod"]]
                setting.update({"VarSetMod": mode, "VarSetPct": params.get(key)})
            self._map.write(704, {**setting, **self._reversion(params, "VarSetRvrtTms")})
        read = self._map.values(704)
        return {"Ena": bool(read["VarSetEna"]), "Q": read["VarSet"] if read["VarSetMod"] == _VARS else None,
                "Pct": read["VarSetPct"], "RvrtTms": read["VarSetRvrtTms"]}

    def active_power(self, params=None):
        if params is not None:
            setting = {"WSetMod": 0, "WSetPct": params.get("P"), "WSetEna": flag(params.get("Ena"))}
            self._map.write(704, {**setting, **self._reversion(params, "WSetRvrtTms")})
        read = self._map.values(704)
        return {"Ena": bool(read["WSetEna"]), "P": read["WSetPct"], "RvrtTms": read["WSetRvrtTms"]}

    def _curve_function(self, model, params, store):
        """Enables or disables a curve, and puts the curve of `params` in force first."""
        if params is not None:
            if params.get("curve") is not None:
                store(params.get("ActCrv") or 1, params["curve"])
            enable = {"Ena": flag(params.get("Ena"))}
            self._map.write(model, {**enable, **self._reversion(params, "RvrtTms")})
        read = self._map.values(model)
        return {"Ena": bool(read["Ena"]), "ActCrv": 1, "NCrv": read["NCrv"], "NPt": read["NPt"], "RvrtTms": read["RvrtTms"]}

    def volt_var(self, params=None):
        return {**self._curve_function(705, params, self.volt_var_curve), "curve": self.volt_var_curve(1)}

    def volt_var_curve(self, id, params=None):
        """The curve in force, whatever the id; `vref` in per unit or percent."""
        if params is not None:
            volts, vars = _percent(params["v"], params["var"])
            reference = params.get("vref")
            self._map.adopt(705, {
                **_points("V", volts, "Var", vars),
                "DeptRef": _reference(_VAR_REFERENCES, params, "VA_MAX_PCT"),
                "VRef": None if reference is None else _percent([reference])[0][0],
                "RspTms": _response(params),
            })
        _, curve = self._map.curve(705)
        return {**_read_points(curve, V="v", Var="var"), "DeptRef": _VAR_REFERENCES[curve["DeptRef"]],
                "vref": curve["VRef"], "RmpTms": curve["RspTms"]}

    def volt_watt(self, params=None):
        def store(_, curve):
            volts, watts = _percent(curve["v"], curve["w"])
            dependent = _reference(_WATT_REFERENCES, curve, "W_MAX_PCT")
            self._map.adopt(706, {**_points("V", volts, "W", watts), "DeptRef": dependent, "RspTms": _response(curve)})

        state = self._curve_function(706, params, store)
        _, curve = self._map.curve(706)
        return {**state, "curve": {**_read_points(curve, V="v", W="w"), "DeptRef": _WATT_REFERENCES[curve["DeptRef"]],
                                   "RmpTms": curve["RspTms"]}}

    def watt_var(self, params=None):
        def store(_, curve):
            watts, vars = _percent(curve["w"], curve["var"])
            self._map.adopt(712, {**_points("W", watts, "Var", vars),
                                  "DeptRef": _reference(_VAR_REFERENCES, curve, "VA_MAX_PCT")})

        renamed = None if params is None else {**params, "Ena": params.get("Ena", params.get("ModEna"))}
        state = self._curve_function(712, renamed, store)
        _, curve = self._map.curve(712)
        return {**state, "curve": {**_read_points(curve, W="w", Var="var"), "DeptRef": _VAR_REFERENCES[curve["DeptRef"]]}}

    def freq_watt(self, params=None):
        """Droop: `dbOF`, `dbUF` (or `dbf`) in Hz, `kOF`, `kUF` (or `kof`) in per unit, `RspTms`."""
        if params is not None:
            over = {"DbOf": params.get("dbOF", params.get("dbf")), "KOf": params.get("kOF", params.get("kof"))}
            under = {"DbUf": params.get("dbUF", over["DbOf"]), "KUf": params.get("kUF", over["KOf"])}
            change = without_none({**over, **under, "RspTms": params.get("RspTms")})
            if change:
                self._map.adopt(711, change)
            self._map.write(711, {"Ena": flag(params.get("Ena")), **self._reversion(params, "RvrtTms")})
        read, droop = self._map.curve(711)
        names = {"dbOF": "DbOf", "dbUF": "DbUf", "kOF": "KOf", "kUF": "KUf", "RspTms": "RspTms"}
        return {"Ena": bool(read["Ena"]), "NCrv": read["NCtl"], **{key: droop[name] for key, name in names.items()}}

    def freq_watt_curve(self, id, params=None):
        """Reads the droop; the models of IEEE 1547-2018 have no curve of frequency and power that could be written."""
        if params is not None:
            raise der.DERError("frequency-watt curves are not in model 711: use freq_watt with dbOF and kOF")
        return self.freq_watt()

    def freq_watt_param(self, params=None):
        if params is not None:
            self._refuse_unknown(params, ["Ena", "RspTms"])
        return self.freq_watt(params)

    def soft_start_ramp_rate(self, params=None):
        """Duration of the enter-service ramp, s."""
        if params is not None:
            self._map.write(703, {"ESRmpTms": params})
        return self._map.values(703)["ESRmpTms"]

    def ramp_rate(self, params=None):
        """704.WRmp, percent per second."""
        if params is not None:
            self._map.write(704, {"WRmp": params})
        return self._map.values(704)["WRmp"]

    def storage(self, params=None):
        """State of charge; reserves and rates have no writable point in the models of a 1547 device."""
        if params is not None:
            raise der.DERError("model 713 has nothing that can be written: use active_power")
        read, rated = self._map.values(713), self._map.values(702)
        return {"WChaMax": rated["WChaRteMaxRtg"], "ChaState": read["SoC"], "StorAval": read["WHAvail"]}

    def _trip_curve(self, model, axis, key, kind, params):
        """A curve of 707 to 710: {"curve": {"t": s, key: percent or Hz}}, or points as Tms1 and V1 (volts) or Hz1."""
        if params is not None:
            times, values = self._trip_points(axis, key, params)
            if times:
                points = [{axis: value, "Tms": time} for time, value in zip(times, values)]
                self._map.adopt(model, {kind: {"ActPt": len(points), "Pt": points}})
            self._map.write(model, {"Ena": flag(params.get("Ena"))})
        read, curve = self._map.curve(model)
        points = curve[kind]["Pt"][: curve[kind]["ActPt"]]
        shown = {"t": [each["Tms"] for each in points], key: [each[axis] for each in points]}
        return {"Ena": bool(read["Ena"]), "curve": shown}

    def _trip_points(self, axis, key, params):
        curve = params.get("curve")
        if curve is not None:
            values = next(curve[name] for name in (key, key.upper(), key.lower()) if name in curve)
            return curve["t"], values if axis == "Hz" else _percent(values)[0]
        numbers = sorted(int(name[3:]) for name in params if name.startswith("Tms"))
        values = [params[f"{axis}{number}"] for number in numbers]
        if axis == "V":
            values = [value / self._nominal_voltage() * 100 for value in values]
        return [params[f"Tms{number}"] for number in numbers], values

    def _nominal_voltage(self):
        if self._v_nom is None:
            self.config()
        return self._v_nom

    def frt_stay_connected_high(self, params=None):
        return self._trip_curve(710, "Hz", "Hz", "MayTrip", params)

    def frt_stay_connected_low(self, params=None):
        return self._trip_curve(709, "Hz", "Hz", "MayTrip", params)

    def frt_trip_high(self, params=None):
        return self._trip_curve(710, "Hz", "Hz", "MustTrip", params)

    def frt_trip_low(self, params=None):
        return self._trip_curve(709, "Hz", "Hz", "MustTrip", params)

    def vrt_stay_connected_high(self, params=None):
        return self._trip_curve(708, "V", "v", "MayTrip", params)

    def vrt_stay_connected_low(self, params=None):
        return self._trip_curve(707, "V", "v", "MayTrip", params)

    def vrt_trip_high(self, params=None):
        return self._trip_curve(708, "V", "v", "MustTrip", params)

    def vrt_trip_low(self, params=None):
        return self._trip_curve(707, "V", "v", "MustTrip", params)

    def deactivate_all_fct(self):
        enabled = self.controls_status()
        for name, (model, point) in _ENABLES.items():
            if enabled[name]:
                self._map.write(model, {point: 0})


def _percent(first, *others):
    """Axes of a curve in percent; the first one says whether all are per unit."""
    factor = 100 if max(abs(value) for value in first) < _PER_UNIT_MAX else 1
    return [[value * factor for value in axis] for axis in (first, *others)]


def _points(first, firsts, second, seconds):
    if len(firsts) != len(seconds):
        raise der.DERError(f"{len(firsts)} points of {first}, and {len(seconds)} of {second}")
    pairs = [{first: one, second: other} for one, other in zip(firsts, seconds)]
    return {"ActPt": len(pairs), "Pt": pairs}


def _read_points(curve, **names):
    points = curve["Pt"][: curve["ActPt"]]
    return {key: [each[point] for each in points] for point, key in names.items()}


def _reference(names, curve, default):
    name = curve.get("DeptRef", default)
    if name not in names:
        raise der.DERError(f"DeptRef {name!r}; allowed: {', '.join(names)}")
    return names.index(name)


def _response(curve):
    """Open loop response time, s; None: as it is."""
    return curve.get("RmpPtTms", curve.get("RmpTms"))
