import type { CertificateTexts } from '../../contract/certificate-choice.ts';
import type { StartSetting } from '../../contract/start-settings.ts';
import type { CsipSettings } from '../../contract/csip-settings.ts';
import type { Dnp3Settings } from '../../contract/dnp3-settings.ts';
import type { RestartableAdapter, SettingOrigin } from '../../contract/settings.ts';
import type { DeviceProtocols } from '../../contract/device-protocols.ts';
import type { FleetSettings } from '../../contract/fleet-settings.ts';
import type { OcppSettings } from '../../contract/ocpp-settings.ts';
import type { AssetType } from '../../contract/device.ts';
import type { Severity } from '../../core/findings/rule.ts';
import type { LogLevel } from '../../core/log/log.ts';
import type { RemoteClockMode } from '../../core/time/remote-clock.ts';
import type { TlsPolicy, TlsTriple } from '../../core/tls/material.ts';
import type { ConfigFile } from '../layers/files.ts';
import type { FindingsBlock } from '../layers/findings-block.ts';
import type { DeviceEntry } from '../profile/device-entry.ts';
import type { DeviceProfile } from '../profile/device-profile.ts';
import type { Phases } from '../profile/device-types.ts';
import type { FaultGroup } from '../profile/fault-list.ts';
import type { CommonFaultList } from '../profile/fault-profiles.ts';
import type { SettingKey, Values } from './settings.ts';

/** Configuration of one simulated device. */
export interface DeviceConfig extends DeviceProtocols {
  /** type as the user wrote it: an alias stays an alias */
  readonly deviceType: string;
  readonly assetType: AssetType;
  readonly name: string;
  readonly phases: Phases;
  /** shared by all devices with one profile, kind, phases and wind type */
  readonly profile: DeviceProfile;
  /** file name without directory and extension; null when the user named no profile */
  readonly profileName: string | null;
  /** flag or key that chose the profile: `site.yaml: devices[1].profile`, `-f`; absent: the default of the type */
  readonly profilePlace?: string;
  readonly series: DeviceSeriesPaths;
  /** faults from the start, of this device only */
  readonly faults: readonly FaultGroup[];
}

/** CSV files that feed one device; absolute paths that existed at the check. */
export interface DeviceSeriesPaths {
  /** irradiance or wind; null: the bundled series of the kind, where it has one (PV, wind, hybrid) */
  readonly dc: string | null;
  /** local load; null: none */
  readonly load: string | null;
  /** vehicles of an EVSE; null: only vehicles of the profile and of commands */
  readonly vehicles: string | null;
}

/** The settings of a run, and how a further layer changes them. */
export interface SettingLayers {
  readonly values: Values;
  readonly originOf: (key: SettingKey) => Exclude<SettingOrigin, 'rest'>;
  /** directory of relative paths in requests */
  readonly directory: string;
  /** paths of the files that were read, which another lab may name */
  readonly files: ReadonlySet<string>;
  /** blocks of the configuration file, or of the options of a script; null: neither */
  readonly file: ConfigFile | null;
  readonly faultList: CommonFaultList;
  /**
   * The configuration with these values in place of those of all other layers, checked by the rules of a start. The
   * devices stay as they are.
   * @param over values in the form that their kind reads
   * @param certificates those that settings choose by name, which the check of the other layers has left out
   * @param change absent: all files are read, as at a start
   * @throws SimError CONFIG_INVALID with all issues; those of values in `over` have JSON pointers as names
   */
  readonly with: (
    over: ReadonlyMap<SettingKey, unknown>,
    certificates: CertificateTexts,
    change?: ChangeInForce,
  ) => AppConfig;
  /**
   * The configuration of another lab in this process, from the content of a configuration file. Flags and variables have no
   * effect on it, settings that no request changes keep their values, and it names no other files than this one.
   * @throws SimError CONFIG_INVALID with all issues, named by JSON pointers
   */
  readonly lab: (content: Readonly<Record<string, unknown>>) => AppConfig;
}

/** A change of settings while the simulator runs. */
export interface ChangeInForce {
  readonly former: AppConfig;
  /** adapters that the change opens: files of others are not read again */
  readonly opened: ReadonlySet<RestartableAdapter>;
}

/** Configuration of a run: checked, complete, with absolute paths. */
export interface AppConfig {
  readonly settings: SettingLayers;
  /** true: requests read the settings only */
  readonly settingsLocked: boolean;
  /** settings in force that replace members of profiles */
  readonly startSettings: readonly StartSetting[];
  /** environment variables that a cluster sets for a service of this name */
  readonly ignoredVariables: readonly string[];
  /** the configuration file, for messages */
  readonly configPath: string | null;
  /** file of the scenario of `--scenario`, which `app/cli/subcommands.ts` runs; null: none */
  readonly scenarioPath: string | null;
  /** folder of the state that survives a restart; null: nothing does */
  readonly stateDir: string | null;
  readonly web: {
    readonly host: string;
    /** 0: any free port */
    readonly port: number;
    readonly corsOrigins: readonly string[];
    /** host names in lower case, without port */
    readonly allowedHosts: readonly string[];
    readonly maxConnections: number;
    readonly maxStreamClients: number;
  };
  readonly clock: {
    /** the simulated clock follows the real time of day; `startTime` and `startDate` have no effect then */
    readonly followsWall: boolean;
    /** IANA name */
    readonly timezone: string;
    /** `HH:MM:SS` in the time zone */
    readonly startTime: string;
    /** `YYYY-MM-DD` in the time zone */
    readonly startDate: string;
    /** simulated seconds per real second */
    readonly rate: number;
    /** paused until REST steps or starts the clock; never with `followsWall` */
    readonly startsPaused: boolean;
  };
  /** the clock that carries the time of remote systems */
  readonly remoteClock: RemoteClockMode;
  readonly tickS: number;
  readonly seed: number;
  /** maximum deviation between devices of one profile, percent */
  readonly deviceSpreadPct: number;
  /** index of the first device in a fleet of several processes */
  readonly firstDevice: number;
  readonly grid: {
    readonly nominalFrequencyHz: number;
    readonly profilePath: string | null;
    /** short-circuit ratio on the rating of each device, and X/R; null: a stiff grid */
    readonly feeder: { readonly scr: number; readonly xOverR: number } | null;
  };
  /** behaviour after the last row of the series of the devices */
  readonly seriesEnd: 'loop' | 'hold';
  /** seconds of the wind series per simulated second */
  readonly windTimeScale: number;
  readonly irradianceSource: 'csv' | 'clear_sky';
  /** clouds of the `clear_sky` source */
  readonly clouds: 'clear' | 'scattered' | 'broken' | 'overcast';
  readonly modbus: {
    readonly enabled: boolean;
    readonly host: string;
    /** host that others know in place of a wildcard; null: none is given */
    readonly advertisedHost: string | null;
    /** port of the device `countsFrom`, the others follow by index; 0: any free ports */
    readonly port: number;
    readonly sharedPort: boolean;
    /** index of the device with the first port, or the first unit id of a shared port */
    readonly countsFrom: number;
    readonly framing: 'tcp' | 'rtu_over_tcp';
    /** answer to a unit id that is not served; null: gateway, with RTU framing silent */
    readonly foreignUnit: 'silent' | 'gateway' | null;
    readonly maxConnections: number;
    /** 0: never */
    readonly idleTimeoutS: number;
    readonly frameTimeoutS: number;
    /** TLS with client certificates; null: without TLS */
    readonly tls: (TlsPolicy & { readonly files: TlsTriple<string> }) | null;
  };
  /** meter of the connection point; null: no meter */
  readonly meter: {
    /** unit id on the Modbus ports and on the line; null: only at the port of the meter */
    readonly unitId: number | null;
    /** port of the meter; 0: any free port; null: the ports of the devices */
    readonly port: number | null;
    /** values in floating point */
    readonly float: boolean;
  } | null;
  /** serial line; null: none */
  readonly rtu: {
    /** device file or name */
    readonly port: string;
    readonly baud: number;
    readonly parity: 'none' | 'even' | 'odd';
    readonly stopBits: 1 | 2;
  } | null;
  /** proxy with the register map of another maker; null: none */
  readonly proxy: {
    /** content of the file, unchecked */
    readonly map: Readonly<Record<string, unknown>>;
    /** name of the file without directory and extension */
    readonly mapLabel: string;
    readonly host: string;
    /** 0: any free port; null: the port of the map */
    readonly port: number | null;
  } | null;
  /** true if REST clients may connect the SunSpec client to pseudo terminals */
  readonly clientPty: boolean;
  /** client of IEEE 2030.5; null: none */
  readonly csip: CsipSettings | null;
  /** charge points of OCPP; null: none */
  readonly ocpp: OcppSettings | null;
  /** outstations of DNP3; null: none */
  readonly dnp3: Dnp3Settings | null;
  /** the fleet that this process is a shard of; null: none */
  readonly fleet: FleetSettings | null;
  /** identity of the first charging station, also while OCPP is off */
  readonly chargePointId: string;
  /** the maps end with the models 64413 and 64414 */
  readonly simModels: boolean;
  /** faults from the start; a fault without a device applies to all */
  readonly faults: readonly FaultGroup[];
  /** number of samples per device, one per tick; fewer if all devices need too much memory */
  readonly historySamples: number;
  /** samples on disk, with the time for which they are kept; null: the history ends with the process */
  readonly stateHistory: { readonly hours: number } | null;
  /** max captures of disturbances; 0: none are recorded */
  readonly captures: number;
  readonly log: {
    readonly level: LogLevel;
    readonly format: 'text' | 'json';
  };
  readonly findings: {
    /** false: nothing is judged */
    readonly enabled: boolean;
    /** files for reports at the end of the process */
    readonly reports: readonly string[];
    readonly failOn: Severity | 'never';
    readonly block: FindingsBlock;
  };
  /** log lines about settings without effect */
  readonly unused: readonly string[];
  /** log lines about a frequency that a profile sets for all devices, about risks, and about missing charge points */
  readonly notices: readonly string[];
  readonly devices: readonly DeviceConfig[];
  /**
   * Configuration of a device that is added at run time: the settings are its defaults, and profiles are shared.
   * @throws SimError CONFIG_INVALID with all its issues, named by the members of the entry
   */
  readonly deviceOf: (entry: DeviceEntry, index: number) => DeviceConfig;
}

export type LoadResult =
  | { readonly kind: 'run'; readonly config: AppConfig }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version'; readonly text: string };
