/** Examples of a three-phase PV device of 10 kW: as it starts, and after one request to each function. */
import { exampleTime } from '../common/schemas.ts';
import type { GridFunctionName } from './functions.ts';

const off = {
  supported: true,
  enabled: false,
  source: 'default',
  changed_at: null,
  reversion_time_s: 0,
  reversion_remaining_s: null,
};
const on = { ...off, enabled: true, reversion_time_s: null };
const written = { source: 'rest', changed_at: exampleTime };
const switchedOn = { enabled: true, ...written };

const adopted = { max_points: 10, curve_count: 3, curve_index: 1, adopt_result: 'completed', reversion_curve: 0 };
const trip = { ...on, max_points: 10, adopt_result: 'completed' };

type Pairs = readonly (readonly [number, number])[];
const volts = (pairs: Pairs) => ({ points: pairs.map(([v_pct, time_s]) => ({ v_pct, time_s })) });
const hertz = (pairs: Pairs) => ({ points: pairs.map(([hz, time_s]) => ({ hz, time_s })) });

const unity = { pf: 1, excitation: 'over_excited' };
const inject = { ...off, ...unity, reversion: { ...unity, enabled: false } };

const functions = {
  volt_var: {
    ...off,
    points: [
      { v_pct: 92, var_pct: 44 },
      { v_pct: 98, var_pct: 0 },
      { v_pct: 102, var_pct: 0 },
      { v_pct: 108, var_pct: -44 },
    ],
    dept_ref: 'va_max_pct',
    priority: 'reactive',
    response_time_s: 5,
    v_ref_pct: 100,
    v_ref_auto_enabled: false,
    v_ref_auto_time_s: 300,
    v_ref_auto_pct: 100,
    ...adopted,
  },
  volt_watt: {
    ...off,
    points: [
      { v_pct: 106, w_pct: 100 },
      { v_pct: 110, w_pct: 0 },
    ],
    dept_ref: 'w_max_pct',
    response_time_s: 10,
    ...adopted,
  },
  watt_var: {
    ...off,
    points: [
      { w_pct: 20, var_pct: 0 },
      { w_pct: 50, var_pct: 0 },
      { w_pct: 100, var_pct: -44 },
    ],
    dept_ref: 'va_max_pct',
    priority: 'reactive',
    ...adopted,
  },
  freq_droop: {
    ...off,
    enabled: true,
    db_of_hz: 0.036,
    db_uf_hz: 0.036,
    k_of: 0.05,
    k_uf: 0.05,
    response_time_s: 5,
    p_min_pct: 0,
    adopt_result: 'completed',
    reversion_curve: 0,
  },
  pf: { ...inject, inject, absorb: { supported: false } },
  constant_var: {
    ...off,
    mode: 'var_max_pct',
    var_pct: 0,
    var_kvar: 0,
    priority: 'reactive',
    reversion_var_pct: 0,
    reversion_var_kvar: 0,
    reversion_enabled: false,
  },
  max_power: { ...off, limit_pct: 100, reversion_limit_pct: 100, reversion_enabled: false },
  active_power: {
    ...off,
    mode: 'w_max_pct',
    setpoint_pct: 100,
    setpoint_kw: 10,
    reversion_setpoint_pct: 100,
    reversion_setpoint_kw: 10,
    reversion_enabled: false,
  },
  enter_service: {
    ...on,
    v_hi_pct: 105,
    v_lo_pct: 91.7,
    hz_hi_hz: 60.1,
    hz_lo_hz: 59.5,
    delay_s: 300,
    random_delay_s: 0,
    ramp_s: 300,
    delay_remaining_s: 0,
  },
  lv_trip: {
    ...trip,
    must_trip: volts([
      [50, 2],
      [88, 21],
    ]),
    may_trip: volts([
      [50, 1],
      [70, 10],
      [88, 20],
    ]),
    momentary_cessation: volts([[50, 0.083]]),
  },
  hv_trip: {
    ...trip,
    must_trip: volts([
      [120, 0.16],
      [110, 13],
    ]),
    may_trip: volts([
      [120, 0],
      [110, 12],
    ]),
    momentary_cessation: volts([[110, 0.083]]),
  },
  lf_trip: {
    ...trip,
    must_trip: hertz([
      [56.5, 0.16],
      [58.5, 300],
    ]),
    may_trip: hertz([
      [57, 0],
      [58.8, 299],
    ]),
    momentary_cessation: hertz([]),
  },
  hf_trip: {
    ...trip,
    must_trip: hertz([
      [62, 0.16],
      [61.2, 300],
    ]),
    may_trip: hertz([
      [61.8, 0],
      [61.2, 299],
    ]),
    momentary_cessation: hertz([]),
  },
  ramp: { ...on, w_ramp_pct_s: 20, w_ramp_ref: 'w_max', var_ramp_pct_s: 20 },
  anti_islanding: on,
} satisfies Record<GridFunctionName, unknown>;

export const exampleGridSupport = { device_index: 0, ...functions };

/** Requests to each function. */
export const exampleBodies = {
  volt_var: {
    enabled: true,
    points: [
      { v_pct: 95, var_pct: 30 },
      { v_pct: 105, var_pct: -30 },
    ],
    response_time_s: 3,
  },
  volt_watt: {
    enabled: true,
    points: [
      { v_pct: 105, w_pct: 100 },
      { v_pct: 109, w_pct: 20 },
    ],
  },
  watt_var: {
    enabled: true,
    points: [
      { w_pct: 50, var_pct: 0 },
      { w_pct: 100, var_pct: -30 },
    ],
  },
  freq_droop: { db_of_hz: 0.05, k_of: 0.04 },
  pf: { inject: { enabled: true, pf: 0.95, excitation: 'under_excited' } },
  constant_var: { enabled: true, mode: 'vars', var_kvar: -1.5 },
  max_power: { enabled: true, limit_pct: 50, reversion_time_s: 60 },
  active_power: { enabled: true, mode: 'watts', setpoint_kw: 4 },
  enter_service: { delay_s: 60, ramp_s: 30 },
  lv_trip: {
    must_trip: volts([
      [50, 1],
      [88, 10],
    ]),
  },
  hv_trip: { momentary_cessation: volts([]) },
  lf_trip: {
    must_trip: hertz([
      [57, 0.16],
      [58.5, 300],
    ]),
  },
  hf_trip: { enabled: false },
  ramp: { w_ramp_pct_s: 10 },
  anti_islanding: { enabled: false },
} as const satisfies Record<GridFunctionName, unknown>;

const atUnder = { ...switchedOn, pf: 0.95, excitation: 'under_excited' };

/** Their answers. */
export const exampleReplies = {
  volt_var: { ...functions.volt_var, ...exampleBodies.volt_var, ...switchedOn },
  volt_watt: { ...functions.volt_watt, ...exampleBodies.volt_watt, ...switchedOn },
  watt_var: { ...functions.watt_var, ...exampleBodies.watt_var, ...switchedOn },
  freq_droop: { ...functions.freq_droop, ...exampleBodies.freq_droop },
  pf: { ...functions.pf, ...atUnder, inject: { ...functions.pf.inject, ...atUnder } },
  constant_var: { ...functions.constant_var, ...exampleBodies.constant_var, ...switchedOn },
  max_power: { ...functions.max_power, ...exampleBodies.max_power, ...switchedOn, reversion_remaining_s: 60 },
  active_power: { ...functions.active_power, ...exampleBodies.active_power, ...switchedOn },
  enter_service: { ...functions.enter_service, ...exampleBodies.enter_service },
  lv_trip: { ...functions.lv_trip, ...exampleBodies.lv_trip },
  hv_trip: { ...functions.hv_trip, ...exampleBodies.hv_trip },
  lf_trip: { ...functions.lf_trip, ...exampleBodies.lf_trip },
  hf_trip: { ...functions.hf_trip, enabled: false, ...written },
  ramp: { ...functions.ramp, ...exampleBodies.ramp, ...written },
  anti_islanding: { ...functions.anti_islanding, enabled: false, ...written },
} satisfies Record<GridFunctionName, unknown>;
