/** A client of IEEE 2030.5 without a server: fixed views, and a list of the operations that were asked of it. */
import type {
  CsipCertificates,
  CsipClient,
  CsipConfig,
  CsipControl,
  CsipCurve,
  CsipEndDevice,
  CsipProgram,
  CsipResponse,
  CsipStatus,
  CsipTime,
} from '../../../src/contract/csip-client.ts';
import type { CsipMessage, CsipMessageFilter } from '../../../src/contract/csip-reports.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { exampleTime } from '../../../src/api/common/schemas.ts';

export const atMs = Date.parse(exampleTime);
export const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';
const sfdi = 167_261_211_391;
export const mrid = 'A10000000000000000000000000000FF';
const deviceIndices = [0];

const response: CsipResponse = {
  mrid,
  endDeviceLfdi: lfdi,
  deviceIndices,
  status: 2,
  createdServerMs: atMs,
  replyTo: 'https://127.0.0.1:8443/rsps/0/rsp',
  result: 'sent',
  sentAtMs: atMs,
  attempts: 1,
  httpStatus: 201,
  lastError: null,
};

const control: CsipControl = {
  mrid,
  href: '/derp/0/derc/1',
  description: 'Half power',
  version: 0,
  programHref: '/derp/0',
  primacy: 10,
  state: 'active',
  creationServerMs: atMs,
  startServerMs: atMs,
  durationS: 300,
  effectiveStartServerMs: atMs,
  effectiveDurationS: 300,
  randomizeStartS: 0,
  randomizeDurationS: 0,
  potentiallySuperseded: false,
  responseRequired: 3,
  modes: { op_mod_max_lim_w_pct: 50 },
  modesInForce: ['opModMaxLimW'],
  leftOut: [],
  waiting: false,
  overwritten: false,
  optedOut: false,
  responses: [response],
  endDeviceLfdi: lfdi,
  deviceIndices,
};

const curve: CsipCurve = {
  href: '/derp/0/dc/1',
  mrid: 'A20000000000000000000000000000FF',
  description: 'Volt-watt',
  curveType: 12,
  xMultiplier: -2,
  yMultiplier: -2,
  yRefType: 1,
  points: [
    { x: 106, y: 100, excitation: null },
    { x: 110, y: 20, excitation: null },
  ],
  openLoopS: 10,
  rampDecPctPerS: null,
  rampIncPctPerS: null,
  rampPt1S: null,
  vRefPct: null,
};

const program: CsipProgram = {
  href: '/derp/0',
  mrid: 'A30000000000000000000000000000FF',
  description: 'Feeder 7',
  primacy: 10,
  fsaHrefs: ['/edev/0/fsa/0'],
  deviceIndices,
  defaultControl: {
    mrid: 'A40000000000000000000000000000FF',
    href: '/derp/0/dderc',
    description: 'Without events',
    programHref: '/derp/0',
    modes: { op_mod_connect: true },
    modesInForce: ['opModConnect'],
    settings: { grad_w_pct_per_s: 0.27 },
    leftOut: [],
  },
  controlCount: 1,
  curves: [curve],
};

const endDevice: CsipEndDevice = {
  href: '/edev/0',
  lfdi,
  sfdi,
  deviceCategory: '00200000',
  enabled: true,
  changedServerMs: atMs,
  postRateS: 60,
  registration: { pinMatches: true, registeredServerMs: atMs },
  deviceIndices,
  links: { DERListLink: '/edev/0/der', FunctionSetAssignmentsListLink: '/edev/0/fsa' },
};

const serverTime: CsipTime = {
  serverNowMs: atMs,
  offsetS: -0.4,
  quality: 7,
  tzOffsetS: 0,
  dstOffsetS: 0,
  ageS: 12,
  href: '/tm',
};

const status: CsipStatus = {
  state: 'running',
  server: {
    host: '127.0.0.1',
    port: 8443,
    dcap: '/dcap',
    tls: true,
    revision: '2018',
    negotiated: { protocol: 'TLSv1.2', cipher: 'ECDHE-ECDSA-AES128-CCM8' },
  },
  identity: 'per_device',
  lfdi,
  sfdi,
  deviceIndices,
  connection: {
    attempts: 1,
    consecutiveFailures: 0,
    retryInMs: null,
    lastContactMs: atMs,
    lastError: null,
    lastErrorMs: null,
    lost: null,
  },
  endDevice,
  programs: [program],
  activeControls: [control],
  defaultModes: { op_mod_connect: true },
  time: serverTime,
  pollRatesS: { DeviceCapability: 900, EndDeviceList: 60, DERProgramList: 60 },
  metering: { mupHref: '/mup/0', postRateS: 60, lastPostMs: atMs, postedCount: 3 },
  subscriptions: 0,
};

const message: CsipMessage = {
  id: 1,
  atMs,
  at: 0 as SimTime,
  direction: 'out',
  peer: '127.0.0.1:8443',
  deviceIndex: 0,
  method: 'GET',
  url: 'https://127.0.0.1:8443/dcap',
  status: 200,
  durationMs: 3.1,
  requestHeaders: { accept: 'application/sep+xml' },
  requestBody: null,
  responseHeaders: { 'content-type': 'application/sep+xml' },
  responseBody: '<DeviceCapability href="/dcap" xmlns="urn:ieee:std:2030.5:ns"/>',
  truncated: false,
  error: null,
};

const certificates: CsipCertificates = {
  selected: 'default',
  available: ['default'],
  certificate: {
    lfdi,
    sfdi,
    subject: '',
    issuer: 'CN=IEEE 2030.5 MICA',
    notBeforeMs: atMs,
    notAfterMs: Date.parse('9999-12-31T23:59:59.000Z'),
    chainLength: 2,
  },
  endDevices: [{ deviceIndices, lfdi, sfdi, nmi: null }],
};

/** Devices 0 and 1 have clients. */
export class FakeClient implements CsipClient {
  readonly enabled = true;
  /** operations, as they were asked */
  readonly asked: (readonly unknown[])[] = [];
  filters: CsipMessageFilter[] = [];
  current: CsipStatus = status;
  timeRead: CsipTime | null = serverTime;
  settings: CsipConfig = {
    serverHost: '127.0.0.1',
    serverPort: 8443,
    dcap: '/dcap',
    tls: true,
    revision: '2018',
    pollRateS: null,
    postRateS: 60,
    useServerTime: true,
    subscribe: false,
    nmis: [],
    pinSet: true,
    checkHostname: true,
    strictCipher: false,
    identity: 'per_device',
    lfdi: null,
    changedBy: null,
  };
  /** what the next operation on the server throws */
  failure: SimError | null = null;
  readonly messages: CsipClient['messages'] = {
    recording: true,
    capacity: 500,
    count: 1,
    bytes: 80,
    lastId: 1,
    dropped: 0,
    changedBy: null,
    record: (...given) => this.#ask('record', ...given),
    clear: () => this.#ask('clear'),
    list: (filter) => {
      this.filters.push(filter);
      return [message];
    },
    responses: () => [],
  };

  #ask(...words: readonly unknown[]): void {
    this.asked.push(words);
    if (this.failure !== null) throw this.failure;
  }

  #checked(device: number | null): void {
    if (device !== null && device > 1) throw new SimError('UNKNOWN_DEVICE', `device ${device} has no client`);
  }

  status(device: number | null): CsipStatus {
    this.#checked(device);
    return this.current;
  }
  config: CsipClient['config'] = () => this.settings;
  configure: CsipClient['configure'] = (patch, device, by) => {
    this.#ask('configure', patch, device);
    this.settings = { ...this.settings, changedBy: { ...by, at: 0 as never, wallMs: atMs } };
    return Promise.resolve(this.settings);
  };
  connect: CsipClient['connect'] = (device) => this.#ask('connect', device);
  disconnect: CsipClient['disconnect'] = (device) => Promise.resolve().then(() => this.#ask('disconnect', device));
  reconnect: CsipClient['reconnect'] = (device) => {
    this.#ask('reconnect', device);
    return true;
  };
  rediscover: CsipClient['rediscover'] = (device) => this.#ask('rediscover', device);
  poll: CsipClient['poll'] = (device) => this.#ask('poll', device);
  setCommunicationLost: CsipClient['setCommunicationLost'] = (...given) => this.#ask('communication', ...given);
  time: CsipClient['time'] = () => this.timeRead;
  endDevices: CsipClient['endDevices'] = () => [endDevice];
  programs: CsipClient['programs'] = () => [program];
  events: CsipClient['events'] = () => [];
  onEvent: CsipClient['onEvent'] = () => () => undefined;
  controls: CsipClient['controls'] = (_device, state) =>
    [control, { ...control, mrid: 'A2', state: 'scheduled' as const }].filter(
      (each) => state === undefined || each.state === state,
    );
  control: CsipClient['control'] = (wanted) => {
    if (wanted !== mrid) throw new SimError('UNKNOWN_RESOURCE', `there is no control ${wanted}`);
    return { ...control, xml: '<DERControl/>' };
  };
  opt: CsipClient['opt'] = (...given) => {
    this.#ask('opt', ...given);
    return { ...control, optedOut: true };
  };
  claims: CsipClient['claims'] = () => [];
  curves: CsipClient['curves'] = () => [curve];
  responses: CsipClient['responses'] = (_device, wanted) =>
    wanted === undefined || wanted === mrid ? [response, { ...response, status: 1 }] : [];
  der: CsipClient['der'] = () => ({
    capability: {
      sentAtMs: atMs,
      result: 'accepted',
      httpStatus: 204,
      href: '/edev/0/der/0/dercap',
      body: { modesSupported: '01100080', rtgMaxW: { multiplier: 1, value: 1000 }, type: 4 },
    },
    settings: null,
    status: null,
    availability: null,
  });
  postDer: CsipClient['postDer'] = (...given) => Promise.resolve().then(() => this.#ask('postDer', ...given));
  readings: CsipClient['readings'] = () => ({
    mupHref: '/mup/0',
    postRateS: 60,
    sets: [
      {
        mrid: 'A50000000000000000000000000000FF',
        description: 'Active power',
        deviceIndex: 0,
        uom: 38,
        meter: 'device',
        flowDirection: 1,
        phase: null,
        multiplier: 0,
        lastPostMs: atMs,
        values: [{ startServerMs: atMs, durationS: 60, value: -5000 }],
      },
    ],
  });
  postReadings: CsipClient['postReadings'] = (...given) =>
    Promise.resolve().then(() => this.#ask('postReadings', ...given));
  logEvents: CsipClient['logEvents'] = () => ({
    enabled: true,
    events: [
      {
        createdServerMs: atMs,
        functionSet: 11,
        code: 2,
        eventId: 1,
        pen: 40_732,
        profileId: 2,
        details: 'over voltage',
        deviceIndex: 0,
        result: 'sent',
      },
    ],
  });
  enableLogEvents: CsipClient['enableLogEvents'] = (on) => this.#ask('enableLogEvents', on);
  sendLogEvent: CsipClient['sendLogEvent'] = (...given) =>
    Promise.resolve().then(() => this.#ask('sendLogEvent', ...given));
  subscriptions: CsipClient['subscriptions'] = () => ({
    notificationUri: 'https://127.0.0.1:40123/ntfy',
    items: [
      {
        resource: '/edev/0/fsa',
        href: '/edev/0/sub/1',
        state: 'active',
        renewedAtMs: atMs,
        notifications: 1,
        lastError: null,
      },
    ],
  });
  subscribe: CsipClient['subscribe'] = (...given) => {
    this.#ask('subscribe', ...given);
    return Promise.resolve(this.subscriptions(null));
  };
  notifications: CsipClient['notifications'] = () => [
    {
      receivedAtMs: atMs,
      resource: '/edev/0/fsa',
      status: 0,
      content: 'FunctionSetAssignmentsList',
      httpStatus: 204,
      peer: '127.0.0.1:50201',
    },
  ];
  certificates: CsipClient['certificates'] = () => certificates;
  selectCertificate: CsipClient['selectCertificate'] = (...given) => {
    this.#ask('selectCertificate', ...given);
    return Promise.resolve(certificates);
  };
  httpProbe: CsipClient['httpProbe'] = (...given) =>
    Promise.resolve().then(() => {
      this.#ask('httpProbe', ...given);
      return { url: 'http://127.0.0.1:8080/dcap', status: 301, location: 'https://127.0.0.1:8443/dcap' };
    });
  diagnostics: CsipClient['diagnostics'] = () => [
    { severity: 'warning', code: 'time-quality', message: 'the server gives no quality of its Time' },
  ];
  discoverServers: CsipClient['discoverServers'] = () =>
    Promise.resolve([
      {
        name: 'utility',
        host: 'headend.local',
        addresses: ['192.168.1.20'],
        port: 80,
        httpsPort: 443,
        dcap: '/dcap',
        level: '-S1',
        permitted: true,
      },
    ]);
}
