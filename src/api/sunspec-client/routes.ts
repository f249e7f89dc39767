import { maxPemLength } from '../../contract/certificates.ts';
import type { Adapter } from '../../core/adapter.ts';
import { maxUnitId } from '../../contract/modbus-report.ts';
import type { ClientTarget, ModelReading } from '../../contract/sunspec-client.ts';
import { modbusEndpoint } from '../common/device-replies.ts';
import { HttpProblem, invalid, invalidAll } from '../http/errors.ts';
import { givenText, suggestions } from '../../core/nearest.ts';
import { camelCased } from '../common/members.ts';
import { historyAnswer } from '../history/answer.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  chain,
  clientHistoryQuerySchema,
  clientHistorySchema,
  connectSchema,
  model,
  modelParamsSchema,
  modelQuerySchema,
  pointsWritten,
  poll,
  pollRequestSchema,
  readReplySchema,
  readRequestSchema,
  registersRead,
  registersWritten,
  status,
  writeReplySchema,
  writeRequestSchema,
} from './members.ts';
import type { ConnectRequest } from './members.ts';

const tag = 'SunSpec Client';
/** Problems of every operation that reaches the device. */
const peerProblems = ['conflict', 'too-many-requests', 'upstream-error', 'upstream-timeout', 'shortage'] as const;
const deviceProblems = [...peerProblems, 'not-connected'] as const;
const modelProblems = [...deviceProblems, 'unknown-resource'] as const;

const defaultTimeoutS = 2;
const ports = { tcp: 502, tls: 802 } as const;

const refusedBeside = (transport: string) =>
  ({
    rtu: {
      device: 'does not apply to a serial line',
      host: 'does not apply to a serial line',
      port: 'does not apply to a serial line',
      tls: 'does not apply to a serial line',
      transaction_id: 'does not apply to a serial line',
    },
    tcp: { serial: 'needs transport rtu', tls: 'needs transport tls' },
    tls: { serial: 'needs transport rtu' },
  })[transport] ?? {};

/** The request with the address of the simulated device in `device`. @throws HttpProblem `validation` */
function withSimulatedDevice(body: ConnectRequest, adapters: readonly Adapter[]): ConnectRequest {
  const { device, transport = 'tcp' } = body;
  if (device === undefined || transport === 'rtu') return body;
  const excluded = (['host', 'port'] as const).filter((name) => body[name] !== undefined);
  if (excluded.length > 0)
    throw invalidAll(
      excluded.map((name) => ({
        in: 'body' as const,
        name: `/${name}`,
        detail: 'cannot be given together with device',
      })),
    );
  const endpoint = modbusEndpoint(adapters, device);
  if (endpoint === null)
    throw invalid('body', '/device', `there is no device ${device} that is served over Modbus TCP`);
  const { host, port, unitId } = endpoint;
  // a server on all addresses is reached at the loopback address
  const place = { host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port };
  return { ...body, ...place, unit_id: body.unit_id ?? unitId };
}

/** @throws HttpProblem `validation` for members that do not go together */
function targetOf(body: ConnectRequest): ClientTarget {
  const {
    transport = 'tcp',
    host,
    port,
    unit_id: unitId = 1,
    timeout_s: timeoutS = defaultTimeoutS,
    base_address: base = null,
    transaction_id: transactionIds = 'strict',
    serial,
    tls,
  } = body;
  const extra = Object.entries(refusedBeside(transport)).filter(
    ([name]) => body[name as keyof ConnectRequest] !== undefined,
  );
  if (extra.length > 0)
    throw invalidAll(extra.map(([name, detail]) => ({ in: 'body' as const, name: `/${name}`, detail })));
  const common = { unitId, timeoutMs: timeoutS * 1000, baseAddress: base };
  if (transport === 'rtu') {
    if (serial === undefined) throw invalid('body', '/serial', 'is required for transport rtu');
    if (unitId < 1 || unitId > maxUnitId)
      throw invalid('body', '/unit_id', `must be from 1 to ${maxUnitId} on a serial line`);
    return { ...common, transport, serial: { baud: 9600, parity: 'N', stopBits: 1, ...camelCased(serial) } };
  }
  if (host === undefined) throw invalid('body', '/host', `is required for transport ${transport}`);
  const place = { ...common, host, port: port ?? ports[transport], transactionIds };
  if (transport === 'tcp') return { ...place, transport };
  if (tls === undefined) throw invalid('body', '/tls', 'is required for transport tls');
  return { ...place, transport, tls: { checkHostname: true, ...camelCased(tls) } };
}

/** @throws HttpProblem `validation` naming the points that the model does not have */
function chosenPoints(reading: ModelReading, names: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (names === undefined) return undefined;
  const present = new Set(
    [...reading.points, ...reading.groups.flatMap(({ points }) => points)].map(({ name }) => name),
  );
  const near = suggestions(() => [...present]);
  const unknown = names.flatMap((name, i) =>
    present.has(name)
      ? []
      : [
          {
            in: 'body' as const,
            name: `/points/${i}`,
            detail: `model ${reading.id} of the device has no point ${givenText(name)}${near(name)}`,
          },
        ],
  );
  if (unknown.length > 0) throw invalidAll(unknown);
  return new Set(names);
}

export const sunspecClientRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/sunspec-client',
    tag,
    operationId: 'get_sunspec_client',
    summary: 'State of the SunSpec client and of the device it polls',
    description:
      'Here the simulator is a master: it reads and writes one other SunSpec device over Modbus TCP, TLS or a serial line. ' +
      'It is idle until `connect`.',
    reply: status.schema,
    handle: (ctx) => status.reply(ctx.sunspecClient.view()),
  }),
  route({
    method: 'post',
    path: '/sunspec-client/connect',
    tag,
    operationId: 'connect_sunspec_client',
    summary: 'Connects to a device and walks its chain of models',
    description:
      'Replaces an earlier device. If polling is enabled, it continues with the new one. After a failure the client has no ' +
      'map and is in state `error`.',
    body: connectSchema,
    maxTextLength: maxPemLength,
    secretMembers: ['tls'],
    reply: status.schema,
    problems: peerProblems,
    handle: async ({ sunspecClient, adapters }, { body }) =>
      status.reply(await sunspecClient.connect(targetOf(withSimulatedDevice(body, adapters)))),
  }),
  route({
    method: 'post',
    path: '/sunspec-client/disconnect',
    tag,
    operationId: 'disconnect_sunspec_client',
    summary: 'Disconnects from the device',
    description: 'Operations in progress fail with `conflict`. The polling settings and the history are kept.',
    reply: status.schema,
    handle: async (ctx) => status.reply(await ctx.sunspecClient.disconnect()),
  }),
  route({
    method: 'post',
    path: '/sunspec-client/scan',
    tag,
    operationId: 'scan_sunspec_client',
    summary: 'Walks the chain of models again',
    reply: chain.schema,
    problems: deviceProblems,
    handle: async (ctx) => chain.reply({ discovery: await ctx.sunspecClient.scan() }),
  }),
  route({
    method: 'get',
    path: '/sunspec-client/models',
    tag,
    operationId: 'list_client_models',
    summary: 'Models found in the device',
    reply: chain.schema,
    problems: ['not-connected'],
    handle(ctx) {
      const { discovery } = ctx.sunspecClient.view();
      if (discovery === null)
        throw new HttpProblem('not-connected', 'The SunSpec client has not found the map of a device.');
      return chain.reply({ discovery });
    },
  }),
  route({
    method: 'get',
    path: '/sunspec-client/models/{model_id}',
    tag,
    operationId: 'get_client_model',
    summary: 'Points of a model of the device, decoded and raw',
    description:
      'The last reading with its time; reads now with `refresh=true`, or if the model was never read. The answer has every ' +
      'point; the example shows two.',
    params: modelParamsSchema,
    query: modelQuerySchema,
    reply: model.schema,
    problems: modelProblems,
    handle: async (ctx, { params, query }) =>
      model.reply(await ctx.sunspecClient.readModel(params.model_id, query.index ?? 0, query.refresh ?? false), {}),
  }),
  route({
    method: 'post',
    path: '/sunspec-client/read',
    tag,
    operationId: 'read_client',
    summary: 'Reads points of a model, or registers, now',
    description: 'Requests are split between points, at 125 registers, and further if the device refuses that size.',
    body: readRequestSchema,
    reply: readReplySchema,
    problems: modelProblems,
    async handle(ctx, { body }) {
      if ('address' in body)
        return registersRead.reply({
          address: body.address,
          registers: await ctx.sunspecClient.readRegisters(body.address, body.count),
        });
      const reading = await ctx.sunspecClient.readModel(body.model, body.index ?? 0, true);
      return model.reply(reading, { names: chosenPoints(reading, body.points) });
    },
  }),
  route({
    method: 'post',
    path: '/sunspec-client/write',
    tag,
    operationId: 'write_client',
    summary: 'Writes points of a model, or registers, and reads them back',
    description:
      'Before anything is sent, values are checked against type and symbols, and scaled by the current scale factors of the ' +
      'device. Adjacent points are written together with function 16, a single register with function 6; if the device does not ' +
      'support one of them (exception 1), the other is used. Values are written first, then adoption requests, then enables. If the ' +
      'device refuses a request, the problem lists what was written before. If the device accepts a write and then shows another ' +
      'value, the answer is 200 with `match` false.',
    body: writeRequestSchema,
    reply: writeReplySchema,
    problems: modelProblems,
    async handle(ctx, { body }) {
      if ('address' in body)
        return registersWritten.reply(await ctx.sunspecClient.writeRegisters(body.address, body.registers));
      return pointsWritten.reply(await ctx.sunspecClient.writePoints(body.model, body.index ?? 0, body.points));
    },
  }),
  route({
    method: 'get',
    path: '/sunspec-client/poll',
    tag,
    operationId: 'get_client_poll',
    summary: 'Settings and state of polling',
    reply: poll.schema,
    handle: (ctx) => poll.reply(ctx.sunspecClient.view().poll),
  }),
  route({
    method: 'post',
    path: '/sunspec-client/poll',
    tag,
    operationId: 'set_client_poll',
    summary: 'Sets polling and restarts it',
    description:
      'Each round that reads a model makes a sample of the history. A round that is under way ends after the model that it ' +
      'reads, and makes no sample. After a lost connection the client reconnects at growing intervals with a ' +
      'random part, up to a minute. Without a device the settings are kept for the next one.',
    body: pollRequestSchema,
    reply: poll.schema,
    handle(ctx, { body }) {
      const { poll: before, discovery } = ctx.sunspecClient.view();
      const {
        enabled = before.enabled,
        interval_s: intervalS = before.intervalMs / 1000,
        models = before.models,
      } = body;
      const present = discovery && new Set(discovery.models.map(({ id }) => id));
      const unknown = (body.models ?? []).flatMap((id, i) =>
        present === null || present.has(id)
          ? []
          : [
              {
                in: 'body' as const,
                name: `/models/${i}`,
                detail: `the device does not have model ${id}`,
                allowed: [...present],
              },
            ],
      );
      if (unknown.length > 0) throw invalidAll(unknown);
      return poll.reply(
        ctx.sunspecClient.poll({ enabled, intervalMs: intervalS * 1000, models: models && [...new Set(models)] }),
      );
    },
  }),
  route({
    method: 'get',
    path: '/sunspec-client/history',
    tag,
    operationId: 'get_client_history',
    summary: 'Samples of the past rounds of polling',
    description:
      'Like `history`, but on wall time: both times of a sample are those of its round, whose number is `tick`. All samples ' +
      'are of one device, identified by endpoint and unit id: the one whose map was found last. Another device starts an empty ' +
      'history; the same device continues it after an outage, a disconnect or a failed connect to another.',
    query: clientHistoryQuerySchema,
    reply: clientHistorySchema,
    otherMedia: ['text/csv'],
    handle(ctx, { query }) {
      const { remoteHistory: history, sunspecClient } = ctx;
      return historyAnswer(history, {
        query,
        nowMs: ctx.clock.nowMs(),
        owner: 'the SunSpec client',
        fileName: 'history-sunspec-client',
        head: {
          endpoint: history.device?.endpoint ?? null,
          unit_id: history.device?.unitId ?? null,
          interval_s: sunspecClient.view().poll.intervalMs / 1000,
          capacity: history.depth,
        },
      });
    },
  }),
];
