/** Carries out the operations of a gateway that concern shards, by their rules. */
import { problemTable } from '../../core/http/problem.ts';
import type { Origin } from '../../core/origin.ts';
import { describeError, HttpProblem, invalid } from '../../api/http/errors.ts';
import { siteRoute } from '../../api/site.ts';
import { apiPrefix } from '../../api/http/route.ts';
import type { Route } from '../../api/http/route.ts';
import { DeviceList, deviceListQuery } from './device-list.ts';
import type { StreamedList } from './device-list.ts';
import type { ForwardedReply, Forwarder, ShardPlace } from './forward.ts';
import { faultParts, inRequest, listOfFaults } from './faults.ts';
import type { FaultPart } from './faults.ts';
import { joinLists, missingOf, readRecordId, recordId, withRecordIds } from './lists.ts';
import type { ListPart } from './lists.ts';
import { FleetOverview } from './overview.ts';
import { ruleOf, sharedRules } from './rules.ts';
import type { RuleName } from './rules.ts';
import { joinHistory, joinScopes } from './site-parts.ts';

export interface RoutedRequest {
  readonly route: Route;
  readonly method: string;
  /** path and query with the prefix, as the client sent them */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** value of the body, which names the device of some operations */
  readonly body: unknown;
  /** the same as received; empty: none */
  readonly bytes: Uint8Array;
  readonly by: Origin;
  readonly id: string;
  /** true: the connection of the client, and that of the fleet, keep private keys; default: false */
  readonly isPrivate?: boolean;
}

interface Failed {
  readonly shard: ShardPlace;
  readonly problem: { readonly status: number; readonly code: string; readonly detail: string };
  /** the reply of the shard; absent: it gave none */
  readonly reply?: ForwardedReply;
  readonly error?: unknown;
}

interface Outcomes {
  readonly done: readonly { readonly shard: ShardPlace; readonly reply: ForwardedReply }[];
  readonly failed: readonly Failed[];
}

const json = 'application/json';
/** Charge points whose shards are known; beyond them the shards are asked again. */
const maxStations = 100_000;
/** Status of a request that some shards have carried out, and others not. */
const partly = 207;

function jsonReply(status: number, body: unknown, headers: ForwardedReply['headers'] = {}): ForwardedReply {
  return { status, type: json, headers, bytes: Buffer.from(JSON.stringify(body)) };
}

const valueOf = ({ bytes }: ForwardedReply) => JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>;

export class ShardRouter {
  readonly #forwarder: Pick<Forwarder, 'forward'>;
  readonly #shards: () => readonly ShardPlace[];
  readonly #lead: (request: RoutedRequest) => Promise<ForwardedReply>;
  readonly #indexes: (shard: string) => readonly number[];
  readonly #overview: FleetOverview;
  /** names of the shards that have the charge points asked for, by identity */
  readonly #stations = new Map<string, string>();

  /**
   * @param shards those of the fleet in the order of their devices
   * @param nowMs monotonic
   * @param lead carries out what only the leader of the fleet may do
   * @param indexes devices of a shard
   */
  constructor(
    forwarder: Pick<Forwarder, 'forward'>,
    shards: () => readonly ShardPlace[],
    nowMs: () => number,
    lead: (request: RoutedRequest) => Promise<ForwardedReply>,
    indexes: (shard: string) => readonly number[] = () => [],
  ) {
    this.#forwarder = forwarder;
    this.#lead = lead;
    this.#indexes = indexes;
    this.#shards = shards;
    this.#overview = new FleetOverview(shards, nowMs);
  }

  /**
   * @returns null: the gateway answers itself
   * @throws HttpProblem for requests that reach no shard
   */
  async answer(request: RoutedRequest): Promise<ForwardedReply | StreamedList | null> {
    const rule = ruleOf(request.route.operationId);
    const { shard } = request.query;
    if (rule !== null && takesShard(rule.name, request.route) && typeof shard === 'string')
      return this.#atShard(this.#named(shard), rule.name, { ...request, path: withoutShard(request.path) });
    switch (rule?.name) {
      case 'own':
        if (endsFleet(request)) await this.#askAll({ ...request, bytes: Buffer.from('{}') });
        return null;
      case 'leader':
        return this.#lead(request);
      case 'shard':
        return this.#pass(this.#named(request.params['name'] ?? ''), { ...request, path: `${apiPrefix}/stop` });
      case undefined:
        throw new HttpProblem('fleet-unsupported', 'A gateway does not serve this operation.');
      case 'unsupported':
        throw new HttpProblem('fleet-unsupported', rule.detail);
      case 'index':
        return this.#pass(this.#holding(Number(request.params['index'])), request);
      case 'station':
        return this.#atStation(request.params['id'] ?? '', request);
      case 'record':
        return this.#record(request);
      case 'device':
        return this.#byDevice(request);
      case 'device-or-all':
        return request.query['device'] === undefined ? this.#all(request) : this.#byDevice(request);
      case 'all':
        return this.#all(request);
      case 'any':
        return this.#pass(this.#firstLive(), request);
      case 'overview':
        return this.#overviewOf(request);
      case 'site':
        return this.#site(request);
      case 'site-parts':
        return this.#siteParts(request);
      case 'faults':
        return this.#faults(request);
      case 'list':
        return this.#listed(request);
      case 'chosen':
        return this.#chosen(request);
    }
  }

  async #pass(shard: ShardPlace, request: RoutedRequest): Promise<ForwardedReply> {
    const { method, path, bytes, by, id, isPrivate = false } = request;
    const reply = await this.#forwarder.forward(shard, { method, path, body: bytes, by, id, isPrivate });
    return hasRecordIds(request) && reply.status < 300 ? named(shard, reply) : reply;
  }

  /** A request for all shards that names one of them. */
  #atShard(shard: ShardPlace, rule: RuleName, request: RoutedRequest): Promise<ForwardedReply> {
    return rule === 'list' ? this.#list(request, [shard]) : this.#pass(shard, request);
  }

  #listed(request: RoutedRequest): Promise<ForwardedReply | StreamedList> {
    const { device, after_id: afterId } = request.query;
    if (request.route.operationId === 'list_devices') return this.#devices(request);
    if (device !== undefined) return this.#list(request, [this.#holding(Number(device))]);
    if (Number(afterId ?? 0) > 0)
      throw invalid('query', 'after_id', 'ids count in each shard: give shard too, or select by time');
    return this.#list(request);
  }

  #byDevice(request: RoutedRequest): Promise<ForwardedReply> {
    // submit_command: a device in the body overrides the parameter
    const inBody = (request.body as { readonly device?: unknown } | null | undefined)?.device;
    if (request.route.operationId === 'submit_command' && inBody === 'all')
      throw new HttpProblem('fleet-unsupported', 'A gateway sends commands to one device each: name its index.');
    const device = typeof inBody === 'number' ? inBody : request.query['device'];
    return this.#pass(device === undefined ? this.#first() : this.#holding(Number(device)), request);
  }

  /** @throws HttpProblem `shard-lost` */
  #first(): ShardPlace {
    const [first] = this.#shards();
    if (first === undefined) throw new HttpProblem('shard-lost', 'No shard has joined the fleet yet.');
    return first;
  }

  /** @throws HttpProblem `shard-lost` */
  #firstLive(): ShardPlace {
    return this.#shards().find(({ isLost }) => !isLost) ?? this.#first();
  }

  /** @throws HttpProblem `unknown-device` */
  #holding(index: number): ShardPlace {
    const shard = this.#shards().find(({ first, room }) => index >= first && index < first + room);
    if (shard === undefined) throw new HttpProblem('unknown-device', `There is no shard with the device ${index}.`);
    return shard;
  }

  /** A shard that no longer has the charge point refuses with 404: then another one may have it. */
  async #atStation(id: string, request: RoutedRequest): Promise<ForwardedReply> {
    const former = this.#find(this.#stations.get(id) ?? '');
    const reply = former && (await this.#pass(former, request));
    if (reply !== null && reply.status !== 404) return reply;
    const holder = await this.#holderOf(id, request);
    return reply !== null && holder.name === former?.name ? reply : this.#pass(holder, request);
  }

  /**
   * Identities are not in the leases, which are renewed each second: the shards are asked for one when it is first used.
   *
   * @throws HttpProblem `unknown-resource`, or the refusal of a shard that may have it
   */
  async #holderOf(id: string, request: RoutedRequest): Promise<ShardPlace> {
    const path = `${apiPrefix}/evse/${encodeURIComponent(id)}`;
    const { done, failed } = await this.#askAll({ ...request, method: 'GET', path, bytes: new Uint8Array(0) });
    const [first] = done;
    if (first === undefined) {
      const silent = failed.find(({ error }) => error instanceof Error);
      if (silent?.error instanceof Error) throw silent.error;
      throw new HttpProblem('unknown-resource', `There is no charge point "${id}" in the fleet.`);
    }
    if (this.#stations.size >= maxStations) this.#stations.clear();
    this.#stations.set(id, first.shard.name);
    return this.#find(first.shard.name) ?? first.shard;
  }

  #find(name: string): ShardPlace | null {
    return this.#shards().find((shard) => shard.name === name) ?? null;
  }

  /** @throws HttpProblem `unknown-resource` */
  #named(name: string): ShardPlace {
    const shard = this.#find(name);
    if (shard === null) throw new HttpProblem('unknown-resource', `There is no shard "${name}" in the fleet.`);
    return shard;
  }

  /** Reads of a shard for an answer that the gateway makes. */
  #read({ by, id }: RoutedRequest, shard: ShardPlace, path: string): Promise<ForwardedReply> {
    const body = new Uint8Array(0);
    return this.#forwarder.forward(shard, { method: 'GET', path: `${apiPrefix}${path}`, body, by, id });
  }

  #devices(request: RoutedRequest): Promise<ForwardedReply | StreamedList> {
    const { shard } = request.query;
    const shards = typeof shard === 'string' ? [this.#named(shard)] : this.#shards();
    if (shards.length === 0) this.#first();
    return new DeviceList(shards, deviceListQuery(request.query), (each, query) =>
      this.#read(request, each, `/devices?${query.toString()}`),
    ).answer();
  }

  #overviewOf(request: RoutedRequest): Promise<ForwardedReply> {
    const { device, limit, after } = request.query;
    const selected = device === undefined ? null : { holder: this.#holding(Number(device)), device: Number(device) };
    return this.#overview.answer(
      (shard, query) => this.#read(request, shard, `/overview?${query}`),
      { limit: limit === undefined ? undefined : Number(limit), after: after === undefined ? -1 : Number(after) },
      selected,
    );
  }

  #record(request: RoutedRequest): Promise<ForwardedReply> {
    const text = request.params['id'] ?? '';
    const record = readRecordId(text);
    const shard = record === null ? null : this.#find(record.shard);
    if (record === null || shard === null)
      throw new HttpProblem('unknown-resource', `There is no "${text}"; ids of a fleet begin with a shard, as b:12.`);
    const path = request.route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(name === 'id' ? record.id : (request.params[name] ?? '')),
    );
    const cut = request.path.indexOf('?');
    return this.#pass(shard, { ...request, path: `${apiPrefix}${path}${cut < 0 ? '' : request.path.slice(cut)}` });
  }

  #chosen(request: RoutedRequest): Promise<ForwardedReply> {
    const { device } = request.query;
    if (device !== undefined) return this.#pass(this.#holding(Number(device)), request);
    const parameter = 'device' in request.route.query.shape ? 'device or shard' : 'shard';
    throw invalid('query', 'shard', `give ${parameter}: ids and times of several processes do not mix`);
  }

  /** The site of the fleet, or the devices of one shard. @throws HttpProblem `fleet-unsupported` */
  #site(request: RoutedRequest): Promise<ForwardedReply> {
    if (request.query['device'] !== undefined) return this.#chosen(request);
    const { devices } = (request.body ?? {}) as { readonly devices?: readonly number[] };
    const [first] = devices ?? [];
    if (devices === undefined || first === undefined) return this.#lead(request);
    const holder = this.#holding(first);
    if (devices.some((index) => this.#holding(index).name !== holder.name))
      throw new HttpProblem(
        'fleet-unsupported',
        'A gateway has no limits of a group over several shards: give limits for the devices of each, or for the whole fleet.',
      );
    return this.#pass(holder, request);
  }

  async #askAll(request: RoutedRequest, shards = this.#shards()): Promise<Outcomes> {
    const done: { shard: ShardPlace; reply: ForwardedReply }[] = [];
    const failed: Failed[] = [];
    const { method: asked, path, bytes, by, id } = request;
    // lists are joined from the bodies of replies, which HEAD has not
    const method = asked === 'HEAD' ? 'GET' : asked;
    if (shards.length === 0) this.#first();
    await Promise.all(
      shards.map(async (shard) => {
        try {
          const reply = await this.#forwarder.forward(shard, { method, path, body: bytes, by, id });
          if (reply.status < 300) done.push({ shard, reply });
          else failed.push({ shard, problem: problemIn(reply), reply });
        } catch (error) {
          const { code, detail } = describeError(error);
          failed.push({ shard, problem: { status: problemTable[code].status, code, detail }, error });
        }
      }),
    );
    const ordered = <T extends { readonly shard: ShardPlace }>(all: T[]) =>
      all.sort((a, b) => a.shard.first - b.shard.first);
    return { done: ordered(done), failed: ordered(failed) };
  }

  async #all(request: RoutedRequest): Promise<ForwardedReply> {
    const { done, failed } = await this.#askAll(request);
    const [first] = done;
    if (first === undefined) return refusalOf(failed);
    return failed.length === 0 ? first.reply : partlyDone(done, failed, valueOf(first.reply));
  }

  /** Injects and ends faults in the shards that have their devices; nothing is taken back where some refuse. */
  async #faults(request: RoutedRequest): Promise<ForwardedReply> {
    const { route, query, body } = request;
    const device = query['device'] === undefined ? undefined : Number(query['device']);
    if (this.#shards().length === 0) this.#first();
    const fleet = { shards: this.#shards(), holding: (index: number) => this.#holding(index) };
    const done = new Map<string, Outcomes['done'][number]>();
    const failed: Failed[] = [];
    for (const part of faultParts({ device, body: body as Readonly<Record<string, unknown>> }, fleet)) {
      const outcome = await this.#faultPart(request, part, device);
      // the last reply of a shard has the faults of its earlier parts as well
      for (const each of outcome.done) done.set(each.shard.name, each);
      failed.push(...outcome.failed);
    }
    if (done.size === 0) return refusalOf(failed);
    const applied = [...done.values()].sort((a, b) => a.shard.first - b.shard.first);
    const reply = joinLists(listOfFaults(route.operationId), applied.map(partOf), []);
    return failed.length === 0 ? jsonReply(200, reply) : partlyDone(applied, failed, reply);
  }

  async #faultPart(request: RoutedRequest, part: FaultPart, device: number | undefined): Promise<Outcomes> {
    const { body, shards, isForAll, positions } = part;
    // the device of the request stands in the faults: a shard refuses one that it does not have
    const isHere = device !== undefined && shards.every(({ name }) => name === this.#holding(device).name);
    const path = isHere ? request.path : withoutParameter(request.path, 'device');
    const { done, failed } = await this.#askAll({ ...request, path, bytes: Buffer.from(JSON.stringify(body)) }, shards);
    // a fault of all devices must fit one of them, as in one process
    const left = isForAll && done.length > 0 ? failed.filter(({ problem }) => !unfit.has(problem.code)) : failed;
    return { done, failed: left.map((each) => placedIn(each, positions)) };
  }

  /** Connection points or history of the whole site. */
  async #siteParts(request: RoutedRequest): Promise<ForwardedReply> {
    const { done, failed } = await this.#askAll(request);
    if (done.length === 0) return refusalOf(failed);
    const refused = refusedFor(failed);
    if (refused !== null) return refused;
    const whole = await this.#lead({ ...request, method: 'GET', route: siteRoute, params: {}, query: {} });
    const [parts, missing] = [done.map(partOf), failed.map(({ shard, problem }) => missingOf(shard, problem.code))];
    return jsonReply(
      200,
      request.route.operationId === 'get_site_scopes'
        ? joinScopes(valueOf(whole), parts, missing, this.#indexes)
        : joinHistory(valueOf(whole), parts, missing),
    );
  }

  /** @param shards default: all */
  async #list(request: RoutedRequest, shards?: readonly ShardPlace[]): Promise<ForwardedReply> {
    const { done, failed } = await this.#askAll(request, shards);
    if (done.length === 0) return refusalOf(failed);
    const refused = refusedFor(failed);
    if (refused !== null) return refused;
    const parts = done.map(partOf);
    const silent = failed.filter(({ problem: { status } }) => status !== 404);
    const missing = silent.map(({ shard, problem }) => missingOf(shard, problem.code));
    const { limit } = request.query;
    return jsonReply(
      200,
      joinLists(request.route.operationId, parts, missing, limit === undefined ? undefined : Number(limit)),
    );
  }
}

/** Codes of the refusal of a fault that fits no device. */
const unfit = new Set(['validation', 'not-applicable']);

/** A refusal with the places of the request of the client. */
function placedIn({ reply, problem, ...failed }: Failed, positions: FaultPart['positions']): Failed {
  return {
    ...failed,
    problem: { ...problem, detail: inRequest(problem.detail, positions) },
    ...(reply && { reply: { ...reply, bytes: Buffer.from(inRequest(reply.bytes.toString(), positions)) } }),
  };
}

/** Answer to a request that some shards have carried out, and others not. */
function partlyDone(done: Outcomes['done'], failed: Outcomes['failed'], reply: object): ForwardedReply {
  return jsonReply(partly, {
    applied: done.map(({ shard }) => shard.name),
    failed: failed.map(({ shard, problem }) => ({
      shard: shard.name,
      first: shard.first,
      count: shard.count,
      ...problem,
    })),
    reply,
  });
}

/** True for a stop that all shards get before the gateway ends. */
const endsFleet = ({ route, body }: RoutedRequest) =>
  route.operationId === 'stop_simulator' && (body as { readonly scope?: unknown } | undefined)?.scope === 'fleet';

/** Rules of operations that the parameter `shard` sends to one shard alone; that of `devices` has it itself. */
const takesShard = (rule: RuleName, { operationId }: Route) =>
  rule === 'chosen' || (sharedRules.has(rule) && operationId !== 'list_devices');

const partOf = ({ shard, reply }: Outcomes['done'][number]): ListPart => ({ shard: shard.name, body: valueOf(reply) });

/** Operations whose replies have ids of records. */
const withIds = new Set(['submit_command', 'get_command', 'list_commands']);

const hasRecordIds = ({ route, method }: RoutedRequest) => withIds.has(route.operationId) && method !== 'HEAD';

/** The reply of a shard with ids that name it, also in the address of a record. */
function named({ name }: ShardPlace, { status, headers, bytes }: ForwardedReply): ForwardedReply {
  const location = headers['Location']?.replace(
    /(\/commands\/)([^/]+)$/,
    (_, path: string, id: string) => `${path}${encodeURIComponent(recordId(name, decodeURIComponent(id)))}`,
  );
  const renamed = { ...headers, ...(location !== undefined && { Location: location }) };
  return jsonReply(status, withRecordIds(name, JSON.parse(bytes.toString())), renamed);
}

/** Answer to a request that no shard has carried out: that of the first, or its refusal. @throws HttpProblem */
function refusalOf([first]: readonly Failed[]): ForwardedReply {
  if (first?.reply !== undefined) return first.reply;
  if (first?.error instanceof Error) throw first.error;
  throw new HttpProblem('shard-lost', 'No shard of the fleet answers.');
}

/** The refusal of a request that is wrong for all shards; a peer may be known to one of them alone. */
const refusedFor = (failed: readonly Failed[]): ForwardedReply | null =>
  failed.find(({ reply, problem: { status } }) => reply !== undefined && status < 500 && status !== 404)?.reply ?? null;

function problemIn({ status, bytes }: ForwardedReply): Failed['problem'] {
  try {
    const { code, detail } = JSON.parse(bytes.toString()) as { readonly code?: unknown; readonly detail?: unknown };
    return { status, code: String(code), detail: String(detail) };
  } catch {
    return { status, code: 'upstream-error', detail: 'The shard gave an answer that cannot be read.' };
  }
}

const withoutShard = (path: string) => withoutParameter(path, 'shard');

function withoutParameter(path: string, name: string): string {
  const cut = path.indexOf('?');
  const query = new URLSearchParams(cut < 0 ? '' : path.slice(cut));
  query.delete(name);
  const text = query.toString();
  return path.slice(0, cut < 0 ? undefined : cut) + (text === '' ? '' : `?${text}`);
}
