/** Where a gateway sends each operation. A test fails for an operation without a rule. */

export const ruleNames = [
  /** by the parameter `device`, or to the first device of the fleet */
  'device',
  /** by the index in the path */
  'index',
  /** by the identity of the charge point in the path */
  'station',
  /** by the id in the path, which begins with the name of a shard: `b:12` */
  'record',
  /** to the shard of the parameter `device`; without one to all shards */
  'device-or-all',
  /** to all shards */
  'all',
  /** lists of all shards are joined */
  'list',
  /** the parts of those of all shards are joined */
  'overview',
  /** to the first shard that lives: all of them give the same answer */
  'any',
  /** by the parameter `device` or `shard`, one of which must be there: ids of several processes do not mix */
  'chosen',
  /** to the shard in the path */
  'shard',
  /** faults, by the devices that they name, to one shard or several */
  'faults',
  /** by the parameter `device`, or to the shard of the devices in the body; else answered by the gateway that leads */
  'site',
  /** the connection points or the history of all shards are joined, beside the limits of the fleet */
  'site-parts',
  /** answered by the gateway that leads the fleet */
  'leader',
  /** answered by the gateway itself */
  'own',
  /** not served by a gateway yet */
  'unsupported',
] as const;
export type RuleName = (typeof ruleNames)[number];

/** Rules of operations that concern all shards, or the one that the parameter `shard` names. */
export const sharedRules: ReadonlySet<RuleName> = new Set([
  'list',
  'all',
  'device-or-all',
  'site',
  'site-parts',
  'faults',
]);

/** Operations by their rule. */
const operations: Readonly<Record<Exclude<RuleName, 'unsupported'>, string>> = {
  device: `
    get_history get_consistency get_answers submit_command get_controls get_local_control set_local_control
    get_gradient set_gradient get_available_power get_why check_hold begin_hold end_hold get_shading set_shading
    get_grid get_environment get_grid_support set_grid_support get_volt_var set_volt_var get_volt_watt set_volt_watt
    get_watt_var set_watt_var get_freq_droop set_freq_droop get_pf set_pf get_constant_var set_constant_var
    get_max_power set_max_power get_active_power set_active_power get_enter_service set_enter_service get_lv_trip
    set_lv_trip get_hv_trip set_hv_trip get_lf_trip set_lf_trip get_hf_trip set_hf_trip get_ramp set_ramp
    get_anti_islanding set_anti_islanding get_grid_trace record_grid_trace get_regions get_stored_sets get_nameplate
    get_configured_settings get_dc_curve list_register_models list_register_changes get_registers set_registers
    get_modbus get_battery get_battery_control set_battery_control get_wind get_wind_power_curve override_wind
    get_fuel_cell set_fuel_cell_setpoint set_fuel_cell_tank get_hybrid_dc set_hybrid_dispatch set_hybrid_manual
    get_evse_der_controls set_evse_der_controls get_dnp3_points get_dnp3_device_profile get_csip_client
    get_csip_status get_dnp3 get_csip_config get_csip_certificates select_csip_certificate probe_csip_http
    discover_csip_servers get_csip_diagnostics get_csip_time list_csip_end_devices list_csip_programs
    list_csip_controls get_csip_control list_csip_curves list_csip_responses get_csip_der post_csip_der
    get_csip_readings post_csip_readings get_csip_log_events set_csip_log_events list_csip_subscriptions
    set_csip_subscription list_csip_notifications`,
  index: 'get_device change_device remove_device delete_device',
  station: `
    get_evse list_connectors get_connector get_connector_display plug_in unplug authorize start_session stop_session
    suspend_session resume_session set_local_limit set_discharge set_availability set_connector_fault
    clear_connector_fault set_vehicle set_meter lock_cable unlock_cable reserve_connector cancel_reservation
    get_charge_point connect_charge_point disconnect_charge_point send_boot_notification send_heartbeat
    send_ocpp_call get_ocpp_messages get_ocpp_configuration set_ocpp_configuration get_charging_profiles
    get_composite_schedule get_ocpp_reservations get_ocpp_der_controls get_local_list get_ocpp_certificates
    get_ocpp_transactions get_ocpp_findings clear_ocpp_findings get_ocpp_faults set_ocpp_fault`,
  record: 'get_command',
  'device-or-all': `
    set_grid set_grid_event set_environment set_csip_config connect_csip disconnect_csip reconnect_csip
    set_csip_communication opt_csip_control rediscover_csip poll_csip`,
  all: `
    set_session_generator set_recorder set_modbus_messages set_csip_messages set_dnp3_messages enable_modbus
    disable_modbus enable_csip disable_csip enable_ocpp disable_ocpp enable_dnp3 disable_dnp3
    clear_findings name_finding_peer configure_finding_rule add_finding_waiver`,
  list: `
    list_devices list_commands list_evses list_charging_sessions list_charge_points get_holds get_timeline
    get_attention list_findings list_finding_peers list_finding_waivers get_faults get_modbus_faults get_csip_faults
    get_dnp3_faults`,
  chosen: `
    get_modbus_messages get_csip_messages get_dnp3_messages download_recorder get_recorder get_session_generator
    get_evidence get_energy
    get_scope_history list_site_registers get_site_registers
    get_state list_state_snapshots take_state_snapshot restore_state delete_state_snapshot list_certificates
    add_certificate generate_certificates get_certificate delete_certificate get_settings change_settings get_config
    list_captures start_capture get_capture get_capture_rows pin_capture remove_capture
    get_finding_report get_finding_document list_finding_rules delete_finding_waiver exercise_findings
    get_sunspec_client connect_sunspec_client disconnect_sunspec_client scan_sunspec_client list_client_models
    get_client_model read_client write_client get_client_poll set_client_poll
    get_client_history`,
  overview: 'get_overview',
  any: `
    list_grid_events list_fault_kinds list_fault_profiles list_evse_profiles get_scenario_schema`,
  shard: 'stop_shard',
  site: 'get_site set_site',
  'site-parts': 'get_site_scopes get_site_history',
  faults: 'set_faults set_modbus_fault set_csip_fault set_dnp3_fault',
  leader: `
    get_time set_time step_time list_scenarios add_scenario check_scenario get_scenario_text get_scenario start_scenario
    stop_scenario get_scenario_report remove_scenario list_scenario_runs get_scenario_run stop_scenario_run
    get_scenario_run_report remove_scenario_run`,
  own: `
    get_server_info get_health stop_simulator get_logs get_metrics list_stream_clients get_fleet
    get_fleet_map list_shards get_shard`,
};

/** Operations that a gateway refuses, by the sentence that says what to do instead. */
const unsupported: readonly (readonly [detail: string, operations: string])[] = [
  ['A gateway starts no simulator beside its shards: run "derbench run" instead.', 'run_scenario_beside'],
  [
    'Captures and timelines stand in each shard: ask the HTTP interface of the shard for the draft.',
    'get_scenario_draft',
  ],
  ['A shard keeps its devices until it ends: load labs into a process without a fleet.', 'load_config'],
  ['A gateway adds no devices: start another shard.', 'add_device'],
  [
    'Co-simulation exchanges values with one process: call the HTTP interface of the shard.',
    'get_exchange attach_exchange step_exchange try_exchange set_exchange_values get_exchange_values end_exchange',
  ],
];

export type Rule =
  | { readonly name: Exclude<RuleName, 'unsupported'> }
  /** @property detail what a client should do instead */
  | { readonly name: 'unsupported'; readonly detail: string };

const words = (text: string) => text.trim().split(/\s+/);

/** Every operation with its rule; one that stands twice is a fault of the table, which a test finds. */
export const ruleEntries: readonly (readonly [operationId: string, rule: Rule])[] = [
  ...Object.entries(operations).flatMap(([name, ids]) =>
    words(ids).map((id) => [id, { name: name as Exclude<RuleName, 'unsupported'> }] as const),
  ),
  ...unsupported.flatMap(([detail, ids]) =>
    words(ids).map((id) => [id, { name: 'unsupported', detail } as const] as const),
  ),
];

const rules: ReadonlyMap<string, Rule> = new Map(ruleEntries);

/** The rule of an operation; null: it has none. */
export function ruleOf(operationId: string): Rule | null {
  return rules.get(operationId) ?? null;
}
