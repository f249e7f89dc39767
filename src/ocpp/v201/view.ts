/** What REST sees of a 2.x station and asks of it. */
import { randomUUID } from 'node:crypto';
import type { OcppCallResult } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import type { CallOutcome } from '../rpc/model.ts';
import { callResult } from '../station/call-result.ts';
import type { VersionView } from '../station/stack.ts';
import type { Assembled } from './assembly.ts';
import { bootReasons } from './boot-reasons.ts';
import { createVariableView } from './variables/view.ts';

async function called(
  action: string,
  send: (options: { readonly messageId: string }) => Promise<CallOutcome>,
): Promise<OcppCallResult> {
  const messageId = randomUUID();
  return callResult(action, await send({ messageId }), messageId);
}

export function viewOf(at: Assembled): VersionView {
  const { registration, parts } = at;
  const variables = createVariableView(parts, at.variables, at.networkProfiles.checks);
  return {
    boot: async (reason) => {
      if (reason !== null && !(bootReasons as readonly string[]).includes(reason))
        throw new SimError('COMMAND_BAD_VALUE', `reason: allowed: ${bootReasons.join(', ')}`);
      return await called('BootNotification', (options) =>
        registration.boot({ ...options, ...(reason !== null && { reason }) }),
      );
    },
    heartbeat: () => called('Heartbeat', (options) => registration.heartbeat(options)),
    configuration: (key) => variables.configuration(key),
    setConfiguration: (change) => variables.setConfiguration(change),
    chargingProfiles: (evseId) => at.smartCharging.chargingProfiles(evseId),
    compositeSchedule: (evseId, durationS, unit) => at.smartCharging.compositeSchedule(evseId, durationS, unit),
    reservations: () => at.reservations.entries(),
    localList: () => at.tokens.list(),
    certificates: () => at.certificates.entries,
    transactions: () => at.transactions.entries(),
    derControls: () => at.derControl.entries(),
    authorize: (evseId, idToken, _by, type) => at.authorization.present(evseId, idToken, type),
    sendMeterValues: (evseId) => {
      if (evseId !== 0) parts.device.connector(evseId);
      if (!registration.accepted)
        throw new SimError('NOT_CONNECTED', 'the central system has not accepted the station');
      at.meterValues.trigger(evseId);
    },
    meterReading: (evseId) => at.meterValues.reading(evseId),
  };
}
