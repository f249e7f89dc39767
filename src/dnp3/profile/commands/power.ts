/** Limit and set-point of active power, and frequency droop: BO16 to BO18. */
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { DevicePort } from '../../device-port.ts';
import { pointInput, registerOutput, settingOutput, success, timerOrigin } from '../bind.ts';
import type { OutputTarget, PartContext, PointBindings } from '../types.ts';
import { modePoints } from './mode.ts';
import { orLog } from './delayed.ts';

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
    context.port.onSettings(() => this.follow());
  }

  follow(by = timerOrigin): void {
    const { port, settings } = this.#context;
    const pct = settings.number('AO87');
    const wanted = this.#isEnabled() && pct < noLimitPct ? ((port.number('702.WChaRteMax') ?? 0) * pct) / 100 : null;
    if (port.limitW('load') === wanted) return;
    orLog(this.#context, 'AO87', () => port.setLimitW('load', wanted, by));
  }

  output(isIdle: () => boolean): OutputTarget {
    const stored = settingOutput(this.#context, 'AO87', noLimitPct, { isIdle });
    return {
      ...stored,
      operate: (value, by) => {
        const status = stored.operate(value, by);
        this.follow(by);
        return status;
      },
      bound: 'load limit of the device, % of 702.WChaRteMax',
    };
  }
}

const absorbs = (port: DevicePort) => (port.number('702.WChaRteMax') ?? 0) > 0;

/** Active power limit. AN2018 has the charging limit at AO87 and that of generation at AO88; IEEE 1815.2 has generation at AO87. */
export function limitPart(context: PartContext): PointBindings {
  const { port, profile, settings } = context;
  const hasRegister = port.supports('max_power');
  const charges = absorbs(port) && profile === 'an2018';
  settings.declare('BO17', false);
  const isEnabled = () => (hasRegister ? port.isEnabled('max_power') : settings.flag('BO17'));
  const isIdle = () => !isEnabled();
  const limit = registerOutput(port, { point: '704.WMaxLimPct', isIdle });
  const charge = charges ? new ChargeLimit(context, isEnabled) : null;
  return modePoints(context, {
    enable: 17,
    isSupported: hasRegister || charges,
    isEnabled,
    writes: (on) => {
      if (!hasRegister) settings.set('BO17', on);
      return hasRegister ? port.enableWrites('max_power', on) : [];
    },
    switched: () => charge?.follow(),
    priority: 'AO82',
    window: 'AO83',
    bound: hasRegister ? '704.WMaxLimPctEna' : 'load limit of the device',
    inputs: [['AI147', pointInput(port, '701.W', { measured: true, isIdle })]],
    outputs: [
      ['AO85', hasRegister ? registerOutput(port, { point: '704.WMaxLimPctRvrtTms', isIdle }) : null],
      ['AO87', profile === 'an2018' ? (charge?.output(isIdle) ?? null) : hasRegister ? limit : null],
      ['AO88', profile === 'an2018' && hasRegister ? limit : null],
    ],
  });
}

/** Charge and discharge by a set-point. */
export function setPointPart(context: PartContext): PointBindings {
  const { port } = context;
  const isEnabled = () => port.isEnabled('active_power');
  const isIdle = () => !isEnabled();
  return modePoints(context, {
    enable: 18,
    isSupported: port.supports('active_power') && port.has('704.WSetPct'),
    isEnabled,
    writes: (on) => [
      ...port.enableWrites('active_power', on),
      ...(on ? [{ point: '704.WSetMod' as const, value: 'W_MAX_PCT' }] : []),
    ],
    priority: 'AO89',
    window: 'AO90',
    bound: '704.WSetEna',
    outputs: [
      ['AO92', registerOutput(port, { point: '704.WSetRvrtTms', isIdle })],
      [
        'AO93',
        registerOutput(port, {
          point: '704.WSetPct',
          also: () => [{ point: '704.WSetMod', value: 'W_MAX_PCT' }],
          isIdle,
        }),
      ],
      ['AO100', registerOutput(port, { point: '802.SoCRsvMin', isIdle })],
      ['AO101', registerOutput(port, { point: '802.SocRsvMax', isIdle })],
    ],
  });
}

/** of 711.Ctl.KOf and KUf */
const leastDroop = 0.001;

interface Gradient {
  readonly point: PointPath;
  readonly output: 'AO64' | 'AO68';
}

/** A droop of 711 as the gradient of the profile: percent of power per percent of frequency is 1 / K. */
function gradient(port: DevicePort, { point }: Gradient, isIdle: () => boolean): OutputTarget | null {
  if (!port.has(point)) return null;
  const writes = (value: number | boolean) => [{ point, value: 1 / Number(value) }];
  const check: OutputTarget['check'] = (value, by) => {
    // no gradient would be no droop at all
    if (Number(value) <= 0) return 12;
    port.check(writes(value), by);
    return success;
  };
  return {
    read() {
      const droop = port.number(point);
      return droop === null || droop === 0 ? null : 1 / droop;
    },
    check,
    operate(value, by) {
      const status = check(value, by);
      if (status === success) port.write(writes(value), by);
      return status;
    },
    range: () => [1, 1 / leastDroop],
    isIdle,
    bound: `1 / ${point}`,
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
    writes: (on) => port.enableWrites('freq_droop', on),
    priority: 'AO57',
    window: 'AO58',
    bound: '711.Ena',
    inputs: [['AI120', pointInput(port, '701.Hz', { measured: true, deadband: 0.01, isIdle })]],
    outputs: [
      ['AO60', registerOutput(port, { point: '711.RvrtTms', isIdle })],
      ['AO62', registerOutput(port, { point: '711.Ctl.DbOf', isIdle })],
      ['AO64', gradient(port, { point: '711.Ctl.KOf', output: 'AO64' }, isIdle)],
      ['AO66', registerOutput(port, { point: '711.Ctl.DbUf', factor: -1, isIdle })],
      ['AO68', gradient(port, { point: '711.Ctl.KUf', output: 'AO68' }, isIdle)],
      ['AO72', registerOutput(port, { point: '711.Ctl.RspTms', isIdle })],
      ['AO73', registerOutput(port, { point: '711.Ctl.RspTms', isIdle })],
    ],
  });
}
