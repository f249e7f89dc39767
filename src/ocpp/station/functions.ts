/** Functions of a charge point that are the same in all versions, and the answer to a call that a user sent. */
import { randomUUID } from 'node:crypto';
import type { OcppCallResult, OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import type { CallOutcome } from '../rpc/model.ts';
import type { StationPort } from './port.ts';

/** @throws SimError NOT_CONNECTED, PEER_TIMEOUT, PEER_ERROR */
export function callResult(action: string, outcome: CallOutcome, messageId: string): OcppCallResult {
  switch (outcome.kind) {
    case 'result': {
      const { kind, payload, durationMs } = outcome;
      return { messageId, action, durationMs, answer: { kind, payload } };
    }
    case 'error': {
      const { kind, code, description, details, durationMs } = outcome;
      return { messageId, action, durationMs, answer: { kind, code, description, details } };
    }
    case 'timeout':
      throw new SimError('PEER_TIMEOUT', `the central system has not answered ${action}`);
    case 'lost':
      throw new SimError('PEER_ERROR', `the connection has ended before ${action} was answered`);
    case 'unsent':
      throw new SimError('NOT_CONNECTED', `${action} was not sent: ${outcome.why}`);
  }
}

/** Sends a call that a user asks for. @throws SimError as `callResult` */
export async function called(
  action: string,
  send: (options: { readonly messageId: string }) => Promise<CallOutcome>,
): Promise<OcppCallResult> {
  const messageId = randomUUID();
  return callResult(action, await send({ messageId }), messageId);
}

/** Parts of a version that functions are passed to. */
interface FunctionParts {
  readonly parts: { readonly device: StationPort };
  readonly registration: {
    readonly accepted: boolean;
    heartbeat(options: { readonly messageId: string }): Promise<CallOutcome>;
  };
  readonly smartCharging: Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'>;
  readonly reservations: { readonly entries: OcppFunctions['reservations'] };
  readonly tokens: { readonly list: OcppFunctions['localList'] };
  readonly certificates: { readonly entries: ReturnType<OcppFunctions['certificates']> };
  readonly transactions: { readonly entries: OcppFunctions['transactions'] };
  readonly meterValues: {
    readonly trigger: OcppFunctions['sendMeterValues'];
    readonly reading: OcppFunctions['meterReading'];
  };
}

type SharedFunctions = Omit<OcppFunctions, 'boot' | 'configuration' | 'setConfiguration' | 'authorize' | 'derControls'>;

export function sharedFunctions(at: FunctionParts): SharedFunctions {
  const { registration, smartCharging, reservations, tokens, transactions, meterValues } = at;
  return {
    heartbeat: () => called('Heartbeat', (options) => registration.heartbeat(options)),
    chargingProfiles: (connectorId) => smartCharging.chargingProfiles(connectorId),
    compositeSchedule: (connectorId, durationS, unit) => smartCharging.compositeSchedule(connectorId, durationS, unit),
    reservations: () => reservations.entries(),
    localList: () => tokens.list(),
    certificates: () => at.certificates.entries,
    transactions: () => transactions.entries(),
    sendMeterValues: (connectorId) => {
      if (connectorId !== 0) at.parts.device.connector(connectorId);
      if (!registration.accepted)
        throw new SimError('NOT_CONNECTED', 'the central system has not accepted the station');
      meterValues.trigger(connectorId);
    },
    meterReading: (connectorId) => meterValues.reading(connectorId),
  };
}
