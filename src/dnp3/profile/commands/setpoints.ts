/**
 * Set-points: limit and set-point of active power, frequency droop (BO16 to BO18), constant reactive power and power
 * factor (BO27, BO28).
 */
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { Origin } from '../../../core/origin.ts';
import type { DevicePort, PointWrite } from '../../device-port.ts';
import { asWritten, pointInput, registerOutput, settingOutput, success, timerOrigin, writing } from '../bind.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { OutputTarget, PartContext, PointBindings } from '../types.ts';
import { modePoints, orLog, presentWPct, ramped, rampRate, varPct } from './mode.ts';
import type { Ramps } from './mode.ts';

const noLimitPct = 100;

/**
 * The charging limit of a device, percent of 702.WChaRteMax: a limit of load at its connection point while the mode is
 * on. SunSpec has no register for it.
 */
class ChargeLimit {
  readonly #context: PartContext;
  readonly #isEnabled: () => boolean;

  constructor(context: PartContext, isEnabled: () => boolean) {
    this.#context = context;
    this.#isEnabled = isEnabled;
    // other writers and reversion timers switch the mode too
    context.onSettings(() => orLog(context, 'AO87', () => this.follow(this.#switcher)));
    context.onClose((end) => {
      if (end === 'gone') this.#end();
    });
  }

  /** Sets or ends the limit by mode and percentage. @throws SimError as `DevicePort.setLimitW`; then it stays */
  follow(by: Origin, pct = this.#context.settings.number('AO87')): void {
    const { port } = this.#context;
    const limitW = this.#isEnabled() && pct < noLimitPct ? ((port.number('702.WChaRteMax') ?? 0) * pct) / 100 : null;
    if (port.limitW('load') !== limitW) port.setLimitW('load', limitW, by);
  }

  output(isIdle: () => boolean): OutputTarget {
    const setting = settingOutput(this.#context, 'AO87', noLimitPct, { isIdle });
    return {
      ...setting,
      operate: (value, by) => {
        this.follow(by, Number(value));
        return setting.operate(value, by);
      },
      bound: 'load limit of the device, % of 702.WChaRteMax',
    };
  }

  /** The writer that switched the mode. */
  get #switcher(): Origin {
    const writer = this.#context.port.writer('704.WMaxLimPctEna');
    if (writer === undefined) return timerOrigin;
    const { source, peer } = writer;
    return { source, ...(peer !== undefined && { peer }) };
  }

  #end(): void {
    const { port } = this.#context;
    try {
      if (port.limitW('load') !== null) port.setLimitW('load', null, timerOrigin);
    } catch {
      // a removed device has no limits
    }
  }
}

const absorbs = (port: DevicePort) => (port.number('702.WChaRteMax') ?? 0) > 0;

/** Active power limit. AN2018 has the charging limit at AO87 and that of generation at AO88; IEEE 1815.2 has generation at AO87. */
export function limitPart(context: PartContext, ramps: Ramps): PointBindings {
  const { port, profile, settings } = context;
  const hasRegister = port.supports('max_power');
  const charges = absorbs(port) && profile === 'an2018';
  settings.declare('BO17', false);
  const isEnabled = () => (hasRegister ? port.isEnabled('max_power') : settings.flag('BO17'));
  const isIdle = () => !isEnabled();
  const limit = registerOutput(port, { point: '704.WMaxLimPct', isIdle });
  const charge = charges ? new ChargeLimit(context, isEnabled) : null;
  const limitPct = () => port.number('704.WMaxLimPct') ?? noLimitPct;
  const ramp = (by: Origin) => {
    ramps.begin('AO84', 'wPctPerS', { fromPct: presentWPct(port), toPct: limitPct() }, by);
  };
  const generation = ramped(limit, isEnabled, ramp);
  return modePoints(context, {
    enable: 17,
    isSupported: hasRegister || charges,
    isEnabled,
    writes: (on) => (hasRegister ? port.switching('max_power', on) : []),
    switched: (on, by) => {
      const former = settings.flag('BO17');
      if (!hasRegister) settings.set('BO17', on);
      // a limit above the present power moves nothing when it begins
      if (hasRegister && on && presentWPct(port) > limitPct()) ramp(by);
      try {
        charge?.follow(by);
      } catch (error) {
        if (!hasRegister) settings.set('BO17', former);
        throw error;
      }
      return success;
    },
    priority: 'AO82',
    window: 'AO83',
    bound: hasRegister ? '704.WMaxLimPctEna' : 'load limit of the device',
    inputs: [['AI147', pointInput(port, '701.W', { measured: true, isIdle })]],
    outputs: [
      ['AO84', hasRegister ? ramps.output('AO84', 'wPctPerS', isIdle) : null],
      ['AO85', hasRegister ? registerOutput(port, { point: '704.WMaxLimPctRvrtTms', isIdle }) : null],
      ['AO87', profile === 'an2018' ? (charge?.output(isIdle) ?? null) : hasRegister ? generation : null],
      ['AO88', profile === 'an2018' && hasRegister ? generation : null],
    ],
  });
}

/** A set-point in watts as percent of 702.WMax, null without a value; undefined: the set-point is in percent. */
function setPointOfWatts(port: DevicePort): number | null | undefined {
  if (port.value('704.WSetMod') !== 'WATTS') return undefined;
  const [setW, maxW] = [port.number('704.WSet'), port.number('702.WMax')];
  return setW === null || maxW === null || maxW <= 0 ? null : (100 * setW) / maxW;
}

/** Charge and discharge by a set-point. */
export function setPointPart(context: PartContext, ramps: Ramps): PointBindings {
  const { port } = context;
  const inPercent = { point: '704.WSetMod', value: 'W_MAX_PCT' } as const;
  const isEnabled = () => port.isEnabled('active_power');
  const isIdle = () => !isEnabled();
  const ramp = (by: Origin) => {
    const change = { fromPct: presentWPct(port), toPct: port.number('704.WSetPct') ?? 0 };
    ramps.begin('AO91', 'wPctPerS', change, by);
  };
  const setPoint = registerOutput(port, {
    point: '704.WSetPct',
    also: () => [inPercent],
    isIdle,
    elsewhere: () => setPointOfWatts(port),
  });
  // the mode begins with the percentage that AI154 shows
  const fromWatts = (): readonly PointWrite[] => {
    const value = setPointOfWatts(port) ?? null;
    return value === null ? [] : [{ point: '704.WSetPct', value }];
  };
  const rate = rampRate(port, isIdle);
  return modePoints(context, {
    enable: 18,
    isSupported: port.supports('active_power') && port.has('704.WSetPct'),
    isEnabled,
    writes: (on) => [...port.switching('active_power', on), ...(on ? [inPercent, ...fromWatts()] : [])],
    switched: (on, by) => {
      if (on) ramp(by);
      return success;
    },
    priority: 'AO89',
    window: 'AO90',
    bound: '704.WSetEna',
    outputs: [
      ['AO91', ramps.output('AO91', 'wPctPerS', isIdle)],
      ['AO92', registerOutput(port, { point: '704.WSetRvrtTms', isIdle })],
      ['AO93', ramped(setPoint, isEnabled, ramp)],
      ...(['AO96', 'AO97'] as const).map((name) => [name, rate] as const),
      ...(['AO98', 'AO99'] as const).map((name) => [name, absorbs(port) ? rate : null] as const),
      ['AO100', registerOutput(port, { point: '802.SoCRsvMin', isIdle })],
      ['AO101', registerOutput(port, { point: '802.SocRsvMax', isIdle })],
    ],
  });
}

/** Minimum of 711.Ctl.KOf and KUf. */
const minDroop = 0.001;

/** A droop of 711 as the gradient of the profile: percent of power per percent of frequency is 1 / K. */
function gradient(port: DevicePort, point: PointPath, isIdle: () => boolean): OutputTarget | null {
  if (!port.has(point)) return null;
  const inverse = writing(port, {
    read() {
      const droop = port.number(point);
      return droop === null || droop === 0 ? null : 1 / droop;
    },
    // a gradient of 0 has no droop
    writes: (value) => (Number(value) > 0 ? [{ point, value: 1 / Number(value) }] : controlStatus.outOfRange),
    isIdle,
    bound: `1 / ${point}`,
  });
  return {
    ...asWritten(port, point, inverse, (value) => 1 / value),
    range: () => [1, 1 / minDroop],
  };
}

/** Frequency-watt as droop. The start frequencies are distances from the nominal one. */
export function droopPart(context: PartContext): PointBindings {
  const { port } = context;
  const isEnabled = () => port.isEnabled('freq_droop');
  const isIdle = () => !isEnabled();
  return modePoints(context, {
    enable: 16,
    isSupported: port.supports('freq_droop'),
    isEnabled,
    writes: (on) => port.switching('freq_droop', on),
    priority: 'AO57',
    window: 'AO58',
    bound: '711.Ena',
    inputs: [['AI120', pointInput(port, '701.Hz', { measured: true, deadband: 0.01, isIdle })]],
    outputs: [
      ['AO60', registerOutput(port, { point: '711.RvrtTms', isIdle })],
      ['AO62', registerOutput(port, { point: '711.Ctl.DbOf', isIdle })],
      ['AO64', gradient(port, '711.Ctl.KOf', isIdle)],
      ['AO66', registerOutput(port, { point: '711.Ctl.DbUf', factor: -1, isIdle })],
      ['AO68', gradient(port, '711.Ctl.KUf', isIdle)],
      ['AO72', registerOutput(port, { point: '711.Ctl.RspTms', isIdle })],
      ['AO73', registerOutput(port, { point: '711.Ctl.RspTms', isIdle })],
    ],
  });
}

/**
 * Values of 704.VarSetMod with codes in the profile, from code 1: percent of WMax, VarMax, available reactive power.
 */
export const varReferences = ['W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAIL_PCT'] as const;
type VarReference = (typeof varReferences)[number];

/** The reference in force; null: the profile has no code for it. */
export function varReference(port: DevicePort): VarReference | null {
  const mode = port.value('704.VarSetMod');
  return varReferences.find((reference) => reference === mode) ?? null;
}

/** The reference of a set-point without one: that in force, or VarMax. */
export function presentVarReference(port: DevicePort): VarReference {
  return varReference(port) ?? 'VAR_MAX_PCT';
}

/** The write of VarMax as reference if the profile has no code for the reference in force. */
function varReferenceWrites(port: DevicePort): readonly PointWrite[] {
  return varReference(port) === null ? [{ point: '704.VarSetMod', value: presentVarReference(port) }] : [];
}

/** The set-point of 704.VarSetPct, var. */
function setPointVar(port: DevicePort): number {
  const pct = port.number('704.VarSetPct') ?? 0;
  const { injectVar, absorbVar } = port.device.available;
  const sideOf = (inject: number | null, absorb: number | null) => (pct < 0 ? absorb : inject) ?? 0;
  const bases = {
    W_MAX_PCT: port.number('702.WMax') ?? 0,
    VAR_MAX_PCT: sideOf(port.number('702.VarMaxInj'), port.number('702.VarMaxAbs')),
    VAR_AVAIL_PCT: sideOf(injectVar, absorbVar),
  };
  return (bases[presentVarReference(port)] * pct) / 100;
}

/** Constant reactive power, percent of the reference of AI42. */
export function constantVarPart(context: PartContext, ramps: Ramps): PointBindings {
  const { port } = context;
  const isEnabled = () => port.isEnabled('constant_var');
  const isIdle = () => !isEnabled();
  const ramp = (by: Origin) => {
    const change = { fromPct: varPct(port, port.number('701.Var') ?? 0), toPct: varPct(port, setPointVar(port)) };
    ramps.begin('AO201', 'varPctPerS', change, by);
  };
  const setPoint = registerOutput(port, {
    point: '704.VarSetPct',
    also: () => varReferenceWrites(port),
    isIdle,
    // null: a set-point in var, or of a reference without code in AI42
    elsewhere: () => (varReference(port) === null ? null : undefined),
  });
  return modePoints(context, {
    enable: 27,
    isSupported: port.supports('constant_var') && port.has('704.VarSetPct'),
    isEnabled,
    writes: (on) => [...port.switching('constant_var', on), ...(on ? varReferenceWrites(port) : [])],
    switched: (on, by) => {
      if (on) ramp(by);
      return success;
    },
    priority: 'AO199',
    window: 'AO200',
    bound: '704.VarSetEna',
    outputs: [
      ['AO201', ramps.output('AO201', 'varPctPerS', isIdle)],
      ['AO202', registerOutput(port, { point: '704.VarSetRvrtTms', isIdle })],
      ['AO203', ramped(setPoint, isEnabled, ramp)],
    ],
  });
}

/** Excitation: 1 absorbs reactive power, 0 injects it. */
function excitation({ port }: PartContext, point: PointPath, isIdle: () => boolean): OutputTarget | null {
  if (!port.has(point)) return null;
  return writing(port, {
    read: () => port.value(point) === 'UNDER_EXCITED',
    writes: (absorbs) => [{ point, value: absorbs === true ? 'UNDER_EXCITED' : 'OVER_EXCITED' }],
    isIdle,
    bound: point,
  });
}

/** One mode for the power factors of injection and absorption; a device that cannot absorb has only the first. */
export function powerFactorPart(context: PartContext): PointBindings {
  const { port } = context;
  const isEnabled = () => port.isEnabled('pf_inject') || port.isEnabled('pf_absorb');
  const isIdle = () => !isEnabled();
  const canAbsorb = port.supports('pf_absorb');
  const reversionOf = (value: number): readonly PointWrite[] =>
    canAbsorb && port.has('704.PFWAbsRvrtTms') ? [{ point: '704.PFWAbsRvrtTms', value }] : [];
  return modePoints(context, {
    enable: 28,
    isSupported: port.supports('pf_inject'),
    isEnabled,
    writes: (on) => {
      const inject = port.switching('pf_inject', on).filter(({ name }) => name !== 'pf_absorb');
      return canAbsorb ? [...inject, { name: 'pf_absorb', on }] : inject;
    },
    priority: 'AO206',
    window: 'AO207',
    bound: '704.PFWInjEna',
    outputs: [
      ['AO209', registerOutput(port, { point: '704.PFWInjRvrtTms', also: reversionOf, isIdle })],
      ['AO210', registerOutput(port, { point: '704.PFWInj.PF', isIdle })],
      ['AO211', canAbsorb ? registerOutput(port, { point: '704.PFWAbs.PF', isIdle }) : null],
      ['BO10', excitation(context, '704.PFWInj.Ext', isIdle)],
      ['BO11', canAbsorb ? excitation(context, '704.PFWAbs.Ext', isIdle) : null],
    ],
  });
}
