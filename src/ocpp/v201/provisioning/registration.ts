/**
 * BootNotification and Heartbeat of 2.x (B01 to B03, G02), and Reset (B11, B12). A reset of one EVSE is refused,
 * because a device restarts only as a whole; so there is no EVSE.AllowReset. ImmediateAndResume of 2.1 is refused,
 * because no transaction outlives a restart.
 */
import { bootTable2, createRegistration } from '../../provisioning/registration.ts';
import type { RegistrationOptions, RegistrationPart } from '../../provisioning/registration.ts';
import type { Line } from '../../rpc/model.ts';
import type { StationNameplate } from '../../station/port.ts';
import type { Calls, Requests, StationParts, Handler, Part, Replies, Transactions } from '../parts.ts';
import type { Variables } from '../variables/model.ts';
import { createRestarts } from '../../provisioning/restarts.ts';
import type { RestartPlan } from '../../provisioning/restarts.ts';

// Boot reasons (BootReasonEnum).

type BootReason = Requests['BootNotification']['reason'];

export const bootReasons: readonly BootReason[] = [
  'ApplicationReset',
  'FirmwareUpdate',
  'LocalReset',
  'PowerUp',
  'RemoteReset',
  'ScheduledReset',
  'Triggered',
  'Unknown',
  'Watchdog',
];

const isReason = (text: string): text is BootReason => (bootReasons as readonly string[]).includes(text);

/** @param reason null, or a text outside of BootReasonEnum: Unknown */
function bootRequest(plate: StationNameplate, reason: string | null): Requests['BootNotification'] {
  return {
    reason: reason !== null && isReason(reason) ? reason : 'Unknown',
    chargingStation: {
      vendorName: plate.vendor.slice(0, 50),
      model: plate.model.slice(0, 20),
      ...(plate.serialNumber !== null && { serialNumber: plate.serialNumber.slice(0, 25) }),
      ...(plate.firmwareVersion !== '' && { firmwareVersion: plate.firmwareVersion.slice(0, 50) }),
    },
  };
}

interface Registration2Options
  extends Pick<StationParts, 'version' | 'clock' | 'wall' | 'later' | 'log' | 'finding'>,
    Pick<RegistrationOptions, 'clockSet' | 'clockMoved'> {
  readonly nameplate: () => StationNameplate;
  /** true: the firmware has changed since the last boot that the central system accepted */
  readonly isUpdated: () => boolean;
  readonly variables: Variables;
  readonly line: Line;
}

/** A clause with its version, as in findings. */
export const clauseOf = (version: StationParts['version'], clause: string): string =>
  `OCPP ${version.slice('ocpp'.length)} ${clause}`;

export function createRegistration2({ nameplate, isUpdated, variables, version, ...options }: Registration2Options): {
  readonly registration: RegistrationPart;
  readonly calls: Calls;
} {
  const { registration, call } = createRegistration({
    ...options,
    table: bootTable2,
    bootRequest: (reason) => bootRequest(nameplate(), reason === 'PowerUp' && isUpdated() ? 'FirmwareUpdate' : reason),
    heartbeat: {
      intervalS: () => variables.integer('OCPPCommCtrlr', 'HeartbeatInterval'),
      set: (seconds) => {
        variables.set('OCPPCommCtrlr', 'HeartbeatInterval', String(seconds));
      },
      onChange: (listener) => variables.onChange('OCPPCommCtrlr', 'HeartbeatInterval', listener),
    },
    clauses: { currentTime: clauseOf(version, 'B01.FR.06'), interval: clauseOf(version, 'B01.FR.05') },
  });
  const { line } = options;
  return {
    registration,
    calls: {
      // the schemas have been checked
      send: call as Calls['send'],
      stream: (action, payload) => {
        if (registration.isReady) line.send(action, payload);
      },
    },
  };
}

const rejected = (reasonCode: string): Replies['Reset'] => ({ status: 'Rejected', statusInfo: { reasonCode } });

export function createReset(
  parts: Pick<StationParts, 'device' | 'later' | 'log' | 'variables' | 'connection' | 'queue'>,
  { transactions }: { readonly transactions: Pick<Transactions, 'running' | 'stopAll' | 'onEnded'> },
): Part & { readonly handlers: { readonly Reset: Handler<'Reset'> } } {
  const { device, variables } = parts;
  const restarts = createRestarts({ ...parts, retries: () => variables.integer('OCPPCommCtrlr', 'ResetRetries') });
  /** OnIdle was answered with Scheduled, and a transaction runs */
  let isScheduled = false;
  const plan = (reason: string, bootReason: string): RestartPlan => ({
    stopAll: () => {
      transactions.stopAll({ reason: 'ImmediateReset', trigger: 'ResetCommand' });
    },
    // B12.FR.04: the events of the transactions are sent first
    waitsForAnswers: true,
    reason,
    bootReason,
  });
  const whenIdle = (): void => {
    if (!isScheduled || transactions.running.length > 0) return;
    isScheduled = false;
    restarts.begin(plan('Reset OnIdle of the central system', 'ScheduledReset'));
  };
  const end = transactions.onEnded(whenIdle);
  const reset: Handler<'Reset'> = ({ type, evseId }, after) => {
    if (evseId !== undefined)
      return rejected(device.connectorIds.includes(evseId) ? 'UnsupportedParam' : 'UnknownEvse');
    if (type === 'ImmediateAndResume') return rejected('UnsupportedParam');
    // a device that is off cannot be reset
    if (device.dark) return rejected('NotEnabled');
    if (type === 'OnIdle' && transactions.running.length > 0) {
      isScheduled = true;
      return { status: 'Scheduled' };
    }
    after(() => {
      isScheduled = false;
      restarts.begin(plan(`Reset ${type} of the central system`, type === 'OnIdle' ? 'ScheduledReset' : 'RemoteReset'));
    });
    return { status: 'Accepted' };
  };
  return {
    handlers: { Reset: reset },
    stop: () => {
      end();
      restarts.stop();
    },
  };
}
