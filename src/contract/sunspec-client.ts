/** The interface between the built-in SunSpec master and REST: what it shows of another device, and its operations. */
import type { connectionStates, inverterStates, serviceStates } from './snapshot.ts';

export const clientStates = ['disabled', 'connecting', 'connected', 'error'] as const;
export type ClientState = (typeof clientStates)[number];

export const clientTransports = ['tcp', 'tls', 'rtu'] as const;

/** Transaction ids that are accepted in an answer: only the id of its request, or 0 as well. */
export const transactionIds = ['strict', 'zero'] as const;
export type TransactionIds = (typeof transactionIds)[number];

export interface SerialLine {
  readonly path: string;
  readonly baud: number;
  readonly parity: 'N' | 'E' | 'O';
  readonly stopBits: 1 | 2;
}

/** PEM texts, never paths. */
export interface ClientTls {
  readonly cert: string;
  readonly key: string;
  /** root certificates that the certificate of the device must descend from */
  readonly rootCert: string;
  /** true: the certificate of the device must name the host */
  readonly checkHostname: boolean;
}

interface TargetBase {
  readonly unitId: number;
  /** time limit of the connection and of each answer */
  readonly timeoutMs: number;
  /** address of the marker; null: the marker is searched for */
  readonly baseAddress: number | null;
}

interface NetTarget {
  readonly host: string;
  readonly port: number;
  readonly transactionIds: TransactionIds;
}

/** Address of the foreign device. */
export type ClientTarget = TargetBase &
  (
    | (NetTarget & { readonly transport: 'tcp' })
    | (NetTarget & { readonly transport: 'tls'; readonly tls: ClientTls })
    | { readonly transport: 'rtu'; readonly serial: SerialLine }
  );

/** One model of the chain. */
export interface FoundModel {
  readonly id: number;
  /** position among models of the same id, from 0 */
  readonly index: number;
  /** null: a model without a known definition */
  readonly name: string | null;
  readonly label: string | null;
  /** address of the ID register */
  readonly address: number;
  /** the L register */
  readonly length: number;
}

export const chainEnds = ['end_model', 'zeros', 'missing_length', 'exception', 'limit'] as const;

/** The chain of models as a walk found it. */
export interface Discovery {
  readonly baseAddress: number;
  readonly models: readonly FoundModel[];
  /** kind of the end of the chain */
  readonly end: (typeof chainEnds)[number];
  /** irregularities, in words */
  readonly notes: readonly string[];
}

/** Model 1 of the device. */
export interface ClientIdentity {
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly version: string | null;
  readonly serialNumber: string | null;
}

export type ReadingValue = number | string | null;

export interface PointReading {
  /** path inside the model, 0-based: `Crv[0].Pt[3].V` */
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly address: number;
  /** registers */
  readonly size: number;
  /** null: the device refused the read */
  readonly raw: readonly number[] | null;
  /**
   * engineering value; the number of an enumeration or bit field; text where a number of 64 bits does not fit a double
   */
  readonly value: ReadingValue;
  /** scale factor as read from the device; null: none */
  readonly scaleFactor: number | null;
  readonly unit: string | null;
  /** name of the value of an enumeration; null: the value has no name */
  readonly symbol?: string | null;
  /** names of the bits set in a bit field; `BIT_9`: a bit without a name */
  readonly bits?: readonly string[];
  readonly implemented: boolean;
  /** access by the definition */
  readonly access: 'R' | 'RW';
  /** reason of a missing or unusual value */
  readonly note?: string;
}

/** One repetition of a group: its points, without those of inner groups. */
export interface GroupReading {
  /** inside the model, 0-based: `Crv[0].Pt[3]` */
  readonly path: string;
  readonly points: readonly PointReading[];
}

/** One reading of a model. */
export interface ModelReading extends FoundModel {
  /** points of the model itself */
  readonly points: readonly PointReading[];
  /** groups of all levels, in the order of the registers */
  readonly groups: readonly GroupReading[];
  /** all registers from ID on, of a model without a known definition */
  readonly registers: readonly number[] | null;
  /** L by the definition and the counts of the device; null: L is correct, or the definition is unknown */
  readonly expectedLength: number | null;
  readonly notes: readonly string[];
  /** wall time, ms since the epoch */
  readonly readAtMs: number;
}

export interface WrittenPoint {
  readonly name: string;
  /** engineering value of the registers written */
  readonly written: ReadingValue;
  readonly rawWritten: readonly number[];
  readonly readBack: PointReading;
  readonly match: boolean;
}

export interface WriteRequest {
  readonly functionCode: 6 | 16;
  readonly address: number;
  readonly count: number;
}

export interface WriteOutcome {
  readonly model: FoundModel;
  readonly points: readonly WrittenPoint[];
  readonly requests: readonly WriteRequest[];
  /** true: all points read back as written */
  readonly match: boolean;
}

export interface RawWriteOutcome {
  readonly address: number;
  readonly registers: readonly number[];
  /** null: the registers cannot be read */
  readonly readBack: readonly number[] | null;
  readonly requests: readonly WriteRequest[];
  readonly match: boolean;
}

export interface PollSettings {
  readonly enabled: boolean;
  readonly intervalMs: number;
  /** model ids; null: the models that the summary needs */
  readonly models: readonly number[] | null;
}

/** A model that is polled, or was requested and does not exist. */
export interface PolledModel {
  readonly id: number;
  readonly index: number;
  /** wall time, ms since the epoch; null: never */
  readonly readAtMs: number | null;
  readonly error: string | null;
}

export interface PollStatus extends PollSettings {
  /** rounds started */
  readonly rounds: number;
  /** rounds with a failed request */
  readonly failedRounds: number;
  /** rounds skipped because an earlier round took longer than the interval */
  readonly lateRounds: number;
  /** wall time, ms since the epoch: end of the last round */
  readonly lastMs: number | null;
  readonly lastDurationMs: number | null;
  /** ms until the next attempt to connect; null: none is planned */
  readonly retryInMs: number | null;
  readonly polled: readonly PolledModel[];
}

export const remoteMetricNames = [
  'power_kw',
  'reactive_power_kvar',
  'apparent_power_kva',
  'voltage_ll_v',
  'voltage_ln_v',
  'current_a',
  'frequency_hz',
  'power_factor',
  'dc_power_kw',
  'dc_voltage_v',
  'dc_current_a',
  'state_of_charge_pct',
  'soc_reserve_min_pct',
  'soc_reserve_max_pct',
  'soc_min_pct',
  'soc_max_pct',
] as const;

/** The metrics of a snapshot as far as the device has them. */
export type RemoteMetrics = Readonly<Record<(typeof remoteMetricNames)[number], number | null>> & {
  readonly service_state: (typeof serviceStates)[number] | null;
  readonly inverter_state: (typeof inverterStates)[number] | null;
  readonly connection_state: (typeof connectionStates)[number] | null;
};

/** Identifies a device by its address. */
export interface RemoteDevice {
  /** address, for example `tcp://127.0.0.1:8502` */
  readonly endpoint: string;
  readonly unitId: number;
}

/** The metrics of one round of polling. */
export interface RemoteSample {
  readonly metrics: RemoteMetrics;
  /** wall time, ms since the epoch */
  readonly atMs: number;
  /** number of the round since the start of the process, from 1 */
  readonly round: number;
}

export interface ClientCounters {
  /** requests sent, including repetitions */
  readonly requests: number;
  readonly answers: number;
  /** failures of any kind, including time-outs and exceptions */
  readonly errors: number;
  readonly timeouts: number;
  readonly exceptions: number;
  /** connections opened */
  readonly connections: number;
}

export interface ClientStatus {
  readonly state: ClientState;
  /** target without its secrets */
  readonly target: ClientTarget | null;
  /** address, for example `tcp://127.0.0.1:8502` */
  readonly endpoint: string | null;
  readonly identity: ClientIdentity | null;
  /** null: the chain has not been walked yet */
  readonly discovery: Discovery | null;
  readonly poll: PollStatus;
  readonly counters: ClientCounters;
  readonly lastError: string | null;
  /** wall time, ms since the epoch */
  readonly lastErrorMs: number | null;
  /** values of the last poll; null: none */
  readonly sample: RemoteSample | null;
}

/**
 * A SunSpec master for one device at a time. Every call ends: a request after the time-out of the target and one more
 * attempt, an operation after half a minute or, if that is longer, four time-outs. Simultaneous calls run one after the
 * other.
 *
 * Errors: NOT_CONNECTED without a device, PEER_ERROR (with `protocolCode` for a Modbus exception), PEER_TIMEOUT,
 * UNKNOWN_RESOURCE for a model that the device does not have, COMMAND_BAD_VALUE with JSON pointers into `points`,
 * COMMAND_CONFLICT for a call that a later connect or disconnect ended, COMMAND_QUEUE_FULL, STOPPING.
 */
export interface SunSpecClient {
  view(): ClientStatus;
  /** Replaces an earlier target. Resolves after the chain was walked. */
  connect(target: ClientTarget): Promise<ClientStatus>;
  disconnect(): Promise<ClientStatus>;
  /** Walks the chain again. */
  scan(): Promise<Discovery>;
  /** @param fresh false: returns the last reading of the model, if there is one */
  readModel(id: number, index: number, fresh: boolean): Promise<ModelReading>;
  readRegisters(address: number, count: number): Promise<readonly number[]>;
  /** Checks all values, then writes and reads back. */
  writePoints(id: number, index: number, values: Readonly<Record<string, ReadingValue>>): Promise<WriteOutcome>;
  writeRegisters(address: number, registers: readonly number[]): Promise<RawWriteOutcome>;
  /** Changes the polling. A round under way ends after the model being read, without a sample. */
  poll(settings: PollSettings): PollStatus;
  /** Calls `listener` when the map of a different device was found, before any sample of it. */
  onDevice(listener: (device: RemoteDevice) => void): void;
  /** Calls `listener` after every round of polling that read a model of the summary. */
  onSample(listener: (sample: RemoteSample) => void): void;
}
