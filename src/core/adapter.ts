/** The contract of all adapters, and the lifecycle that they share. */
import { errorText } from './errors.ts';

/** Module names of the log ring and of adapter status. */
export const moduleNames = ['AC', 'DC', 'CSIP', 'Modbus', 'OCPP', 'DNP3', 'WS', 'Lab', 'Findings'] as const;
export type ModuleName = (typeof moduleNames)[number];

export const commStates = [
  'disabled',
  'starting',
  'listening',
  'connecting',
  'connected',
  'retrying',
  'error',
  'stopped',
] as const;
export type CommState = (typeof commStates)[number];

/** Keys of `comm_status` in the overview. */
export const commNames = [
  'modbus_tcp',
  'modbus_rtu',
  'modbus_proxy',
  'csip',
  'ocpp',
  'dnp3',
  'sunspec_client',
  'fleet',
  'websocket',
] as const;
export type CommName = (typeof commNames)[number];

/** An error of a protocol, in words. */
export interface AdapterError {
  readonly text: string;
  /** wall time in ms since the epoch */
  readonly atMs: number;
}

/** The newer one of two errors; null: neither has happened. */
export function newerError(
  a: AdapterError | null | undefined,
  b: AdapterError | null | undefined,
): AdapterError | null {
  if (!a || !b) return a ?? b ?? null;
  return b.atMs > a.atMs ? b : a;
}

export interface AdapterStatus {
  readonly enabled: boolean;
  readonly state: CommState;
  /** the last error, or else the state in the words of the protocol; null: neither */
  readonly detail: string | null;
  /** for example `tcp://127.0.0.1:8502` */
  readonly endpoint: string | null;
  /** connected clients or masters */
  readonly peers: number;
  /** wall time in ms since the epoch */
  readonly lastActivityMs: number | null;
  readonly rxCount: number;
  readonly txCount: number;
  readonly errorCount: number;
  /** the last one of those counted, also when its cause has gone; absent, null: none yet */
  readonly lastError?: AdapterError | null;
  /** messages that a slow peer did not get; absent where none can be lost */
  readonly droppedCount?: number;
}

/** Status of a protocol that this process does not run. */
export const disabledStatus: AdapterStatus = {
  enabled: false,
  state: 'disabled',
  detail: null,
  endpoint: null,
  peers: 0,
  lastActivityMs: null,
  rxCount: 0,
  txCount: 0,
  errorCount: 0,
};

/** A device behind a TCP port of Modbus. */
export interface ModbusTcpEndpoint {
  readonly protocol: 'modbus_tcp';
  readonly host: string;
  readonly port: number;
  readonly unitId: number;
  readonly tls: boolean;
}

/** A device on a serial line. */
export interface ModbusRtuEndpoint {
  readonly protocol: 'modbus_rtu';
  /** name of the serial port */
  readonly path: string;
  readonly unitId: number;
}

/** A device behind an outstation of DNP3. */
export interface Dnp3Endpoint {
  readonly protocol: 'dnp3';
  readonly host: string;
  readonly port: number;
  /** link address */
  readonly outstation: number;
  readonly tls: boolean;
}

/** Where one device is reached; one member per protocol that has an address for each device. */
export type DeviceEndpoint = ModbusTcpEndpoint | ModbusRtuEndpoint | Dnp3Endpoint;

/** An address at which every client is served without authentication. */
export interface Exposure {
  /** `Modbus` */
  readonly what: string;
  readonly host: string;
}

/**
 * Lifecycle of everything that talks to the outside.
 * `start` resolves when every listener is bound and rejects with `LISTEN_FAILED` otherwise.
 * `stop` is idempotent, ends in bounded time and closes every socket.
 */
export interface Adapter {
  readonly module: ModuleName;
  readonly comm: CommName;
  /**
   * The adapter only connects to peers and has no clients: it stops before the listeners, and its state `error`
   * is about the peer and does not degrade the health of the process. Default: false.
   */
  readonly outbound?: boolean;
  /** Address served without authentication; absent: none. */
  readonly exposure?: Exposure;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Like `stop`, where the devices live on: releases what it holds in them. Absent: it holds nothing. */
  switchOff?(): Promise<void>;
  /** Called after `switchOff`, when settings without the adapter are in force. Absent: nothing is to be forgotten. */
  forget?(): void;
  status(): AdapterStatus;
  /** Lines to print for the user after the start, made with `startLine`; absent: none. */
  startLines?(): readonly string[];
  /** Where a device can be reached over this protocol, if it can. */
  endpointOf?(deviceIndex: number): DeviceEndpoint | null;
  /** Reloads files that may change while the adapter runs; absent: no such files. Never throws. */
  readonly reload?: () => void;
}

/** One line about a listener, in the column layout of all start lines. */
export function startLine(name: string, text: string): string {
  return `${name.padEnd(9)} ${text}`;
}

/** The lifecycle that all adapters share: one start or stop at a time, a state, and the last error. */
export class AdapterLifecycle {
  #state: CommState = 'stopped';
  #lastError: string | null = null;
  #stopping: Promise<void> | undefined;

  get state(): CommState {
    return this.#state;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  /** True if `stop` was called, and `start` not since. */
  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  /**
   * Runs `open`, then sets the state `listening`; does nothing while the adapter runs.
   * @param open leaves nothing open when it fails
   * @throws whatever `open` throws, kept as the last error
   */
  async start(open: () => Promise<void> | void): Promise<void> {
    if (this.#state !== 'stopped' && this.#state !== 'error') return;
    this.#state = 'starting';
    this.#stopping = undefined;
    try {
      await open();
    } catch (error) {
      this.#state = 'error';
      this.#lastError = errorText(error);
      throw error;
    }
    // `stop` or `retrying` may have been called meanwhile
    if (this.state === 'starting') this.listening();
  }

  /** Runs `close` and sets the state `stopped`; a second call resolves with the first. */
  stop(close: () => Promise<void> | void): Promise<void> {
    this.#stopping ??= this.#stop(close);
    return this.#stopping;
  }

  async #stop(close: () => Promise<void> | void): Promise<void> {
    await close();
    this.#state = 'stopped';
  }

  /** Sets the state `listening` and clears the last error; without effect after `stop`. */
  listening(): void {
    if (this.stopping) return;
    this.#state = 'listening';
    this.#lastError = null;
  }

  /** Sets the state `retrying`, with the reason as the last error; without effect after `stop`. */
  retrying(reason: string): void {
    if (this.stopping) return;
    this.#state = 'retrying';
    this.#lastError = reason;
  }

  /** @param parts members set by the adapter; the last error replaces `detail` */
  status({ detail = null, ...parts }: Partial<AdapterStatus>): AdapterStatus {
    return {
      enabled: true,
      state: this.#state,
      detail: this.#lastError ?? detail,
      endpoint: null,
      peers: 0,
      lastActivityMs: null,
      rxCount: 0,
      txCount: 0,
      errorCount: 0,
      ...parts,
    };
  }
}
