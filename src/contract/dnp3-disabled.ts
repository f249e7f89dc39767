import { SimError } from '../core/errors.ts';
import type { Dnp3Counters, Dnp3Outstations } from './dnp3.ts';

export const noDnp3Counters: Dnp3Counters = {
  connections: 0,
  refusedConnections: 0,
  handshakeFailures: 0,
  framesIn: 0,
  framesOut: 0,
  badFrames: 0,
  requests: 0,
  responses: 0,
  unsolicited: 0,
  refusals: 0,
  controlsDone: 0,
  controlsRefused: 0,
  events: 0,
  eventsLost: 0,
  confirmTimeouts: 0,
};

/** The outstations of a process without `--dnp3_enable`: views are empty, and changes throw COMMAND_CONFLICT. */
export const disabledDnp3: Dnp3Outstations = {
  enabled: false,
  totals: noDnp3Counters,
  outstation: () => null,
  points: () => [],
  deviceProfile: () => null,
  messages: () => [],
  recording: false,
  record() {
    throw new SimError('COMMAND_CONFLICT', 'DNP3 is switched off');
  },
};
