import type { Adapter } from '../../core/adapter.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { EventLoopState } from '../../core/event-loop.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { FindingRegistry } from '../../core/findings/registry.ts';
import type { EvseParameters } from '../../contract/kinds/evse.ts';
import type { UnreadAnswers } from '../../core/http/connections.ts';
import { logCapacity } from '../../core/log/log.ts';
import type { LogBook } from '../../core/log/log.ts';
import type { Origin } from '../../core/origin.ts';
import type { Timeline } from '../../core/timeline/timeline.ts';
import type { LoopShare } from '../../core/turns.ts';
import type { ModbusMessages } from '../../core/wire/modbus.ts';
import type { FaultProfile } from '../../fault-kinds/request.ts';
import type { Watched } from '../../contract/attention.ts';
import type { CsipClient } from '../../contract/csip-client.ts';
import type { Dnp3Outstations } from '../../contract/dnp3.ts';
import type { OcppStations } from '../../contract/ocpp.ts';
import type { CaptureBook } from '../../contract/captures.ts';
import type { Recorder } from '../../contract/recorder.ts';
import type { SunSpecClient } from '../../contract/sunspec-client.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import type { ChargePointIdOf } from '../../contract/charge-point-ids.ts';
import type { AssetType } from '../../contract/device.ts';
import type { StartSetting } from '../../contract/start-settings.ts';
import type { CertificateStore } from '../../contract/certificates.ts';
import type { ClockOwner, ScenarioBook } from '../../contract/scenarios.ts';
import type { LabControl } from '../../contract/lab-config.ts';
import type { SettingsControl } from '../../contract/settings.ts';
import type { StateControl } from '../../contract/state.ts';
import type { ReplyCache } from './reply.ts';
import type { RequestLog } from './request-log.ts';
import type { History, RemoteHistory } from '../history/history.ts';
import type { KeepPart } from '../../contract/adapter-parts.ts';
import type { Keeping } from '../../contract/keeping.ts';
import type { HoldBook } from '../holds/book.ts';
import type { AnswerCounts } from '../metrics/answer-counts.ts';
import type { DeviceChanged } from '../../contract/device-changes.ts';
import type { AddedDevice, ChangedDevice } from '../../config/profile/device-entry.ts';

export interface ApiLimits {
  /** JSON bodies, bytes */
  readonly maxBodyBytes: number;
  /** request target, bytes */
  readonly maxUrlBytes: number;
  /** all headers of a request, bytes */
  readonly maxHeaderBytes: number;
  /** open connections, those for requests and those of the stream's clients together */
  readonly maxConnections: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** a client that reads nothing of its answer for this long is disconnected */
  readonly unreadTimeoutMs: number;
  /**
   * unread bytes of the answers of all connections together; above it the oldest client is disconnected, slow ones
   * first
   */
  readonly maxUnreadBytes: number;
  /** a client that reads less of its answer within `unreadTimeoutMs` is disconnected, bytes per second */
  readonly minReadBytesPerS: number;
  /** how long `stop` waits for pending answers */
  readonly stopTimeoutMs: number;
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
  unreadTimeoutMs: 30_000,
  maxUnreadBytes: 64 * 1024 * 1024,
  minReadBytesPerS: 1024,
  stopTimeoutMs: 1_000,
  logEntries: logCapacity,
  wsQueue: 64,
};

/** Version of the HTTP interface: `info.version` of the description and `api_version` of server-info. */
export const apiVersion = '1.16.0';

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
  /** address of the management page of CSIP, with the same operations; default: no page */
  readonly csipWebsite?: { readonly host: string; readonly port: number } | null;
  readonly limits: ApiLimits;
}

/** A profile of a charging station, as `evse/profiles` lists it. */
export interface EvseProfile {
  /** as `--evse_profile` accepts it */
  readonly name: string;
  readonly description: string | null;
  /** part of the simulator */
  readonly bundled: boolean;
  readonly evse: EvseParameters;
}

/** A fleet as its shard knows it. */
export interface FleetOfShard {
  /** Address of the gateway that leads; null: not known. */
  gateway(): string | null;
}

/** Dependencies of the interface. */
export interface ApiContext {
  readonly plant: Plant;
  readonly faults: FaultRegistry;
  /** findings about peers of all protocols */
  readonly findings: FindingRegistry;
  readonly history: History;
  /** `comm_status` and the device records show their states */
  readonly adapters: readonly Adapter[];
  readonly logBook: LogBook;
  readonly eventLoop: EventLoopState;
  /** everything that changed something */
  readonly timeline: Timeline;
  /** troubles that need a watch over time; default: none */
  readonly watched?: () => Watched;
  readonly info: ApiInfo;
  readonly config: ApiConfig;
  readonly clock: WallClock;
  /** timers of `clock`; default: those of the machine */
  readonly later?: Later;
  /** client of one remote SunSpec device */
  readonly sunspecClient: SunSpecClient;
  /** the client of IEEE 2030.5; disabled: `disabledCsipClient` */
  readonly csipClient: CsipClient;
  /** charge points of OCPP; default: switched off, `disabledOcpp` */
  readonly ocpp?: OcppStations;
  /** outstations of DNP3; default: switched off, `disabledDnp3` */
  readonly dnp3?: Dnp3Outstations;
  /** all wire traffic, while recording is on */
  readonly recorder: Recorder;
  /** captures of disturbances; default: none are kept */
  readonly captures?: CaptureBook;
  /** the messages of Modbus, while recording is on */
  readonly modbusMessages: ModbusMessages;
  /** the samples that `sunspecClient` has polled */
  readonly remoteHistory: RemoteHistory;
  /** state that survives the process; default: none */
  readonly keeping?: Keeping;
  /** keeps a part of the state with the registers of devices; default: the part ends with the process */
  readonly keepPart?: KeepPart;
  /** settings of the process that override the profiles of devices of a kind; default: none */
  readonly startSettingsOf?: (kind: AssetType) => readonly StartSetting[];
  /** scenarios of the process; default: none can be stored */
  readonly scenarios?: ScenarioBook;
  /** default: no scenario runs */
  readonly clockOwner?: ClockOwner;
  /** the fleet of which the process is a shard; absent: none */
  readonly fleet?: FleetOfShard;
  /** the state folder and its snapshots; default: there is none */
  readonly state?: StateControl;
  /** certificates by name; default: none can be added */
  readonly certificates?: CertificateStore;
  /** default: there are none */
  readonly settings?: SettingsControl;
  /** the running lab as a configuration; default: there is none */
  readonly lab?: LabControl;
  /** read at the first request for them; default: none */
  readonly evseProfiles?: () => readonly EvseProfile[];
  /** ready sets of faults, read at the first request for them; default: none */
  readonly faultProfiles?: () => readonly FaultProfile[];
  /** identities of the charging stations, shared with OCPP; default: those that derive from `SIM-CP-1` */
  readonly chargePointId?: ChargePointIdOf;
  /**
   * Adds a device to plant and adapters, or changes nothing.
   * @throws SimError COMMAND_BAD_VALUE with issues as JSON pointers into the entry, COMMAND_CONFLICT, SHORTAGE, STOPPING
   */
  addDevice(entry: AddedDevice, by: Origin): Promise<Device>;
  /** Changes a device, or nothing. @throws SimError UNKNOWN_DEVICE, and as `addDevice` */
  changeDevice(index: number, change: ChangedDevice, by: Origin): Promise<DeviceChanged>;
  /**
   * Removes a device; resolves when no adapter serves it any more.
   * @throws SimError UNKNOWN_DEVICE, STOPPING
   */
  removeDevice(index: number, by: Origin): Promise<void>;
  /** Shuts the process down cleanly in `delayS` seconds. Called once, after the answer is sent. */
  requestStop(reason: string, delayS: number): void;
}

/** The context of handlers, with the state of the interface itself. */
export interface RouteContext extends ApiContext {
  readonly chargePointId: ChargePointIdOf;
  readonly ocpp: OcppStations;
  readonly dnp3: Dnp3Outstations;
  readonly captures: CaptureBook;
  readonly scenarios: ScenarioBook;
  readonly clockOwner: ClockOwner;
  readonly state: StateControl;
  readonly certificates: CertificateStore;
  readonly settings: SettingsControl;
  readonly lab: LabControl;
  readonly replyCache: ReplyCache;
  /** timed controls that requests have started */
  readonly holds: HoldBook;
  /** answers that clients have not taken, for the metrics */
  readonly unread: Pick<UnreadAnswers, 'bytes' | 'closed'>;
  /** counts of the answers sent so far, for the metrics */
  readonly answers: AnswerCounts;
  /** of the event loop, for the work of all requests */
  readonly share: LoopShare;
  /** lines of the log about requests */
  readonly requestLog: RequestLog;
  /** delay of the requested stop, s; null before a request */
  readonly stopDelayS: number | null;
  /** Only the first call has an effect. @returns the delay in force */
  beginStop(delayS: number): number;
}
