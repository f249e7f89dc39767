/** The report of every adapter that listens for Modbus masters. */
import type { Buffer } from 'node:buffer';
import type { CommName } from '../core/adapter.ts';

/** Higher unit ids are reserved (Modbus over serial line 1.02, 2.2). */
export const maxUnitId = 247;

/** Port of a proxy if neither the settings nor its map name one. */
export const defaultProxyPort = 5020;

export const modbusTransports = ['tcp', 'tls', 'rtu', 'rtu_over_tcp'] as const;
export type ModbusTransport = (typeof modbusTransports)[number];

/** A connected master. A serial line with requests counts as one. */
export interface ModbusClient {
  /** `address:port`, or the path of a serial line */
  readonly peer: string;
  /** wall time, ms since the epoch */
  readonly connectedAtMs: number;
  /** ms since the last octets received */
  readonly idleMs: number;
  readonly requests: number;
  /** octets of answers that the master has not read */
  readonly unsentBytes: number;
  /** octets held for the master, both ways */
  readonly heldBytes: number;
  /** true: its requests are not read, because answers are still to be sent */
  readonly paused: boolean;
  /** role in the certificate of a TLS session; null: no usable role; absent: the listener knows no roles */
  readonly role?: string | null;
}

/** One address or line. */
export interface ModbusListener {
  readonly transport: ModbusTransport;
  /** `tcp://127.0.0.1:8502`, `tls://127.0.0.1:8502`, `/dev/ttyUSB0`; null: not listening */
  readonly endpoint: string | null;
  /** the device with a separate port; null: a shared port, a line, or the meter */
  readonly deviceIndex: number | null;
  /** true: only the meter of the connection point is served */
  readonly isMeter?: true;
  /** false: the port is not bound, or a fault or a device that is off keeps it closed; absent: a serial line */
  readonly accepting?: boolean;
  readonly clients: readonly ModbusClient[];
}

/** Counts of one adapter since its start. */
export interface ModbusCounts {
  readonly requests: number;
  readonly answers: number;
  readonly exceptions: number;
  /** requests for a unit id that is not served */
  readonly foreign: number;
  readonly unreadable: number;
  /** write requests that were carried out, with an answer */
  readonly writes: number;
  /** write requests answered with an exception */
  readonly refusedWrites: number;
  readonly acceptedConnections: number;
  /** connections refused or replaced at the limit */
  readonly refusedConnections: number;
  readonly violations: number;
  readonly timeouts: number;
  /** connections that did not become a TLS session */
  readonly handshakeFailures: number;
  readonly internalErrors: number;
}

/** The present state of one adapter with all its listeners. */
export interface ModbusReport {
  /** answer to a unit id that is not served: none, or exception 0x0B */
  readonly foreignUnit: 'silent' | 'gateway';
  readonly limits: {
    /** connections of one listener */
    readonly maxConnections: number;
    /** 0: never */
    readonly idleTimeoutMs: number;
    readonly frameTimeoutMs: number;
  };
  readonly counters: ModbusCounts;
  readonly listeners: readonly ModbusListener[];
}

/** The registers of one device as the next request of a master would find them, active faults included. */
export interface RegisterWindow {
  /**
   * `count` registers from `address` as big-endian bytes; copy them at once. No fault counts the call as a request.
   * Faults of the wire do not act: they keep answers back or garble them, and change no value.
   * @throws SimError MAP_ILLEGAL_ADDRESS, MAP_PARTIAL_POINT, as the request would be refused
   */
  peek(address: number, count: number): Buffer;
}

/** An adapter with a report: `modbus_tcp`, `modbus_rtu`, `modbus_proxy`. */
export interface ModbusReporter {
  readonly comm: CommName;
  report(): ModbusReport;
  /** null: the device is not served; absent: the registers are not those of SunSpec */
  registersOf?(deviceIndex: number): RegisterWindow | null;
}
