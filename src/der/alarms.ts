/** Alarms of a device: words, severities, and since when each stands. */
import type { Alarm, AlarmSeverity } from '../core/device.ts';
import type { Logger } from '../core/log.ts';
import type { ControlFunction } from '../sunspec/map/device.ts';
import type { TripCause } from './inverter/protection.ts';
import type { TripKind } from './inverter/trip.ts';
import type { AlarmCode } from './publish.ts';

export const tripAlarms: Readonly<Record<TripCause, AlarmCode>> = {
  lowVoltage: 'ac_under_volt', highVoltage: 'ac_over_volt', lowFrequency: 'under_frequency', highFrequency: 'over_frequency',
  island: 'grid_disconnect', rocof: 'grid_disconnect', vectorShift: 'grid_disconnect',
};
export const tripNames: Readonly<Record<TripKind, ControlFunction>> = {
  lowVoltage: 'lv_trip', highVoltage: 'hv_trip', lowFrequency: 'lf_trip', highFrequency: 'hf_trip',
};
export const tripTexts: Readonly<Record<TripCause, string>> = {
  lowVoltage: 'tripped on under-voltage', highVoltage: 'tripped on over-voltage',
  lowFrequency: 'tripped on under-frequency', highFrequency: 'tripped on over-frequency',
  island: 'tripped on islanding', rocof: 'tripped on rate of change of frequency', vectorShift: 'tripped on vector shift',
};
export const alarmTexts: Readonly<Record<AlarmCode, string>> = {
  manual_shutdown: 'stopped by operator', over_temp: 'over temperature', over_frequency: tripTexts.highFrequency,
  under_frequency: tripTexts.lowFrequency, ac_over_volt: tripTexts.highVoltage, ac_under_volt: tripTexts.lowVoltage,
  grid_disconnect: 'tripped on islanding or by a relay', lvrt_active: 'momentary cessation on low voltage', hvrt_active: 'momentary cessation on high voltage',
  frt_active: 'momentary cessation on frequency',
  voltage_collapse: 'the feeder cannot carry this power: voltage held at its last value',
  hw_test_failure: 'the model gave a value that is not finite',
};
const alarmSeverities: Partial<Readonly<Record<AlarmCode, AlarmSeverity>>> = {
  manual_shutdown: 'info', lvrt_active: 'warning', hvrt_active: 'warning', frt_active: 'warning',
};
export const cessationAlarms: Readonly<Record<TripKind, AlarmCode>> = {
  lowVoltage: 'lvrt_active', highVoltage: 'hvrt_active', lowFrequency: 'frt_active', highFrequency: 'frt_active',
};

/** The alarms that stand, each from its beginning to its end. */
export class DeviceAlarms {
  readonly #deviceIndex: number;
  readonly #log: Logger;
  readonly #wallMs: () => number;
  readonly #since = new Map<AlarmCode, number>();

  constructor(deviceIndex: number, log: Logger, wallMs: () => number) {
    this.#deviceIndex = deviceIndex;
    this.#log = log;
    this.#wallMs = wallMs;
  }

  codes(): Iterable<AlarmCode> { return this.#since.keys(); }

  list(): Alarm[] {
    return [...this.#since].map(([code, sinceMs]) => ({
      code, source: 'ac', severity: alarmSeverities[code] ?? 'error', sinceMs, deviceIndex: this.#deviceIndex,
      port: null, latched: code === 'hw_test_failure', message: alarmTexts[code],
    }));
  }

  /** Takes over what stands now; beginnings and ends are logged. */
  update(active: ReadonlySet<AlarmCode>): void {
    for (const code of this.#since.keys()) {
      if (active.has(code)) continue;
      this.#since.delete(code);
      this.#log.info(`alarm ended: ${code}`, this.#deviceIndex);
    }
    for (const code of active) {
      if (this.#since.has(code)) continue;
      this.#since.set(code, this.#wallMs());
      this.#log.warning(`alarm: ${code}: ${alarmTexts[code]}`, this.#deviceIndex);
    }
  }
}
