/**
 * One version at work for one station: its parts loaded, opened, closed and stopped together, and the functions that
 * are the same in all versions.
 */
import { randomUUID } from 'node:crypto';
import type { OcppFunctions, OcppCallResult } from '../../contract/ocpp.ts';
import type { BootTable, RegistrationPart } from '../provisioning/registration.ts';
import type { CallHandler, CallOutcome } from '../rpc/model.ts';
import type { LoadableQueue } from '../rpc/queue.ts';
import { setAuthority } from './stack.ts';
import type { LeaveReason, PartOf, StackOptions, VersionStack } from './stack.ts';
import { SimError } from '../../core/errors.ts';
import type { StationPort } from './port.ts';

/** The parts of a station that every version has. */
interface AssembledParts {
  readonly parts: Pick<StackOptions, 'device' | 'log' | 'releases'>;
  readonly registration: RegistrationPart;
  readonly queue: Pick<LoadableQueue, 'length' | 'droppedMiddles' | 'resume' | 'pause' | 'settled' | 'load' | 'stop'>;
  readonly transactions: { leave(reason: LeaveReason): void };
  readonly effects: { apply(): void };
  readonly certificates: Pick<VersionStack, 'restoreOwn'>;
  /** in the order of their loading */
  readonly all: readonly Omit<PartOf<never>, 'handlers'>[];
}

interface VersionRules {
  readonly functions: OcppFunctions;
  readonly bootTable: BootTable;
  readonly heartbeatIntervalS: () => number;
  /** Restores keys or variables. */
  readonly loadSettings: () => Promise<void>;
  /** called before `registration.opened` */
  readonly opened?: () => void;
  readonly failed: VersionStack['failed'];
  readonly retargeted?: () => void;
  /** @param isEnding the station leaves or has stopped */
  readonly dispatch: (isEnding: () => boolean) => CallHandler;
}

export function createVersionStack(at: AssembledParts, rules: VersionRules): VersionStack {
  const { parts, registration, queue, all } = at;
  // Nothing of the central system is carried out from then on: it could begin a transaction or a firmware update that
  // nothing ends. An answer would promise it, and a refusal is needless, since the connection ends within seconds.
  let isEnding = false;
  let isLoaded = false;
  // after the parts, so that the states of the connectors come before what the queue has kept
  registration.onAccepted(() => {
    queue.resume();
  });
  registration.onEnded(() => {
    queue.pause();
  });
  const stopParts = () => {
    isEnding = true;
    registration.stop();
    queue.stop();
    for (const part of all) part.stop?.();
  };
  return {
    functions: rules.functions,
    handle: rules.dispatch(() => isEnding),
    get bootStatus() {
      return registration.status;
    },
    get heartbeatIntervalS() {
      return registration.boots === 0 ? null : rules.heartbeatIntervalS();
    },
    get lastHeartbeatMs() {
      return registration.lastHeartbeatMs;
    },
    get transactionMessages() {
      return queue.length;
    },
    get droppedMeterValues() {
      return queue.droppedMiddles;
    },
    get isMute() {
      return isEnding || rules.bootTable[registration.status].incoming === 'ignored';
    },
    async load() {
      await rules.loadSettings();
      setAuthority(parts, true);
      at.effects.apply();
      await queue.load();
      for (const part of all) await part.load?.();
      isLoaded = true;
    },
    opened() {
      rules.opened?.();
      registration.opened();
    },
    closed() {
      registration.closed();
    },
    failed: rules.failed,
    restoreOwn(certificate) {
      at.certificates.restoreOwn(certificate);
    },
    retargeted() {
      rules.retargeted?.();
      registration.restarted();
    },
    sent() {
      registration.traffic();
    },
    leave(reason) {
      isEnding = true;
      at.transactions.leave(reason);
      return queue.settled();
    },
    giveWay() {
      // not accepted any more, or the line, which is open, would take what the ends of the sessions bring about
      registration.restarted();
      isEnding = true;
      at.transactions.leave('Other');
      stopParts();
      for (const part of all) part.release?.();
    },
    stop() {
      stopParts();
      for (const part of all) {
        if (isLoaded) part.close?.();
        // nothing stays of a version that has never been at work
        else part.release?.();
      }
      setAuthority(parts, false);
    },
    release(isReplaced) {
      stopParts();
      for (const part of all) {
        if (isReplaced) part.handOver?.();
        else part.release?.();
      }
      if (!isReplaced)
        parts.releases.insist('availability', 'connectors stay inoperative', () => {
          parts.device.endInoperative();
        });
      setAuthority(parts, false);
    },
  };
}

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
export async function sendUserCall(
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
    readonly isReady: boolean;
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

type SharedFunctions = Omit<
  OcppFunctions,
  'boot' | 'configuration' | 'setConfiguration' | 'authorize' | 'derControls' | 'display'
>;

export function sharedFunctions(at: FunctionParts): SharedFunctions {
  const { registration, smartCharging, reservations, tokens, transactions, meterValues } = at;
  return {
    heartbeat: () => sendUserCall('Heartbeat', (options) => registration.heartbeat(options)),
    chargingProfiles: (connectorId) => smartCharging.chargingProfiles(connectorId),
    compositeSchedule: (connectorId, durationS, unit) => smartCharging.compositeSchedule(connectorId, durationS, unit),
    reservations: () => reservations.entries(),
    localList: () => tokens.list(),
    certificates: () => at.certificates.entries,
    transactions: () => transactions.entries(),
    sendMeterValues: (connectorId) => {
      if (connectorId !== 0) at.parts.device.connector(connectorId);
      if (!registration.isReady) throw new SimError('NOT_CONNECTED', 'the central system has not accepted the station');
      meterValues.trigger(connectorId);
    },
    meterReading: (connectorId) => meterValues.reading(connectorId),
  };
}
