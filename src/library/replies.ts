/**
 * The replies that scripts read most, without rarely used members: the API description (`/docs` of a running simulator)
 * has all. Members with a unit in their name are in that unit; null means that the device does not have the quantity.
 */

/** Answer of any other operation: scripts read it without declaring it. */
export type Json = ReturnType<typeof JSON.parse>;

/** Last writer of a value. */
export interface Writer {
  /** `rest`, `modbus`, `csip`, `ocpp`, `dnp3`, `reversion`, ... */
  readonly source: string;
  readonly source_detail: string | null;
  readonly changed_at: string | null;
}

export interface Metrics {
  readonly power_kw: number;
  readonly reactive_power_kvar: number;
  readonly apparent_power_kva: number;
  readonly voltage_ll_v: number | null;
  readonly voltage_ln_v: number | null;
  readonly current_a: number;
  readonly frequency_hz: number;
  readonly power_factor: number;
  readonly dc_power_kw: number | null;
  readonly dc_voltage_v: number | null;
  readonly dc_current_a: number | null;
  readonly state_of_charge_pct: number | null;
  /** simulated time */
  readonly timestamp: string;
}

/** A device at the end of a tick. */
export interface Snapshot {
  readonly device_index: number;
  readonly asset_type: string;
  readonly device_type: string;
  readonly device_profile_name: string | null;
  readonly tick: number;
  readonly clock_time: string;
  readonly metrics: Metrics;
  readonly status: {
    readonly service_state: string;
    readonly inverter_state: string;
    readonly connection_state: string;
  };
}

export interface Alarm {
  readonly code: string;
  readonly source: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly since: string;
  readonly device_index: number;
  readonly port: number | null;
  readonly latched: boolean;
  readonly message: string;
}

export interface Alarms {
  readonly active_count: number;
  readonly highest_severity: string | null;
  readonly active: readonly Alarm[];
  readonly latched_count: number;
}

/** The Modbus TCP address of a device. */
export interface ModbusEndpoint {
  readonly host: string;
  readonly port: number;
  readonly unit_id: number;
  readonly tls: boolean;
}

export interface Device extends Snapshot {
  readonly name: string;
  readonly alarms: Alarms;
  readonly modbus: ModbusEndpoint | null;
  readonly charge_point_id: string | null;
}

/** A device in the list of `overview`. */
export interface DeviceSummary {
  readonly device_index: number;
  readonly name: string;
  readonly asset_type: string;
  readonly power_kw: number;
  readonly alarm_count: number;
  /** function or limit that determines the power */
  readonly decided_by: { readonly active: string; readonly reactive: string };
  readonly last_write: (Writer & { readonly name: string }) | null;
  readonly modbus: ModbusEndpoint | null;
  readonly charge_point_id: string | null;
}

export interface Overview extends Snapshot {
  readonly devices: readonly DeviceSummary[];
  /** state of each protocol by name, such as `modbus_tcp` */
  readonly comm_status: Json;
  /** of all devices */
  readonly alarms: Alarms;
}

export interface RegisterPoint {
  /** path inside the model, such as `Crv[0].Pt[1].V` */
  readonly name: string;
  readonly label: string;
  readonly address: number;
  /** in engineering units; number of an enumeration; null: not implemented */
  readonly value: number | string | null;
  /** name of an enumeration value */
  readonly symbol?: string | null;
  readonly unit: string | null;
  readonly implemented: boolean;
  readonly access: 'R' | 'RW';
  readonly source: string;
  readonly changed_at: string | null;
}

export interface RegisterModel {
  readonly id: number;
  readonly name: string;
  readonly address: number;
  readonly points: readonly RegisterPoint[];
}

/** A point that differs from the start. */
export interface RegisterChange {
  /** for example `704.WMaxLimPct` */
  readonly point: string;
  readonly label: string;
  readonly start_value: number | string | null;
  readonly value: number | string | null;
  readonly start_symbol?: string | null;
  readonly symbol?: string | null;
  readonly changed_by: Writer | null;
}

export interface Time {
  readonly mode: 'paused' | 'accelerated' | 'wall_clock';
  /** simulated seconds per real second */
  readonly rate: number;
  readonly clock_time: string;
  readonly timezone: string;
  readonly sim_time: string;
  readonly tick: number;
  /** real seconds from tick to tick */
  readonly tick_interval_s: number;
}

export interface Step {
  readonly time: Time;
  readonly snapshot: Snapshot | null;
}

export interface Grid {
  /** null: the common grid */
  readonly device_index: number | null;
  readonly voltage_a_pu: number;
  readonly voltage_b_pu: number;
  readonly voltage_c_pu: number;
  readonly frequency_hz: number;
  readonly phase_angle_deg: number;
  readonly source: string;
  readonly outage: boolean;
  readonly island: boolean;
  readonly event: Json;
}

/** Absent members stay the same. */
export interface GridChange extends Partial<Omit<Grid, 'device_index' | 'source' | 'event'>> {
  readonly voltage_pu?: number;
  readonly voltage_ln_v?: number;
  readonly ramp_s?: number;
  readonly duration_s?: number | null;
  readonly source?: 'const' | 'csv';
}

export interface Environment {
  readonly device_index: number | null;
  readonly irradiance_w_m2: number;
  readonly ambient_temperature_c: number;
  /** null: the thermal model runs */
  readonly cell_temperature_c: number | null;
  readonly load_kw: number;
  readonly source: string;
}

/** Absent members stay the same; null returns to the source. */
export interface EnvironmentChange {
  readonly irradiance_w_m2?: number | null;
  readonly ambient_temperature_c?: number | null;
  readonly cell_temperature_c?: number | null;
  readonly load_kw?: number | null;
  readonly source?: 'const' | 'csv' | 'clear_sky';
  readonly ramp_s?: number;
  readonly duration_s?: number | null;
}

export interface Fault {
  readonly id: number;
  readonly protocol: string;
  readonly kind: string;
  readonly layer: string;
  readonly device_index: number | null;
  readonly parameters: Json;
  /** number of occasions to act */
  readonly occasions: number;
  /** number of occasions on which the fault acted */
  readonly strikes: number;
}

/** An injected fault that has ended. */
export interface EndedFault extends Fault {
  readonly end: string;
  readonly ended_at: string;
}

export interface Faults {
  readonly faults: readonly Fault[];
  readonly total: number;
  readonly ended: readonly EndedFault[];
}

/** A connector of a charging station. */
export interface Connector {
  readonly connector_id: number;
  /** status of OCPP 1.6, such as `available`, `charging` */
  readonly status: string;
  readonly status_ocpp_2: string;
  readonly authorized: boolean;
  readonly power_kw: number;
  readonly energy_wh: number;
  readonly limit_kw: number;
  readonly limit_source: string;
  readonly ev: Json;
  readonly session: Session | null;
}

export interface Session {
  readonly session_id: string;
  readonly transaction_id: string;
  readonly charge_point_id: string;
  readonly connector_id: number;
  readonly state: string;
  readonly id_token: string | null;
  readonly energy_wh: number;
  readonly stop_reason: string | null;
}

/** Outcome of the authorization of a token. */
export interface Authorization {
  /** `Accepted`, `Invalid`, `Blocked`, ... */
  readonly status: string;
  readonly id_token_info: Json;
}

/** A recorded message; additional members depend on its protocol. */
export interface Message {
  readonly id: number;
  /** `in`: received by the simulator */
  readonly direction: 'in' | 'out';
  readonly [member: string]: Json;
}

/** Replies of GET operations by path. */
export interface GetReplies {
  readonly overview: Overview;
  readonly devices: { readonly devices: readonly Device[] };
  readonly 'controls/time': Time;
  readonly 'controls/grid': Grid;
  readonly 'controls/environment': Environment;
  readonly 'registers/changes': { readonly changes: readonly RegisterChange[] };
  readonly faults: Faults;
}
