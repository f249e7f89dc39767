/** The grid-support functions: which member is which point. Everything else about them follows from here. */
import { curve, flag, number, symbol } from './members.ts';
import type { GridFunction, Member, Members } from './members.ts';

const adoptSymbols = ['in_progress', 'completed', 'failed'] as const;
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
const maxPoints = number('NPt', 'Most points of a curve.', readOnly);

const curveState: Members = {
  max_points: maxPoints,
  curve_count: number('NCrv', 'Sets in the map, the one in force included.', readOnly),
  curve_index: number('AdptCrvReq', 'Set that was adopted last; 1 after a request here.', readOnly),
  adopt_result: result('AdptCrvRslt'),
  reversion_curve: number('RvrtCrv', 'Set that is adopted when the reversion time is over; 0 = none.', whole),
};

const voltVar: GridFunction = {
  model: 705,
  enable: 'Ena',
  reversion: '',
  members: {
    points: curve('Crv[0]', [
      { name: 'v_pct', point: 'V' },
      { name: 'var_pct', point: 'Var' },
    ]),
    dept_ref: symbol('Crv[0].DeptRef', varReferences, 'What 100 % of `var_pct` means.'),
    priority: symbol('Crv[0].Pri', ['active', 'reactive', 'vendor']),
    response_time_s: number('Crv[0].RspTms', 'Open-loop response time.'),
    v_ref_pct: number('Crv[0].VRef'),
    v_ref_auto_enabled: flag('Crv[0].VRefAutoEna'),
    v_ref_auto_time_s: number('Crv[0].VRefAutoTms', undefined, whole),
    v_ref_auto_pct: number('Crv[0].VRefAuto', 'Reference found autonomously.', readOnly),
    ...curveState,
  },
};

const voltWatt: GridFunction = {
  model: 706,
  enable: 'Ena',
  reversion: '',
  members: {
    points: curve('Crv[0]', [
      { name: 'v_pct', point: 'V' },
      { name: 'w_pct', point: 'W' },
    ]),
    dept_ref: symbol('Crv[0].DeptRef', ['w_max_pct', 'w_aval_pct'], 'What 100 % of `w_pct` means.'),
    response_time_s: number('Crv[0].RspTms', 'Open-loop response time.'),
    ...curveState,
  },
};

const wattVar: GridFunction = {
  model: 712,
  enable: 'Ena',
  reversion: '',
  members: {
    points: curve('Crv[0]', [
      { name: 'w_pct', point: 'W' },
      { name: 'var_pct', point: 'Var' },
    ]),
    dept_ref: symbol('Crv[0].DeptRef', varReferences, 'What 100 % of `var_pct` means.'),
    priority: symbol('Crv[0].Pri', ['active', 'reactive']),
    ...curveState,
  },
};

const freqDroop: GridFunction = {
  model: 711,
  enable: 'Ena',
  reversion: '',
  members: {
    db_of_hz: number('Ctl[0].DbOf', 'Dead band above the nominal frequency.'),
    db_uf_hz: number('Ctl[0].DbUf', 'Dead band below the nominal frequency.'),
    k_of: number('Ctl[0].KOf', 'Droop above, per-unit frequency per per-unit power.'),
    k_uf: number('Ctl[0].KUf', 'Droop below.'),
    response_time_s: number('Ctl[0].RspTms', 'Open-loop response time.'),
    p_min_pct: number('Ctl[0].PMin', 'Lowest active power, signed.'),
    adopt_result: result('AdptCtlRslt'),
    reversion_curve: number('RvrtCtl', 'Set that is adopted when the reversion time is over; 0 = none.', whole),
  },
};

/** Constant power factor while delivering or taking power; the bounds of the factor are the device's ratings. */
function powerFactor(group: 'PFWInj' | 'PFWAbs'): GridFunction {
  const value = (at: string): Members => ({
    pf: number(`${at}.PF`, undefined, { range: [0, 1] }),
    excitation: symbol(`${at}.Ext`, excitations),
  });
  const reversion: Members = { ...value(`${group}Rvrt`), enabled: flag(`${group}EnaRvrt`) };
  return {
    model: 704,
    enable: `${group}Ena`,
    reversion: group,
    members: {
      ...value(group),
      reversion: { kind: 'object', members: reversion, about: 'In force when the reversion time is over.' },
    },
  };
}

/** One for each direction of active power. */
export const powerFactors = { inject: powerFactor('PFWInj'), absorb: powerFactor('PFWAbs') } as const;
const pf: GridFunction = {
  ...powerFactors.inject,
  members: {
    ...powerFactors.inject.members,
    inject: {
      kind: 'part',
      part: powerFactors.inject,
      about: 'While the device delivers power. The members beside it are short for its own.',
    },
    absorb: { kind: 'part', part: powerFactors.absorb, about: 'While the device takes power.' },
  },
};

const constantVar: GridFunction = {
  model: 704,
  enable: 'VarSetEna',
  reversion: 'VarSet',
  members: {
    mode: symbol(
      'VarSetMod',
      ['w_max_pct', 'var_max_pct', 'var_avail_pct', 'va_max_pct', 'vars'],
      'What 100 % means, or `vars`: `var_kvar` counts.',
    ),
    var_pct: number('VarSetPct'),
    var_kvar: number('VarSet', 'Positive injects.', { kilo: true }),
    priority: symbol('VarSetPri', ['active', 'reactive', 'vendor']),
    reversion_var_pct: number('VarSetPctRvrt'),
    reversion_var_kvar: number('VarSetRvrt', undefined, { kilo: true }),
    reversion_enabled: flag('VarSetEnaRvrt'),
  },
};

const maxPower: GridFunction = {
  model: 704,
  enable: 'WMaxLimPctEna',
  reversion: 'WMaxLimPct',
  members: {
    limit_pct: number('WMaxLimPct', 'Of 702.WMax.'),
    reversion_limit_pct: number('WMaxLimPctRvrt'),
    reversion_enabled: flag('WMaxLimPctEnaRvrt'),
  },
};

const percent = { range: [-100, 100] } as const;
const activePower: GridFunction = {
  model: 704,
  enable: 'WSetEna',
  reversion: 'WSet',
  members: {
    mode: symbol('WSetMod', ['w_max_pct', 'watts'], 'Which of the two set-points counts.'),
    setpoint_pct: number('WSetPct', 'Negative charges.', percent),
    setpoint_kw: number('WSet', 'Negative charges.', { kilo: true }),
    reversion_setpoint_pct: number('WSetPctRvrt', undefined, percent),
    reversion_setpoint_kw: number('WSetRvrt', undefined, { kilo: true }),
    reversion_enabled: flag('WSetEnaRvrt'),
  },
};

const enterService: GridFunction = {
  model: 703,
  enable: 'ES',
  members: {
    v_hi_pct: number('ESVHi'),
    v_lo_pct: number('ESVLo'),
    hz_hi_hz: number('ESHzHi'),
    hz_lo_hz: number('ESHzLo'),
    delay_s: number('ESDlyTms', undefined, whole),
    random_delay_s: number('ESRndTms', 'Longest extra random delay.', whole),
    ramp_s: number('ESRmpTms', undefined, whole),
    delay_remaining_s: number('ESDlyRemTms', undefined, readOnly),
  },
};

/** Must-trip, may-trip and momentary-cessation curves over voltage or frequency. */
function trip(model: number, name: 'v_pct' | 'hz', point: 'V' | 'Hz'): GridFunction {
  const points = (group: string, least: 0 | 1): Member => ({
    kind: 'object',
    members: {
      points: curve(
        `Crv[0].${group}`,
        [
          { name, point },
          { name: 'time_s', point: 'Tms' },
        ],
        least,
      ),
    },
  });
  return {
    model,
    enable: 'Ena',
    members: {
      must_trip: points('MustTrip', 1),
      may_trip: points('MayTrip', 0),
      momentary_cessation: points('MomCess', 0),
      max_points: maxPoints,
      adopt_result: result('AdptCrvRslt'),
    },
  };
}

const ramp: GridFunction = {
  model: 704,
  enable: 'WRmp',
  always: true,
  members: {
    w_ramp_pct_s: number('WRmp', 'Per second, of `w_ramp_ref`.', whole),
    w_ramp_ref: symbol('WRmpRef', ['a_max', 'w_max']),
    var_ramp_pct_s: number('VarRmp', undefined, whole),
  },
};

/** By the name of their member of `grid-support`, in the order in which it shows them. */
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
  lv_trip: trip(707, 'v_pct', 'V'),
  hv_trip: trip(708, 'v_pct', 'V'),
  lf_trip: trip(709, 'hz', 'Hz'),
  hf_trip: trip(710, 'hz', 'Hz'),
  ramp,
  anti_islanding: { model: 704, enable: 'AntiIslEna', members: {} },
} as const satisfies Readonly<Record<string, GridFunction>>;

export type GridFunctionName = keyof typeof gridFunctions;
export const gridFunctionNames = Object.keys(gridFunctions) as readonly GridFunctionName[];
