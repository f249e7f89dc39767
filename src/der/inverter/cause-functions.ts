import type { ControlFunction } from '../../contract/device.ts';
import type { TripCause } from './protection.ts';

/** The function behind a trip or a cessation; the optional relays have none. */
export const causeFunctions: Partial<Readonly<Record<TripCause, ControlFunction>>> = {
  lowVoltage: 'lv_trip',
  highVoltage: 'hv_trip',
  lowFrequency: 'lf_trip',
  highFrequency: 'hf_trip',
  island: 'anti_islanding',
};
