/** Arguments of the client and its methods. */

/** The part of a `fetch` answer that the client reads. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/**
 * The part of `fetch` that the client uses. Requests made by `client.ready()` also pass `signal`, which aborts
 * them at their timeout.
 */
export type Fetch = (
  url: string,
  init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
) => Promise<FetchAnswer>;

type QueryValue = string | number | boolean | undefined;

/** Query parameters: undefined omits the parameter, a list is joined by commas. */
export type Query = Readonly<Record<string, QueryValue | readonly (string | number)[]>>;

/** Selects a device by its index; absent: the first device, or the common environment of all. */
export interface DeviceOption {
  readonly device?: number;
}

/** A connector; default the first connector of `SIM-CP-1`. */
export interface ConnectorOption {
  readonly chargePoint?: string;
  readonly connector?: number;
}

/** Length of a step: one of the members; none: one tick. */
export interface StepSpan extends DeviceOption {
  readonly ticks?: number;
  /** simulated seconds */
  readonly seconds?: number;
  /** an instant such as `2026-06-21T12:05:00Z`, or the next time of day such as `12:05` */
  readonly to?: string;
}

export interface RequestOptions {
  readonly query?: Query;
  readonly body?: unknown;
}

export interface ClientOptions {
  /** headers of every request */
  readonly headers?: Readonly<Record<string, string>>;
  /** replaces the global `fetch` */
  readonly fetch?: Fetch;
}

export type Protocol = 'modbus' | 'csip' | 'dnp3' | 'ocpp';

/**
 * Condition of a value: a number or a word that it equals (of an enumeration its number or its name), or a test of it.
 * A value that the device does not have now never passes. `word` is the value as text, of an enumeration its name.
 */
export type ValueCondition = number | string | ((value: number, word: string) => boolean | PromiseLike<boolean>);

/** Limit of a wait. */
export interface WaitOptions {
  /** default 60 */
  readonly timeoutS?: number;
  /** true: `timeoutS` is simulated time; default: true while the clock is paused */
  readonly simulated?: boolean;
  readonly device?: number;
}

/**
 * Settings by their names in configuration files, and the blocks `devices`, `grid`, `faults` and `findings`; an unknown name is
 * refused. Relative paths start at the working directory. Environment variables are ignored.
 */
export interface SimulatorOptions {
  /** a configuration file or a bundled configuration such as `mixed-site`, instead of the blocks; other settings override it */
  readonly config?: string;
  /** one entry per device or group of equal devices; default: one PV inverter of 10 kW */
  readonly devices?: readonly Readonly<Record<string, unknown>>[];
  readonly grid?: Readonly<Record<string, unknown>>;
  readonly faults?: readonly unknown[];
  readonly findings?: Readonly<Record<string, unknown>>;
  readonly device_type?: string;
  /** number of devices */
  readonly N?: number;
  /** profile of the devices */
  readonly f?: string;
  /** default true, unless `wall_clock` is set: time passes only in steps of the script */
  readonly start_paused?: boolean;
  readonly wall_clock?: boolean;
  readonly wall_clock_timezone?: string;
  readonly start_clock_time?: string;
  readonly start_date?: string;
  readonly time_rate?: number;
  /** seconds */
  readonly tick?: number;
  readonly seed?: number;
  /** ports: default 0, any free port */
  readonly website_port?: number;
  readonly mb_port?: number;
  readonly dnp3_port?: number;
  readonly proxy_port?: number;
  /** destination of log lines: false (default) none, true standard error, or a function that receives them */
  readonly log?: boolean | ((line: string) => void);
  readonly [setting: string]: unknown;
}

/** The address of a listener. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The Modbus TCP address of a device. */
export interface ModbusAddress extends Address {
  readonly device: number;
  readonly unitId: number;
  readonly tls: boolean;
}

/** The DNP3 address of a device, which is an outstation. */
export interface Dnp3Address extends Address {
  readonly device: number;
  /** link address */
  readonly outstation: number;
  readonly tls: boolean;
}
