/** Settings of a simulator in the process of a script, and the addresses at which it listens. */

/**
 * Settings by their names in configuration files, and its blocks `devices`, `grid` and `faults`; an unknown name is
 * refused. Relative paths start at the working directory. Variables of the environment do not count.
 */
export interface SimulatorOptions {
  /** a configuration file or a bundled one, as `mixed-site`, in the place of the blocks; settings beside it win */
  readonly config?: string;
  /** one entry per device or group of equal devices; default: one PV inverter of 10 kW */
  readonly devices?: readonly Readonly<Record<string, unknown>>[];
  readonly grid?: Readonly<Record<string, unknown>>;
  readonly faults?: readonly unknown[];
  readonly device_type?: string;
  /** number of devices */
  readonly N?: number;
  /** profile of the devices */
  readonly f?: string;
  /** default true, unless `wall_clock` is given: time passes only in steps of the script */
  readonly start_paused?: boolean;
  readonly wall_clock?: boolean;
  readonly wall_clock_timezone?: string;
  readonly start_clock_time?: string;
  readonly start_date?: string;
  readonly time_rate?: number;
  /** seconds */
  readonly tick?: number;
  readonly seed?: number;
  /** ports: default 0, any free one */
  readonly website_port?: number;
  readonly mb_port?: number;
  readonly dnp3_port?: number;
  readonly proxy_port?: number;
  /** where log lines go: false (default) nowhere, true to standard error, or a function that gets them */
  readonly log?: boolean | ((line: string) => void);
  readonly [setting: string]: unknown;
}

/** A listener. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where a device answers Modbus TCP. */
export interface ModbusAddress extends Address {
  readonly device: number;
  readonly unitId: number;
  readonly tls: boolean;
}

/** Where a device is an outstation of DNP3. */
export interface Dnp3Address extends Address {
  readonly device: number;
  /** link address */
  readonly outstation: number;
  readonly tls: boolean;
}
