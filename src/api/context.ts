import type { Adapter } from '../core/adapter.ts';
import type { WallClock } from '../core/clock.ts';
import type { EvseParameters } from '../core/kinds/evse.ts';
import type { LogBook } from '../core/log.ts';
import type { Plant } from '../sunspec/map/device.ts';
import type { ChargePointIdOf } from './evse-ids.ts';

export interface ApiLimits {
  /** JSON bodies, bytes */
  readonly maxBodyBytes: number;
  /** request target, bytes */
  readonly maxUrlBytes: number;
  /** all headers of a request, bytes */
  readonly maxHeaderBytes: number;
  /** open connections: 1024 for requests, and the stream's clients */
  readonly maxConnections: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** how long `stop` waits for answers under way */
  readonly stopTimeoutMs: number;
  readonly historySamplesPerDevice: number;
  readonly logEntries: number;
  /** waiting messages per stream client (at least two per device) */
  readonly wsQueue: number;
}

export const defaultApiLimits: ApiLimits = {
  maxBodyBytes: 256 * 1024,
  maxUrlBytes: 8 * 1024,
  maxHeaderBytes: 16 * 1024,
  maxConnections: 2048,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 5_000,
  stopTimeoutMs: 1_000,
  historySamplesPerDevice: 10_000,
  logEntries: 5_000,
  wsQueue: 64,
};

/** Version of the HTTP interface: `info.version` of the description and `api_version` of server-info. */
export const apiVersion = '1.2.0';

interface ApiInfo {
  /** version of the simulator */
  readonly version: string;
  readonly apiVersion: string;
  /** commit id or package build */
  readonly buildId: string;
  /** wall time in ms since the epoch */
  readonly startedAtMs: number;
}

export interface ApiConfig {
  readonly host: string;
  /** 0 = any free port */
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly limits: ApiLimits;
}

/** A profile of a charging station, as `evse/profiles` lists it. */
export interface EvseProfile {
  /** as `--evse_profile` takes it */
  readonly name: string;
  readonly description: string | null;
  /** comes with the simulator */
  readonly bundled: boolean;
  readonly evse: EvseParameters;
}

/** All that the interface works with. */
export interface ApiContext {
  readonly plant: Plant;
  /** whose states are shown in `comm_status` and in the device records */
  readonly adapters: readonly Adapter[];
  readonly logBook: LogBook;
  readonly info: ApiInfo;
  readonly config: ApiConfig;
  readonly clock: WallClock;
  /** default: none */
  readonly evseProfiles?: readonly EvseProfile[];
  /** identity of the first charging station, from which those of the others follow; default `SIM-CP-1` */
  readonly chargePointBaseId?: string;
  /** Begins the ordered end of the process in `delayS` seconds. Called once, after the answer has left. */
  requestStop(reason: string, delayS: number): void;
}

/** What handlers see: the context and whether the interface is ending. */
export interface RouteContext extends ApiContext {
  readonly chargePointId: ChargePointIdOf;
  /** seconds of delay of the stop that was asked for, null while none was */
  readonly stopDelayS: number | null;
  /** The first call counts; answers the delay in force. */
  beginStop(delayS: number): number;
}
