/** Settings of a simulator in the process of a script, and the addresses at which it listens. */

/**
 * Settings by their names in configuration files, and the blocks `devices`, `grid` and `faults`; an unknown name is
 * refused. Relative paths start at the working directory. Environment variables are ignored.
 */
export interface SimulatorOptions {
  /** a configuration file or a bundled one such as `mixed-site`, instead of the blocks; other settings override it */
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
  /** ports: default 0, any free one */
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
