/** Limit and set-point of active power, and frequency droop: BO16 to BO18. */
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { Origin } from '../../../core/origin.ts';
import type { DevicePort, PointWrite } from '../../device-port.ts';
import { asWritten, pointInput, registerOutput, settingOutput, success, timerOrigin, writing } from '../bind.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { OutputTarget, PartContext, PointBindings } from '../types.ts';
import { modePoints, orLog } from './mode.ts';
import { presentWPct, ramped, rampRate } from './ramps.ts';
import type { Ramps } from './ramps.ts';

const noLimitPct = 100;

/**
 * The charging limit of a device: percent of 702.WChaRteMax, a limit of load at its connection point while the mode is
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
    context.onClose(() => this.#end());
  }

  /** @throws SimError as `DevicePort.setLimitW`; the limit is as before then */
  follow(by: Origin, pct = this.#context.settings.number('AO87')): void {
    const { port } = this.#context;
    const limitW = this.#isEnabled() && pct < noLimitPct ? ((port.number('702.WChaRteMax') ?? 0) * pct) / 100 : null;
    if (port.limitW('load') !== limitW) port.setLimitW('load', limitW, by);
  }

  output(isIdle: () => boolean): OutputTarget {
    const stored = settingOutput(this.#context, 'AO87', noLimitPct, { isIdle });
    return {
      ...stored,
      operate: (value, by) => {
        this.follow(by, Number(value));
        return stored.operate(value, by);
      },
      bound: 'load limit of the device, % of 702.WChaRteMax',
    };
  }

  /** Whoever switched the mode: the limit begins and ends with it. */
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
      // a device that has left has no limits any more
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

/** The set-point of another protocol in watts, as percent of 702.WMax; undefined: it is in percent. */
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
    const way = { fromPct: presentWPct(port), toPct: port.number('704.WSetPct') ?? 0 };
    ramps.begin('AO91', 'wPctPerS', way, by);
  };
  const setPoint = registerOutput(port, {
    point: '704.WSetPct',
    also: () => [inPercent],
    isIdle,
    elsewhere: () => setPointOfWatts(port),
  });
  // the mode begins with the value of AO154
  const ofWatts = (): readonly PointWrite[] => {
    const value = setPointOfWatts(port) ?? null;
    return value === null ? [] : [{ point: '704.WSetPct', value }];
  };
  const rate = rampRate(port, isIdle);
  return modePoints(context, {
    enable: 18,
    isSupported: port.supports('active_power') && port.has('704.WSetPct'),
    isEnabled,
    writes: (on) => [...port.switching('active_power', on), ...(on ? [inPercent, ...ofWatts()] : [])],
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

/** of 711.Ctl.KOf and KUf */
const minDroop = 0.001;

/** A droop of 711 as the gradient of the profile: percent of power per percent of frequency is 1 / K. */
function gradient(port: DevicePort, point: PointPath, isIdle: () => boolean): OutputTarget | null {
  if (!port.has(point)) return null;
  const inverse = writing(port, {
    read() {
      const droop = port.number(point);
      return droop === null || droop === 0 ? null : 1 / droop;
    },
    // no gradient would be no droop at all
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
