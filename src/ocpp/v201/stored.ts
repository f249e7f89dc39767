/** Schemas of stored values that are parts of messages: the schema of the message checks them. */
import { z } from 'zod';
import { payloadChecks } from '../rpc/schemas.ts';
import type { Version2 } from '../station/stack.ts';

type Message = readonly [action: string, side?: 'request' | 'reply'];

/** True for a payload that fits the schema of its action. */
export function fitsSchema(version: Version2, [action, side = 'request']: Message, payload: unknown): boolean {
  return payloadChecks.check(version, action, side, payload) === null;
}

/** @param payloadOf a message with the value, valid if the value is */
function partOf(version: Version2, message: Message, payloadOf: (value: unknown) => unknown) {
  return z.custom((value) => fitsSchema(version, message, payloadOf(value)), `is no part of ${message[0]}`);
}

/** IdTokenType */
export const idTokenIn = (version: Version2) => partOf(version, ['Authorize'], (idToken) => ({ idToken }));

/** IdTokenInfoType */
export const idTokenInfoIn = (version: Version2) =>
  partOf(version, ['Authorize', 'reply'], (idTokenInfo) => ({ idTokenInfo }));

/** TariffType of 2.1 */
export const storedTariff = partOf('ocpp2.1', ['SetDefaultTariff'], (value) => ({ evseId: 0, tariff: value }));

/** MessageInfoType */
export const messageInfoIn = (version: Version2) => partOf(version, ['SetDisplayMessage'], (message) => ({ message }));

/** EventDataType */
export const eventDataIn = (version: Version2) =>
  partOf(version, ['NotifyEvent'], (event) => ({
    generatedAt: '2026-01-01T00:00:00Z',
    seqNo: 0,
    eventData: [event],
  }));

/** A request of the station. */
export const requestOf = (version: Version2, action: string) => partOf(version, [action], (request) => request);
