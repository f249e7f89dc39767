/** Answers that accept a call without carrying it out, as both versions have them. */
import { isObject } from '../rpc/frames.ts';
import type { Payload } from '../rpc/model.ts';

/** Calls that ask for a change, and whose answer is a status with the word Accepted. */
const withStatus: ReadonlySet<string> = new Set([
  'CancelReservation',
  'ChangeAvailability',
  'ChangeConfiguration',
  'ClearCache',
  'ClearChargingProfile',
  'ClearDERControl',
  'RemoteStartTransaction',
  'RemoteStopTransaction',
  'RequestStartTransaction',
  'RequestStopTransaction',
  'ReserveNow',
  'Reset',
  'SendLocalList',
  'SetChargingProfile',
  'SetDERControl',
  'SetNetworkProfile',
  'TriggerMessage',
]);

/** Of SetVariables each variable has a status of its own. */
function variablesAccepted({ setVariableData: given }: Payload): Payload {
  const data: readonly unknown[] = Array.isArray(given) ? given : [];
  return {
    setVariableResult: data.filter(isObject).map(({ component, variable, attributeType }) => ({
      attributeStatus: 'Accepted',
      component,
      variable,
      ...(attributeType !== undefined && { attributeType }),
    })),
  };
}

/** @returns null: the call asks for nothing that can be accepted */
export function acceptanceOf(action: string, payload: Payload): Payload | null {
  if (action === 'SetVariables') return variablesAccepted(payload);
  return withStatus.has(action) ? { status: 'Accepted' } : null;
}
