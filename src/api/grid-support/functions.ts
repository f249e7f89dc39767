/** Members of `grid-support` and their points: tables that routes, validation and description are made from. */
import type { TripName } from '../../sunspec/map/grid-support/functions.ts';
import type { TripRegion } from '../../sunspec/map/grid-support/wish.ts';
import { curve, flag, gridFunction, number, symbol } from './members.ts';
import type { GridFunction, Member, Members } from './members.ts';

/** Symbols of 705.AdptCrvRslt and of the same point in other models. */
export const adoptSymbols = ['in_progress', 'completed', 'failed'] as const;
const varReferences = ['w_max_pct', 'var_max_pct', 'var_aval_pct', 'va_max_pct'] as const;
const excitations = ['over_excited', 'under_excited'] as const;
const readOnly = { readOnly: true } as const;
const whole = { whole: true } as const;

const result = (point: string): Member => ({
  kind: 'symbol',
  point,
  symbols: adoptSymbols,
  readOnly: true,
  about: 'Outcome of the last adoption.',
});
const maxPoints = number('NPt', 'Maximum number of points of a curve.', readOnly);

const curveState: Members = {
  max_points: maxPoints,
  curve_count: number('NCrv', 'Number of sets in the map, including the set in force.', readOnly),
  curve_index: number('AdptCrvReq', 'Set that was adopted last; 1 after a request of this API.', readOnly),
  adopt_result: result('AdptCrvRslt'),
  reversion_curve: number('RvrtCrv', 'Set that is adopted when the reversion time is over; 0 = none.', whole),
};

const voltVar = gridFunction('volt_var', {
  points: curve('volt_var'),
  dept_ref: symbol('Crv[0].DeptRef', varReferences, 'Meaning of 100 % in `var_pct`.'),
  priority: symbol('Crv[0].Pri', ['active', 'reactive', 'vendor']),
  response_time_s: number('Crv[0].RspTms', 'Open-loop response time.'),
  v_ref_pct: number('Crv[0].VRef', '80 to 120; 0: no reference, same effect as 100.'),
  v_ref_auto_enabled: flag('Crv[0].VRefAutoEna'),
  v_ref_auto_time_s: number('Crv[0].VRefAutoTms', undefined, whole),
  v_ref_auto_pct: number('Crv[0].VRefAuto', 'Autonomous reference voltage.', readOnly),
  ...curveState,
});

const voltWatt = gridFunction('volt_watt', {
  points: curve('volt_watt'),
  dept_ref: symbol('Crv[0].DeptRef', ['w_max_pct', 'w_aval_pct'], 'Meaning of 100 % in `w_pct`.'),
  response_time_s: number('Crv[0].RspTms', 'Open-loop response time.'),
  ...curveState,
});

const wattVar = gridFunction('watt_var', {
  points: curve('watt_var'),
  dept_ref: symbol('Crv[0].DeptRef', varReferences, 'Meaning of 100 % in `var_pct`.'),
  priority: symbol('Crv[0].Pri', ['active', 'reactive']),
  ...curveState,
});

const freqDroop = gridFunction('freq_droop', {
  db_of_hz: number('Ctl[0].DbOf', 'Dead band above the nominal frequency.'),
  db_uf_hz: number('Ctl[0].DbUf', 'Dead band below the nominal frequency.'),
  k_of: number('Ctl[0].KOf', 'Droop above the nominal frequency, per-unit frequency per per-unit power.'),
  k_uf: number('Ctl[0].KUf', 'Droop below the nominal frequency, in the same unit.'),
  response_time_s: number('Ctl[0].RspTms', 'Open-loop response time.'),
  p_min_pct: number('Ctl[0].PMin', 'Lowest active power, signed.'),
  adopt_result: result('AdptCtlRslt'),
  reversion_curve: number('RvrtCtl', 'Set that is adopted when the reversion time is over; 0 = none.', whole),
});

/** Constant power factor while delivering or absorbing power; the ratings of the device limit the factor. */
function powerFactor(name: 'pf_inject' | 'pf_absorb', group: 'PFWInj' | 'PFWAbs'): GridFunction {
  const value = (at: string): Members => ({
    pf: number(`${at}.PF`, undefined, { range: [0, 1] }),
    excitation: symbol(`${at}.Ext`, excitations),
  });
  const reversion: Members = { ...value(`${group}Rvrt`), enabled: flag(`${group}EnaRvrt`) };
  return gridFunction(name, {
    ...value(group),
    reversion: { kind: 'object', members: reversion, about: 'In force when the reversion time is over.' },
  });
}

/** One function for each direction of active power. */
const [inject, absorb] = [powerFactor('pf_inject', 'PFWInj'), powerFactor('pf_absorb', 'PFWAbs')];
const pf: GridFunction = {
  ...inject,
  title: 'constant power factor',
  members: {
    ...inject.members,
    inject: {
      kind: 'part',
      part: inject,
      about: 'While the device delivers power. The members next to `inject` are shorthand for its members.',
    },
    absorb: { kind: 'part', part: absorb, about: 'While the device absorbs power.' },
  },
};

const constantVarMembers: Members = {
  mode: symbol(
    'VarSetMod',
    ['w_max_pct', 'var_max_pct', 'var_avail_pct', 'va_max_pct', 'vars'],
    'Meaning of 100 %; `vars`: `var_kvar` is in force. If `mode` is missing, it follows from the value in the request.',
  ),
  var_pct: number(
    'VarSetPct',
    'If `mode` is missing: relative to the reference in force if that is a percentage, else to 702.VarMaxInj or VarMaxAbs.',
  ),
  var_kvar: number('VarSet', 'A positive value injects. If `mode` is missing, it becomes `vars`.', { kilo: true }),
  priority: symbol('VarSetPri', ['active', 'reactive', 'vendor']),
  reversion_var_pct: number('VarSetPctRvrt'),
  reversion_var_kvar: number('VarSetRvrt', undefined, { kilo: true }),
  reversion_enabled: flag('VarSetEnaRvrt'),
};
const constantVar: GridFunction = {
  ...gridFunction('constant_var', constantVarMembers),
  units: {
    point: 'VarSetMod',
    units: [
      {
        modes: ['var_max_pct', 'w_max_pct', 'var_avail_pct', 'va_max_pct'],
        now: 'var_pct',
        afterReversion: 'reversion_var_pct',
      },
      { modes: ['vars'], now: 'var_kvar', afterReversion: 'reversion_var_kvar' },
    ],
  },
};

const maxPower = gridFunction('max_power', {
  limit_pct: number('WMaxLimPct', 'Percent of 702.WMax.'),
  reversion_limit_pct: number('WMaxLimPctRvrt'),
  reversion_enabled: flag('WMaxLimPctEnaRvrt'),
});

const percent = { range: [-100, 100] } as const;
const activePowerMembers: Members = {
  mode: symbol(
    'WSetMod',
    ['w_max_pct', 'watts'],
    'Unit of the set-point in force. If `mode` is missing, it follows from the value in the request.',
  ),
  setpoint_pct: number('WSetPct', 'A negative value charges. If `mode` is missing, it becomes `w_max_pct`.', percent),
  setpoint_kw: number('WSet', 'A negative value charges. If `mode` is missing, it becomes `watts`.', { kilo: true }),
  reversion_setpoint_pct: number('WSetPctRvrt', undefined, percent),
  reversion_setpoint_kw: number('WSetRvrt', undefined, { kilo: true }),
  reversion_enabled: flag('WSetEnaRvrt'),
};
const activePower: GridFunction = {
  ...gridFunction('active_power', activePowerMembers),
  units: {
    point: 'WSetMod',
    units: [
      { modes: ['w_max_pct'], now: 'setpoint_pct', afterReversion: 'reversion_setpoint_pct' },
      { modes: ['watts'], now: 'setpoint_kw', afterReversion: 'reversion_setpoint_kw' },
    ],
  },
};

const enterService = gridFunction('enter_service', {
  v_hi_pct: number('ESVHi'),
  v_lo_pct: number('ESVLo'),
  hz_hi_hz: number('ESHzHi'),
  hz_lo_hz: number('ESHzLo'),
  delay_s: number('ESDlyTms', undefined, whole),
  random_delay_s: number('ESRndTms', 'Maximum additional random delay.', whole),
  ramp_s: number('ESRmpTms', undefined, whole),
  delay_remaining_s: number('ESDlyRemTms', undefined, readOnly),
});

/** Must-trip, may-trip and momentary-cessation curves over voltage or frequency. */
function trip(name: TripName): GridFunction {
  const points = (region: TripRegion): Member => ({ kind: 'object', members: { points: curve(name, region) } });
  return gridFunction(name, {
    must_trip: points('MustTrip'),
    may_trip: points('MayTrip'),
    momentary_cessation: points('MomCess'),
    max_points: maxPoints,
    adopt_result: result('AdptCrvRslt'),
  });
}

const ramp: GridFunction = {
  ...gridFunction('ramp', {
    w_ramp_pct_s: number('WRmp', 'Percent of `w_ramp_ref` per second.', whole),
    w_ramp_ref: symbol('WRmpRef', ['a_max', 'w_max']),
    var_ramp_pct_s: number('VarRmp', undefined, whole),
  }),
  always: true,
};

/** Functions by member of `grid-support`, in its order. */
export const gridFunctions = {
  volt_var: voltVar,
  volt_watt: voltWatt,
  watt_var: wattVar,
  freq_droop: freqDroop,
  pf,
  constant_var: constantVar,
  max_power: maxPower,
  active_power: activePower,
  enter_service: enterService,
  lv_trip: trip('lv_trip'),
  hv_trip: trip('hv_trip'),
  lf_trip: trip('lf_trip'),
  hf_trip: trip('hf_trip'),
  ramp,
  anti_islanding: gridFunction('anti_islanding', {}),
} as const satisfies Readonly<Record<string, GridFunction>>;

export type GridFunctionName = keyof typeof gridFunctions;
export const gridFunctionNames = Object.keys(gridFunctions) as readonly GridFunctionName[];
