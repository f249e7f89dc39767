/** OCPP 1.6 at work for one station: its parts loaded, opened, closed and stopped together, and what REST sees of them. */
import type { OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { mergeHandlers, setAuthority } from '../station/stack.ts';
import type { ConnectFailure } from '../rpc/socket.ts';
import { createFallback, failureEvent } from '../security/events.ts';
import type { FailureEvents, Fallback } from '../security/events.ts';
import { called, sharedFunctions } from '../station/functions.ts';
import type { VersionStack } from '../station/stack.ts';
import { assembleParts } from './assembly.ts';
import { maxIdTagLength } from './authorization/tokens.ts';
import type { Assembled, Stack16Options } from './assembly.ts';
import { createDispatch } from './dispatch.ts';
import { bootTable16 } from '../provisioning/registration.ts';

export type { Stack16Options } from './assembly.ts';

/** Security events of the white paper for attempts to connect that failed. */
const failureEvents: FailureEvents = {
  certificate: 'InvalidCentralSystemCertificate',
  tlsVersion: 'InvalidTLSVersion',
  cipherSuite: 'InvalidTLSCipherSuite',
  refused: 'FailedToAuthenticateAtCentralSystem',
};

function opened({ registration, keys, parts }: Assembled): void {
  const profile = String(parts.connection.securityProfile);
  // a profile that has failed is in force no more
  if (keys.text('SecurityProfile') !== profile) keys.set('SecurityProfile', profile);
  registration.opened();
}

function failed({ security }: Assembled, failure: ConnectFailure): void {
  const type = failureEvent(failure, failureEvents);
  if (type !== null) security.raise(type, failure.text);
}

function functionsOf(at: Assembled): OcppFunctions {
  const { registration, keys, configuration } = at;
  return {
    ...sharedFunctions(at),
    boot: async (reason) => {
      if (reason !== null) throw new SimError('COMMAND_BAD_VALUE', 'reason: BootNotification of 1.6 has none');
      return await called('BootNotification', (options) => registration.boot(options));
    },
    configuration: (key) => keys.view(key),
    setConfiguration: ({ name, value }) => {
      configuration.setLocal(name, value);
      return keys.view(name);
    },
    derControls() {
      throw new SimError('COMMAND_NOT_APPLICABLE', 'OCPP 1.6 has no DER controls');
    },
    authorize: (connectorId, idToken) => {
      if (idToken.length > maxIdTagLength)
        throw new SimError('COMMAND_BAD_VALUE', `id_token: an idTag of 1.6 has at most ${maxIdTagLength} characters`);
      return at.authorization.present(connectorId, idToken);
    },
  };
}

/** After the parts, so that the states of the connectors come before what the queue has kept. */
function followRegistration({ registration, smartCharging, queue }: Assembled): void {
  registration.onAccepted(() => {
    smartCharging.refresh();
    queue.resume();
  });
  registration.onEnded(() => {
    queue.pause();
  });
}

async function load(at: Assembled): Promise<void> {
  await at.keys.load();
  setAuthority(at.parts, true);
  at.effects.apply();
  await at.queue.load();
  for (const part of at.all) await part.load?.();
  at.effects.applyProfile();
}

function stop(at: Assembled): void {
  at.registration.stop();
  at.queue.stop();
  for (const part of at.all) part.stop?.();
  setAuthority(at.parts, false);
}

function fallbackOf({ effects, certificates }: Assembled): Fallback {
  return createFallback(({ password, own }) => {
    effects.restorePassword(password);
    certificates.restoreOwn(own);
  });
}

export function createStack16(options: Stack16Options): VersionStack {
  const at = assembleParts(options);
  const { registration, queue, keys } = at;
  const handlers = mergeHandlers(at.all);
  // Nothing of the central system is carried out from then on: it could begin a transaction or a firmware update that
  // nothing ends. An answer would promise it, and a refusal is needless, since the connection ends within seconds.
  let isEnding = false;
  const fallback = fallbackOf(at);
  followRegistration(at);
  return {
    get bootStatus() {
      return registration.status;
    },
    get heartbeatIntervalS() {
      return registration.boots === 0 ? null : keys.integer('HeartbeatInterval');
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
    functions: functionsOf(at),
    load: () => load(at),
    opened: () => {
      fallback.opened();
      opened(at);
    },
    closed: () => {
      registration.closed();
    },
    failed: (failure) => {
      failed(at, failure);
    },
    credentials: (...about) => {
      fallback.credentials(...about);
    },
    retargeted: () => {
      registration.restarted();
    },
    sent: () => {
      registration.traffic();
    },
    get isMute() {
      return isEnding || bootTable16[registration.status].incoming === 'ignored';
    },
    handle: createDispatch({ handlers, registration, finding: options.finding, isEnding: () => isEnding }),
    leave: () => {
      isEnding = true;
      at.transactions.leave();
      return queue.settled();
    },
    stop: () => {
      isEnding = true;
      stop(at);
    },
  };
}
