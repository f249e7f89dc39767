/** The client of one simulator, polling the PV device of another. */
import { exampleTime } from '../common/schemas.ts';
import { exampleModels } from '../registers/members.ts';
import { exampleSnapshot } from '../devices/members.ts';

export const exampleChain = {
  base_address: 40_000,
  chain_end: 'end_model' as const,
  notes: [],
  models: exampleModels.map((model) => ({ ...model, index: 0 })),
};

const noChain = { base_address: null, chain_end: null, notes: [], models: [] };

export const examplePoll = {
  enabled: true,
  interval_s: 1.5,
  models: null,
  polled: [701, 713, 714].map((id) => ({ id, index: 0, read_at: exampleTime, error: null })),
  rounds: 1,
  failed_rounds: 0,
  late_rounds: 0,
  last_poll: exampleTime,
  last_duration_s: 0.012,
  retry_in_s: null,
};

const idle = { requests: 0, answers: 0, errors: 0, timeouts: 0, exceptions: 0, connections: 0 };

const { metrics, status } = exampleSnapshot;

const exampleSummary = {
  ...metrics,
  service_state: status.service_state,
  inverter_state: status.inverter_state,
  connection_state: status.connection_state,
  timestamp: exampleTime,
};

export const exampleClientStatus = {
  enabled: true,
  state: 'connected' as const,
  target: {
    transport: 'tcp' as const,
    host: '127.0.0.1',
    port: 8502,
    serial: null,
    unit_id: 1,
    timeout_s: 2,
    base_address: null,
    transaction_id: 'strict' as const,
  },
  endpoint: 'tcp://127.0.0.1:8502',
  identity: { manufacturer: 'derbench', model: 'PV-3Phase', version: '0.1.0', serial_number: 'DB-000000' },
  ...exampleChain,
  poll: examplePoll,
  counters: { ...idle, requests: 26, answers: 26, connections: 1 },
  last_error: null,
  last_error_at: null,
  last_poll: exampleTime,
  summary: exampleSummary,
};

export const exampleDisconnected = {
  enabled: false,
  state: 'disabled' as const,
  target: null,
  endpoint: null,
  identity: null,
  ...noChain,
  poll: { ...examplePoll, polled: [] },
  counters: exampleClientStatus.counters,
  last_error: null,
  last_error_at: null,
  last_poll: exampleTime,
  summary: null,
};

const examplePoints = [
  {
    name: 'WMaxLimPctEna',
    label: 'Active power limit: on/off',
    type: 'enum16',
    address: 40_310,
    size: 1,
    raw: [1],
    value: 1,
    scale_factor: null,
    unit: null,
    symbol: 'ENABLED',
    implemented: true,
    access: 'RW' as const,
  },
  {
    name: 'WMaxLimPct',
    label: 'Active power limit, share of WMax',
    type: 'uint16',
    address: 40_311,
    size: 1,
    raw: [5000],
    value: 50,
    scale_factor: -2,
    unit: 'Pct',
    implemented: true,
    access: 'RW' as const,
  },
];

const exampleControls = { id: 704, index: 0, name: 'DERCtlAC', label: 'Direct controls', address: 40_296, length: 65 };

export const exampleClientModel = {
  ...exampleControls,
  points: examplePoints,
  groups: [],
  registers: null,
  expected_length: null,
  notes: [],
  read_at: exampleTime,
};

export const exampleClientRead = exampleClientModel;

export const exampleClientWritten = {
  model: exampleControls,
  match: true,
  points: examplePoints.map((point) => ({
    name: point.name,
    written: point.value,
    raw_written: point.raw,
    match: true,
    read_back: point,
  })),
  requests: [{ function: 16 as const, address: 40_310, count: 2 }],
};

const exampleSample = {
  timestamp: exampleTime,
  wall_time: exampleTime,
  tick: 1,
  power_kw: metrics.power_kw,
  inverter_state: 'running' as const,
};

export const exampleClientHistory = {
  endpoint: 'tcp://127.0.0.1:8502',
  unit_id: 1,
  interval_s: 1.5,
  capacity: 10_000,
  metrics: ['power_kw', 'inverter_state'],
  count: 1,
  truncated: false,
  samples: [exampleSample],
};

export const exampleClientHistoryCsv = `${Object.keys(exampleSample).join(',')}\r\n${Object.values(exampleSample).join(',')}\r\n`;
