import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { shortageOf } from '../core/errors.ts';
import { newestAnswer } from '../core/http/connections.ts';
import type { HttpGuard } from '../core/http/http-guard.ts';
import { createProblem, refuseOnSocket } from '../core/http/problem.ts';
import type { ProblemCode, ProblemIssue } from '../core/http/problem.ts';
import { streamForms, streamRates } from '../contract/stream-report.ts';
import type { StreamForm } from '../contract/stream-report.ts';

export const streamPaths = ['/api/sim/ws/telemetry', '/api/sim/telemetry/ws'] as const;

/** The stream of the timeline, which has clients of its own. */
export const timelinePath = '/api/sim/ws/timeline';

/** maximum that REST accepts */
const maxDeviceIndex = 999_999_999;

interface HandshakeRules {
  /** true: upgrades of the timeline alone; else all others, those without a stream among them */
  readonly isTimeline?: boolean;
  /** false: there is no message of all devices in columns */
  readonly hasColumns?: boolean;
  readonly guard: HttpGuard;
  readonly deviceExists: (index: number) => boolean;
  /** indexes that a shard of a fleet has; null: there is no such shard. Default: there are no shards */
  readonly rangeOfShard?: (name: string) => DeviceRange | null;
  readonly clients: () => number;
  readonly maxClients: () => number;
  readonly stopping: () => boolean;
  /** Called for a handshake that is right. @throws any error: no client can be accepted now */
  readonly prepare: () => unknown;
}

/** Indexes, both ends included. */
export interface DeviceRange {
  readonly first: number;
  readonly last: number;
}

/** The selection of a client. */
export interface Selection {
  /** null: all devices, or those of the range */
  readonly device: number | null;
  /** null: no bounds */
  readonly range: DeviceRange | null;
  readonly form: StreamForm;
  /** maximum of messages of each kind per second of wall time; null: one for each tick */
  readonly maxRate: number | null;
}

interface Refused {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly faults?: readonly ProblemIssue[];
  readonly headers?: Readonly<Record<string, string>>;
}

function invalidQuery(name: string, detail: string, allowed?: readonly string[]): Refused {
  const fault: ProblemIssue = { in: 'query', name, detail, ...(allowed && { allowed }) };
  return { code: 'validation', detail: `${name}: ${detail}`, faults: [fault] };
}

const parameters = ['device', 'devices', 'form', 'max_rate'];

const isRefused = (value: unknown): value is Refused => typeof value === 'object' && value !== null && 'code' in value;

function selectDevice(value: string | null, { deviceExists }: HandshakeRules): number | null | Refused {
  if (value === null) return null;
  if (!/^\d+$/.test(value)) return invalidQuery('device', 'must be an integer, 0 or more');
  if (Number(value) > maxDeviceIndex) return invalidQuery('device', `must be at most ${maxDeviceIndex}`);
  if (!deviceExists(Number(value))) return { code: 'unknown-device', detail: `There is no device ${value}.` };
  return Number(value);
}

function readRange(text: string): DeviceRange | Refused {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  return range.first <= range.last && range.last <= maxDeviceIndex
    ? range
    : invalidQuery('devices', `must be first-last, two indexes of at most ${maxDeviceIndex} in ascending order`);
}

function selectRange(query: URLSearchParams, { rangeOfShard }: HandshakeRules): DeviceRange | null | Refused {
  const given = ['device', 'devices', 'shard'].filter((name) => query.has(name));
  if (given.length > 1) return invalidQuery(given[1] ?? '', `does not go with ${given[0] ?? ''}`);
  const devices = query.get('devices');
  if (devices !== null) return readRange(devices);
  const shard = query.get('shard');
  if (shard === null) return null;
  const range = rangeOfShard?.(shard) ?? null;
  return range ?? { code: 'unknown-resource', detail: `There is no shard "${shard.slice(0, 100)}" in the fleet.` };
}

function selectForm(
  value: string | null,
  { device, range }: Pick<Selection, 'device' | 'range'>,
  { hasColumns = true }: HandshakeRules,
): StreamForm | Refused {
  const form = streamForms.find((each) => each === (value ?? 'snapshots'));
  if (form === undefined) return invalidQuery('form', `must be ${streamForms.join(' or ')}`, streamForms);
  if (form === 'fleet' && !hasColumns)
    return invalidQuery('form', 'must be snapshots: this stream has no message of all devices', ['snapshots']);
  if (form === 'fleet' && device !== null) return invalidQuery('device', 'does not go with form=fleet, which has all');
  if (form === 'fleet' && range !== null) return invalidQuery('devices', 'does not go with form=fleet, which has all');
  return form;
}

function selectRate(value: string | null): number | null | Refused {
  if (value === null) return null;
  const rate = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (rate >= streamRates.min && rate <= streamRates.max) return rate;
  return invalidQuery('max_rate', `must be a number of messages per second, ${streamRates.min}..${streamRates.max}`);
}

function select(query: URLSearchParams, rules: HandshakeRules): Selection | Refused {
  const withShards = rules.rangeOfShard === undefined ? parameters : [...parameters, 'shard'];
  const names = rules.isTimeline === true ? [] : withShards;
  const unknown = [...query.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) return invalidQuery(unknown.slice(0, 100), 'is not a parameter of the stream', names);
  const repeated = names.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) return invalidQuery(repeated, 'must be given once');
  const device = selectDevice(query.get('device'), rules);
  if (isRefused(device)) return device;
  const range = selectRange(query, rules);
  if (isRefused(range)) return range;
  const form = selectForm(query.get('form'), { device, range }, rules);
  if (isRefused(form)) return form;
  const maxRate = selectRate(query.get('max_rate'));
  return isRefused(maxRate) ? maxRate : { device, range, form, maxRate };
}

/** Requirements of RFC 6455 4.2.1 on the client. */
function checkProtocol({ method, headers }: IncomingMessage): Refused | null {
  const version = { 'Sec-WebSocket-Version': '13' };
  const refuse = (detail: string): Refused => ({ code: 'malformed-request', detail, headers: version });
  if (method !== 'GET')
    return { code: 'method-not-allowed', detail: 'The stream is opened with GET.', headers: { Allow: 'GET' } };
  if (headers['sec-websocket-version'] !== '13') return refuse('Sec-WebSocket-Version must be 13.');
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key']?.trim() ?? '')) {
    return refuse('Sec-WebSocket-Key must be 16 bytes in base64.');
  }
  return null;
}

/** The refusal of a handshake that nothing can be done for; null: it can be accepted. */
function unprepared(prepare: () => unknown): Refused | null {
  try {
    prepare();
    return null;
  } catch (error) {
    const shortage = shortageOf(error);
    if (shortage !== null) return { code: 'shortage', detail: shortage.message };
    return { code: 'internal', detail: 'The stream cannot be loaded; start the simulator again.' };
  }
}

/** The selection of an accepted upgrade, or its refusal. */
function checkHandshake(request: IncomingMessage, rules: HandshakeRules): Selection | Refused {
  const refusal = rules.guard.checkHost(request) ?? rules.guard.checkOrigin(request);
  if (refusal) return refusal;
  if (rules.stopping()) return { code: 'stopping', detail: 'The simulator is stopping.' };
  // by default the HTTP server ignores offers of other protocols
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
    return { code: 'malformed-request', detail: 'The only upgrade is that to websocket.' };
  }
  if (newestAnswer(request.socket)?.closed === false) {
    return {
      code: 'malformed-request',
      detail: 'The stream can be opened when the requests before it on the connection are answered.',
    };
  }
  const target = request.url ?? '';
  if (!target.startsWith('/') || target.includes('#')) {
    return { code: 'malformed-request', detail: 'The request target must be a path.' };
  }
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (rules.isTimeline !== true && !streamPaths.some((streamPath) => streamPath === path)) {
    return { code: 'not-found', detail: `There is no stream at ${path.slice(0, 200)}.` };
  }
  const fault = checkProtocol(request);
  if (fault) return fault;
  const selection = select(new URLSearchParams(mark < 0 ? '' : target.slice(mark)), rules);
  if ('code' in selection) return selection;
  const maxClients = rules.maxClients();
  if (rules.clients() >= maxClients) {
    return { code: 'too-many-clients', detail: `${maxClients} clients are connected; no more are served.` };
  }
  return unprepared(rules.prepare) ?? selection;
}

function refuse(request: IncomingMessage, socket: Duplex, { code, detail, faults, headers }: Refused): void {
  const problem = createProblem(code, detail, { instance: request.url ?? '', id: crypto.randomUUID() }, faults);
  refuseOnSocket(socket, problem, headers);
}

/** An upgrade that passed all checks. */
export interface AcceptedUpgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** octets after the request */
  readonly head: Buffer;
  readonly selection: Selection;
}

/**
 * Checks upgrades before the WebSocket library: a refusal is a problem body instead of the handshake, also for errors
 * that only the library finds (`refuseHandshake`). The library's own `verifyClient` would be too late: it runs after
 * the checks of method, version, key and protocol, to which the library answers with an HTML page.
 * @returns a function that ends the checks
 */
export function guardUpgrades(
  server: Server,
  rules: HandshakeRules,
  accepted: (upgrade: AcceptedUpgrade) => void,
): () => void {
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if ((request.url?.split('?', 1)[0] === timelinePath) !== (rules.isTimeline === true)) return;
    // a client that disconnects during the handshake
    const onError = () => socket.destroy();
    socket.on('error', onError);
    const outcome = checkHandshake(request, rules);
    if ('code' in outcome) {
      refuse(request, socket, outcome);
      return;
    }
    socket.off('error', onError);
    accepted({ request, socket, head, selection: outcome });
  };
  server.on('upgrade', onUpgrade);
  return () => server.off('upgrade', onUpgrade);
}

/** Refuses a header for subprotocols or extensions that breaks its grammar, which only the library finds. */
export function refuseHandshake(error: Error, socket: Duplex, request: IncomingMessage): void {
  refuse(request, socket, { code: 'malformed-request', detail: `The handshake is not valid: ${error.message}.` });
}
