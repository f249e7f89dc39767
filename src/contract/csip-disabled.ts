import { SimError } from '../core/errors.ts';
import type { CsipClient, CsipConnection, CsipStatus } from './csip-client.ts';
import type { CsipMessages } from './csip-reports.ts';

const noConnection: CsipConnection = {
  attempts: 0,
  consecutiveFailures: 0,
  retryInMs: null,
  lastContactMs: null,
  lastError: null,
  lastErrorMs: null,
  lost: null,
};

const status: CsipStatus = {
  state: 'disabled',
  server: null,
  identity: null,
  lfdi: null,
  sfdi: null,
  deviceIndices: [],
  connection: noConnection,
  endDevice: null,
  programs: [],
  activeControls: [],
  defaultModes: null,
  time: null,
  pollRatesS: {},
  metering: null,
  subscriptions: 0,
};

const messages: CsipMessages = {
  recording: false,
  capacity: 0,
  count: 0,
  bytes: 0,
  lastId: 0,
  dropped: 0,
  changedBy: null,
  record: refuse,
  clear: refuse,
  list: () => [],
  responses: () => [],
};

function refuse(): never {
  throw new SimError('COMMAND_CONFLICT', 'the client of IEEE 2030.5 is switched off');
}

function unknown(mrid: string): never {
  throw new SimError('UNKNOWN_RESOURCE', `there is no control ${mrid}`);
}

/**
 * The client of a process without `--csip_client_enable`: views are empty, operations throw COMMAND_CONFLICT, and a
 * control of any mRID is unknown (UNKNOWN_RESOURCE).
 */
export const disabledCsipClient: CsipClient = {
  enabled: false,
  messages,
  status: () => status,
  config: () => null,
  configure: refuse,
  connect: refuse,
  disconnect: refuse,
  reconnect: refuse,
  rediscover: refuse,
  poll: refuse,
  setCommunicationLost: refuse,
  time: () => null,
  endDevices: () => [],
  programs: () => [],
  controls: () => [],
  events: () => [],
  onEvent: () => () => undefined,
  control: unknown,
  opt: refuse,
  claims: unknown,
  curves: () => [],
  responses: () => [],
  der: () => ({ capability: null, settings: null, status: null, availability: null }),
  postDer: refuse,
  readings: () => ({ mupHref: null, postRateS: null, sets: [] }),
  postReadings: refuse,
  logEvents: () => ({ enabled: false, events: [] }),
  enableLogEvents: refuse,
  sendLogEvent: refuse,
  subscriptions: () => ({ notificationUri: null, items: [] }),
  subscribe: refuse,
  notifications: () => [],
  certificates: () => ({ selected: null, available: [], certificate: null, endDevices: [] }),
  selectCertificate: refuse,
  httpProbe: refuse,
  diagnostics: () => [],
  discoverServers: refuse,
};
