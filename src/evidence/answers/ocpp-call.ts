/** A call of a central system, and what a station shows of itself beside registers. */
import type { Device } from '../../contract/device.ts';
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
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

/** A value that a station must show under a name; a later command about the same thing takes over from it. */
export function stationClaim(name: string, value: Value, shown: Found | Value, did: string): Claim {
  const at = typeof shown === 'object' && shown !== null ? shown : place(name, shown);
  return { name, value, unit: null, did, subject: name, found: at };
}

/** The present on the clock that profiles and reservations follow, ms since the epoch. */
export const nowOf = (station: OcppStation): number => station.functions.compositeSchedule(0, 1, 'W').startMs;

// members of payloads as they came: nothing about their form is known

/** undefined: there is no such member */
export function memberOf(payload: unknown, ...path: readonly string[]): unknown {
  let value = payload;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

export function connectorsOf({ detail }: Device): readonly EvseConnectorDetail[] {
  return detail.kind === 'evse' ? detail.connectors : [];
}
