/** Reset, BootNotification and Heartbeat of OCPP 1.6. */
import { bootTable16, createRegistration } from '../provisioning/registration.ts';
import type { RegistrationOptions, RegistrationPart, SendCall } from '../provisioning/registration.ts';
import { createRestarts } from '../provisioning/restarts.ts';
import type { Line, TransactionQueue } from '../rpc/model.ts';
import type { StationNameplate } from '../station/port.ts';
import type { Calls, Handler, Keys, Part, Requests, StationParts, Transactions } from './parts.ts';

// Reset (5.14).

interface ResetOptions extends Pick<StationParts, 'device' | 'later' | 'log' | 'keys' | 'connection'> {
  readonly transactions: Pick<Transactions, 'stopAll'>;
  readonly queue: Pick<TransactionQueue, 'settled'>;
}

const endings = {
  Soft: { reason: 'SoftReset', waitsForAnswers: true },
  Hard: { reason: 'HardReset', waitsForAnswers: false },
} as const;

export function createReset({ keys, transactions, ...options }: ResetOptions): Part & {
  readonly handlers: { readonly Reset: Handler<'Reset'> };
  stop(): void;
} {
  const { device } = options;
  const restarts = createRestarts({ ...options, retries: () => keys.integer('ResetRetries') });
  return {
    handlers: {
      Reset: ({ type }, after) => {
        // a device that is off cannot be reset; a reset under way is not begun again
        if (device.dark) return { status: 'Rejected' };
        const { reason, waitsForAnswers } = endings[type];
        after(() => {
          restarts.begin({
            stopAll: () => {
              transactions.stopAll(reason);
            },
            waitsForAnswers,
            reason: `Reset ${type} of the central system`,
            bootReason: 'RemoteReset',
          });
        });
        return { status: 'Accepted' };
      },
    },
    stop: restarts.stop,
  };
}

/** Members of BootNotification have at most 20, 25 or 50 characters (6.3). */
function bootRequest(plate: StationNameplate): Requests['BootNotification'] {
  return {
    chargePointVendor: plate.vendor.slice(0, 20),
    chargePointModel: plate.model.slice(0, 20),
    ...(plate.serialNumber !== null && { chargePointSerialNumber: plate.serialNumber.slice(0, 25) }),
    ...(plate.firmwareVersion !== '' && { firmwareVersion: plate.firmwareVersion.slice(0, 50) }),
  };
}

/** Calls with the types of 1.6; `call` checks payloads against the schemas. */
export function callsOf(call: SendCall): Calls {
  return { send: call as Calls['send'] };
}

interface Registration16Options
  extends Pick<StationParts, 'clock' | 'wall' | 'later' | 'log' | 'finding'>,
    Pick<RegistrationOptions, 'clockSet' | 'clockMoved'> {
  readonly nameplate: () => StationNameplate;
  readonly keys: Keys;
  readonly line: Line;
}

export function createRegistration16({ nameplate, keys, ...options }: Registration16Options): {
  readonly registration: RegistrationPart;
  readonly calls: Calls;
} {
  const { registration, call } = createRegistration({
    ...options,
    table: bootTable16,
    bootRequest: () => bootRequest(nameplate()),
    heartbeat: {
      intervalS: () => keys.integer('HeartbeatInterval'),
      set: (seconds) => {
        keys.set('HeartbeatInterval', String(seconds));
      },
      onChange: (listener) => keys.onChange('HeartbeatInterval', listener),
    },
    clauses: { currentTime: 'OCPP 1.6 4.6', interval: 'OCPP 1.6 6.4' },
  });
  return { registration, calls: callsOf(call) };
}
