import { expect } from 'chai';
import { DeviceList, deviceListQuery } from '../../../src/fleet/gateway/device-list.ts';
import type { ForwardedReply, ShardPlace } from '../../../src/fleet/gateway/forward.ts';
import { HttpProblem } from '../../../src/api/http/errors.ts';

/** Devices of two shards, whose ranges have room for more. */
const devicesOf: Readonly<Record<string, readonly number[]>> = { a: [0, 1, 2], b: [10, 11] };

const place = (name: string, first: number): ShardPlace => ({
  name,
  first,
  room: 10,
  count: devicesOf[name]?.length ?? 0,
  epoch: 1,
  isLost: false,
  lastSeen: '',
});
const shards = [place('a', 0), place('b', 10)];

const reply = (body: unknown, status = 200): ForwardedReply => ({
  status,
  type: 'application/json',
  headers: {},
  bytes: Buffer.from(`${JSON.stringify(body)}\n`),
});

/** The answer of a shard, as a simulator gives it; `kind=pv` are those with an even index. */
function page(name: string, query: URLSearchParams): ForwardedReply {
  const isPv = query.get('kind') === 'pv';
  const wanted = (devicesOf[name] ?? []).filter((index) => !isPv || index % 2 === 0);
  const after = Number(query.get('after') ?? -1);
  const following = wanted.filter((index) => index > after);
  const shown = following.slice(0, Number(query.get('limit')));
  return reply({
    devices: shown.map((index) => ({ device_index: index, alarms: { active: [] } })),
    count: shown.length,
    next_after: shown.length < following.length ? (shown.at(-1) ?? null) : null,
    total: wanted.length,
  });
}

interface Body {
  readonly devices: readonly { readonly device_index: number }[];
  readonly count?: number;
  readonly next_after?: number | null;
  readonly total?: number;
  readonly missing: readonly { readonly shard: string }[];
}

const lost = (name: string) => new HttpProblem('shard-lost', `The shard "${name}" does not answer.`);

async function answered(query: object, isLost: (name: string) => boolean = () => false) {
  const asked: string[] = [];
  const list = new DeviceList(shards, deviceListQuery(query as Record<string, unknown>), ({ name }, parameters) => {
    asked.push(`${name} ${parameters.toString()}`);
    return isLost(name) ? Promise.reject(lost(name)) : Promise.resolve(page(name, parameters));
  });
  const answer = await list.answer();
  if ('bytes' in answer) return { asked, body: JSON.parse(answer.bytes.toString()) as Body };
  const pieces: Buffer[] = [];
  for await (const piece of answer.pieces) pieces.push(piece);
  return { asked, body: JSON.parse(Buffer.concat(pieces).toString()) as Body };
}

const indexesOf = ({ devices }: Body) => devices.map(({ device_index: index }) => index);

describe('fleet/gateway: the list of the devices', () => {
  it('has the devices of one shard after the other, asked for in parts', async () => {
    const { asked, body } = await answered({});
    expect([indexesOf(body), body.missing]).to.deep.equal([[0, 1, 2, 10, 11], []]);
    expect(asked).to.deep.equal(['a limit=1000', 'b limit=1000']);
    expect(body).to.not.have.any.keys('count', 'total', 'next_after');
  });

  it('goes on behind a shard that does not answer, and names it', async () => {
    const { body } = await answered({}, (name) => name === 'a');
    expect([indexesOf(body), body.missing]).to.deep.equal([
      [10, 11],
      [{ shard: 'a', first: 0, count: 3, code: 'shard-lost' }],
    ]);
    const none = await answered({}, () => true).catch((error: unknown) => error);
    expect(none).to.be.instanceOf(HttpProblem).and.include({ code: 'shard-lost' });
  });

  for (const [limit, filter] of [1, 2, 3, 4, 5, 9].flatMap((size) => [
    [size, {}] as const,
    [size, { kind: 'pv' }] as const,
  ]))
    it(`is the same page by page: ${limit} devices, ${JSON.stringify(filter)}`, async () => {
      const whole = indexesOf((await answered(filter)).body);
      const seen: number[] = [];
      let after: number | null | undefined;
      for (let pages = 0; after !== null; pages += 1) {
        const { body } = await answered({ ...filter, limit, ...(after !== undefined && { after }) });
        expect(body).to.include({ total: whole.length, count: body.devices.length });
        expect(pages, 'no empty page').to.be.below(Math.max(1, Math.ceil(whole.length / limit)));
        seen.push(...indexesOf(body));
        after = body.next_after;
      }
      expect(seen).to.deep.equal(whole);
    });

  it('asks only shards that have devices of the page, and counts the others by their leases', async () => {
    const { asked, body } = await answered({ limit: 2, after: 9 });
    expect(asked).to.deep.equal(['b limit=2&after=9']);
    expect(body).to.include({ total: 5, next_after: null });
    expect((await answered({ limit: 3 })).asked).to.deep.equal(['a limit=3']);
  });

  it('is the refusal of a shard where it refuses the request', async () => {
    const refused = reply({ code: 'validation' }, 422);
    const list = new DeviceList(shards, { filters: {} }, () => Promise.resolve(refused));
    expect(await list.answer()).to.equal(refused);
  });
});
