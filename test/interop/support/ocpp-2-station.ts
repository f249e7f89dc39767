/** What tests do with a charging station of OCPP 2.0.1 or 2.1, whichever central system it is at. */
import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { sampled } from './ocpp-central.ts';
import type { Received, StationAtCentral } from './ocpp-central.ts';

export const requestId = 7;

/** The next TransactionEvent with this type and these members. */
export const event = (
  station: StationAtCentral,
  eventType: string,
  where: Readonly<Record<string, unknown>> = {},
): Promise<Received> => station.next('TransactionEvent', { eventType, ...where });

/** Parts of a report until its last one. */
export async function report(station: StationAtCentral, action: string): Promise<readonly Json[]> {
  const parts: Json[] = [];
  for (;;) {
    const { payload } = await station.next(action, { requestId });
    expect(payload.seqNo).to.equal(parts.length);
    parts.push(payload);
    if (payload.tbc !== true) return parts;
  }
}

/** Sends the meter values of a transaction on request, and gives what they say of a measurand. */
export async function metered(station: StationAtCentral, measurand: string): Promise<number> {
  await station.expectStatus('Accepted', 'TriggerMessage', { requestedMessage: 'TransactionEvent', evse: { id: 1 } });
  const { payload } = await event(station, 'Updated', { triggerReason: 'Trigger' });
  return sampled({ payload }, measurand) ?? NaN;
}

/** SetVariables of one variable, which is accepted. */
export async function set(
  station: StationAtCentral,
  component: string,
  variable: string,
  attributeValue: string,
): Promise<void> {
  const { setVariableResult } = await station.call('SetVariables', {
    setVariableData: [{ component: { name: component }, variable: { name: variable }, attributeValue }],
  });
  expect(setVariableResult[0].attributeStatus, `${component}.${variable}`).to.equal('Accepted');
}

/** Plugs a vehicle in and presents a token. @returns the transaction */
export async function charge(station: StationAtCentral, ev: Json = { soc_pct: 20 }): Promise<string> {
  await station.connector('plug', { ev });
  await station.connector('authorize', { id_token: 'TAG-1' });
  const { payload } = await event(station, 'Started');
  await station.until('the vehicle charges', async () => {
    const { status } = await station.get(`evse/${station.id}/connectors/1`);
    return status === 'charging' || undefined;
  });
  return payload.transactionInfo.transactionId as string;
}

/** 701.W of the device: positive is injected. */
export async function injectedW(station: StationAtCentral): Promise<number> {
  const { points } = await station.get('registers/701?device=0&points=W');
  return Number(points[0].value);
}
