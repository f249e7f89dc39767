/** Common to all parts of a 2.x station: variables, registration, queue, connection and security events. */
import { createTransactionQueue } from '../rpc/queue.ts';
import type { LoadableQueue } from '../rpc/queue.ts';
import type { Line, TransactionQueueEvents } from '../rpc/model.ts';
import type { RegistrationPart } from '../provisioning/registration.ts';
import { tellingRestarts } from '../provisioning/restarts.ts';
import type { StackOptions } from '../station/stack.ts';
import type { StationParts, Version2 } from './parts.ts';
import { createRegistration2 } from './provisioning/registration.ts';
import { createSecurityEvents } from './security/events.ts';
import type { Firmware } from './firmware-management.ts';
import type { EventLog } from '../security/events.ts';
import type { VariableFacts, VariableStore } from './variables/model.ts';
import { variableRows } from './variables/table.ts';
import { createVariables } from './variables/variables.ts';

interface BaseDeps {
  /** callbacks of the queue */
  readonly events: () => Required<Pick<TransactionQueueEvents, 'answered'>>;
  readonly firmware: () => Pick<Firmware, 'version' | 'restarted'>;
  /** the clock of the central system has been set */
  readonly clockMoved: () => void;
  /** the station restarts; values that waited for it are in force */
  readonly restarted: () => void;
}

export interface Base {
  readonly parts: StationParts;
  readonly variables: VariableStore;
  readonly registration: RegistrationPart;
  readonly queue: LoadableQueue;
  readonly security: EventLog;
}

function variablesOf(version: Version2, { device, connection, store, log }: StackOptions): VariableStore {
  const facts: VariableFacts = {
    version,
    nameplate: device.nameplate,
    evseIds: device.connectorIds,
    ratings: device.ratings,
    stationRating: device.stationRating,
    securityProfile: connection.securityProfile,
  };
  return createVariables({ facts, rows: variableRows, slot: store('variables'), log });
}

function queueOf(
  { store, later, log }: StackOptions,
  variables: VariableStore,
  line: Line,
  events: BaseDeps['events'],
): LoadableQueue {
  return createTransactionQueue({
    slot: store('queue'),
    later,
    log,
    policy: () => ({
      attempts: variables.integer('OCPPCommCtrlr', 'MessageAttempts[TransactionEvent]'),
      intervalS: variables.integer('OCPPCommCtrlr', 'MessageAttemptInterval[TransactionEvent]'),
    }),
    send: (action, payload, messageId) => line.call(action, payload, messageId === undefined ? {} : { messageId }),
    isOpen: () => line.open,
    answered: (message, reply) => {
      events().answered(message, reply);
    },
  });
}

export function createBase(version: Version2, options: StackOptions, deps: BaseDeps): Base {
  const { line, device } = options;
  const variables = variablesOf(version, options);
  const { registration, calls } = createRegistration2({
    ...options,
    version,
    variables,
    nameplate: () => ({ ...device.nameplate, firmwareVersion: deps.firmware().version }),
    isUpdated: () => deps.firmware().restarted,
    clockMoved: (byS) => {
      // a smaller correction of the clock is no change of the system time
      const thresholdS = variables.integer('ClockCtrlr', 'TimeAdjustmentReportingThreshold');
      if (Math.abs(byS) > thresholdS) security.raise('SettingSystemTime', `by ${Math.round(byS)} s`);
      deps.clockMoved();
    },
  });
  const connection = tellingRestarts(options.connection, (reason, bootReason) => {
    registration.restarted(bootReason);
    variables.restarted();
    deps.restarted();
    // told by the next connection: this one ends now
    security.raise('ResetOrReboot', reason);
  });
  const queue = queueOf(options, variables, line, deps.events);
  const { id, clock, wall, later, random, log, store, disturber, finding } = options;
  const common = { id, device, clock, wall, later, random, log, store, disturber, finding };
  const allButSecurity = { ...common, version, variables, calls, queue, registration, connection };
  const security: EventLog = createSecurityEvents(allButSecurity);
  return { parts: { ...allButSecurity, security }, variables, registration, queue, security };
}
