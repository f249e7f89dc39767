/**
 * The DNP3 outstations as REST, metrics and overview see them, and their stand-in without DNP3. Instants in ms since
 * the epoch.
 */
import type { Origin } from '../core/origin.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { WireDirection } from '../core/wire/wire-log.ts';
import type { Dnp3Profile } from './dnp3-settings.ts';
import { SimError } from '../core/errors.ts';

export const dnp3PointTypes = ['BI', 'BO', 'AI', 'AO', 'CTR'] as const;
export type Dnp3PointType = (typeof dnp3PointTypes)[number];

/** Names of the IIN bits, in the order of the bits. */
export const dnp3IinNames = [
  'broadcast',
  'class_1_events',
  'class_2_events',
  'class_3_events',
  'need_time',
  'local_control',
  'device_trouble',
  'device_restart',
  'function_not_supported',
  'object_unknown',
  'parameter_error',
  'event_buffer_overflow',
  'already_executing',
  'configuration_corrupt',
] as const;
export type Dnp3IinName = (typeof dnp3IinNames)[number];

/** One master of an outstation. */
export interface Dnp3MasterStatus {
  readonly address: number;
  readonly connected: boolean;
  /** `address:port`; null: not connected */
  readonly peer: string | null;
  /** subject of its certificate; null: not connected, or in clear */
  readonly certificate: string | null;
  readonly connectedSinceMs: number | null;
  readonly lastRequestMs: number | null;
  /** bits that the next response has, IIN1 */
  readonly iin: readonly Dnp3IinName[];
  /** events that wait, by class */
  readonly events: { readonly class1: number; readonly class2: number; readonly class3: number };
  readonly overflow: boolean;
  readonly unsolicited: {
    readonly configured: boolean;
    /** the null response after the restart has been confirmed */
    readonly nullConfirmed: boolean;
    /** classes that the master has enabled */
    readonly classes: readonly (1 | 2 | 3)[];
  };
  readonly selectPending: boolean;
  /** seconds by which the time of the master is ahead; null: the master has written no time */
  readonly clockOffsetS: number | null;
}

export interface Dnp3OutstationStatus {
  readonly deviceIndex: number;
  /** `tcp://127.0.0.1:20000`, `tls://...` */
  readonly endpoint: string;
  readonly address: number;
  readonly profile: Dnp3Profile;
  readonly listening: boolean;
  /** connections, also those whose master has sent nothing yet */
  readonly connections: number;
  readonly masters: readonly Dnp3MasterStatus[];
  readonly points: Readonly<Record<Dnp3PointType, { readonly served: number; readonly absent: number }>>;
  readonly eventCapacity: number;
}

/** `served`: the device has the point; `absent`: the profile names the point, but this device lacks it. */
export const dnp3Coverages = ['served', 'absent'] as const;
type Dnp3Coverage = (typeof dnp3Coverages)[number];

export interface Dnp3PointView {
  readonly type: Dnp3PointType;
  readonly index: number;
  readonly name: string;
  readonly coverage: Dnp3Coverage;
  /** source of the value in words, `701.W`; null: absent */
  readonly boundTo: string | null;
  /** wire units; null: absent */
  readonly value: number | null;
  /** the flags octet, with the state bit of binaries; null: absent */
  readonly flags: number | null;
  readonly online: boolean;
  /** value x multiplier; null: absent or not online */
  readonly engineeringValue: number | null;
  readonly unit: string | null;
  readonly multiplier: number;
  readonly class: 0 | 1 | 2 | 3;
  readonly deadband: number | null;
  readonly min: number | null;
  readonly max: number | null;
  /** the input that mirrors an output */
  readonly readBack: string | null;
  readonly iec61850: string | null;
}

export interface Dnp3PointFilter {
  readonly type?: Dnp3PointType;
  readonly coverage?: Dnp3Coverage;
  /** selects points whose `boundTo` is one of these */
  readonly bound?: ReadonlySet<string>;
  readonly from?: number;
  readonly to?: number;
}

export interface Dnp3Counters {
  readonly connections: number;
  readonly refusedConnections: number;
  readonly handshakeFailures: number;
  readonly framesIn: number;
  readonly framesOut: number;
  /** frames dropped for a wrong CRC, length or header */
  readonly badFrames: number;
  readonly requests: number;
  readonly responses: number;
  readonly unsolicited: number;
  /** requests answered with a bit of IIN2.0 to 2.2 */
  readonly refusals: number;
  /** controls by outcome */
  readonly controlsDone: number;
  readonly controlsRefused: number;
  readonly events: number;
  readonly eventsLost: number;
  readonly confirmTimeouts: number;
}

/** One control in a request or in its answer: g12v1 or g41. */
export interface Dnp3Control {
  readonly type: 'BO' | 'AO';
  readonly index: number;
  /** wire units of an analog output; state set by the code of a binary output, null: none */
  readonly value: number | boolean | null;
  /** control status code, 0: success; of a request always 0 */
  readonly status: number;
}

/** A fragment as sent over the wire. */
export interface Dnp3Message {
  readonly id: number;
  readonly atMs: number;
  readonly at: SimTime;
  readonly direction: WireDirection;
  readonly deviceIndex: number | null;
  readonly peer: string;
  /** function in words: `read`, `response` */
  readonly function: string;
  readonly sequence: number | null;
  readonly iin: readonly Dnp3IinName[] | null;
  /** object headers in words: `g30v1 AI536..AI537` */
  readonly objects: readonly string[];
  /** controls that a request or the answer to one carries; else empty */
  readonly controls: readonly Dnp3Control[];
  readonly hex: string;
  readonly truncated: boolean;
}

export interface Dnp3MessageFilter {
  readonly afterId?: number;
  readonly toId?: number;
  readonly deviceIndex?: number;
  readonly direction?: WireDirection;
  readonly function?: string;
  readonly limit?: number;
}

/** All outstations of the process. */
export interface Dnp3Outstations {
  readonly enabled: boolean;
  readonly totals: Dnp3Counters;
  /** @returns null if the device has no outstation, or DNP3 is off */
  outstation(deviceIndex: number): Dnp3OutstationStatus | null;
  /** empty when the device has no outstation */
  points(deviceIndex: number, filter?: Dnp3PointFilter): readonly Dnp3PointView[];
  /** DNP3 XML device profile (2.12) of the outstation of a device; null: no outstation */
  deviceProfile(deviceIndex: number): string | null;
  messages(filter?: Dnp3MessageFilter): readonly Dnp3Message[];
  /** Keeps messages from now on, or stops. @throws SimError COMMAND_CONFLICT while DNP3 is off */
  record(on: boolean, by: Origin): void;
  readonly recording: boolean;
}

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
