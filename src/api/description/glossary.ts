/**
 * Descriptions of members that mean the same in many schemas, or whose name almost explains them.
 * A description in the schema itself has priority. `Schema.member` applies to one schema only.
 */
const glossary: Readonly<Record<string, string>> = {
  active: 'True if it is in effect now.',
  active_count: 'Number of active alarms.',
  address: 'Register address.',
  alarm_count: 'Number of active alarms.',
  asset_type: 'Kind of device.',
  authorized: 'True if a token has been accepted for the next session.',
  battery: 'Battery of the common DC bus.',
  bidirectional: 'True if power may flow back into the grid.',
  cell_count: 'Cells in series.',
  charge_point_id: 'Identity of the charging station; null for other kinds.',
  chemistry: 'Chemistry of the cells.',
  clock_time: 'Simulated clock in its time zone, `HH:MM:SS`.',
  connection_state: '701.ConnSt.',
  connector_id: 'Number of the connector, from 1.',
  contactor_closed: 'True if the contactor is closed.',
  contactor: 'Position of the contactor.',
  count: 'Number of items.',
  dc_mode: 'Source of the DC side.',
  dc_port_count: '714.NPrt.',
  decided_by: 'Function that set the power of the last tick.',
  default: 'Value if the request gives none.',
  description: 'Description in words.',
  device_count: 'Number of devices.',
  device_index: 'Device index, 0-based.',
  device_profile_name: 'Name of the profile of the device; null without.',
  device_type: 'Type of the device as configured.',
  enabled: 'True if it is switched on.',
  endpoint: 'Address of the listener or the peer; null without.',
  error_code: 'Error code of OCPP 1.6.',
  error_count: 'Requests and messages that failed.',
  error_info: 'Text of the fault; null without.',
  ev_plugged: 'True if the cable is plugged into the vehicle.',
  evse_plugged: 'True if the cable is plugged into the station.',
  excitation: 'Sign of the reactive power.',
  firmware_version: 'Version of the firmware.',
  fraction: 'Share of the maximum power, 0 to 1.',
  host: 'Address of the listener.',
  hz: 'Frequency of the point; unit: Hz.',
  id_token: 'Token that authorizes.',
  implemented: 'True if the device has the point.',
  index: 'Index, 0-based.',
  inverter_state: '701.InvSt.',
  island: 'True if the site is cut off from the grid.',
  label: 'Name in words.',
  latched: 'True if it stays until a reset.',
  length: 'Length in registers.',
  locked: 'True if the connector is locked.',
  manufacturer: '1.Mn.',
  may_trip: 'Curve of the may-trip region.',
  message: 'Message in words; null if there is none.',
  model: '1.Md.',
  momentary_cessation: 'Curve of momentary cessation.',
  must_trip: 'Curve of the must-trip region.',
  name: 'Name.',
  operative: 'True if it is open to sessions.',
  options: '1.Opt.',
  outage: 'True if the grid is dead.',
  pf: 'Power factor, 0 to 1.',
  phases: 'Number of phases.',
  port: 'Port, 0-based; null if it concerns the whole device.',
  pq: 'Active, reactive and apparent power at the AC terminals.',
  priority: 'The power that is reduced at the limit of apparent power.',
  profile: 'Name of the profile; null without.',
  pv: 'PV array of the common DC bus.',
  rate: 'Simulated seconds per wall second.',
  recording: 'State and settings of the recording of rows.',
  reservation_id: 'Number of the reservation.',
  reversion_enabled: 'True if the function is enabled in the reversion values.',
  scale_factor: 'Power of ten between raw and decoded value; null without.',
  serial_number: '1.SN.',
  service_state: '701.St.',
  severity: 'Severity.',
  shaded_share: 'Share of the array in the shade, 0 to 1.',
  irradiance_share: 'Share of the irradiance that the shaded part gets, 0 to 1.',
  standard: 'Standard of the plug.',
  state: 'State, one of the listed words.',
  stop_reason: 'Why the session ended; null while it is active.',
  supported: 'True if the device has the function.',
  tick: 'Number of the tick; counts up by 1.',
  timezone: 'IANA name of the time zone.',
  unit: 'Unit of the value; null if there is none.',
  value: 'Value in force, in its unit.',
  v_ref_auto_enabled: 'True if the reference voltage follows the measured one.',
  vendor_error_code: 'Error code of the vendor; null without.',

  'Alarm.code': 'Name of the alarm.',
  'Alarm.message': 'The alarm in words.',
  'Alarm.port': '714 port, 0-based; null if it concerns the whole device.',
  'Alarm.source': 'Part of the simulator that raised the alarm.',
  'Alarms.active': 'Active alarms.',
  'Alarms.highest_severity': 'Highest severity of the active alarms; null if there are none.',
  'Authorization.status': 'Answer of the central system, or of the station alone.',
  'Battery.mode': 'Present operation of the battery.',
  'BatteryControl.mode': 'Present operation of the battery.',
  'HybridDc.mode': 'Present operation of the battery.',
  'ChargingStation.model': 'Model name.',
  'ChargingStation.sharing': 'How ports share the power of the station.',
  'ChargingStation.vendor': 'Name of the vendor.',
  'ChargingStationProfile.connectors': 'Connectors of the station.',
  'ChargingStationProfile.type': 'AC or DC charging.',
  'ChargingSession.remote_start_id': 'Number of the remote start; null if there is none.',
  'CommandRecord.command': 'The command.',
  'CommandRecord.id': 'Number of the command as text.',
  'CommandRecord.scope': 'Of a reset: alarms only or the whole device; null for other commands.',
  'CommandRequest.command': 'The command.',
  'CommState.peers': 'Open connections.',
  'CommState.rx_count': 'Requests or messages received.',
  'CommState.tx_count': 'Answers or messages sent.',
  'Connector.cable': 'How the cable is plugged.',
  'Connector.type': 'AC or DC charging.',
  'ConfiguredSettings.flag': 'Flag of the command line; null if there is none.',
  'ConfiguredSettings.rated_value': 'Rating of the nameplate; null if there is none.',
  'ConnectorFaultRequest.info': 'Text of the fault, at most 50 characters.',
  'Controls.es_enabled': '703.ES.',
  'Controls.es_state': 'State of service: in service, waiting, or off.',
  'Controls.service': 'Permission to be in service.',
  'Controls.throttle': 'Functions that limit the power now.',
  'Controls.trip_active': 'Functions that keep the device tripped.',
  'DcCurve.kind': 'Kind of the curve.',
  'ElectricVehicle.id': 'Identity of the vehicle; null if there is none.',
  'ElectricVehiclePatch.id': 'Identity of the vehicle; null if there is none.',
  'ElectricVehicleRequest.id': 'Identity of the vehicle; null if there is none.',
  'Environment.source': 'Source of the irradiance.',
  'FuelCell.fuel': 'Supply of hydrogen.',
  'FuelCell.operating_mode': 'Only a fuel cell, or electrolysis as well.',
  'FuelCell.tank_state': 'State of the tank; null without a tank.',
  'GridEvent.name': 'Name that `controls/grid/event` accepts.',
  'HybridDc.inverter': 'Inverter between the DC bus and the grid.',
  'HybridDispatchRequest.policy': 'Policy that sets the power of the battery.',
  'IvPoint.i': 'Current, positive out of the source; unit: A.',
  'IvPoint.p': 'Power; unit: W.',
  'IvPoint.v': 'Voltage; unit: V.',
  'LocalControl.local': 'True if the device takes commands on site only (715.LocRemCtl).',
  'LogEntry.level': 'Severity.',
  'ModbusEndpoint.port': 'TCP port.',
  'ModbusEndpoint.tls': 'True if the connection is encrypted.',
  'ModbusEndpoint.unit_id': 'Unit identifier.',
  'Nameplate.abnormal_category': '702.AbnOpCatRtg.',
  'Nameplate.ac_type': '701.ACType.',
  'Nameplate.dc_ports': 'Ports of 714.',
  'Nameplate.device_address': '1.DA.',
  'Nameplate.id': 'Number of the model or port.',
  'MeterModels.id': 'Number of the model.',
  'MeterModels.models': 'Models of the map, in order.',
  'Nameplate.models': 'Models of the map, in order.',
  'Nameplate.normal_category': '702.NorOpCatRtg.',
  'Nameplate.storage': 'Ratings of 713; null without storage.',
  'Nameplate.type': '714.PrtTyp.',
  'Nameplate.version': '1.Vr.',
  'Problem.allowed': 'Allowed values or names.',
  'Problem.code': 'Machine-readable code of the problem.',
  'Problem.detail': 'Error in this member.',
  'Problem.in': 'Part of the request that has the invalid member.',
  'Problem.status': 'HTTP status.',
  'Problem.title': 'Fixed text of the code.',
  'RampRequest.w_ramp_ref': 'Reference of the ramp rates in percent.',
  'RegisterModels.id': 'Number of the model.',
  'RegisterModels.models': 'Models of the map, in order.',
  'RegisterPoint.type': 'SunSpec type of the point.',
  'Registers.id': 'Number of the model.',
  'RunningGridEvent.name': 'Name of the event.',
  'ServerInfo.build_id': 'Commit or package of the build.',
  'ServerInfo.history_samples_per_device': 'Samples kept per device.',
  'ServerInfo.license': 'License of the simulator.',
  'ServerInfo.limits': 'Limits in force.',
  'ServerInfo.log_entries': 'Log entries kept.',
  'ServerInfo.name': 'Name of the program or the license.',
  'ServerInfo.pid': 'Process id.',
  'ServerInfo.runtime': 'Runtime and its version.',
  'ServerInfo.spdx_id': 'SPDX identifier.',
  'ServerInfo.url': 'Address of the license text.',
  'ServerInfo.ws_queue': 'Maximum number of messages queued for a slow stream client.',
  'StopRequest.reason': 'Reason, written to the log.',
  'Time.mode': 'How simulated time passes.',
  'TimeRequest.mode': 'How simulated time passes.',
  'Wind.lvrt_state': 'Stage of riding through a voltage dip.',
  'Wind.region': 'Region of the power curve.',
  'Wind.source': 'Source of the wind speed.',
  'Wind.tip_speed_ratio': 'Speed of the blade tips over wind speed.',
};

/** Endings of member names and their units, longer endings first. */
const unitEndings: readonly (readonly [ending: string, unit: string])[] = [
  ['_pct_s', '% per s'],
  ['_w_m2', 'W/m²'],
  ['_m_s', 'm/s'],
  ['_kvar', 'kvar'],
  ['_kva', 'kVA'],
  ['_kwh', 'kWh'],
  ['_kw', 'kW'],
  ['_wh', 'Wh'],
  ['_w', 'W'],
  ['_hz', 'Hz'],
  ['_pct', '%'],
  ['_pu', 'per unit'],
  ['_deg', 'degrees'],
  ['_rpm', 'rpm'],
  ['_bytes', 'bytes'],
  ['_ms', 'ms'],
  ['_s', 's'],
  ['_kg', 'kg'],
  ['_m', 'm'],
  ['_c', '°C'],
  ['_v', 'V'],
  ['_a', 'A'],
];

type Node = Readonly<Record<string, unknown>>;

/** Keys whose values are data, not schemas. */
const dataKeys = new Set(['example', 'examples', 'default', 'enum', 'const']);
const annotations = new Set(['type', 'description', 'example']);

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A reference with its own description. The generator writes it as `allOf`, with the description (and for a nullable
 * reference the type) in the second schema; null satisfies no such `allOf`, and generated types become intersections.
 */
function plainReference(node: Node): Node {
  const { allOf, ...rest } = node;
  if (!Array.isArray(allOf) || allOf.length !== 2) return node;
  const [reference, more] = allOf as unknown[];
  if (!isNode(reference) || !('$ref' in reference) || !isNode(more)) return node;
  if (Object.keys(more).some((key) => !annotations.has(key))) return node;
  const { type, ...words } = more;
  const nullable = Array.isArray(type) && type.includes('null');
  return nullable ? { ...rest, anyOf: [reference, { type: 'null' }], ...words } : { ...rest, ...reference, ...words };
}

/** Description of a member by the glossary or by the unit in its name; undefined without either. */
function meaningOf(schema: string, member: string): string | undefined {
  const description = glossary[`${schema}.${member}`] ?? glossary[member];
  if (description !== undefined) return description;
  if (/^\d+$/.test(member)) return `Points of model ${member}, by name.`;
  const unit = unitEndings.find(([ending]) => member.endsWith(ending))?.[1];
  return unit === undefined ? undefined : `Unit: ${unit}.`;
}

function refersElsewhere(node: Node): boolean {
  return (
    '$ref' in node || (Array.isArray(node['anyOf']) && node['anyOf'].some((each) => isNode(each) && '$ref' in each))
  );
}

/** True if no value is valid: the member exists only to give the reason of its refusal, and the object is closed. */
function isRefused(node: unknown): boolean {
  return isNode(node) && isNode(node['not']) && Object.keys(node['not']).length === 0;
}

function describeMembers(properties: Node, schema: string): Node {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([, node]) => !isRefused(node))
      .map(([member, node]) => {
        const finished = finish(node, schema);
        if (!isNode(finished) || finished['description'] !== undefined || refersElsewhere(finished))
          return [member, finished];
        const description = meaningOf(schema, member);
        return [member, description === undefined ? finished : { ...finished, description }];
      }),
  );
}

function finish(node: unknown, schema: string): unknown {
  if (Array.isArray(node)) return node.map((each: unknown) => finish(each, schema));
  if (!isNode(node)) return node;
  return Object.fromEntries(
    Object.entries(plainReference(node)).map(([key, value]) => {
      if (dataKeys.has(key)) return [key, value];
      if (key === 'properties' && isNode(value)) return [key, describeMembers(value, schema)];
      return [key, finish(value, schema)];
    }),
  );
}

/** The generator's schemas by name, with plain references, and descriptions of the members by glossary or unit. */
export function finishSchemas(schemas: Node): Node {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, finish(schema, name)]));
}
