/** BootNotification and Heartbeat in the words of 1.6. */
import type { StationNameplate } from '../station/port.ts';
import type { Line } from '../rpc/model.ts';
import { createRegistration } from '../registration/registration.ts';
import type { RegistrationOptions, RegistrationPart, SendCall } from '../registration/registration.ts';
import { bootTable16 } from '../registration/table.ts';
import type { Calls, Keys, Requests, StationParts } from './parts.ts';

/** Members of BootNotification have at most 20, 25 or 50 characters (6.3). */
export function bootRequest(plate: StationNameplate): Requests['BootNotification'] {
  return {
    chargePointVendor: plate.vendor.slice(0, 20),
    chargePointModel: plate.model.slice(0, 20),
    ...(plate.serialNumber !== null && { chargePointSerialNumber: plate.serialNumber.slice(0, 25) }),
    ...(plate.firmwareVersion !== '' && { firmwareVersion: plate.firmwareVersion.slice(0, 50) }),
  };
}

/** Calls with the types of 1.6: their schemas have been checked. */
export function callsOf(call: SendCall): Calls {
  return { send: call as Calls['send'] };
}

export interface Registration16Options
  extends Pick<StationParts, 'clock' | 'wall' | 'later' | 'log' | 'finding'>,
    Pick<RegistrationOptions, 'clockMoved'> {
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
