import { expect } from 'chai';
import { partlySchema } from '../../../src/api/description/partly.ts';
import { z } from '../../../src/api/description/zod.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import { HttpProblem } from '../../../src/api/http/errors.ts';
import { routeTableOf, parseQuery } from '../../../src/api/http/paths.ts';
import { Forwarder } from '../../../src/fleet/gateway/forward.ts';
import type { ForwardedReply, ShardPlace } from '../../../src/fleet/gateway/forward.ts';
import { ShardRouter } from '../../../src/fleet/gateway/router.ts';
import type { FleetMessage } from '../../../src/fleet/link.ts';
import { MemoryServer } from '../support/memory-link.ts';

const text = (value: unknown) => Buffer.from(JSON.stringify(value));
const answerOf = (body: unknown, status = 200, headers: Record<string, string> = {}): FleetMessage => ({
  headers: { 'Derbench-Status': String(status), 'Content-Type': 'application/json', 'Nats-Note': 'x', ...headers },
  body: text(body),
});

const place = (name: string, first: number, over: Partial<ShardPlace> = {}): ShardPlace => ({
  name,
  first,
  room: 10,
  count: 2,
  epoch: 1,
  isLost: false,
  lastSeen: 'it was seen 0.4 s ago',
  ...over,
});

/** An answer that is sent while it is made, as it arrives. */
async function whole(reply: Awaited<ReturnType<ShardRouter['answer']>>): Promise<ForwardedReply | null> {
  if (reply === null || 'bytes' in reply) return reply;
  const pieces: Buffer[] = [];
  for await (const piece of reply.pieces) pieces.push(piece);
  return { status: 200, type: reply.type, headers: {}, bytes: Buffer.concat(pieces) };
}

/** Two shards that answer with `reply`, and a gateway; `asked` are the requests that came to a shard. */
async function opened(
  reply: (shard: string, request: FleetMessage) => FleetMessage,
  over: Partial<ShardPlace> = {},
  others: readonly ShardPlace[] = [],
) {
  const server = new MemoryServer();
  const asked: string[] = [];
  const shards = [place('a', 0), place('b', 10, over), ...others];
  for (const { name } of shards) {
    await server.link().serve('op', `lab.op.${name}`, (request) => {
      asked.push(`${name} ${request.headers['Derbench-Method']} ${request.headers['Derbench-Path']}`);
      return Promise.resolve(reply(name, request));
    });
  }
  const link = server.link();
  const router = new ShardRouter(
    new Forwarder(link, 'lab'),
    () => shards.map((shard) => ({ ...shard })),
    () => 0,
    ({ route: { operationId } }) =>
      Promise.resolve({ status: 200, type: 'application/json', headers: {}, bytes: text({ led: operationId }) }),
  );
  const request = async (method: string, path: string, body?: unknown) => {
    const [plain = '', query = ''] = path.split('?');
    const { route, params } = routeTableOf(allRoutes).find(method, `/api/sim${plain}`);
    const bytes = body === undefined ? Buffer.alloc(0) : text(body);
    const by = { source: 'rest', peer: '10.0.0.1:5' } as const;
    const read = { params, query: parseQuery(query) as Record<string, unknown>, body, bytes };
    return whole(await router.answer({ route, method, path: `/api/sim${path}`, ...read, by, id: 'r1' }));
  };
  return { link, server, shards, asked, request };
}

const valueOf = (reply: ForwardedReply | null) => JSON.parse(String(reply?.bytes)) as Record<string, unknown>;

/** The code of the refusal of a request. */
async function refusal(request: Promise<unknown>): Promise<string> {
  const error = await request.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(HttpProblem);
  return `${(error as HttpProblem).code}: ${(error as HttpProblem).message}`;
}

describe('fleet/gateway: requests for one shard', () => {
  it('go by device, index, charge point and id, and without a device to the first', async () => {
    const { asked, request } = await opened(() => answerOf({ ok: true }));
    await request('GET', '/battery?device=12&detail=true');
    await request('GET', '/devices/9');
    await request('POST', '/commands?device=0', { command: 'stop', device: 11 });
    await request('GET', '/commands/b%3A12');
    await request('GET', '/battery');
    await request('GET', '/modbus/messages?shard=b&limit=5');
    await request('GET', '/captures/7?shard=b');
    await request('GET', '/site?device=3');
    expect(asked).to.deep.equal([
      'b GET /api/sim/battery?device=12&detail=true',
      'a GET /api/sim/devices/9',
      'b POST /api/sim/commands?device=0',
      'b GET /api/sim/commands/12',
      'a GET /api/sim/battery',
      'b GET /api/sim/modbus/messages?limit=5',
      'b GET /api/sim/captures/7',
      'a GET /api/sim/site?device=3',
    ]);
  });

  it('find the shard of a charge point once, and again when it has gone to another one', async () => {
    let holder = 'b';
    const { asked, request } = await opened((name) => answerOf({}, name === holder ? 200 : 404));
    await request('GET', '/evse/CP%201/connectors/1');
    await request('POST', '/evse/CP%201/connectors/1/unplug', {});
    const search = ['a GET /api/sim/evse/CP%201', 'b GET /api/sim/evse/CP%201'];
    const direct = ['b GET /api/sim/evse/CP%201/connectors/1', 'b POST /api/sim/evse/CP%201/connectors/1/unplug'];
    expect(asked).to.deep.equal([...search, ...direct]);
    holder = 'a';
    expect(await request('GET', '/evse/CP%201/connectors/1')).to.include({ status: 200 });
    expect(asked.at(-1)).to.equal('a GET /api/sim/evse/CP%201/connectors/1');
    holder = 'none';
    expect(await refusal(request('GET', '/evse/CP%201'))).to.match(/^unknown-resource: /);
  });

  it('have the answer of the shard byte for byte, with its status and the headers of its operation', async () => {
    const { request } = await opened((_shard, { headers, body }) =>
      answerOf({ headers, body: Buffer.from(body).toString() }, 202, { Location: '/api/sim/x' }),
    );
    const reply = await request('POST', '/grid-support/pf?device=3', { pf: 1.0 });
    expect(reply).to.deep.include({ status: 202, type: 'application/json', headers: { Location: '/api/sim/x' } });
    expect(valueOf(reply)).to.deep.equal({
      headers: {
        'Derbench-Method': 'POST',
        'Derbench-Path': '/api/sim/grid-support/pf?device=3',
        'Derbench-By': 'rest;10.0.0.1:5',
        'Derbench-Id': 'r1',
        'Derbench-Epoch': '1',
      },
      body: '{"pf":1}',
    });
  });

  it('show ids that name the shard, also in the address of a command', async () => {
    const { request } = await opened(() => answerOf({ id: '7' }, 202, { Location: '/api/sim/commands/7' }));
    const reply = await request('POST', '/commands?device=12', { command: 'stop' });
    expect(valueOf(reply)).to.deep.equal({ id: 'b:7' });
    expect(reply?.headers).to.deep.equal({ Location: '/api/sim/commands/b%3A7' });
  });

  it('go to the leader where they are about the time', async () => {
    const { asked, request } = await opened(() => answerOf({}));
    const led = [await request('GET', '/controls/time'), await request('POST', '/controls/time/step', {})];
    expect(led.map(valueOf)).to.deep.equal([{ led: 'get_time' }, { led: 'step_time' }]);
    expect(asked).to.deep.equal([]);
  });

  it('are refused where no shard can answer, with the reason', async () => {
    const { link, server, request } = await opened(() => answerOf({}), { isLost: true });
    expect(await refusal(request('GET', '/battery?device=20'))).to.match(/^unknown-device: /);
    expect(await refusal(request('GET', '/devices/15'))).to.equal(
      'shard-lost: The shard "b" with the devices 10..19 does not answer; it was seen 0.4 s ago.',
    );
    expect(await refusal(request('GET', '/commands/12'))).to.match(/^unknown-resource: /);
    expect(await refusal(request('GET', '/modbus/messages'))).to.match(/^validation: .*give device or shard/);
    expect(await refusal(request('GET', '/captures/7'))).to.match(/^validation: .*give shard:/);
    expect(await refusal(request('GET', '/exchange'))).to.match(/^fleet-unsupported: /);
    expect(await refusal(request('POST', '/commands', { command: 'stop', device: 'all' }))).to.match(/^fleet-unsup/);
    server.services.clear();
    expect(await refusal(request('GET', '/devices/1'))).to.match(/^shard-lost: .*"a"/);
    link.set('offline');
    expect(await refusal(request('GET', '/devices/1'))).to.match(/^fleet-offline: /);
  });

  it('are refused where the answer of the shard has no status', async () => {
    const { request } = await opened(() => ({ headers: {}, body: text({}) }));
    expect(await refusal(request('GET', '/devices/1'))).to.match(/^upstream-error: /);
  });

  it('are none where the gateway answers itself', async () => {
    const { asked, request } = await opened(() => answerOf({}));
    expect(await request('GET', '/health')).to.equal(null);
    expect(asked).to.deep.equal([]);
  });
});

describe('fleet/gateway: requests for all shards', () => {
  it('have one answer where all agree, and 207 with what is left to repeat where some do not', async () => {
    const states = new Map([['b', 409]]);
    const { asked, request } = await opened((name) => {
      const status = states.get(name) ?? 200;
      return answerOf(status === 200 ? { frequency_pu: 1 } : { code: 'conflict', detail: 'not now' }, status);
    });
    const reply = await request('POST', '/controls/grid', { frequency_pu: 1 });
    expect(reply?.status).to.equal(207);
    const failed = { shard: 'b', first: 10, count: 2, status: 409, code: 'conflict', detail: 'not now' };
    expect(valueOf(reply)).to.deep.equal({ applied: ['a'], failed: [failed], reply: { frequency_pu: 1 } });
    partlySchema(z.object({ frequency_pu: z.number() })).parse(valueOf(reply));
    states.clear();
    expect(await request('POST', '/controls/grid', { frequency_pu: 1 })).to.include({ status: 200 });
    expect(asked).to.have.length(4);
    asked.length = 0;
    await request('POST', '/controls/grid?device=10', { frequency_pu: 1 });
    expect(asked).to.have.length(1);
    for (const name of ['a', 'b']) states.set(name, 409);
    expect(await request('POST', '/controls/grid', { frequency_pu: 1 })).to.include({ status: 409 });
  });

  it('name each shard that is lost or refuses, with what it has not done', async () => {
    const over = { isLost: true };
    const refused = answerOf({ code: 'conflict', detail: 'not now' }, 409);
    const done = answerOf({ frequency_pu: 1 });
    const { request } = await opened((name) => (name === 'c' ? refused : done), over, [place('c', 20), place('d', 30)]);
    const reply = await request('POST', '/controls/grid', { frequency_pu: 1 });
    const lost = 'The shard "b" with the devices 10..19 does not answer; it was seen 0.4 s ago.';
    expect([reply?.status, valueOf(reply)]).to.deep.equal([
      207,
      {
        applied: ['a', 'd'],
        failed: [
          { shard: 'b', first: 10, count: 2, status: 503, code: 'shard-lost', detail: lost },
          { shard: 'c', first: 20, count: 2, status: 409, code: 'conflict', detail: 'not now' },
        ],
        reply: { frequency_pu: 1 },
      },
    ]);
  });

  it('say which shards are lost', async () => {
    const { request } = await opened(() => answerOf({ ok: true }), { isLost: true });
    const { failed } = valueOf(await request('POST', '/recorder', { enabled: true })) as {
      failed: readonly Record<string, unknown>[];
    };
    expect(failed[0]).to.include({ shard: 'b', status: 503, code: 'shard-lost' });
  });

  it('join lists in the order of the devices, with the shards that are missing', async () => {
    const stations = (name: string) => [{ id: `CP-${name}` }];
    const both = await opened((name) => answerOf({ evses: stations(name) }));
    expect(valueOf(await both.request('GET', '/evse'))).to.deep.equal({
      evses: [...stations('a'), ...stations('b')],
      missing: [],
    });
    const one = await opened((name) => answerOf({ evses: stations(name) }), { isLost: true });
    expect(valueOf(await one.request('HEAD', '/evse'))).to.deep.equal({
      evses: stations('a'),
      missing: [{ shard: 'b', first: 10, count: 2, code: 'shard-lost' }],
    });
  });

  it('join commands newest first, cut behind the limit, with ids that name the shard', async () => {
    const minutes = { a: [9, 3], b: [7, 8] } as Record<string, readonly number[]>;
    const { request } = await opened((name) => {
      const commands = (minutes[name] ?? []).map((at, id) => ({
        id: String(id),
        queued_at: `2026-03-01T09:0${at}:00Z`,
      }));
      return answerOf({ commands, count: commands.length });
    });
    const { commands, count } = valueOf(await request('GET', '/commands?limit=3')) as {
      commands: readonly { readonly id: string }[];
      count: number;
    };
    expect(commands.map(({ id }) => id)).to.deep.equal(['a:0', 'b:1', 'b:0']);
    expect(count).to.equal(3);
  });

  it('have the refusal of a shard where the request is wrong for all', async () => {
    const { request } = await opened(() => answerOf({ code: 'validation', detail: 'limit' }, 422));
    expect(await request('GET', '/commands?limit=0')).to.include({ status: 422 });
  });

  it('join the timeline in the order of time, with the newest entries and their shards', async () => {
    const minutes = { a: [1, 4], b: [2, 3] } as Record<string, readonly number[]>;
    const { asked, request } = await opened((name) => {
      const entries = (minutes[name] ?? []).map((at, i) => ({ id: i + 1, wall_time: `2026-03-01T09:0${at}:00Z` }));
      return answerOf({ tick: name === 'a' ? 8 : 7, entries, last_id: name === 'a' ? 2 : 5 });
    });
    const shown = async (path: string) => {
      const { entries, ...others } = valueOf(await request('GET', path)) as {
        entries: readonly { readonly id: number; readonly shard: string }[];
      };
      return { ids: entries.map(({ id, shard }) => `${shard}${id}`), ...others };
    };
    const rest = { tick: 7, last_id: 5, missing: [] };
    expect(await shown('/timeline?limit=3')).to.deep.equal({ ids: ['b1', 'b2', 'a2'], ...rest });
    expect(await refusal(request('GET', '/timeline?after_id=3'))).to.match(/^validation: .*give shard too/);
    asked.length = 0;
    expect(await shown('/timeline?after_id=1&shard=b')).to.deep.equal({ ids: ['b1', 'b2'], ...rest });
    expect(asked).to.deep.equal(['b GET /api/sim/timeline?after_id=1']);
  });

  it('join what needs attention, worst first, and count what is left out', async () => {
    const { request } = await opened((name) => {
      const levels = name === 'a' ? ['warn', 'info'] : ['bad'];
      const items = levels.map((level) => ({ id: level, level, since: null }));
      return answerOf({ items, count: name === 'a' ? 150 : 1 });
    });
    const { items, count } = valueOf(await request('GET', '/attention'));
    const item = (shard: string, level: string) => ({ id: `${shard}:${level}`, level, since: null, shard });
    expect(items).to.deep.equal([item('b', 'bad'), item('a', 'warn'), item('a', 'info')]);
    expect(count).to.equal(151);
  });

  it('join findings of a peer that one shard alone knows', async () => {
    const { request } = await opened((name) =>
      name === 'a'
        ? answerOf({ code: 'unknown-resource', detail: 'no such peer' }, 404)
        : answerOf({ enabled: true, last_id: 9, findings: [{ id: 9, last_at: '2026-03-01T09:00:00Z' }] }),
    );
    const { findings, missing } = valueOf(await request('GET', '/findings?peer=10.0.0.7'));
    expect(findings).to.deep.equal([{ id: 9, last_at: '2026-03-01T09:00:00Z', shard: 'b' }]);
    expect(missing).to.deep.equal([]);
  });

  it('join faults in force and ended, with the sums of their numbers', async () => {
    const { request } = await opened((name) => {
      const at = (minute: number) => `2026-03-01T09:0${name === 'a' ? minute : minute + 1}:00Z`;
      const ended = [{ id: 1, ended_at: at(1) }];
      return answerOf({ faults: [{ id: 2, began_at: at(3) }], count: 1, total: 1, ended, limit: 1000 });
    });
    const { faults, ended, ...numbers } = valueOf(await request('GET', '/faults')) as Record<
      string,
      readonly { readonly shard: string }[]
    >;
    expect([faults, ended].map((list) => list?.map(({ shard }) => shard))).to.deep.equal([
      ['a', 'b'],
      ['b', 'a'],
    ]);
    expect(numbers).to.deep.equal({ count: 2, total: 2, limit: 2000, missing: [] });
  });

  const faultReply = (name: string) =>
    answerOf({
      faults: [{ id: 1, began_at: '2026-03-01T09:00:00Z', of: name }],
      count: 1,
      total: 1,
      ended: [],
      limit: 9,
    });
  const both = [
    { protocol: 'modbus', kind: 'silent', device: 12 },
    { protocol: 'modbus', kind: 'silent' },
  ];

  it('take over faults of their devices, and name their shards in one list', async () => {
    const { asked, request } = await opened(faultReply);
    const reply = await request('POST', '/faults?device=1', { inject: both });
    expect(asked).to.deep.equal(['b POST /api/sim/faults', 'a POST /api/sim/faults?device=1']);
    expect(reply).to.include({ status: 200 });
    const { faults, total } = valueOf(reply) as { faults: readonly { readonly shard: string }[]; total: number };
    expect([faults.map(({ shard }) => shard), total]).to.deep.equal([['a', 'b'], 2]);
    asked.length = 0;
    await request('POST', '/modbus/fault?shard=b', { clear: { id: 1 } });
    expect(asked).to.deep.equal(['b POST /api/sim/modbus/fault']);
  });

  it('that refuse faults are named with 207, and the places are those of the request', async () => {
    const detail = '/inject/0/kind: there is no fault';
    const { request } = await opened((name) =>
      name === 'a' ? answerOf({ code: 'validation', detail }, 422) : faultReply(name),
    );
    const reply = await request('POST', '/faults', { inject: both });
    const { applied, failed } = valueOf(reply) as { applied: readonly string[]; failed: readonly object[] };
    expect([reply?.status, applied]).to.deep.equal([207, ['b']]);
    expect(failed).to.deep.equal([
      { shard: 'a', first: 0, count: 2, status: 422, code: 'validation', detail: '/inject/1/kind: there is no fault' },
    ]);
    const all = { inject: [{ protocol: 'modbus', kind: 'silent', device: 'all' }] };
    expect(await request('POST', '/faults', all), 'it fits a device of the other one').to.include({ status: 200 });
    const none = await opened(() => answerOf({ code: 'validation', detail }, 422));
    expect(await none.request('POST', '/faults', all)).to.include({ status: 422 });
  });

  it('limit the site of the fleet through the gateway that leads, and that of their own devices', async () => {
    const { asked, request } = await opened(() => answerOf({}));
    const led = async (path: string, body?: object) => valueOf(await request(body ? 'POST' : 'GET', path, body))['led'];
    expect([await led('/site'), await led('/site', { export_limit_kw: 3 })]).to.deep.equal(['get_site', 'set_site']);
    expect(asked).to.deep.equal([]);
    await request('POST', '/site', { export_limit_kw: 3, devices: [11, 10] });
    await request('GET', '/site?shard=b');
    await request('POST', '/site?device=11', { export_limit_kw: 3 });
    expect(asked).to.deep.equal(['b POST /api/sim/site', 'b GET /api/sim/site', 'b POST /api/sim/site?device=11']);
    expect(await refusal(request('POST', '/site', { export_limit_kw: 3, devices: [1, 10] }))).to.match(
      /^fleet-unsupported: .*group over several shards/,
    );
  });

  it('join the connection points of all shards behind those of the fleet', async () => {
    const scope = { devices: [11] };
    const { asked, request } = await opened(
      (name) =>
        answerOf(name === 'b' ? { scopes: [scope], recorded_groups: [] } : { scopes: [], recorded_groups: [[0, 1]] }),
      {},
      [place('c', 20, { isLost: true })],
    );
    expect(valueOf(await request('GET', '/site/scopes'))).to.deep.equal({
      scopes: [{ led: 'get_site' }, scope],
      recorded_groups: [[0, 1]],
      missing: [{ shard: 'c', first: 20, count: 2, code: 'shard-lost' }],
    });
    expect(valueOf(await request('GET', '/site/scopes?shard=b'))).to.deep.equal({
      scopes: [scope],
      recorded_groups: [],
    });
    expect(asked.slice(-1)).to.deep.equal(['b GET /api/sim/site/scopes']);
    const refused = await opened(() => answerOf({ code: 'validation', detail: 'seconds' }, 422));
    expect(await refused.request('GET', '/site/history')).to.include({ status: 422 });
  });
});
