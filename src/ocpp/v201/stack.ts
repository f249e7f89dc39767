/** OCPP 2.0.1 or 2.1 at work for one station: its parts loaded, opened, closed and stopped together. */
import type { OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { bootTable2 } from '../provisioning/registration.ts';
import { createFallback } from '../security/events.ts';
import { called, sharedFunctions } from '../station/functions.ts';
import { mergeHandlers, setAuthority } from '../station/stack.ts';
import type { StackOptions, VersionStack } from '../station/stack.ts';
import { assembleParts } from './assembly.ts';
import type { Assembled } from './assembly.ts';
import { createDispatch } from './dispatch.ts';
import type { Version2 } from './parts.ts';
import { bootReasons } from './provisioning/registration.ts';
import { createVariableView } from './variables/handlers.ts';

// What REST sees of a 2.x station and asks of it.

function functionsOf(at: Assembled): OcppFunctions {
  const { registration, parts } = at;
  const variables = createVariableView(parts, at.variables, at.networkProfiles.checks);
  return {
    ...sharedFunctions(at),
    boot: async (reason) => {
      if (reason !== null && !(bootReasons as readonly string[]).includes(reason))
        throw new SimError('COMMAND_BAD_VALUE', `reason: allowed: ${bootReasons.join(', ')}`);
      return await called('BootNotification', (options) =>
        registration.boot({ ...options, ...(reason !== null && { reason }) }),
      );
    },
    configuration: (key) => variables.configuration(key),
    setConfiguration: (change) => variables.setConfiguration(change),
    derControls: () => at.derControl.entries(),
    authorize: (evseId, idToken, _by, type) => at.authorization.present(evseId, idToken, type),
  };
}

async function load(at: Assembled): Promise<void> {
  await at.variables.load();
  setAuthority(at.parts, true);
  at.effects.apply();
  await at.queue.load();
  for (const part of at.all) await part.load?.();
}

function stop(at: Assembled): void {
  at.registration.stop();
  at.queue.stop();
  for (const part of at.all) part.stop?.();
  setAuthority(at.parts, false);
}

/** After the parts, so that the states of the connectors come before what the queue has kept. */
function followRegistration({ registration, queue }: Assembled): void {
  registration.onAccepted(() => {
    queue.resume();
  });
  registration.onEnded(() => {
    queue.pause();
  });
}

/** What the connection tells a station. */
function connectionEvents(
  at: Assembled,
): Pick<VersionStack, 'opened' | 'closed' | 'failed' | 'credentials' | 'retargeted' | 'sent'> {
  const { registration, networkProfiles, security } = at;
  const fallback = createFallback(({ password, own }) => {
    at.effects.restorePassword(password);
    at.certificates.restoreOwn(own);
  });
  return {
    opened: () => {
      fallback.opened();
      networkProfiles.opened();
      registration.opened();
    },
    closed: () => {
      registration.closed();
    },
    failed: (failure) => {
      security.failed(failure);
      networkProfiles.failed();
    },
    credentials: (...about) => {
      fallback.credentials(...about);
    },
    retargeted: () => {
      networkProfiles.targetSet();
      registration.restarted();
    },
    sent: () => {
      registration.traffic();
    },
  };
}

export function createStack2(version: Version2, options: StackOptions): VersionStack {
  const at = assembleParts(version, options);
  const { registration, queue, variables } = at;
  // nothing of the central system is carried out from then on: it could begin a transaction that nothing ends
  let isEnding = false;
  followRegistration(at);
  return {
    ...connectionEvents(at),
    get bootStatus() {
      return registration.status;
    },
    get heartbeatIntervalS() {
      return registration.boots === 0 ? null : variables.integer('OCPPCommCtrlr', 'HeartbeatInterval');
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
      return isEnding || bootTable2[registration.status].incoming === 'ignored';
    },
    functions: functionsOf(at),
    load: () => load(at),
    handle: createDispatch({
      version,
      handlers: mergeHandlers(at.all),
      registration,
      finding: options.finding,
      isEnding: () => isEnding,
    }),
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
