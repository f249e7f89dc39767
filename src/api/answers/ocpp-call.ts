/** A call of a central system, and what a station shows of itself beside registers. */
import type { Device } from '../../contract/device.ts';
import type { OcppStation } from '../../contract/ocpp.ts';
import type { Claim, Exchange, Found, Value } from './model.ts';

/** A call with its positive answer. */
export interface OcppCall {
  readonly device: Device;
  readonly station: OcppStation;
  readonly request: unknown;
  readonly answer: unknown;
  readonly exchange: Exchange;
}

/** Makes what a call asked for; its name is that of the claim in sentences. */
export type ClaimsOf = (call: OcppCall) => readonly Claim[];

export const place = (name: string, value: Value, writer: Found['writer'] = null): Found => ({
  place: name,
  holder: 'the station',
  value,
  writer,
});

/** The present on the clock that profiles and reservations follow, ms since the epoch. */
export const nowOf = (station: OcppStation): number => station.compositeSchedule(0, 1, 'W').startMs;
