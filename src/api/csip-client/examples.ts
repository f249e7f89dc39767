/** The client of a PV device at the head-end of a utility that limits its power. */
import { exampleTime } from '../common/schemas.ts';
import { exampleWriter } from '../common/writer-schemas.ts';
import type { ReplyOf } from '../common/members.ts';
import type { config, control, curves, programs, responses, status } from './members.ts';

const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';
const sfdi = '167261211391';
const mrid = 'A10000000000000000000000000000FF';
const deviceIndices = [0];

export const exampleResponse: ReplyOf<typeof responses>['responses'][number] = {
  mrid,
  end_device_lfdi: lfdi,
  device_indices: deviceIndices,
  status: 2,
  status_text: 'started',
  created_at: exampleTime,
  reply_to: 'https://127.0.0.1:8443/rsps/0/rsp',
  result: 'sent',
  sent_at: exampleTime,
  attempts: 1,
  http_status: 201,
  last_error: null,
};

export const exampleControl: ReplyOf<typeof control> = {
  mrid,
  href: '/derp/0/derc/1',
  description: 'Half power',
  version: 0,
  program_href: '/derp/0',
  primacy: 10,
  state: 'active',
  creation_time: exampleTime,
  start: exampleTime,
  duration_s: 300,
  effective_start: exampleTime,
  effective_duration_s: 300,
  randomize_start_s: 0,
  randomize_duration_s: 0,
  potentially_superseded: false,
  response_required: 3,
  modes: { op_mod_max_lim_w_pct: 50 },
  modes_in_force: ['opModMaxLimW'],
  left_out: [],
  waiting: false,
  overwritten: false,
  opted_out: false,
  responses: [exampleResponse],
  end_device_lfdi: lfdi,
  device_indices: deviceIndices,
};

export const exampleControlWithXml = {
  ...exampleControl,
  xml: `<DERControl href="/derp/0/derc/1" xmlns="urn:ieee:std:2030.5:ns"><mRID>${mrid}</mRID></DERControl>`,
};

export const exampleCurve: ReplyOf<typeof curves>['curves'][number] = {
  href: '/derp/0/dc/1',
  mrid: 'A20000000000000000000000000000FF',
  description: 'Volt-watt',
  curve_type: 12,
  x_multiplier: -2,
  y_multiplier: -2,
  y_ref_type: 1,
  points: [
    { x: 106, y: 100, excitation: null },
    { x: 110, y: 20, excitation: null },
  ],
  open_loop_s: 10,
  ramp_dec_pct_per_s: null,
  ramp_inc_pct_per_s: null,
  ramp_pt1_s: null,
  v_ref_pct: null,
};

export const exampleProgram: ReplyOf<typeof programs>['programs'][number] = {
  href: '/derp/0',
  mrid: 'A30000000000000000000000000000FF',
  description: 'Feeder 7',
  primacy: 10,
  fsa_hrefs: ['/edev/0/fsa/0'],
  device_indices: deviceIndices,
  has_default: true,
  default_control: {
    mrid: 'A40000000000000000000000000000FF',
    href: '/derp/0/dderc',
    description: 'Without events',
    program_href: '/derp/0',
    modes: { op_mod_connect: true },
    modes_in_force: ['opModConnect'],
    settings: { grad_w_pct_per_s: 0.27 },
    left_out: [],
  },
  control_count: 1,
  curves: [exampleCurve],
};

export const exampleEndDevice = {
  href: '/edev/0',
  lfdi,
  sfdi,
  device_category: '00200000',
  enabled: true,
  changed_time: exampleTime,
  post_rate_s: 60,
  registration: { pin_matches: true, registered_at: exampleTime },
  device_indices: deviceIndices,
  links: { DERListLink: '/edev/0/der', FunctionSetAssignmentsListLink: '/edev/0/fsa' },
};

export const exampleServerTime = {
  server_time: exampleTime,
  offset_s: -0.4,
  quality: 7,
  tz_offset_s: 0,
  dst_offset_s: 0,
  age_s: 12,
  href: '/tm',
};

export const exampleStatus: ReplyOf<typeof status> = {
  enabled: true,
  state: 'running',
  server: {
    host: '127.0.0.1',
    port: 8443,
    dcap: '/dcap',
    tls: true,
    version_compat: '2018',
    tls_protocol: 'TLSv1.2',
    cipher: 'ECDHE-ECDSA-AES128-CCM8',
  },
  identity: 'per_device',
  lfdi,
  sfdi,
  device_indices: deviceIndices,
  connection: {
    attempts: 1,
    consecutive_failures: 0,
    retry_in_s: null,
    last_contact: exampleTime,
    seconds_since_last_contact: 4.2,
    last_error: null,
    last_error_at: null,
    communication_lost: null,
  },
  end_device: exampleEndDevice,
  programs: [exampleProgram],
  active_controls: [exampleControl],
  default_control: { op_mod_connect: true },
  time: exampleServerTime,
  poll_rates_s: { DeviceCapability: 900, EndDeviceList: 60, DERProgramList: 60 },
  metering: { mup_href: '/mup/0', post_rate_s: 60, last_post: exampleTime, posted_count: 3 },
  subscriptions: 0,
};

export const exampleDisconnected: ReplyOf<typeof status> = {
  ...exampleStatus,
  state: 'stopped',
  server: exampleStatus.server && { ...exampleStatus.server, tls_protocol: null, cipher: null },
  end_device: null,
  programs: [],
  active_controls: [],
  default_control: null,
  time: null,
  poll_rates_s: {},
  metering: null,
};

export const exampleConfig: ReplyOf<typeof config> = {
  enabled: true,
  server_host: '127.0.0.1',
  server_port: 8443,
  dcap: '/dcap',
  tls: true,
  revision: '2018',
  poll_rate_s: null,
  post_rate_s: 60,
  use_server_time: true,
  subscribe: false,
  pin_set: true,
  check_hostname: true,
  strict_cipher: false,
  identity: 'per_device',
  changed_by: exampleWriter,
};

export const exampleCertificates = {
  selected: 'default' as const,
  available: ['default' as const],
  lfdi,
  sfdi,
  subject: '',
  issuer: 'CN=IEEE 2030.5 MICA',
  not_before: exampleTime,
  not_after: '9999-12-31T23:59:59.000Z',
  chain_length: 2,
};

export const exampleDer = {
  capability: {
    sent_at: exampleTime,
    result: 'accepted' as const,
    http_status: 204,
    href: '/edev/0/der/0/dercap',
    body: { modesSupported: '01100080', rtgMaxW: { multiplier: 1, value: 1000 }, type: 4 },
  },
  settings: null,
  status: null,
  availability: null,
};

export const exampleReadings = {
  mup_href: '/mup/0',
  post_rate_s: 60,
  sets: [
    {
      mrid: 'A50000000000000000000000000000FF',
      description: 'Active power',
      device_index: 0,
      uom: 38,
      flow_direction: 1,
      phase: null,
      multiplier: 0,
      last_post: exampleTime,
      values: [{ start: exampleTime, duration_s: 60, value: -5000 }],
    },
  ],
};

export const exampleLogEvents = {
  enabled: true,
  events: [
    {
      created_at: exampleTime,
      function_set: 11,
      code: 2,
      event_id: 1,
      pen: 40_732,
      profile_id: 2,
      details: 'over voltage',
      device_index: 0,
      result: 'sent' as const,
    },
  ],
};

export const exampleSubscriptions = {
  notification_uri: 'https://127.0.0.1:40123/ntfy',
  subscriptions: [
    {
      resource: '/edev/0/fsa',
      href: '/edev/0/sub/1',
      state: 'active' as const,
      renewed_at: exampleTime,
      notifications: 1,
      last_error: null,
    },
  ],
};

export const exampleNotifications = {
  notifications: [
    {
      received_at: exampleTime,
      resource: '/edev/0/fsa',
      status: 0,
      content: 'FunctionSetAssignmentsList',
      http_status: 204,
      peer: '127.0.0.1:50201',
    },
  ],
};

export const exampleRecorder = {
  enabled: true,
  capacity: 500,
  kept: 1,
  dropped: 0,
  last_id: 1,
  changed_by: exampleWriter,
};

export const exampleMessages = {
  ...exampleRecorder,
  messages: [
    {
      id: 1,
      timestamp: exampleTime,
      direction: 'out' as const,
      peer: '127.0.0.1:8443',
      device_index: 0,
      method: 'GET',
      url: 'https://127.0.0.1:8443/dcap',
      status: 200,
      duration_ms: 3.1,
      request_headers: { accept: 'application/sep+xml' },
      request_body: null,
      response_headers: { 'content-type': 'application/sep+xml' },
      response_body: '<DeviceCapability href="/dcap" xmlns="urn:ieee:std:2030.5:ns"/>',
      truncated: false,
      error: null,
    },
  ],
};

export const exampleDiagnostics = {
  errors: [],
  warnings: [{ code: 'time-quality', message: 'the server gives no quality of its Time' }],
  info: [],
};

export const exampleServers = {
  servers: [
    {
      name: 'utility',
      host: 'headend.local',
      addresses: ['192.168.1.20'],
      port: 80,
      https_port: 443,
      dcap: '/dcap',
      level: '-S1',
      permitted: true,
    },
  ],
};
