/** The client of IEEE 2030.5 itself: state, settings, certificates and operations on its connection. */
import type { CsipClient, CsipConfigPatch } from '../../contract/csip-client.ts';
import { invalid } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import type { RouteContext } from '../http/context.ts';
import { z } from '../description/zod.ts';
import {
  certificatesSchema,
  configPatchSchema,
  configSchema,
  maxPemLength,
  secretMembers,
  selectionSchema,
} from './config-schemas.ts';
import type { ConfigPatchRequest } from './config-schemas.ts';
import {
  exampleCertificates,
  exampleConfig,
  exampleDiagnostics,
  exampleDisconnected,
  exampleServers,
  exampleStatus,
} from './examples.ts';
import { enabledClient, tag } from './enabled.ts';
import { certificatesReply, configReply, diagnosticsReply, statusReply } from './replies.ts';
import {
  clientQuery,
  clientsQuery,
  communicationSchema,
  diagnosticsSchema,
  foundServersSchema,
  probeBodySchema,
  probeSchema,
  reconnectSchema,
  statusSchema,
} from './schemas.ts';

const statusOf = ({ csipClient, clock }: RouteContext, device: number | null) =>
  statusReply(csipClient, csipClient.status(device), clock.nowMs());

const statusRoute = (path: string, operationId: string, summary: string) =>
  route({
    method: 'get',
    path,
    tag,
    operationId,
    summary,
    description:
      'Without `device` of the client of the first device. Disabled: `enabled` false, all else null or empty. Instants of the ' +
      'server stand by its clock.',
    query: clientQuery,
    reply: statusSchema,
    examples: { reply: exampleStatus },
    handle: (ctx, { query: { device = null } }) => statusOf(ctx, device),
  });

const getClient = statusRoute('/csip-client', 'get_csip_client', 'State of the client of IEEE 2030.5 (CSIP)');
const getStatus = statusRoute('/csip/status', 'get_csip_status', 'The same as `csip-client`');

const getConfig = route({
  method: 'get',
  path: '/csip/config',
  tag,
  operationId: 'get_csip_config',
  summary: 'Settings of the client; keys and PIN are never shown',
  query: clientQuery,
  reply: configSchema,
  examples: { reply: exampleConfig },
  handle: ({ csipClient, plant }, { query: { device = null } }) => configReply(plant, csipClient.config(device)),
});

function given<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function patchOf(body: ConfigPatchRequest): CsipConfigPatch {
  return given<CsipConfigPatch>({
    serverHost: body.server_host,
    serverPort: body.server_port,
    dcap: body.dcap,
    tls: body.tls,
    revision: body.revision,
    pollRateS: body.poll_rate_s,
    postRateS: body.post_rate_s,
    useServerTime: body.use_server_time,
    subscribe: body.subscribe,
    pin: body.pin,
    certPem: body.cert_pem,
    keyPem: body.key_pem,
    rootCertPem: body.root_cert_pem,
  });
}

const setConfig = route({
  method: 'post',
  path: '/csip/config',
  tag,
  operationId: 'set_csip_config',
  summary: 'Changes settings of the client',
  description:
    'Applies to all clients; certificates of `per_device` clients to that of `device`. A change of server or certificates ' +
    'connects anew. A server that the outbound rules refuse, and a key that does not belong to its certificate, change nothing.',
  query: clientQuery,
  body: configPatchSchema,
  maxTextLength: maxPemLength,
  secretMembers,
  reply: configSchema,
  problems: ['disabled', 'conflict'],
  examples: { body: { poll_rate_s: null, post_rate_s: 60 }, reply: exampleConfig },
  async handle(ctx, { query: { device = null }, body, by }) {
    const client = enabledClient(ctx);
    if (Object.keys(body).length === 0) throw invalid('body', '', 'must name a setting at least');
    return configReply(ctx.plant, await client.configure(patchOf(body), device, by));
  },
});

interface OperationFacts {
  readonly reply?: unknown;
  readonly problems?: readonly 'not-connected'[];
}

/** An operation on one client or all of them that is begun now and shows in the state. */
function operation(
  name: string,
  summary: string,
  description: string,
  act: (client: CsipClient, device: number | null) => void | Promise<void>,
  { reply = exampleStatus, problems = [] }: OperationFacts = {},
): Route {
  return route({
    method: 'post',
    path: `/csip/${name}`,
    tag,
    operationId: `${name}_csip`,
    summary,
    description,
    query: clientsQuery,
    status: 202,
    reply: statusSchema,
    problems: ['disabled', ...problems],
    examples: { reply },
    async handle(ctx, { query: { device = null } }) {
      await act(enabledClient(ctx), device);
      return statusOf(ctx, device);
    },
  });
}

const connect = operation(
  'connect',
  'Connects clients that were disconnected',
  'The walk begins at the DeviceCapability. A client that is connected stays so.',
  (client, device) => client.connect(device),
);

const disconnect = operation(
  'disconnect',
  'Ends controls and connections',
  'Controls in force are given back and known events are forgotten. The client stays so until `csip/connect`.',
  (client, device) => client.disconnect(device),
  { reply: exampleDisconnected },
);

const rediscover = operation(
  'rediscover',
  'Walks from the DeviceCapability again',
  'Events that are known go on.',
  (client, device) => client.rediscover(device),
  { problems: ['not-connected'] },
);

const poll = operation(
  'poll',
  'Reads all polled resources at once',
  'The next poll of each resource is a poll rate later.',
  (client, device) => client.poll(device),
  { problems: ['not-connected'] },
);

const reconnect = route({
  method: 'post',
  path: '/csip/reconnect',
  tag,
  operationId: 'reconnect_csip',
  summary: 'Tries to connect now instead of at the end of the back-off',
  query: clientsQuery,
  reply: reconnectSchema,
  problems: ['disabled'],
  examples: { reply: { triggered: false } },
  handle: (ctx, { query: { device = null } }) => ({ triggered: enabledClient(ctx).reconnect(device) }),
});

const setCommunication = route({
  method: 'post',
  path: '/csip/communication',
  tag,
  operationId: 'set_csip_communication',
  summary: 'Loses the communication with the server, or restores it',
  description:
    'As if the line were cut: events go on as they are known, then default controls; responses and readings wait. On return ' +
    'events that ended meanwhile are skipped.',
  query: clientsQuery,
  body: communicationSchema,
  reply: statusSchema,
  problems: ['disabled'],
  examples: {
    body: { lost: true, duration_s: 600 },
    reply: {
      ...exampleStatus,
      state: 'retrying',
      connection: {
        ...exampleStatus.connection,
        communication_lost: { since: exampleConfig.changed_by?.changed_at, until: null },
      },
    },
  },
  handle(ctx, { query: { device = null }, body: { lost, duration_s: durationS = null } }) {
    enabledClient(ctx).communication(lost, durationS, device);
    return statusOf(ctx, device);
  },
});

const getCertificates = route({
  method: 'get',
  path: '/csip/certificates',
  tag,
  operationId: 'get_csip_certificates',
  summary: 'Facts of the certificate that the client presents',
  query: clientQuery,
  reply: certificatesSchema,
  examples: { reply: exampleCertificates },
  handle: ({ csipClient }, { query: { device = null } }) => certificatesReply(csipClient.certificates(device)),
});

const selectCertificate = route({
  method: 'post',
  path: '/csip/certificates',
  tag,
  operationId: 'select_csip_certificate',
  summary: 'Connects with another chain of certificates',
  description:
    'A chain of the directory `--use_test_pki_certs`, those that a server must refuse (COMM-004) among them, or PEM texts.',
  query: clientQuery,
  body: selectionSchema,
  maxTextLength: maxPemLength,
  secretMembers,
  reply: certificatesSchema,
  problems: ['disabled', 'conflict'],
  examples: { body: { select: 'default' }, reply: exampleCertificates },
  async handle(ctx, { query: { device = null }, body }) {
    const choice =
      'select' in body ? body.select : { cert: body.cert_pem, key: body.key_pem, rootCert: body.root_cert_pem };
    return certificatesReply(await enabledClient(ctx).selectCertificate(choice, device));
  },
});

const probe = route({
  method: 'post',
  path: '/csip/http-probe',
  tag,
  operationId: 'probe_csip_http',
  summary: 'Asks the server over plain HTTP, to see whether it redirects',
  description: 'Sends a GET without TLS to the host of the server and follows nothing.',
  query: clientQuery,
  body: probeBodySchema,
  reply: probeSchema,
  problems: ['disabled', 'upstream-error', 'upstream-timeout'],
  examples: {
    body: { path: '/dcap', http_port: 8080 },
    reply: { url: 'http://127.0.0.1:8080/dcap', status: 301, location: 'https://127.0.0.1:8443/dcap' },
  },
  async handle(ctx, { query: { device = null }, body: { path = null, http_port: port = null } }) {
    return { ...(await enabledClient(ctx).httpProbe(path, port, device)) };
  },
});

const getDiagnostics = route({
  method: 'get',
  path: '/csip/diagnostics',
  tag,
  operationId: 'get_csip_diagnostics',
  summary: 'What is wrong or unusual about client and server',
  query: clientQuery,
  reply: diagnosticsSchema,
  examples: { reply: exampleDiagnostics },
  handle: ({ csipClient }, { query: { device = null } }) => diagnosticsReply(csipClient.diagnostics(device)),
});

const discover = route({
  method: 'post',
  path: '/csip/discover',
  tag,
  operationId: 'discover_csip_servers',
  summary: 'Searches the network for servers by DNS-SD',
  description:
    'Asks for `_smartenergy._tcp` over multicast DNS and collects answers for 5 s. Connects to none of them.',
  body: z.strictObject({}),
  reply: foundServersSchema,
  problems: ['disabled', 'conflict', 'upstream-error'],
  examples: { body: {}, reply: exampleServers },
  async handle(ctx) {
    const found = await enabledClient(ctx).discoverServers();
    return {
      servers: found.map((server) => ({
        name: server.name,
        host: server.host,
        addresses: [...server.addresses],
        port: server.port,
        https_port: server.httpsPort,
        dcap: server.dcap,
        level: server.level,
        permitted: server.permitted,
      })),
    };
  },
});

export const csipClientRoutes: readonly Route[] = [
  getClient,
  getStatus,
  getConfig,
  setConfig,
  connect,
  disconnect,
  reconnect,
  rediscover,
  poll,
  setCommunication,
  getCertificates,
  selectCertificate,
  probe,
  discover,
  getDiagnostics,
];
