/** The client of IEEE 2030.5: its state, settings and connection, and the resources of its head-end. */
import { maxPemLength } from '../../contract/certificates.ts';
import type { CsipClient } from '../../contract/csip-client.ts';
import { camelCased } from '../common/members.ts';
import { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { replyInPieces } from '../http/streaming.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  certificates,
  clientQuery,
  clientsQuery,
  communicationBodySchema,
  config,
  configBodySchema,
  control,
  controls,
  controlsQuery,
  controlWithXml,
  curves,
  defaultLimit,
  diagnostics,
  endDevices,
  foundServers,
  mridParams,
  optBodySchema,
  probeAnswer,
  probeBodySchema,
  programs,
  reconnection,
  responses,
  responsesQuery,
  secretMembers,
  selectionBodySchema,
  serverTime,
  status,
} from './members.ts';
import { csipReportRoutes, enabledClient, tag, view, viewedClient } from './reports.ts';

function statusOf(ctx: RouteContext, device: number | null) {
  const client = viewedClient(ctx, device);
  return status.reply(client.status(device), { enabled: client.enabled, nowMs: ctx.clock.nowMs() });
}

const statusRoute = (path: string, operationId: string, summary: string) =>
  route({
    method: 'get',
    path,
    tag,
    operationId,
    summary,
    description:
      'Without `device`: the client of the first device. If the client is disabled, `enabled` is false, and all else ' +
      'null or empty. Instants of the server are times of its clock.',
    query: clientQuery,
    reply: status.schema,
    handle: (ctx, { query: { device = null } }) => statusOf(ctx, device),
  });

/** An operation on one client or all, started at once; `state` shows its progress. */
function operation(
  name: string,
  summary: string,
  description: string,
  act: (client: CsipClient, device: number | null) => void | Promise<void>,
  problems: readonly 'not-connected'[] = [],
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
    reply: status.schema,
    problems: ['disabled', ...problems],
    async handle(ctx, { query: { device = null } }) {
      await act(enabledClient(ctx, device), device);
      return statusOf(ctx, device);
    },
  });
}

export const csipRoutes: readonly Route[] = [
  statusRoute('/csip-client', 'get_csip_client', 'State of the client of IEEE 2030.5 (CSIP)'),
  statusRoute('/csip/status', 'get_csip_status', 'The same as `csip-client`'),
  route({
    method: 'get',
    path: '/csip/config',
    tag,
    operationId: 'get_csip_config',
    summary: 'Settings of the client; keys and PIN are never shown',
    query: clientQuery,
    reply: config.schema,
    handle: (ctx, { query: { device = null } }) => config.reply(viewedClient(ctx, device).config(device) ?? {}, ctx),
  }),
  route({
    method: 'post',
    path: '/csip/config',
    tag,
    operationId: 'set_csip_config',
    summary: 'Changes settings of the client',
    description:
      'Changes all clients, except that `lfdi` and the certificates of `per_device` clients apply to `device` alone. ' +
      'A change of server, certificates or LFDI reconnects. A server that the outbound rules refuse, and a key that ' +
      'does not belong to its certificate, change nothing.',
    query: clientQuery,
    body: configBodySchema,
    maxTextLength: maxPemLength,
    secretMembers,
    isSetup: true,
    reply: config.schema,
    problems: ['disabled', 'conflict'],
    async handle(ctx, { query: { device = null }, body, by }) {
      const client = enabledClient(ctx, device);
      if (Object.keys(body).length === 0) throw invalid('body', '', 'must name at least one setting');
      return config.reply(await client.configure(camelCased(body), device, by), ctx);
    },
  }),
  operation(
    'connect',
    'Connects clients that were disconnected',
    'The walk begins at the DeviceCapability. A connected client stays connected.',
    (client, device) => client.connect(device),
  ),
  operation(
    'disconnect',
    'Ends controls and connections',
    'Values of controls in force are released, and events are forgotten. ' +
      'The client stays disconnected until `csip/connect`.',
    (client, device) => client.disconnect(device),
  ),
  route({
    method: 'post',
    path: '/csip/reconnect',
    tag,
    operationId: 'reconnect_csip',
    summary: 'Tries to connect now instead of at the end of the back-off',
    query: clientsQuery,
    reply: reconnection.schema,
    problems: ['disabled'],
    handle: (ctx, { query: { device = null } }) => ({ triggered: enabledClient(ctx, device).reconnect(device) }),
  }),
  operation(
    'rediscover',
    'Walks from the DeviceCapability again',
    'Known events continue.',
    (client, device) => client.rediscover(device),
    ['not-connected'],
  ),
  operation(
    'poll',
    'Reads all polled resources at once',
    'The next poll of each resource is a poll rate later.',
    (client, device) => client.poll(device),
    ['not-connected'],
  ),
  route({
    method: 'post',
    path: '/csip/communication',
    tag,
    operationId: 'set_csip_communication',
    summary: 'Loses the communication with the server, or restores it',
    description:
      'As if the line were cut: known events continue, then default controls; responses and readings wait. On return ' +
      'events that ended meanwhile are skipped.',
    query: clientsQuery,
    body: communicationBodySchema,
    reply: status.schema,
    problems: ['disabled'],
    handle(ctx, { query: { device = null }, body: { lost, duration_s: durationS = null } }) {
      enabledClient(ctx, device).setCommunicationLost(lost, durationS, device);
      return statusOf(ctx, device);
    },
  }),
  view(
    'certificates',
    'get_csip_certificates',
    'Facts of the certificate that the client presents, and its EndDevices',
    certificates,
    (client, device) => client.certificates(device),
  ),
  route({
    method: 'post',
    path: '/csip/certificates',
    tag,
    operationId: 'select_csip_certificate',
    summary: 'Connects with another chain of certificates',
    description:
      'PEM texts, or a chain of the directory `--use_test_pki_certs`, which has chains that a server must refuse ' +
      '(COMM-004) as well.',
    query: clientQuery,
    body: selectionBodySchema,
    maxTextLength: maxPemLength,
    secretMembers,
    isSetup: true,
    reply: certificates.schema,
    problems: ['disabled', 'conflict'],
    async handle(ctx, { query: { device = null }, body }) {
      const choice =
        'select' in body ? body.select : { cert: body.cert_pem, key: body.key_pem, rootCert: body.root_cert_pem };
      return certificates.reply(await enabledClient(ctx, device).selectCertificate(choice, device));
    },
  }),
  route({
    method: 'post',
    path: '/csip/http-probe',
    tag,
    operationId: 'probe_csip_http',
    summary: 'Sends a GET over plain HTTP, to see if the server redirects',
    description: 'Sends the GET to the host of the server and follows no redirect.',
    query: clientQuery,
    body: probeBodySchema,
    reply: probeAnswer.schema,
    problems: ['disabled', 'upstream-error', 'upstream-timeout'],
    async handle(ctx, { query: { device = null }, body: { path = null, http_port: port = null } }) {
      return probeAnswer.reply(await enabledClient(ctx, device).httpProbe(path, port, device));
    },
  }),
  route({
    method: 'post',
    path: '/csip/discover',
    tag,
    operationId: 'discover_csip_servers',
    summary: 'Searches the network for servers by DNS-SD',
    description: 'Asks for `_smartenergy._tcp` over multicast DNS and collects answers for 5 s. Connects to no server.',
    body: z.strictObject({}),
    reply: foundServers.schema,
    problems: ['disabled', 'conflict', 'upstream-error'],
    handle: async (ctx) => foundServers.reply(await enabledClient(ctx).discoverServers()),
  }),
  view(
    'diagnostics',
    'get_csip_diagnostics',
    'Errors, warnings and hints about client and server',
    diagnostics,
    (client, device) => client.diagnostics(device),
  ),
  route({
    method: 'get',
    path: '/csip/time',
    tag,
    operationId: 'get_csip_time',
    summary: 'Clock of the server',
    query: clientQuery,
    reply: serverTime.schema,
    problems: ['not-connected'],
    handle(ctx, { query: { device = null } }) {
      const time = viewedClient(ctx, device).time(device);
      if (time === null) throw new HttpProblem('not-connected', 'No Time resource of a server has been read.');
      return serverTime.reply(time);
    },
  }),
  view('end-devices', 'list_csip_end_devices', 'EndDevices of the server', endDevices, (client, device) =>
    client.endDevices(device),
  ),
  route({
    method: 'get',
    path: '/csip/programs',
    tag,
    operationId: 'list_csip_programs',
    summary: 'DERPrograms with their default controls and curves',
    query: clientQuery,
    reply: programs.schema,
    handle: (ctx, { query: { device = null } }) =>
      replyInPieces(programs.reply(viewedClient(ctx, device).programs(device))),
  }),
  route({
    method: 'get',
    path: '/csip/controls',
    tag,
    operationId: 'list_csip_controls',
    summary: 'DERControls (events) with their states and responses',
    query: controlsQuery,
    reply: controls.schema,
    handle: (ctx, { query: { device = null, state, limit = defaultLimit } }) =>
      replyInPieces(controls.reply(viewedClient(ctx, device).controls(device, state).slice(0, limit))),
  }),
  route({
    method: 'get',
    path: '/csip/controls/{mrid}',
    tag,
    operationId: 'get_csip_control',
    summary: 'One event, with its XML as the server sent it',
    params: mridParams,
    query: clientQuery,
    reply: controlWithXml.schema,
    problems: ['unknown-resource'],
    handle: (ctx, { params: { mrid }, query: { device = null } }) =>
      controlWithXml.reply(viewedClient(ctx, device).control(mrid, device)),
  }),
  route({
    method: 'post',
    path: '/csip/controls/{mrid}/opt',
    tag,
    operationId: 'opt_csip_control',
    summary: 'The user takes part in an event, or does not',
    description:
      '`in` false: the event is no longer carried out (responses 4 and, at its end, 8); true: it is carried out ' +
      'again (5 and 9). Responses are sent if `responseRequired` requests them.',
    params: mridParams,
    query: clientsQuery,
    body: optBodySchema,
    reply: control.schema,
    problems: ['disabled', 'unknown-resource', 'conflict'],
    handle: (ctx, { params: { mrid }, query: { device = null }, body }) =>
      control.reply(enabledClient(ctx, device).opt(mrid, body.in, device)),
  }),
  view('curves', 'list_csip_curves', 'DERCurves, with values in the units of their axes', curves, (client, device) =>
    client.curves(device),
  ),
  route({
    method: 'get',
    path: '/csip/responses',
    tag,
    operationId: 'list_csip_responses',
    summary: 'Responses to events, sent and waiting',
    query: responsesQuery,
    reply: responses.schema,
    handle: (ctx, { query: { device = null, mrid, limit = defaultLimit } }) =>
      replyInPieces(responses.reply(viewedClient(ctx, device).responses(device, mrid).slice(0, limit))),
  }),
  ...csipReportRoutes,
];
