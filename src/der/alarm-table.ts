/** Alarms and trips of a device in words. */
import type { AlarmSeverity } from '../core/device.ts';
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
  grid_disconnect: 'disconnected by a relay', lvrt_active: 'momentary cessation: output held at zero by a voltage or frequency curve',
  voltage_collapse: 'the feeder cannot carry this power: voltage held at its last value',
  hw_test_failure: 'the model gave a value that is not finite',
};
export const alarmSeverities: Partial<Readonly<Record<AlarmCode, AlarmSeverity>>> = { manual_shutdown: 'info', lvrt_active: 'warning' };
